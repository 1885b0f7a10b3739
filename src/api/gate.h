/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_GATE_H
#define FETTLE_API_GATE_H

#include "api/call.h"
#include "api/caller.h"

/*
 * The one gate of the interface: every request of every door passes it. It finds out who the caller is, by
 * the connection or by a verified token and by nothing else that a request says, and whether a role of the
 * caller has the right. Inside this folder.
 */

/* What is called: a route, and the parameter of its path, which is the request's. */
struct called {
    enum route route;
    const char *parameter; /* NULL: none */
};

/* The caller, who has the right; or why not: NULL with -EPERM, -EACCES, or -EAGAIN when it cannot be known
 * now. All are borrowed until the function returns. */
typedef void gate_fn(struct api *a, struct http_request *r, const struct called *called,
                     const struct caller *c, const struct err *why);

/* fn is called once, at once or later; not when the client is gone before. */
void gate_enter(struct api *a, struct http_request *r, const struct called *called, gate_fn *fn);

#endif
