/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_TLS_INTERNAL_H
#define FETTLE_LINK_TLS_INTERNAL_H

#include "link/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

/*
 * Shared by the files of this folder that use OpenSSL; no other file includes it.
 */

/* Call before any other function of OpenSSL: loads no configuration file and no tables of error texts. */
void tls_init(void);

/* A sentence for OpenSSL's latest refusal: "WHAT (openssl reason N)". Empties its queue. */
int tls_fail(struct err *e, int code, const char *what);

/* First certificate, request or private key in a PEM text, which never asks for a passphrase.
 * NULL when there is none. */
X509 *pem_read_cert(BIO *from);
X509_REQ *pem_read_request(BIO *from);
EVP_PKEY *pem_read_key(BIO *from);
/* The content of a memory BIO; the caller frees it. */
char *pem_take(BIO *from);

bool key_is_p256(EVP_PKEY *key);

/* Makes a file of mode 0600 in the place of one that is there, with all of the text, synced; or leaves none.
 */
int key_file_make(const char *path, const char *text, struct err *e);

/* A certificate of the authority for this key, which has no identity: it is no peer's. NULL on failure. */
X509 *authority_recipient(const struct authority *a, EVP_PKEY *key);
/* The authority's certificate and key in memory that is cleansed when it is freed. NULL on failure. */
BIO *authority_pack(const struct authority *a);
/* Writes what authority_pack made into the directory, if the certificate has this fingerprint. -EILSEQ,
 * -ESTALE as envelope_open. */
int authority_unpack(BIO *from, const char *fingerprint, const char *dir, struct err *e);
void cert_fingerprint(const X509 *cert, char hex[static 65]);

/* Reads the identity of the certificate: it must have exactly one URI among its names. */
int cert_identity(const X509 *cert, struct identity *id, struct err *e);

SSL_CTX *tls_context_ssl(struct tls_context *c);

/* The answer of the judge of the session's context; 0 without one. */
int tls_judge(const SSL *session, const struct identity *id, struct err *e);

/* Whether the peer's certificate was refused for its time, and by how much: -ETIME when it is not valid yet,
 * -EKEYEXPIRED when it has expired. 0: for another reason, or not at all. */
int tls_out_of_time(const SSL *session, struct err *e);

#define CLEANUP_OF(type)                        \
    static inline void type##_cleanup(type **p) \
    {                                           \
        type##_free(*p);                        \
    }
CLEANUP_OF(BIO)
CLEANUP_OF(X509)
CLEANUP_OF(X509_REQ)
CLEANUP_OF(EVP_PKEY)
CLEANUP_OF(SSL_CTX)
#undef CLEANUP_OF
#define CLEANUP(type) __attribute__((cleanup(type##_cleanup)))

#endif
