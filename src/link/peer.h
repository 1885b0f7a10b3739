/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_PEER_H
#define FETTLE_LINK_PEER_H

#include "link/frame.h"
#include "link/stream.h"

/*
 * One connection of the agent link: frames over a stream. It cuts bytes into frames and bounds what either
 * side can make the other hold; the caller interprets the frames. Unknown frames (by type, by channel, or
 * with a body that is not JSON) are ignored, or close the link when they are marked critical.
 */

struct peer;

struct peer_events {
    void (*on_open)(struct peer *p, void *arg);
    /* One whole frame. The body lives until the callback returns. */
    void (*on_frame)(struct peer *p, void *arg, const struct frame *f);
    /* Like on_close of a stream; p is gone when it returns. */
    void (*on_close)(struct peer *p, void *arg, const struct err *why);
};

enum { PEER_QUEUE_BYTES_MAX = 1 << 20 };

struct peer *peer_accept(uv_loop_t *loop, int fd, struct tls_context *tls, const struct peer_events *events,
                         void *arg);
struct peer *peer_dial(uv_loop_t *loop, const char *host, uint16_t port, struct tls_context *tls,
                       const char *expect, const struct peer_events *events, void *arg);
void peer_set_arg(struct peer *p, void *arg);

/* Sends one frame on channel 0. A full queue or a body over the limit closes the link; the peer
 * resynchronises when it is back, so the caller has nothing to handle. */
void peer_send(struct peer *p, enum frame_type type, uint8_t flags, const char *body, size_t len);
/* Sends REFUSE {code, message} and closes. */
void peer_refuse(struct peer *p, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Stops reading frames until peer_resume. */
void peer_pause(struct peer *p);
void peer_resume(struct peer *p);
void peer_close(struct peer *p);                        /* after the queued bytes were sent */
void peer_abort(struct peer *p, const struct err *why); /* now; on_close follows, with this reason */
struct stream *peer_stream(struct peer *p);

/* How long to wait before connection attempt number `attempt` (from 0): the first within `spread`, then
 * exponential from 1 s with full jitter, at most `most`, or `spread` (up to 60 s) when that is longer.
 * `random` is any number. */
struct span peer_backoff(unsigned attempt, struct span spread, struct span most, uint64_t random);

#endif
