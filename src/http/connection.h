/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HTTP_CONNECTION_H
#define FETTLE_HTTP_CONNECTION_H

#include "base/clock.h"
#include "base/text.h"
#include "http/limits.h"
#include "http/request.h"
#include "http/server.h"

/*
 * One connection of the HTTP server: what server.c (reading, deadlines), answer.c and events.c
 * (writing) share. Inside this folder.
 */

enum connection_state {
    CONNECTION_OPENING, /* the stream has a deadline of its own for the handshake */
    CONNECTION_IDLE,    /* no byte of a request yet */
    CONNECTION_HEAD,
    CONNECTION_BODY,
    CONNECTION_ASKED,  /* the request was handed up; its answer may take its time */
    CONNECTION_EVENTS, /* its answer is a stream of events */
    CONNECTION_SENDING,
    CONNECTION_CLOSING
};

/* What a connection takes up at its door. */
enum place {
    PLACE_NONE,
    PLACE_OPENING, /* one of the handshakes under way */
    PLACE_HELD,    /* a slot of its party's */
    PLACE_SURPLUS  /* there was none left */
};

/* One way in. */
struct door {
    struct http_server *server;
    struct listener *listener; /* NULL: closed */
    struct tls_context *tls;   /* NULL: the local socket */
    struct slots *slots;       /* of open connections */
    struct crowd *opening;     /* handshakes under way, by address; of TLS */
    size_t surplus;            /* connections in this place */
};

/* An exchange; the one of its connection while there is one. */
struct http_request {
    struct connection *connection;
    struct request *request;
    void *arg;
    void (*on_gone)(void *arg);
    void (*again)(void *arg); /* what its next turn is for; NULL: it was not handed up yet */
};

/* Of the body of an answer; never empty. */
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
    char *refusal;      /* why it has no place: it is told so, no more */
    struct party party; /* once it is admitted */
    struct guest guest; /* while its handshake is under way */
    struct turn turn;   /* of its exchange */
    struct mono deadline;
    struct http_request *exchange;
    struct text rest; /* bytes that came before their turn */

    /* The answer being sent. */
    bool keep; /* another request may follow */
    bool bare; /* HEAD was asked: no body */
    bool chunked;
    struct piece *pieces; /* of its body, that are not sent yet */
    size_t sent;          /* bytes of the first one */

    /* Whether the client takes what it is sent. */
    uint64_t written; /* to the stream, ever */
    uint64_t taken;   /* of these by the system, when last looked */
    size_t untaken;   /* by the client, when last looked */
    bool backlog;     /* the system took no more, when last looked */
    struct mono moved;
    struct mono spoken; /* when an event stream last carried anything */
};

/* door.c */
void door_init(struct door *d, const struct slots_limits *limits, struct tls_context *tls);
void door_fini(struct door *d);
/* The handshake of a new connection begins. Returns the one that has to give way; NULL while there is room.
 */
struct connection *door_enter(struct connection *c);
/* It is known who that is: a slot of this party's. -EAGAIN with a sentence makes the connection surplus. */
int door_admit(struct connection *c, const struct party *p, struct err *e);
/* Gives back what the connection took up. */
void door_leave(struct connection *c);

static const struct mono MONO_NEVER = {INT64_MAX};

/* Sets when the connection is looked after next; MONO_NEVER for not at all. */
void connection_set_deadline(struct connection *c, struct mono at);
/* Ends after what is queued was sent. */
void connection_close(struct connection *c);
/* Ends now, for a reason; the stream's on_close does the rest. */
void connection_abort(struct connection *c, int code, const char *why);

/* Writes to the stream, and aborts when it can hold no more. */
void connection_write(struct connection *c, const void *bytes, size_t n);
/* "Not Found"; "" of a status that has no row in status.tbl. */
const char *http_phrase(int status);
/* Writes the head of an answer; len NULL is for a body whose length is not known yet. */
void connection_write_head(struct connection *c, int status, const char *type, const size_t *len);
/* Adds a piece to the body of the answer to come; bytes are given away. */
void connection_add_piece(struct connection *c, char *bytes, size_t len);
void connection_drop_pieces(struct connection *c);
/* Sends an answer, whose body ends with this piece; it is given away. */
void connection_answer(struct connection *c, int status, const char *type, char *body, size_t len);
void connection_answer_err(struct connection *c, const struct err *e);
/* Hands the next slice of the answer's body to the stream; a piece is freed as soon as it is sent, so that no
 * turn frees all of a large answer. False when there was none left. */
bool connection_send_slice(struct connection *c);

/* Begins to watch that the client takes bytes; then whether it took any within the limit. */
void connection_watch(struct connection *c);
bool connection_moves(struct connection *c, struct mono now);

/* Says something on an event stream that was silent for too long, and sets the next deadline. */
void connection_keep_alive(struct connection *c, struct mono now);

#endif
