/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LIB_DIAL_H
#define FETTLE_LIB_DIAL_H

#include "base/clock.h"
#include "base/err.h"
#include "fettle.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The address of the controller, and a connection to it: the local socket, or TLS. Every call waits until a
 * moment and no longer.
 */

struct address {
    char *name; /* as given, for sentences and the Host header */
    char *path; /* the path of the local socket; NULL for https */
    char *host;
    char *port;
    char *cert, *key, *ca, *token; /* names of files; NULL when not given */
};

enum { ADDRESSES_MAX = 16 };

/* Takes the values of the options, the environment and the defaults: one address for each controller that is
 * named. Returns their number, or -EINVAL, -ENOMEM. */
int address_init(struct address a[static ADDRESSES_MAX], const struct fettle_options *options, struct err *e);
void address_fini(struct address *a);

/* Adds the header with the bearer token, for an address of HTTPS that has one. The file is read each time,
 * since tokens are short-lived. -EACCES when others may read it, -ENOENT when it cannot be read, -EINVAL when
 * it has no token. */
struct buffer;
int address_authorize(const struct address *a, struct buffer *to, struct err *e);

struct dialled;

/* Connects. -ECONNREFUSED with a sentence that names the address when nothing answers there, -ETIMEDOUT,
 * -EPERM when either side refuses the other's certificate, -ENOENT or -EACCES for a certificate's file that
 * cannot be read, -EINVAL for one that is not PEM. */
int address_dial(const struct address *a, struct mono until, struct dialled **out, struct err *e);
void dial_close(struct dialled *d); /* NULL is fine */

/* Writes all n bytes. */
int dial_write(struct dialled *d, const char *bytes, size_t n, struct mono until, struct err *e);
/* Reads at least one byte; 0 at the end. */
ssize_t dial_read(struct dialled *d, char *bytes, size_t n, struct mono until, struct err *e);
/* True when the other side has sent something unasked, or has closed. */
bool dial_is_stale(const struct dialled *d);

#endif
