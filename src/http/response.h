/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HTTP_RESPONSE_H
#define FETTLE_HTTP_RESPONSE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads one HTTP/1.1 answer from bytes as they come: for clients (libfettle). Knows Content-Length,
 * chunked bodies and bodies that end with the connection; 256 MiB at most.
 */

struct http_response;

/* Body bytes as they come. Return a negative errno to stop. */
typedef int http_response_fn(void *arg, const char *bytes, size_t n);

struct http_response *http_response_create(http_response_fn *fn, void *arg);
void http_response_destroy(struct http_response *r);
/* Feeds bytes; n = 0 says that the connection ended. 0, or -EPROTO with a sentence, or what fn
 * returned. *done turns true when the answer is whole. */
int http_response_feed(struct http_response *r, const char *bytes, size_t n, bool *done, struct err *e);
int http_response_status(const struct http_response *r); /* 0 until the headers are read */

#endif
