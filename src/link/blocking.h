/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_BLOCKING_H
#define FETTLE_LINK_BLOCKING_H

#include "base/clock.h"
#include "link/tls.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * TLS to a controller for callers without a loop: each call waits until a moment and no longer. It raises no
 * SIGPIPE. The caller keeps the socket, and closes it after blocking_close.
 */

struct blocking;

/* Shakes hands over the connected, non-blocking socket fd. The other side must be a controller of the
 * authority that `tls` trusts. -ETIMEDOUT, -EPERM when either side refuses the other's certificate,
 * -ECONNREFUSED when the connection is lost, -ENOMEM. */
int blocking_open(int fd, struct tls_context *tls, struct mono until, struct blocking **out, struct err *e);

/* Reads at least one byte and at most n; 0 at the clean end. -ETIMEDOUT, -EPERM (a server refuses a client's
 * certificate only now), -ECONNREFUSED. */
ssize_t blocking_read(struct blocking *b, void *bytes, size_t n, struct mono until, struct err *e);

/* Writes some of n bytes, at least one. Codes as above. */
ssize_t blocking_write(struct blocking *b, const void *bytes, size_t n, struct mono until, struct err *e);

/* NULL is fine. */
void blocking_close(struct blocking *b);

/* Waits until fd is ready for the poll(2) events. 0, or -ETIMEDOUT. */
int blocking_wait(int fd, short events, struct mono until, struct err *e);

#endif
