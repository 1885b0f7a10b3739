/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_TLS_H
#define FETTLE_LINK_TLS_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Keys, certificates and TLS contexts: P-256, TLS 1.3 only. OpenSSL is used in this folder only.
 *
 * Who somebody is stands in the certificate's one SAN URI and nowhere else:
 *     urn:fettle:controller:ID    urn:fettle:node:NAME    urn:fettle:operator:NAME:ROLE
 * The authority's key makes certificates for these; a certificate's common name means nothing.
 */

enum identity_kind { IDENTITY_NONE, IDENTITY_CONTROLLER, IDENTITY_NODE, IDENTITY_OPERATOR };
enum role { ROLE_NONE, ROLE_READER, ROLE_ADMIN };

struct identity {
    enum identity_kind kind;
    char name[256];
    enum role role; /* operators only */
    /* Of a certificate that was read: */
    uint64_t key;    /* the first bytes of the SHA-256 of its public key; tells keys apart, for people too */
    uint64_t serial; /* its number: a later one of the same authority has a higher one. 0 for numbers of more
                        than 63 bits, which Fettle gave before it kept a record of certificates */
    int64_t from_s, until_s; /* since 1970 */
};

/* Reads and writes the URI. -EINVAL when it is not one of the three forms. */
int identity_parse(const char *uri, struct identity *id, struct err *e);
char *identity_format(const struct identity *id); /* the caller frees it */
/* The same without "urn:fettle:" and the role, "node:NAME": by which records call it. The caller frees it. */
char *identity_subject(const struct identity *id);
/* Who that is: *name is borrowed from the subject. IDENTITY_NONE for what is no subject. */
enum identity_kind identity_of_subject(const char *subject, const char **name);
const char *role_name(enum role r); /* "none", "reader", "admin" */

/* A certificate authority in a directory: ca.pem, ca.key (0600). Made when the directory has
 * neither; refused (-EILSEQ) when it has only one or they do not match. */
struct authority;
int authority_open(const char *dir, struct authority **out, struct err *e);
void authority_close(struct authority *a);
const char *authority_pem(const struct authority *a); /* its certificate; lives as long as a */
/* SHA-256 of the certificate in lower-case hex (64 characters); what a join token pins. */
const char *authority_fingerprint(const struct authority *a);

/* Numbers of certificates are above this one from now on: milliseconds since 1970, or one more than the last.
 */
void authority_number_above(struct authority *a, uint64_t last);

/* Makes a certificate for the key in the PKCS#10 request, for this identity alone (whatever names
 * the request asks for), valid from an hour ago for `valid`. extra_dns may be NULL, else one DNS
 * name or IP address put beside the URI, for browsers. The caller frees *pem. -EINVAL for a request
 * that is no P-256 request or whose signature is wrong. */
int authority_sign(struct authority *a, const char *csr_pem, const struct identity *id, const char *extra_dns,
                   struct span valid, char **pem, struct err *e);

/* A new P-256 key and a request for it, both PEM. The caller frees both. */
int tls_new_request(char **key_pem, char **csr_pem, struct err *e);

/* Whose certificate it is, in PEM form. -EINVAL when it cannot be read, -EPERM when it is nobody's. */
int tls_cert_identity(const char *cert_pem, struct identity *id, struct err *e);
/* When the certificate ends, in seconds from now by the wall clock; negative when it has. */
int tls_cert_left(const char *cert_pem, struct span *left, struct err *e);

enum tls_peer { TLS_PEER_REQUIRED, TLS_PEER_OPTIONAL };

/* What a listener or a dialler presents and whom it believes. Reference counted inside by OpenSSL:
 * a context may be destroyed while connections that came from it live on. */
struct tls_context;

/* cert_pem may hold a chain. peer says whether a client must show a certificate. */
int tls_server_context(const char *cert_pem, const char *key_pem, const char *ca_pem, enum tls_peer peer,
                       struct tls_context **out, struct err *e);
/* cert_pem and key_pem may be NULL for a joining node, which has none yet. */
int tls_client_context(const char *cert_pem, const char *key_pem, const char *ca_pem,
                       struct tls_context **out, struct err *e);
/* A client that believes the server whose chain ends in the authority with this fingerprint. */
int tls_join_context(const char *ca_fingerprint, struct tls_context **out, struct err *e);
void tls_context_destroy(struct tls_context *c);

/* Has every peer's certificate judged beside what it says of itself: from its handshake on, and again by
 * stream_recheck. 0, or -EPERM with why it does not count any more. arg lives as long as the context and the
 * connections that came from it. */
typedef int tls_judge_fn(void *arg, const struct identity *id, struct err *e);
void tls_context_judge(struct tls_context *c, tls_judge_fn *fn, void *arg);

#endif
