/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_STREAM_INTERNAL_H
#define FETTLE_LINK_STREAM_INTERNAL_H

#include "base/text.h"
#include "link/stream.h"
#include "link/wire.h"

#include <stdint.h>

/*
 * What the files behind stream.h share, and what their tests look at.
 */

enum stream_state {
    STREAM_LOOKING_UP, /* dialling: the name is being looked up */
    STREAM_CONNECTING,
    STREAM_WAITING, /* accepted, TLS to come, and nothing arrived so far */
    STREAM_SHAKING, /* in the handshake, or in the queue for it */
    STREAM_READY,   /* open but for the call of on_open */
    STREAM_OPEN,
    STREAM_CLOSING,   /* sends what is queued */
    STREAM_LINGERING, /* said goodbye, waits for the other's */
    STREAM_DEAD       /* its handles are closing, on_close is next */
};

/* A queue of streams that have work to do in a coming turn of the loop. */
struct work {
    struct stream *head;
    size_t n;
};

/* One for each loop that has streams. */
struct hub {
    uv_loop_t *loop;
    struct hub *next;
    uv_idle_t turn; /* active while a queue holds something */
    uv_prepare_t waits;
    unsigned handles;  /* of these two, how many libuv knows */
    struct mono until; /* when the streams' share of this turn is over; ns 0: it has not begun */
    struct stream *all;
    struct span owed;     /* to streams that wait, before the next handshakes */
    struct work ready;    /* bytes to deliver or to send */
    struct work started;  /* handshakes under way */
    struct work fresh;    /* handshakes to begin */
    char bytes[16 << 10]; /* where streams read to */
};

struct dial;

struct stream {
    struct hub *hub;
    struct stream *all_prev, *all_next;
    struct work *work; /* the queue it is in, NULL for none */
    struct stream *work_prev, *work_next;

    struct wire wire;
    uv_poll_t poll;
    uv_timer_t timer;  /* for the handshake, then for the close */
    unsigned handles;  /* of these two, how many libuv knows */
    int watching;      /* events that poll waits for */
    struct dial *dial; /* NULL but while dialling */

    enum stream_state state;
    bool paused;
    bool more;             /* there may be bytes that no event of the socket will tell of */
    bool blocked;          /* the socket takes no bytes just now */
    bool read_wants_write; /* TLS must send before it can go on reading */
    bool ended;            /* the peer said goodbye */

    struct text out; /* queued bytes, of which out_sent are gone */
    size_t out_sent;
    size_t out_bytes_max;
    struct text unread; /* bytes given back by stream_unread */
    struct mono until;  /* when its share of this turn is over */

    const struct stream_events *events;
    void *arg;
    struct err *why;
    struct identity peer;
    bool local;
    uint16_t port;
    bool loopback; /* the peer's address */
    char address[64];
    char network[64];
};

/* How long a handshake may take; a test sets it shorter. */
extern struct span stream_handshake_limit;

/* hub.c */
struct hub *hub_get(uv_loop_t *loop); /* made when there is none */
void hub_add(struct hub *h, struct stream *s);
void hub_remove(struct hub *h, struct stream *s); /* the last one takes the hub away */
void hub_queue(struct work *w, struct stream *s); /* no-op when it is in a queue */
void hub_unqueue(struct stream *s);
void hub_serve(struct stream *s); /* steps it now, or in its turn */
/* Calls step for what the queue holds now, until it has taken its share of the turn. */
void hub_run(struct work *w, struct mono until, void (*step)(struct stream *s));

/* handshake.c */
void handshake_queue(struct stream *s);
void handshake_run(struct hub *h, struct mono until);

/* dial.c */
void dial_start(struct stream *s, const char *host, uint16_t port, const char *expect);
void dial_on_writable(struct stream *s);
const char *dial_expect(const struct stream *s); /* NULL when anybody will do */
void dial_destroy(struct stream *s);

/* stream.c */
void stream_step(struct stream *s); /* does what the ready queue promised */
void stream_watch(struct stream *s);
int stream_poll_init(struct stream *s);
void stream_connected(struct stream *s); /* the socket is; TLS, if any, comes next */
void stream_opened(struct stream *s);
void stream_refused(struct stream *s, const struct err *why); /* the handshake failed */
/* Gives bytes of the on_bytes under way back: they come again, first, in the next turn in which the stream is
 * not paused. */
void stream_unread(struct stream *s, const char *bytes, size_t n);

#endif
