/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HTTP_LIMITS_H
#define FETTLE_HTTP_LIMITS_H

#include "base/clock.h"

/*
 * Bounds on what a client can make the server hold, and for how long. Inside this folder; its tests shorten
 * the times.
 */

struct http_limits {
    struct span header;   /* from a request's first byte to its last header; a new connection's silence */
    struct span body;     /* from the last header to the body's end */
    struct span progress; /* how long a client may take no byte of an answer */
    struct span idle;     /* between requests */
    struct span alive;    /* between two comments of an event stream */
};

/* The times of server.h: 10 s, 30 s, 30 s, 60 s and 15 s. */
extern const struct http_limits http_limits_default;

enum {
    HTTP_HEAD_BYTES_MAX = 16 << 10, /* the request line and the headers */
    HTTP_BODY_BYTES_MAX = 1 << 20,
    HTTP_QUEUE_BYTES_MAX = 1 << 20,   /* bytes waiting in the stream; also the backlog of an event stream */
    HTTP_SLICE_BYTES_MAX = 128 << 10, /* bytes of an answer that the stream gets at once: 0.2 ms of TLS */
    HTTP_REFUSED_MAX = 32,            /* connections at each door that are being refused because there are too
                                         many */
    HTTP_OPENING_MAX = 512            /* handshakes under way */
};

struct http_server;
/* Sets the limits for later connections. */
void http_server_set_limits(struct http_server *s, const struct http_limits *limits);

#endif
