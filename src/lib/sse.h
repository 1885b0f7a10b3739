/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LIB_SSE_H
#define FETTLE_LIB_SSE_H

#include "lib/buffer.h"

/*
 * Server-Sent Events from bytes as they come (the HTML standard, 9.2.6). Comments and the field
 * `retry` are skipped.
 */

enum { SSE_WORD_BYTES_MAX = 128, SSE_DATA_BYTES_MAX = 4 << 20 };

struct sse {
    struct buffer line, data;
    char name[SSE_WORD_BYTES_MAX];
    char next_id[SSE_WORD_BYTES_MAX]; /* the id of the event that is being read, or of the one before */
    char id[SSE_WORD_BYTES_MAX];      /* the id of the latest whole event that had one */
    bool after_cr;
};

/* One event: its name ("message" when it has none), the latest id, its data. A negative errno stops. */
typedef int sse_fn(void *arg, const char *name, const char *id, const char *data, size_t len);

/* Zero-initialise; sse_fini when done. To resume a stream, begin with sse_restart and its id. */
void sse_fini(struct sse *s);
/* Drops a partly read event, for a new connection after the event with this id (s->id to go on). */
void sse_restart(struct sse *s, const char *id);
/* -E2BIG for an event, id or name over its limit, -ENOMEM, or what fn returned. */
int sse_feed(struct sse *s, const char *bytes, size_t n, sse_fn *fn, void *arg, struct err *e);

#endif
