/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream's life: open, bytes in, bytes out, close.
 *
 * Writes only queue; the hub flushes them at the end of the turn, so that many small ones are one record and
 * one system call. The queue is freed when it is empty: ten thousand streams are mostly silent.
 *
 * A socket that became readable is served where that is told, which saves a turn for each heartbeat, but only
 * while nobody waits and the share of this turn lasts. Else it queues, and its socket is not watched
 * meanwhile.
 *
 * TLS and libuv disagree on what "readable" means: OpenSSL may hold bytes of which the socket knows
 * nothing any more. `more` remembers that until a read has come back empty.
 *
 * A close sends what is queued, says goodbye and waits for the other side to do so, because closing
 * a socket that holds unread bytes resets the connection and destroys what is on its way: the
 * refusal that the peer should read. Death is one way: `stream_die` closes the handles, and when libuv has
 * given back the last one, on_close is called and the memory is freed.
 */
#include "link/stream_internal.h"

#include "base/loop.h"

#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

enum {
    READS_PER_TURN = 4,    /* reads of 16 KiB each; then other streams have their turn */
    TURN_MS = 1,           /* the time of one stream; the hub has two */
    CLOSE_MS = 5000,       /* to send the queue, and for the peer's goodbye */
    KEEPALIVE_IDLE_S = 10, /* with the two below: a dead peer is noticed after 20 s */
    KEEPALIVE_INTERVAL_S = 5,
    KEEPALIVE_COUNT = 2,
    UNACKNOWLEDGED_MS = 20000
};

struct span stream_handshake_limit = {INT64_C(30) * 1000000000};

static void on_handle_closed(uv_handle_t *handle)
{
    struct stream *s = handle->data;
    if (--s->handles > 0)
        return;
    hub_remove(s->hub, s);
    s->events->on_close(s, s->arg, s->why);
    free(s->why);
    free(s);
}

static void stream_die(struct stream *s, const struct err *why)
{
    if (s->state == STREAM_DEAD)
        return;
    s->state = STREAM_DEAD;
    if (why && !s->why) {
        s->why = mem_alloc(sizeof *s->why);
        *s->why = *why;
    }
    hub_unqueue(s);
    if (s->handles > 1)
        uv_close((uv_handle_t *)&s->poll, on_handle_closed);
    uv_close((uv_handle_t *)&s->timer, on_handle_closed);
    dial_destroy(s);
    wire_fini(&s->wire);
    text_fini(&s->out);
    text_fini(&s->unread);
}

void stream_abort(struct stream *s, const struct err *why)
{
    stream_die(s, why);
}

size_t stream_queued(const struct stream *s)
{
    return s->out.len - s->out_sent;
}

size_t stream_untaken(const struct stream *s)
{
    int held = 0;
    if (s->state > STREAM_CLOSING || ioctl(s->wire.fd, SIOCOUTQ, &held) < 0)
        held = 0;
    return stream_queued(s) + (size_t)held;
}

static void on_late(uv_timer_t *timer)
{
    struct stream *s = timer->data;
    struct err e;
    if (s->state == STREAM_LINGERING)
        stream_die(s, NULL);
    else if (s->state == STREAM_CLOSING)
        stream_die(s, (err_set(&e, -ETIMEDOUT, "the last %zu bytes were not taken", stream_queued(s)), &e));
    else
        stream_die(s, (err_set(&e, -ETIMEDOUT, "no connection within %d s",
                               (int)(stream_handshake_limit.ns / 1000000000)),
                       &e));
}

static void stream_end(struct stream *s)
{
    wire_end(&s->wire);
    if (s->ended) {
        stream_die(s, NULL);
        return;
    }
    s->state = STREAM_LINGERING;
    stream_watch(s);
}

/* Sends as much as the socket takes. False when the stream died. */
static bool stream_flush(struct stream *s)
{
    bool had = stream_queued(s) > 0;
    s->blocked = false;
    while (stream_queued(s) > 0 && !s->blocked) {
        struct err e = {0};
        size_t n;
        switch (wire_write(&s->wire, s->out.s + s->out_sent, stream_queued(s), &n, &e)) {
        case WIRE_DONE: s->out_sent += n; break;
        case WIRE_WANT_READ: /* TLS 1.3 has no reason to read here; the next readable event gets here too */
        case WIRE_WANT_WRITE: s->blocked = true; break;
        case WIRE_END:
        case WIRE_FAILED: stream_die(s, &e); return false;
        }
    }
    if (!had || stream_queued(s) > 0)
        return true;
    text_fini(&s->out);
    s->out_sent = 0;
    if (s->state == STREAM_OPEN && s->events->on_drained)
        s->events->on_drained(s, s->arg);
    return s->state != STREAM_DEAD;
}

static void on_end(struct stream *s, const struct err *why)
{
    if (why) {
        stream_die(s, why);
        return;
    }
    s->ended = true;
    stream_close(s);
}

bool stream_has_time(const struct stream *s)
{
    return mono_now().ns < s->until.ns;
}

/* Whether bytes may be read and delivered now. Bytes that were given back come first. */
static bool may_read(const struct stream *s)
{
    return s->state == STREAM_OPEN && !s->paused && s->unread.len == 0;
}

static void read_some(struct stream *s)
{
    s->read_wants_write = false;
    for (int i = 0; i < READS_PER_TURN && may_read(s) && s->more && (i == 0 || stream_has_time(s)); i++) {
        struct err e = {0};
        size_t n;
        switch (wire_read(&s->wire, s->hub->bytes, sizeof s->hub->bytes, &n, &e)) {
        case WIRE_DONE:
            s->more = wire_has_pending(&s->wire); /* the rest makes the socket readable again */
            s->events->on_bytes(s, s->arg, s->hub->bytes, n);
            break;
        case WIRE_WANT_WRITE: s->read_wants_write = true; /* fall through */
        case WIRE_WANT_READ: s->more = false; return;
        case WIRE_END: on_end(s, NULL); return;
        case WIRE_FAILED: on_end(s, &e); return;
        }
    }
}

void stream_unread(struct stream *s, const char *bytes, size_t n)
{
    assert(bytes || n == 0);
    text_add_bytes(&s->unread, bytes, n);
}

static void deliver_unread(struct stream *s)
{
    CLEANUP_TEXT struct text again = s->unread;
    s->unread = (struct text){0};
    s->events->on_bytes(s, s->arg, again.s, again.len);
}

static void stream_opened(struct stream *s)
{
    s->state = STREAM_OPEN;
    s->more = true; /* TLS reads ahead: bytes may have come with the handshake */
    s->blocked = false;
    uv_timer_stop(&s->timer);
    dial_destroy(s);
    s->events->on_open(s, s->arg);
    if (s->state == STREAM_OPEN)
        hub_queue(&s->hub->ready, s);
    stream_watch(s);
}

/* Does the work for which it is in the queue `ready`. */
static void stream_step(struct stream *s)
{
    LOOP_DOES("connections");
    if (s->state == STREAM_READY)
        stream_opened(s);
    s->until = loop_share(span_ms(TURN_MS));
    if (s->state == STREAM_OPEN && !s->paused && s->unread.len > 0)
        deliver_unread(s);
    if (may_read(s) && s->more && stream_has_time(s))
        read_some(s);
    if (s->state == STREAM_OPEN && !s->paused && (s->unread.len > 0 || s->more))
        hub_queue(&s->hub->ready, s);
    if ((s->state == STREAM_OPEN || s->state == STREAM_CLOSING) && !stream_flush(s))
        return;
    if (s->state == STREAM_CLOSING && stream_queued(s) == 0)
        stream_end(s);
    else
        stream_watch(s);
}

/* Discards bytes after our goodbye, until the peer's goodbye. */
static void stream_linger(struct stream *s)
{
    for (int i = 0; i < READS_PER_TURN; i++) {
        ssize_t n = recv(s->wire.fd, s->hub->bytes, sizeof s->hub->bytes, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            stream_die(s, NULL);
            return;
        }
    }
}

static void socket_failed(struct stream *s)
{
    int error = 0;
    socklen_t len = sizeof error;
    struct err e;
    if (getsockopt(s->wire.fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error == 0)
        error = ECONNRESET;
    err_set(&e, -error, "%s", strerror(error));
    stream_die(s, &e);
}

/* Now, or in its turn. */
static void stream_serve(struct stream *s)
{
    if (s->work || s->hub->ready.head || !hub_has_time(s->hub)) {
        hub_queue(&s->hub->ready, s);
        stream_watch(s);
    } else {
        stream_step(s);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct stream *s = poll->data;
    if (status < 0) {
        s->watching = 0; /* libuv stopped the poll; the error itself comes from the socket */
        events = UV_READABLE | UV_WRITABLE;
    }
    switch (s->state) {
    case STREAM_CONNECTING: dial_on_writable(s); return;
    case STREAM_WAITING:
    case STREAM_SHAKING: handshake_queue(s); return;
    case STREAM_OPEN:
        if (s->paused && (status < 0 || events & UV_PRIORITIZED)) {
            socket_failed(s);
            return;
        }
        if (events & UV_READABLE || s->read_wants_write)
            s->more = true;
        break;
    case STREAM_LINGERING: stream_linger(s); return;
    case STREAM_LOOKING_UP:
    case STREAM_READY:
    case STREAM_CLOSING:
    case STREAM_DEAD: break;
    }
    stream_serve(s);
}

static void tcp_tune(int fd)
{
    const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
        {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
}

/* The socket is connected; TLS, if any, comes next. */
static void stream_connected(struct stream *s)
{
    stream_peer_look(s);
    if (!s->local)
        tcp_tune(s->wire.fd);
    if (s->wire.ctx && s->wire.client) {
        handshake_queue(s);
        return;
    }
    s->state = s->wire.ctx ? STREAM_WAITING : STREAM_READY;
    if (s->state == STREAM_READY)
        hub_queue(&s->hub->ready, s);
    stream_watch(s);
}

static void stream_refused(struct stream *s, const struct err *why)
{
    if (s->wire.client) {
        stream_die(s, why);
        return;
    }
    /* The alert has the reason; it must arrive before a reset. */
    s->why = mem_alloc(sizeof *s->why);
    *s->why = *why;
    uv_timer_start(&s->timer, on_late, CLOSE_MS, 0);
    stream_end(s);
}

static void on_dialled(struct stream *s, const struct err *why)
{
    if (why)
        stream_die(s, why);
    else
        stream_connected(s);
}

static void on_shaken(struct stream *s, const struct err *why)
{
    if (why)
        stream_refused(s, why);
    else
        stream_opened(s);
}

static const struct stream_steps steps = {.on_turn = stream_step,
                                          .on_handshakes = handshake_run,
                                          .on_poll = on_poll,
                                          .on_dialled = on_dialled,
                                          .on_shaken = on_shaken};

static struct stream *stream_create(uv_loop_t *loop, int fd, struct tls_context *tls, bool client,
                                    size_t out_bytes_max, const struct stream_events *events, void *arg)
{
    struct stream *s = mem_alloc(sizeof *s);
    s->hub = hub_get(loop, &steps);
    s->events = events;
    s->arg = arg;
    s->out_bytes_max = out_bytes_max;
    wire_init(&s->wire, fd, tls, client);
    hub_add(s->hub, s);
    uv_timer_init(loop, &s->timer);
    s->timer.data = s;
    s->handles = 1;
    return s;
}

/* While a stream opens, its timer is that of the handshake. */
static void limit_start(struct stream *s)
{
    uv_timer_start(&s->timer, on_late, (uint64_t)span_to_ms(stream_handshake_limit), 0);
}

struct stream *stream_accept(uv_loop_t *loop, int fd, struct tls_context *tls, size_t queue_bytes_max,
                             const struct stream_events *events, void *arg)
{
    struct stream *s = stream_create(loop, fd, tls, false, queue_bytes_max, events, arg);
    int r = stream_poll_init(s);
    if (r < 0) {
        struct err e;
        err_set(&e, r, "cannot watch a connection: %s", uv_strerror(r));
        stream_die(s, &e);
        return s;
    }
    limit_start(s);
    stream_connected(s);
    return s;
}

struct stream *stream_dial(uv_loop_t *loop, const char *host, uint16_t port, struct tls_context *tls,
                           const char *expect, size_t queue_bytes_max, const struct stream_events *events,
                           void *arg)
{
    struct stream *s = stream_create(loop, -1, tls, true, queue_bytes_max, events, arg);
    snprintf(s->address, sizeof s->address, strchr(host, ':') ? "[%.48s]:%u" : "%.50s:%u", host, port);
    limit_start(s);
    dial_start(s, host, port, expect);
    return s;
}

int stream_write(struct stream *s, const void *bytes, size_t n)
{
    assert(bytes || n == 0);
    if (s->state > STREAM_OPEN)
        return 0;
    if (n > s->out_bytes_max || stream_queued(s) > s->out_bytes_max - n)
        return -ENOBUFS;
    if (s->out_sent > s->out.len / 2) {
        s->out.len -= s->out_sent;
        memmove(s->out.s, s->out.s + s->out_sent, s->out.len);
        s->out_sent = 0;
    }
    text_add_bytes(&s->out, bytes, n);
    if (s->state == STREAM_OPEN && !s->blocked)
        hub_queue(&s->hub->ready, s);
    return 0;
}

void stream_pause(struct stream *s)
{
    s->paused = true;
    if (s->state == STREAM_OPEN)
        stream_watch(s);
}

void stream_resume(struct stream *s)
{
    s->paused = false;
    if (s->state != STREAM_OPEN)
        return;
    s->more = true;
    hub_queue(&s->hub->ready, s);
}

void stream_close(struct stream *s)
{
    if (s->state >= STREAM_CLOSING)
        return;
    if (s->state != STREAM_OPEN) {
        stream_die(s, NULL);
        return;
    }
    s->state = STREAM_CLOSING;
    uv_timer_start(&s->timer, on_late, CLOSE_MS, 0);
    if (!s->blocked)
        hub_queue(&s->hub->ready, s);
    stream_watch(s);
}

void stream_abort_all(uv_loop_t *loop)
{
    struct hub *h = hub_find(loop);
    struct stream *s;
    if (h)
        DL_FOREACH2(h->all, s, all_next) stream_abort(s, NULL);
}

void stream_recheck(uv_loop_t *loop, enum identity_kind kind, const char *name)
{
    struct hub *h = hub_find(loop);
    struct stream *s;
    if (!h)
        return;
    DL_FOREACH2(h->all, s, all_next)
    {
        struct err why = {0};
        if (s->state == STREAM_OPEN && s->peer.kind == kind && strcmp(s->peer.name, name) == 0 &&
            wire_judge(&s->wire, &s->peer, &why) < 0)
            stream_abort(s, &why);
    }
}
