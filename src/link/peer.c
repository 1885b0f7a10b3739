/* SPDX-License-Identifier: Apache-2.0 */
#include "link/peer.h"

#include "base/text.h"
#include "link/cutter.h"
#include "link/stream_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACKOFF_FIRST_S = 1, BACKOFF_MAX_S = 60 };

struct peer {
    struct stream *stream;
    struct cutter cutter;
    const struct peer_events *events;
    void *arg;
};

static bool is_known(const struct frame *f)
{
    return f->channel == 0 && !(f->flags & FRAME_BINARY) && frame_is_known(f->type);
}

static bool on_frame(void *arg, const struct frame *f)
{
    struct peer *p = arg;
    if (is_known(f)) {
        p->events->on_frame(p, p->arg, f);
    } else if (f->flags & FRAME_CRITICAL) {
        char name[16];
        struct err e;
        err_set(&e, -EPROTO, "a critical frame that is not known here: %s, flags %u, channel %u",
                frame_name(f->type, name), f->flags, f->channel);
        stream_abort(p->stream, &e);
    }
    return p->stream->state == STREAM_OPEN && !p->stream->paused && stream_has_time(p->stream);
}

static void on_open(struct stream *s, void *arg)
{
    struct peer *p = arg;
    p->events->on_open(p, p->arg);
}

static void on_bytes(struct stream *s, void *arg, const char *bytes, size_t n)
{
    struct peer *p = arg;
    struct err e = {0};
    size_t used;
    if (cutter_feed(&p->cutter, bytes, n, &used, on_frame, p, &e) < 0)
        stream_abort(s, &e);
    else if (used < n && s->state == STREAM_OPEN)
        stream_unread(s, bytes + used, n - used);
}

static void on_close(struct stream *s, void *arg, const struct err *why)
{
    struct peer *p = arg;
    p->events->on_close(p, p->arg, why);
    cutter_fini(&p->cutter);
    free(p);
}

static const struct stream_events stream_events = {
    .on_open = on_open,
    .on_bytes = on_bytes,
    .on_close = on_close,
};

static struct peer *peer_create(const struct peer_events *events, void *arg)
{
    struct peer *p = mem_alloc(sizeof *p);
    p->events = events;
    p->arg = arg;
    return p;
}

struct peer *peer_accept(uv_loop_t *loop, int fd, struct tls_context *tls, const struct peer_events *events,
                         void *arg)
{
    struct peer *p = peer_create(events, arg);
    p->stream = stream_accept(loop, fd, tls, PEER_QUEUE_BYTES_MAX, &stream_events, p);
    return p;
}

struct peer *peer_dial(uv_loop_t *loop, const char *host, uint16_t port, struct tls_context *tls,
                       const char *expect, const struct peer_events *events, void *arg)
{
    struct peer *p = peer_create(events, arg);
    p->stream = stream_dial(loop, host, port, tls, expect, PEER_QUEUE_BYTES_MAX, &stream_events, p);
    return p;
}

void peer_set_arg(struct peer *p, void *arg)
{
    p->arg = arg;
}

void peer_send(struct peer *p, enum frame_type type, uint8_t flags, const char *body, size_t len)
{
    assert(body || len == 0);
    struct err e;
    if (len > FRAME_BODY_BYTES_MAX) {
        err_set(&e, -E2BIG, "a frame of %zu bytes was to be sent, and %d is the limit", len,
                FRAME_BODY_BYTES_MAX);
        stream_abort(p->stream, &e);
        return;
    }
    uint8_t header[FRAME_HEADER_BYTES];
    frame_encode_header(header, (uint8_t)type, flags, 0, len);
    if (stream_write(p->stream, header, sizeof header) < 0 || stream_write(p->stream, body, len) < 0) {
        err_set(&e, -ENOBUFS, "it does not take its frames: %zu bytes are queued", stream_queued(p->stream));
        stream_abort(p->stream, &e);
    }
}

void peer_refuse(struct peer *p, int code, const char *fmt, ...)
{
    char message[ERR_MSG_BYTES_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    CLEANUP_TEXT struct text body = {0};
    text_printf(&body, "{\"code\":\"%s\",\"message\":", err_name(code));
    text_add_json(&body, message);
    text_add_char(&body, '}');
    peer_send(p, FRAME_REFUSE, 0, body.s, body.len);
    peer_close(p);
}

void peer_pause(struct peer *p)
{
    stream_pause(p->stream);
}

void peer_resume(struct peer *p)
{
    stream_resume(p->stream);
}

void peer_close(struct peer *p)
{
    stream_close(p->stream);
}

void peer_abort(struct peer *p, const struct err *why)
{
    stream_abort(p->stream, why);
}

struct stream *peer_stream(struct peer *p)
{
    return p->stream;
}

struct span peer_backoff(unsigned attempt, struct span spread, struct span most, uint64_t random)
{
    struct span limit = span_s(BACKOFF_FIRST_S);
    if (most.ns < spread.ns) /* otherwise more would come at once than the other side can greet */
        most = spread.ns < span_s(BACKOFF_MAX_S).ns ? spread : span_s(BACKOFF_MAX_S);
    for (unsigned i = 1; i < attempt && limit.ns < most.ns; i++)
        limit.ns *= 2;
    if (limit.ns > most.ns)
        limit = most;
    if (attempt == 0)
        limit = spread;
    return (struct span){limit.ns > 0 ? (int64_t)(random % ((uint64_t)limit.ns + 1)) : 0};
}
