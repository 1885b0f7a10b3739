/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HTTP_CONNECTION_H
#define FETTLE_HTTP_CONNECTION_H

#include "base/clock.h"
#include "base/text.h"
#include "http/limits.h"
#include "http/request.h"
#include "http/server.h"

/*
 * One connection of the HTTP server: its end and its deadline (connection.c), for server.c (reading), and for
 * answer.c and events.c (writing). Inside this folder.
 */

enum connection_state {
    CONNECTION_OPENING, /* the stream has a deadline of its own for the handshake */
    CONNECTION_IDLE,    /* no byte of a request yet */
    CONNECTION_HEAD,
    CONNECTION_BODY,
    CONNECTION_ASKED,  /* the request was handed up; the answer may take its time */
    CONNECTION_EVENTS, /* the answer is a stream of events */
    CONNECTION_SENDING,
    CONNECTION_CLOSING
};

/* The kind of place that a connection occupies at its door. */
enum place {
    PLACE_NONE,
    PLACE_OPENING, /* a handshake */
    PLACE_HELD,    /* a slot of its party */
    PLACE_SURPLUS  /* one too many: no slot was left */
};

/* One way into the server. */
struct door {
    struct http_server *server;
    struct listener *listener; /* NULL: closed */
    struct tls_context *tls;   /* NULL: the local socket */
    struct slots *slots;       /* for open connections */
    struct crowd *opening;     /* handshakes, by address; for TLS */
    size_t surplus;            /* connections in PLACE_SURPLUS */
};

/* The deadlines of a server's connections. */
struct deadlines {
    uv_timer_t timer;
    uv_timer_cb on_due;
    struct mono wake; /* when the timer fires */
    bool over;        /* the server ends, and the timer is not started any more */
};
/* The timer fires at this time at the latest. */
void deadlines_wake(struct deadlines *d, struct mono at);

/* An exchange: the current one of its connection. */
struct http_request {
    struct connection *connection;
    struct request *request;
    void *arg;
    void (*on_gone)(void *arg);
    void (*again)(void *arg); /* called in its next turn; NULL: it was not handed up yet */
    bool has_age;             /* the answer says how old it is: */
    uint64_t age_s;
};

/* A part of the body of an answer; never empty. */
struct piece {
    char *bytes;
    size_t len;
    struct piece *prev, *next;
};

struct connection {
    struct http_server *server;
    struct connection *prev, *next;
    struct stream *stream;
    struct http_limits limits;
    enum connection_state state;
    struct door *door;
    enum place place;
    char *refusal;               /* why it has no place: it gets this answer and no other */
    struct party party;          /* valid once it is admitted */
    struct guest guest;          /* while it is in a handshake */
    struct turn turn;            /* the turn of its exchange */
    struct deadlines *deadlines; /* the server's */
    struct mono deadline;
    struct http_request *exchange;
    struct text rest; /* bytes that came too early */

    /* The answer that is being sent. */
    bool keep; /* another request may follow */
    bool bare; /* the request was HEAD: no body */
    bool chunked;
    const char *header;   /* one more header of the answer; NULL: none */
    struct piece *pieces; /* pieces of the body that are not sent yet */
    size_t sent;          /* bytes of the first piece that were sent */

    /* Whether the client takes what it is sent. */
    uint64_t written; /* total bytes written to the stream */
    uint64_t taken;   /* bytes of these that the system had taken at the last look */
    size_t untaken;   /* bytes that the client had not taken at the last look */
    bool backlog;     /* the system took no more at the last look */
    struct mono moved;
    struct mono spoken; /* when an event stream last sent anything */
};

/* door.c */
void door_init(struct door *d, const struct slots_limits *limits, struct tls_context *tls);
void door_fini(struct door *d);
/* Begins the handshake of a new connection. Returns the connection that has to give way; NULL while there is
 * room. */
struct connection *door_enter(struct connection *c);
/* The party is known: takes one of its slots. -EAGAIN with a sentence makes the connection surplus. */
int door_admit(struct connection *c, const struct party *p, struct err *e);
/* Moves a connection that has a slot to another party. -EAGAIN with a sentence when that one has no slot
 * left; it keeps its own then. */
int door_move(struct connection *c, const struct party *p, struct err *e);
/* Gives back the connection's place. */
void door_leave(struct connection *c);

static const struct mono MONO_NEVER = {INT64_MAX};

/* Sets when the connection is checked next; MONO_NEVER for never. */
void connection_set_deadline(struct connection *c, struct mono at);
/* Closes after the queue was sent. */
void connection_close(struct connection *c);
/* Closes now, for a reason; the stream's on_close does the rest. */
void connection_abort(struct connection *c, int code, const char *why);

/* Writes to the stream, and aborts when its queue is full. */
void connection_write(struct connection *c, const void *bytes, size_t n);
/* "Not Found"; "" for a status that has no row in status.tbl. */
const char *http_phrase(int status);
/* Writes the head of an answer; len is NULL when the length of the body is not known yet. */
void connection_write_head(struct connection *c, int status, const char *type, const size_t *len);
/* Adds a piece to the body of the coming answer; bytes are given away. */
void connection_add_piece(struct connection *c, char *bytes, size_t len);
void connection_drop_pieces(struct connection *c);
/* Sends an answer whose body ends with this piece, which is given away. */
void connection_answer(struct connection *c, int status, const char *type, char *body, size_t len);
void connection_answer_err(struct connection *c, const struct err *e);
/* Gives the next slice of the body to the stream. A piece is freed as soon as it is sent, so that no turn
 * frees all of a large answer. False when nothing was left. */
bool connection_send_slice(struct connection *c);

/* Starts to check that the client takes bytes; later calls check that it took any within the limit. */
void connection_watch(struct connection *c);
bool connection_moves(struct connection *c, struct mono now);

/* Sends a comment on an event stream that was silent for too long, and sets the next deadline. */
void connection_keep_alive(struct connection *c, struct mono now);

#endif
