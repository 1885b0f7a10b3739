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
 * The identity of a peer is the certificate's one SAN URI and nothing else:
 *     urn:fettle:controller:ID    urn:fettle:node:NAME    urn:fettle:operator:NAME:ROLE
 * The authority's key makes certificates for these; a certificate's common name means nothing.
 */

enum identity_kind { IDENTITY_NONE, IDENTITY_CONTROLLER, IDENTITY_NODE, IDENTITY_OPERATOR };
enum role { ROLE_NONE, ROLE_READER, ROLE_ADMIN };

struct identity {
    enum identity_kind kind;
    char name[256];
    enum role role; /* operators only */
    /* From the certificate itself: */
    uint64_t key;    /* the first bytes of the SHA-256 of its public key; distinguishes keys, also for
                        people */
    uint64_t serial; /* its serial number; later ones of the same authority are higher. 0 for numbers of more
                        than 63 bits, which Fettle used before it kept a record of certificates */
    int64_t from_s, until_s; /* seconds since 1970 */
};

/* Reads and writes the URI. -EINVAL when it is not one of the three forms. */
int identity_parse(const char *uri, struct identity *id, struct err *e);
char *identity_format(const struct identity *id); /* the caller frees it */
/* The URI without "urn:fettle:" and the role: "node:NAME", as records name it. The caller frees it. */
char *identity_subject(const struct identity *id);
/* Parses a subject; *name is borrowed from it. IDENTITY_NONE for anything else. */
enum identity_kind identity_of_subject(const char *subject, const char **name);
const char *role_name(enum role r); /* "none", "reader", "admin" */

/* A certificate authority in a directory: ca.pem and ca.key (0600). It is made when the directory has
 * neither; -EILSEQ when only one is there or they do not match. */
struct authority;
int authority_open(const char *dir, struct authority **out, struct err *e);
void authority_close(struct authority *a);
const char *authority_pem(const struct authority *a); /* its certificate; lives as long as a */
/* SHA-256 of the certificate in lower-case hex (64 characters); join tokens pin it. */
const char *authority_fingerprint(const struct authority *a);

/* Serial numbers are above `last` from now on: milliseconds since 1970, or one more than the last number. */
void authority_number_above(struct authority *a, uint64_t last);

/* Makes a certificate for the key in the PKCS#10 request, for this identity alone (other names in the request
 * are ignored), valid from an hour ago for `valid`. extra_dns may be NULL, or one DNS name or IP address that
 * is added for browsers. The caller frees *pem. -EINVAL when it is not a P-256 request or its signature is
 * wrong. */
int authority_sign(struct authority *a, const char *csr_pem, const struct identity *id, const char *extra_dns,
                   struct span valid, char **pem, struct err *e);

/* A new P-256 key and a request for it, both PEM. The caller frees both. */
int tls_new_request(char **key_pem, char **csr_pem, struct err *e);

/* Reads the identity in a PEM certificate. -EINVAL when it cannot be read, -EPERM when it has none. */
int tls_cert_identity(const char *cert_pem, struct identity *id, struct err *e);
/* When the certificate ends, in seconds from now by the wall clock; negative when it has. */
int tls_cert_left(const char *cert_pem, struct span *left, struct err *e);

enum tls_peer { TLS_PEER_REQUIRED, TLS_PEER_OPTIONAL };

/* The certificate that a listener or a dialler presents, and the peers that it trusts. OpenSSL counts
 * references: a context may be destroyed while its connections live on. */
struct tls_context;

/* cert_pem may hold a chain. peer says whether a client must show a certificate. */
int tls_server_context(const char *cert_pem, const char *key_pem, const char *ca_pem, enum tls_peer peer,
                       struct tls_context **out, struct err *e);
/* cert_pem and key_pem may be NULL for a joining node, which has none yet. */
int tls_client_context(const char *cert_pem, const char *key_pem, const char *ca_pem,
                       struct tls_context **out, struct err *e);
/* A client that trusts the server whose chain ends in the authority with this fingerprint. */
int tls_join_context(const char *ca_fingerprint, struct tls_context **out, struct err *e);
void tls_context_destroy(struct tls_context *c);

/* Sets a judge for every peer's certificate: called at the handshake, and again by stream_recheck. It returns
 * 0, or -EPERM with why the certificate no longer counts. arg lives as long as the context and its
 * connections. */
typedef int tls_judge_fn(void *arg, const struct identity *id, struct err *e);
void tls_context_judge(struct tls_context *c, tls_judge_fn *fn, void *arg);

#endif
