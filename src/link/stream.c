/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream's life: open, bytes in, bytes out, close.
 *
 * The socket is watched for what its state needs and nothing else (stream_watch). Writes only
 * queue; the hub flushes them at the end of the turn, so that many small ones are one record and
 * one system call. The queue is freed when it is empty: ten thousand streams are mostly silent.
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
#include "link/login.h"

#include <arpa/inet.h>
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

/* The events of the socket that this state waits for. */
static int stream_wanted(const struct stream *s)
{
    switch (s->state) {
    case STREAM_CONNECTING: return UV_WRITABLE;
    case STREAM_WAITING: return UV_READABLE;
    case STREAM_SHAKING: return s->work ? 0 : s->blocked ? UV_WRITABLE : UV_READABLE;
    case STREAM_OPEN: {
        bool waits = s->work && s->more; /* it waits for its turn: the socket need not report bytes */
        int events = s->paused || s->unread.len > 0 || waits ? 0 : UV_READABLE;
        if (s->read_wants_write || s->blocked)
            events |= UV_WRITABLE;
        /* One event must always be watched, otherwise nothing reports that the peer is gone. */
        return events ? events : UV_PRIORITIZED;
    }
    case STREAM_CLOSING: return s->blocked ? UV_WRITABLE : 0;
    case STREAM_LINGERING: return UV_READABLE;
    case STREAM_LOOKING_UP:
    case STREAM_READY:
    case STREAM_DEAD: break;
    }
    return 0;
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

void stream_step(struct stream *s)
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
    hub_serve(s);
}

void stream_watch(struct stream *s)
{
    int events = s->handles > 1 ? stream_wanted(s) : 0;
    if (s->state == STREAM_DEAD || events == s->watching)
        return;
    s->watching = events;
    if (events)
        uv_poll_start(&s->poll, events, on_poll);
    else
        uv_poll_stop(&s->poll);
}

static bool is_loopback(struct in_addr a)
{
    return ntohl(a.s_addr) >> 24 == IN_LOOPBACKNET;
}

static bool is_loopback6(const struct in6_addr *a)
{
    struct in_addr v4;
    memcpy(&v4, a->s6_addr + 12, sizeof v4);
    return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && is_loopback(v4));
}

/* A listener for both families sees IPv4 as ::ffff:192.0.2.7. These addresses are not one network. */
static void network_format(struct stream *s, const struct in6_addr *a)
{
    struct in6_addr prefix = *a;
    char host[INET6_ADDRSTRLEN] = "?";
    if (IN6_IS_ADDR_V4MAPPED(a)) {
        snprintf(s->network, sizeof s->network, "%s", inet_ntop(AF_INET, a->s6_addr + 12, host, sizeof host));
        return;
    }
    memset(prefix.s6_addr + 8, 0, 8);
    snprintf(s->network, sizeof s->network, "%s/64", inet_ntop(AF_INET6, &prefix, host, sizeof host));
}

static void address_format(struct stream *s)
{
    struct sockaddr_storage from = {0};
    socklen_t len = sizeof from;
    char host[INET6_ADDRSTRLEN] = "?";
    if (getpeername(s->wire.fd, (struct sockaddr *)&from, &len) < 0)
        from.ss_family = AF_UNSPEC;
    s->local = from.ss_family == AF_UNIX;
    if (s->local)
        s->came = login_ticks();
    if (from.ss_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, &from, sizeof v6);
        s->port = ntohs(v6.sin6_port);
        s->loopback = is_loopback6(&v6.sin6_addr);
        snprintf(s->address, sizeof s->address, "[%s]:%u",
                 inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host), s->port);
        network_format(s, &v6.sin6_addr);
    } else if (from.ss_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, &from, sizeof v4);
        s->port = ntohs(v4.sin_port);
        s->loopback = is_loopback(v4.sin_addr);
        snprintf(s->network, sizeof s->network, "%s", inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host));
        snprintf(s->address, sizeof s->address, "%s:%u", host, s->port);
    } else {
        snprintf(s->address, sizeof s->address, "%s", s->local ? "local" : "gone");
        memcpy(s->network, s->address, sizeof s->network);
    }
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

int stream_poll_init(struct stream *s)
{
    int r = uv_poll_init(s->hub->loop, &s->poll, s->wire.fd);
    if (r < 0)
        return r;
    s->poll.data = s;
    s->handles++;
    return 0;
}

static struct stream *stream_create(uv_loop_t *loop, int fd, struct tls_context *tls, bool client,
                                    size_t out_bytes_max, const struct stream_events *events, void *arg)
{
    struct stream *s = mem_alloc(sizeof *s);
    s->hub = hub_get(loop);
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

void stream_connected(struct stream *s)
{
    address_format(s);
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

void stream_opened(struct stream *s)
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

void stream_refused(struct stream *s, const struct err *why)
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

const struct identity *stream_peer(const struct stream *s)
{
    return &s->peer;
}

bool stream_peer_user(const struct stream *s, uid_t *uid, pid_t *pid)
{
    struct ucred who;
    socklen_t len = sizeof who;
    if (!s->local || getsockopt(s->wire.fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
        return false;
    *uid = who.uid;
    *pid = who.pid;
    return true;
}

uid_t stream_peer_login(const struct stream *s)
{
    uid_t uid;
    pid_t pid;
    return stream_peer_user(s, &uid, &pid) ? login_of_peer(s->wire.fd, pid, s->came) : STREAM_NO_LOGIN;
}

size_t stream_peer_groups(const struct stream *s, gid_t *groups, size_t max)
{
    struct ucred who;
    socklen_t len = sizeof who, room = (socklen_t)((max - 1) * sizeof *groups);
    if (!s->local || getsockopt(s->wire.fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
        return 0;
    groups[0] = who.gid; /* it need not be among the others */
    if (getsockopt(s->wire.fd, SOL_SOCKET, SO_PEERGROUPS, groups + 1, &room) < 0)
        return 1;
    return 1 + room / sizeof *groups;
}

const char *stream_peer_address(const struct stream *s)
{
    return s->address;
}

uint16_t stream_peer_port(const struct stream *s)
{
    return s->port;
}

bool stream_peer_loopback(const struct stream *s)
{
    return s->loopback;
}

const char *stream_peer_network(const struct stream *s)
{
    return s->network;
}
