/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HTTP_REQUEST_H
#define FETTLE_HTTP_REQUEST_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads one request from bytes as they come, and judges its sizes, framing, Host, Origin and the
 * percent-encoding of its target. Knows no socket and no clock. Inside this folder.
 */

struct request;

enum request_state { REQUEST_HEAD, REQUEST_BODY, REQUEST_WHOLE };

struct request *request_create(void);
void request_destroy(struct request *r);

/* Takes bytes up to the end of the request; *used says how many, the others belong to the next request. After
 * a failure it takes no more: -EINVAL when it is not HTTP/1.0 or 1.1 or is contradictory, -EMSGSIZE for a
 * head and -E2BIG for a body over the limits (limits.h), -EACCES for a foreign Origin, -EOPNOTSUPP for
 * CONNECT. */
int request_feed(struct request *r, const char *bytes, size_t n, size_t *used, struct err *e);
enum request_state request_state(const struct request *r);

/* For a request whose head is complete. Pointers live as long as r. */
const char *request_method(const struct request *r);
const char *request_path(const struct request *r);
const char *request_query(const struct request *r, const char *key);
const char *request_query_key(const struct request *r, size_t i); /* from 0; NULL after the last */
const char *request_header(const struct request *r, const char *name);
const char *request_body(const struct request *r, size_t *len);
bool request_keeps_alive(const struct request *r);    /* the client wants to send another request */
bool request_knows_chunks(const struct request *r);   /* HTTP/1.1 */
bool request_wants_continue(const struct request *r); /* the client waits for 100 before it sends the body */

#endif
