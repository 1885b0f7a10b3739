/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_CERTIFICATE_H
#define FETTLE_BASE_CERTIFICATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The names of certificates and the times between which they are valid. Nothing is verified here: a caller
 * that relies on a certificate checks its signature and its purpose itself.
 */

struct certificate {
    int64_t from_s, until_s; /* seconds since 1970; INT64_MAX: no end */
    char name[128];          /* the subject's common name, or the key id; printable, and cut to fit; "" when
                                there is none */
};

/* Calls fn for each certificate in the bytes of a file: X.509 certificates in PEM form, with any text between
 * them, and OpenSSH certificates, one a line. Returns the number of certificates, or -EINVAL with a sentence
 * when one cannot be read. */
typedef void certificate_fn(const struct certificate *c, void *arg);
int certificates_read(const char *bytes, size_t len, certificate_fn *fn, void *arg, struct err *e);

/* A passphrase callback for OpenSSL, which otherwise asks on the terminal. It gives no passphrase. */
int certificate_no_passphrase(char *buf, int size, int writing, void *arg);

#endif
