/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_FETCH_FETCH_H
#define FETTLE_FETCH_FETCH_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

/*
 * HTTP requests to other systems, on the loop (libcurl, which is included here and nowhere else). Bounded:
 * time, size of the answer, no redirects, no protocols but http and https, no proxy. A server's certificate
 * is always verified. A request is sent once: when its answer is lost, it is not repeated here.
 */

enum {
    FETCH_BODY_BYTES_MAX = 4 << 20,
    FETCH_TOKEN_BYTES_MAX = 16 << 10,
    FETCH_ETAG_BYTES_MAX = 256,
    FETCH_ANSWERED_MS = 30000,
    FETCH_CONNECTED_MS = 5000
};

struct fetch_options {
    const char *ca;    /* file of authorities; NULL: the system's */
    const char *token; /* file with a bearer token, read at each request, and refused when others may read it;
                          NULL: none */
    const char *user;  /* HTTP Basic, with the password, NULL for an empty one; NULL: none */
    const char *password;
    const char *cert;       /* file with a certificate that the server asks for, and its key; NULL: none */
    const char *key;        /* file with that key */
    const char *header;     /* a line that each request has as well; NULL: none */
    unsigned answered_ms;   /* the limit for a whole request, in ms; 0: FETCH_ANSWERED_MS */
    size_t answer_max;      /* the longest answer in bytes; 0: FETCH_BODY_BYTES_MAX */
    bool keeps_connections; /* also those of POST: a server that closes one costs the request on it */
};

struct fetch;
struct fetch *fetch_create(uv_loop_t *loop, const struct fetch_options *o);
/* Ends all requests without calling back. The loop must run on until its handles are closed. */
void fetch_destroy(struct fetch *f);

/* Gets the answer: an HTTP status with its body (zero-terminated), or status 0 and why there is none.
 * Borrowed until the callback returns; it may destroy f. */
typedef void fetch_done_fn(void *arg, int status, const char *body, size_t len, const struct err *why);

/* Starts a request; done is called later, once. body is JSON, or NULL. */
void fetch_start(struct fetch *f, const char *method, const char *url, const char *body, fetch_done_fn *done,
                 void *arg);
/* The same, to be carried out only while the resource still has this ETag (If-Match); "" for any. */
void fetch_start_if(struct fetch *f, const char *etag, const char *method, const char *url, const char *body,
                    fetch_done_fn *done, void *arg);
/* An answer without an end: `piece` is called with its bytes as they come, of any answer whatever its status,
 * until `done` says that the stream has ended, with an empty body. No limit of time or size but that of one
 * piece. Returns the request, for fetch_stop. */
struct request;
typedef void fetch_piece_fn(void *arg, const char *bytes, size_t len);
struct request *fetch_stream(struct fetch *f, const char *method, const char *url, const char *body,
                             fetch_piece_fn *piece, fetch_done_fn *done, void *arg);
/* Ends a stream without calling back. Not once `done` was called. */
void fetch_stop(struct request *r);
/* Whether anything of the request that `done` is being told of was sent; false means that nobody can have
 * carried it out. */
bool fetch_sent(const struct fetch *f);
/* Borrows a header of the answer that `done` is being told, until it returns; "" when it has none. */
const char *fetch_header(const struct fetch *f, const char *name);

#endif
