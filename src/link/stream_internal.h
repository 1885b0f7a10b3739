/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_STREAM_INTERNAL_H
#define FETTLE_LINK_STREAM_INTERNAL_H

#include "base/text.h"
#include "link/stream.h"
#include "link/wire.h"

#include <stdint.h>

/*
 * Shared by the files behind stream.h, and visible to their tests. On their floors, from below: hub.c and
 * stream_watch.c; dial.c, handshake.c and stream_peer.c; stream.c. A lower file calls a higher one by
 * stream_steps alone.
 */

enum stream_state {
    STREAM_LOOKING_UP, /* dialling: the name is being looked up */
    STREAM_CONNECTING,
    STREAM_WAITING, /* accepted; TLS is to come, and nothing has arrived yet */
    STREAM_SHAKING, /* in the handshake, or in the queue for it */
    STREAM_READY,   /* open, but on_open was not called yet */
    STREAM_OPEN,
    STREAM_CLOSING,   /* sends its queue */
    STREAM_LINGERING, /* said goodbye, waits for the peer's goodbye */
    STREAM_DEAD       /* its handles are closing; on_close is next */
};

/* A queue of streams that have work in a coming turn of the loop. */
struct work {
    struct stream *head;
    size_t n;
};

struct hub;

/* What follows, as stream.c has it. */
struct stream_steps {
    void (*on_turn)(struct stream *s); /* its turn in the queue `ready` */
    void (*on_handshakes)(struct hub *h, struct mono until);
    uv_poll_cb on_poll;
    void (*on_dialled)(struct stream *s, const struct err *why); /* NULL: the socket is connected */
    void (*on_shaken)(struct stream *s, const struct err *why);  /* NULL: the handshake is done */
};

/* One for each loop that has streams. */
struct hub {
    uv_loop_t *loop;
    const struct stream_steps *steps;
    struct hub *next;
    uv_idle_t turn; /* active while a queue holds something */
    uv_prepare_t waits;
    unsigned handles;  /* how many of these two libuv knows */
    struct mono until; /* when the streams' share of this turn ends; ns 0: it has not begun */
    struct stream *all;
    struct span owed;     /* time that waiting streams get before the next handshakes */
    struct work ready;    /* streams with bytes to deliver or to send */
    struct work started;  /* streams in a handshake */
    struct work fresh;    /* streams with a handshake to begin */
    char bytes[16 << 10]; /* the buffer that streams read into */
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
    unsigned handles;  /* how many of these two libuv knows */
    int watching;      /* events that poll waits for */
    struct dial *dial; /* NULL except while dialling */

    enum stream_state state;
    bool paused;
    bool more;             /* there may be bytes that no event of the socket will announce */
    bool blocked;          /* the socket takes no bytes at present */
    bool read_wants_write; /* TLS must send before it can read on */
    bool ended;            /* the peer said goodbye */

    struct text out; /* queued bytes, of which out_sent were sent */
    size_t out_sent;
    size_t out_bytes_max;
    struct text unread; /* bytes that stream_unread gave back */
    struct mono until;  /* when its share of this turn ends */

    const struct stream_events *events;
    void *arg;
    struct err *why;
    struct identity peer;
    bool local;
    uint64_t came; /* local: when it was accepted, in ticks (login.h) */
    uint16_t port;
    bool loopback; /* the peer's address */
    char address[64];
    char network[64];
};

/* How long a handshake may take; tests set it shorter. */
extern struct span stream_handshake_limit;

/* hub.c */
struct hub *hub_find(uv_loop_t *loop);                                  /* NULL: the loop has no streams */
struct hub *hub_get(uv_loop_t *loop, const struct stream_steps *steps); /* creates it when there is none */
void hub_add(struct hub *h, struct stream *s);
void hub_remove(struct hub *h, struct stream *s); /* the last stream removes the hub too */
void hub_queue(struct work *w, struct stream *s); /* no-op when it is in a queue already */
void hub_unqueue(struct stream *s);
/* Whether the streams' share of this turn of the loop still lasts. */
bool hub_has_time(struct hub *h);
/* Calls step for each stream that is in the queue now, until the queue's share of the turn is used up. */
void hub_run(struct work *w, struct mono until, void (*step)(struct stream *s));

/* stream_watch.c */
int stream_poll_init(struct stream *s);
void stream_watch(struct stream *s); /* for the events that its state waits for */

/* handshake.c */
void handshake_queue(struct stream *s);
void handshake_run(struct hub *h, struct mono until);

/* dial.c */
void dial_start(struct stream *s, const char *host, uint16_t port, const char *expect);
void dial_on_writable(struct stream *s);
const char *dial_expect(const struct stream *s); /* NULL when any server will do */
void dial_destroy(struct stream *s);

/* stream_peer.c */
void stream_peer_look(struct stream *s); /* notes the peer's address, when the socket is connected */

/* stream.c */
/* Gives bytes of the present on_bytes back. They come again, first, in the next turn in which the stream is
 * not paused. */
void stream_unread(struct stream *s, const char *bytes, size_t n);

#endif
