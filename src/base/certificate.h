/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_CERTIFICATE_H
#define FETTLE_BASE_CERTIFICATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From when until when certificates are valid. Nothing is verified here: who signed one, and what for, is for
 * those who rely on it.
 */

struct certificate {
    int64_t from_s, until_s; /* since 1970; INT64_MAX: for ever */
    char name[128];          /* the subject's common name, or the key id; "" for none; printable, and cut */
};

/* Calls fn for each certificate in the bytes of a file: those of X.509 in PEM form, whatever stands between
 * them, and those of OpenSSH, each on a line. The number of them, or -EINVAL with a sentence when one cannot
 * be read. */
typedef void certificate_fn(const struct certificate *c, void *arg);
int certificates_read(const char *bytes, size_t len, certificate_fn *fn, void *arg, struct err *e);

/* For OpenSSL where it would ask the terminal for the passphrase of a key or certificate: there is none. */
int certificate_no_passphrase(char *buf, int size, int writing, void *arg);

#endif
