/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections and their deadlines.
 *
 * A connection goes idle -> head -> body -> asked -> sending (or events) -> idle, one request at a time. The
 * next request begins, from the loop, when the last byte of the answer has left: so pipelined requests of one
 * client are not served in one turn, and do not nest on the stack. Bytes that come while a request is being
 * answered are kept, up to those of one read; then reading stops. Until then reading goes on, because only
 * reading shows that a client went away.
 *
 * A complete request waits for its turn among all requests (fair/fair.h). An idle handle takes turns, as the
 * streams' hub does: it runs after the timers and before the loop looks at its sockets, and the loop does not
 * sleep while a request waits.
 *
 * Each connection has one deadline (connection.c), and the server looks at those that are over.
 */
#include "http/connection.h"

#include "base/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { TURN_MS = 3, HANDLES = 2 };

const struct http_limits http_limits_default = {
    .header = {INT64_C(10) * 1000000000},
    .body = {INT64_C(30) * 1000000000},
    .progress = {INT64_C(30) * 1000000000},
    .idle = {INT64_C(60) * 1000000000},
    .alive = {INT64_C(15) * 1000000000},
};

struct http_server {
    uv_loop_t *loop;
    struct deadlines deadlines;
    uv_idle_t idle; /* active while a request waits for its turn */
    struct turns *turns;
    http_request_fn *fn;
    http_party_fn *who;
    void *arg;
    struct http_limits limits;
    struct slots_limits places;
    struct door local, tls;
    struct connection *connections;
    bool destroyed;
    int handles; /* handles that are not closed */
};

static void deadline_in(struct connection *c, struct span span)
{
    connection_set_deadline(c, mono_add(mono_now(), span));
}

/* Answers a client that cannot be read any further. The stream drops the rest of its bytes while it
 * closes. */
static void connection_refuse(struct connection *c, const struct err *why)
{
    c->keep = false;
    connection_answer_err(c, why);
    connection_close(c);
}

static void exchange_begin(struct connection *c)
{
    c->exchange = mem_alloc(sizeof *c->exchange);
    c->exchange->connection = c;
    c->exchange->request = request_create();
    c->state = CONNECTION_HEAD;
    c->bare = c->chunked = false;
    deadline_in(c, c->limits.header);
}

static void exchange_end(struct connection *c)
{
    if (c->exchange)
        request_destroy(c->exchange->request);
    free(c->exchange);
    connection_drop_pieces(c);
    c->exchange = NULL;
}

/* Tells the handler that the client is gone. */
static void exchange_lose(struct http_request *r)
{
    if (!r || !r->on_gone)
        return;
    void (*on_gone)(void *) = r->on_gone;
    r->on_gone = NULL;
    on_gone(r->arg);
}

static void on_turns(uv_idle_t *idle)
{
    struct http_server *s = idle->data;
    struct mono until = loop_share(span_ms(TURN_MS));
    struct turn *turn;
    while ((turn = turns_take(s->turns))) {
        struct connection *c = turn->owner;
        if (c->state == CONNECTION_ASKED && c->exchange->again)
            STEAL(c->exchange->again)(c->exchange->arg);
        else if (c->state == CONNECTION_ASKED)
            s->fn(s->arg, c->exchange);
        if (mono_now().ns >= until.ns)
            break;
    }
    if (turns_empty(s->turns))
        uv_idle_stop(idle);
}

static void turn_wait(struct connection *c)
{
    struct http_server *s = c->server;
    c->turn.owner = c;
    turns_add(s->turns, &c->turn, &c->party);
    uv_idle_start(&s->idle, on_turns);
}

void http_again(struct http_request *r, void (*fn)(void *arg))
{
    r->again = fn;
    turn_wait(r->connection);
}

static void exchange_ask(struct connection *c)
{
    struct http_request *r = c->exchange;
    c->state = CONNECTION_ASKED;
    connection_set_deadline(c, MONO_NEVER);
    c->keep = request_keeps_alive(r->request);
    c->bare = strcmp(request_method(r->request), "HEAD") == 0;
    turn_wait(c);
}

static void body_begin(struct connection *c)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    c->state = CONNECTION_BODY;
    deadline_in(c, c->limits.body);
    size_t len;
    request_body(c->exchange->request, &len);
    if (len == 0 && request_wants_continue(c->exchange->request))
        connection_write(c, go_on, sizeof go_on - 1);
}

static bool is_reading(const struct connection *c)
{
    return c->state <= CONNECTION_BODY;
}

/* Takes bytes for the present request. Returns how many; the others belong to the next one. */
static size_t connection_feed(struct connection *c, const char *bytes, size_t n)
{
    if (c->state == CONNECTION_IDLE)
        exchange_begin(c);
    size_t used;
    struct err e;
    if (request_feed(c->exchange->request, bytes, n, &used, &e) < 0) {
        connection_refuse(c, &e);
        return n;
    }
    enum request_state state = request_state(c->exchange->request);
    if (state == REQUEST_WHOLE)
        exchange_ask(c);
    else if (state == REQUEST_BODY && c->state == CONNECTION_HEAD)
        body_begin(c);
    return used;
}

static void connection_read(struct connection *c, const char *bytes, size_t n)
{
    size_t at = 0;
    while (at < n && is_reading(c))
        at += connection_feed(c, bytes + at, n - at);
    if (at == n || c->state == CONNECTION_CLOSING)
        return;
    text_add_bytes(&c->rest, bytes + at, n - at);
    stream_pause(c->stream);
}

static void read_rest(struct connection *c)
{
    CLEANUP_TEXT struct text rest = c->rest;
    c->rest = (struct text){0};
    stream_resume(c->stream);
    connection_read(c, rest.s, rest.len);
}

static void connection_sent(struct connection *c)
{
    exchange_end(c);
    if (!c->keep) {
        connection_close(c);
        return;
    }
    c->state = CONNECTION_IDLE;
    deadline_in(c, c->limits.idle);
    read_rest(c);
}

/* The party is known now. Some connections that are too many get an answer when they are open. */
static void connection_admit(struct connection *c)
{
    struct err e;
    struct party who = {0};
    c->server->who(c->server->arg, c->stream, &who);
    if (door_admit(c, &who, &e) == 0)
        return;
    if (c->door->surplus > HTTP_REFUSED_MAX)
        connection_abort(c, e.code, e.msg);
    else
        c->refusal = mem_dup(e.msg);
}

static void on_open(struct stream *stream, void *arg)
{
    struct connection *c = arg;
    struct err e;
    c->state = CONNECTION_IDLE;
    deadline_in(c, c->limits.header);
    if (c->place == PLACE_OPENING)
        connection_admit(c);
    if (c->refusal)
        connection_refuse(c, (err_set(&e, -EAGAIN, "%s", c->refusal), &e));
}

static void on_bytes(struct stream *stream, void *arg, const char *bytes, size_t n)
{
    connection_read(arg, bytes, n);
}

static void on_drained(struct stream *stream, void *arg)
{
    struct connection *c = arg;
    if (c->state == CONNECTION_SENDING && !connection_send_slice(c))
        connection_sent(c);
}

static void server_release(struct http_server *s)
{
    if (!s->destroyed || s->handles > 0 || s->connections)
        return;
    door_fini(&s->local);
    door_fini(&s->tls);
    turns_destroy(s->turns);
    free(s);
}

static void on_close(struct stream *stream, void *arg, const struct err *why)
{
    struct connection *c = arg;
    struct http_server *s = c->server;
    c->state = CONNECTION_CLOSING;
    turns_remove(s->turns, &c->turn);
    exchange_lose(c->exchange);
    exchange_end(c);
    text_fini(&c->rest);
    free(c->refusal);
    DL_DELETE(s->connections, c);
    door_leave(c);
    free(c);
    server_release(s);
}

static const struct stream_events events = {
    .on_open = on_open, .on_bytes = on_bytes, .on_drained = on_drained, .on_close = on_close};

static void on_accept(void *arg, int fd)
{
    struct door *d = arg;
    struct http_server *s = d->server;
    struct connection *c = mem_alloc(sizeof *c);
    c->server = s;
    c->door = d;
    c->deadlines = &s->deadlines;
    c->limits = s->limits;
    c->deadline = MONO_NEVER;
    DL_APPEND(s->connections, c);
    c->stream = stream_accept(s->loop, fd, d->tls, HTTP_QUEUE_BYTES_MAX, &events, c);
    struct connection *late = d->tls ? door_enter(c) : NULL;
    if (late)
        connection_abort(late, -EAGAIN, "there are too many connections without a known user");
    if (!d->tls)
        connection_admit(c);
}

static void connection_refuse_late(struct connection *c, const char *what, struct span limit)
{
    struct err e;
    char buf[32];
    err_set(&e, -ETIMEDOUT, "the request's %s did not come within %s", what, span_format(limit, buf));
    connection_refuse(c, &e);
}

static void connection_expire(struct connection *c, struct mono now)
{
    c->deadline = MONO_NEVER;
    switch (c->state) {
    case CONNECTION_OPENING: connection_abort(c, -ETIMEDOUT, "the handshake took too long"); break;
    case CONNECTION_HEAD: connection_refuse_late(c, "headers", c->limits.header); break;
    case CONNECTION_BODY: connection_refuse_late(c, "body", c->limits.body); break;
    case CONNECTION_EVENTS:
    case CONNECTION_SENDING:
        if (!connection_moves(c, now))
            connection_abort(c, -ETIMEDOUT, "the client stopped reading its answer");
        else if (c->state == CONNECTION_EVENTS)
            connection_keep_alive(c, now);
        else
            deadline_in(c, (struct span){c->limits.progress.ns / 4});
        break;
    case CONNECTION_IDLE: connection_close(c); break;
    case CONNECTION_ASKED:
    case CONNECTION_CLOSING: break;
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct http_server *s = timer->data;
    struct mono now = mono_now(), next = MONO_NEVER;
    s->deadlines.wake = MONO_NEVER;
    struct connection *c;
    DL_FOREACH (s->connections, c) {
        if (c->deadline.ns <= now.ns)
            connection_expire(c, now);
        if (c->deadline.ns < next.ns)
            next = c->deadline;
    }
    deadlines_wake(&s->deadlines, next);
}

struct http_server *http_server_create(uv_loop_t *loop, const struct slots_limits *door, http_request_fn *fn,
                                       http_party_fn *who, void *arg)
{
    struct http_server *s = mem_alloc(sizeof *s);
    s->loop = loop;
    s->places = *door;
    s->local.server = s->tls.server = s;
    s->turns = turns_create();
    s->fn = fn;
    s->who = who;
    s->arg = arg;
    s->limits = http_limits_default;
    s->deadlines = (struct deadlines){.on_due = on_timer, .wake = MONO_NEVER};
    uv_timer_init(loop, &s->deadlines.timer);
    uv_idle_init(loop, &s->idle);
    s->deadlines.timer.data = s->idle.data = s;
    s->handles = HANDLES;
    return s;
}

void http_server_set_limits(struct http_server *s, const struct http_limits *limits)
{
    assert(limits);
    s->limits = *limits;
}

int http_server_listen_local(struct http_server *s, const char *path, struct err *e)
{
    door_init(&s->local, &s->places, NULL);
    return listener_open_local(s->loop, path, on_accept, &s->local, &s->local.listener, e);
}

int http_server_listen_tls(struct http_server *s, const char *address, uint16_t port, struct tls_context *tls,
                           struct err *e)
{
    door_init(&s->tls, &s->places, tls);
    return listener_open_tcp(s->loop, address, port, on_accept, &s->tls, &s->tls.listener, e);
}

uint16_t http_server_port(const struct http_server *s)
{
    return s->tls.listener ? listener_port(s->tls.listener) : 0;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct http_server *s = handle->data;
    s->handles--;
    server_release(s);
}

void http_server_destroy(struct http_server *s)
{
    if (!s)
        return;
    listener_close(s->local.listener);
    listener_close(s->tls.listener);
    s->destroyed = s->deadlines.over = true;
    struct connection *c;
    DL_FOREACH (s->connections, c) {
        exchange_lose(c->exchange);
        c->state = CONNECTION_CLOSING;
        stream_abort(c->stream, NULL);
    }
    uv_close((uv_handle_t *)&s->deadlines.timer, on_handle_closed);
    uv_close((uv_handle_t *)&s->idle, on_handle_closed);
}
