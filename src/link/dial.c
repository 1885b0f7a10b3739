/* SPDX-License-Identifier: Apache-2.0
 *
 * Dialling: look the name up, then try its addresses in order until one connects.
 *
 * A look-up runs in a worker thread of libuv and cannot always be stopped; when its stream is gone
 * first, the look-up cleans up after itself. The socket of the next address takes the descriptor's
 * number of the last one, so that the stream keeps its one poll handle.
 */
#include "link/stream_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct dial {
    struct stream *s; /* NULL when the stream is gone and the look-up is still running */
    uv_getaddrinfo_t lookup;
    bool looking_up;
    struct addrinfo *found;
    const struct addrinfo *next; /* the address to try when the present one fails */
    struct sockaddr_storage numeric;
    char *expect;
};

static void dial_free(struct dial *d)
{
    uv_freeaddrinfo(d->found);
    free(d->expect);
    free(d);
}

void dial_destroy(struct stream *s)
{
    struct dial *d = STEAL(s->dial);
    if (!d)
        return;
    d->s = NULL;
    if (d->looking_up)
        uv_cancel((uv_req_t *)&d->lookup);
    else
        dial_free(d);
}

const char *dial_expect(const struct stream *s)
{
    return s->dial ? s->dial->expect : NULL;
}

static void dial_fail(struct stream *s, int error)
{
    struct err e;
    err_set(&e, -error, "connect %s: %s", s->address, strerror(error));
    s->hub->steps->on_dialled(s, &e);
}

static int dial_replace(struct stream *s, int fd)
{
    uv_poll_stop(&s->poll);
    s->watching = 0;
    int failed = dup3(fd, s->wire.fd, O_CLOEXEC) < 0 ? errno : 0;
    close(fd);
    return failed;
}

/* Begins to connect to one address. 0, or an errno. */
static int dial_begin(struct stream *s, const struct sockaddr *to, socklen_t len)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    if (connect(fd, to, len) < 0 && errno != EINPROGRESS) {
        int failed = errno;
        close(fd);
        return failed;
    }
    if (s->wire.fd >= 0)
        return dial_replace(s, fd);
    s->wire.fd = fd;
    int r = stream_poll_init(s);
    if (r == 0)
        return 0;
    close(fd);
    s->wire.fd = -1;
    return -r;
}

static void try_next(struct stream *s, int error)
{
    struct dial *d = s->dial;
    assert(d && !d->looking_up);
    while (d->next) {
        const struct addrinfo *to = d->next;
        d->next = to->ai_next;
        error = dial_begin(s, to->ai_addr, to->ai_addrlen);
        if (error == 0) {
            s->state = STREAM_CONNECTING;
            stream_watch(s);
            return;
        }
    }
    dial_fail(s, error);
}

void dial_on_writable(struct stream *s)
{
    int error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(s->wire.fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (error)
        try_next(s, error);
    else
        s->hub->steps->on_dialled(s, NULL);
}

static void on_found(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct dial *d = req->data;
    struct stream *s = d->s;
    d->looking_up = false;
    d->found = found;
    d->next = found;
    if (!s) {
        dial_free(d);
        return;
    }
    if (status == 0) {
        try_next(s, EADDRNOTAVAIL);
        return;
    }
    struct err e;
    err_set(&e, -ECONNREFUSED, "look up %s: %s", s->address, uv_strerror(status));
    s->hub->steps->on_dialled(s, &e);
}

static socklen_t numeric_parse(struct sockaddr_storage *to, const char *host, uint16_t port)
{
    if (uv_ip4_addr(host, port, (struct sockaddr_in *)to) == 0)
        return sizeof(struct sockaddr_in);
    if (uv_ip6_addr(host, port, (struct sockaddr_in6 *)to) == 0)
        return sizeof(struct sockaddr_in6);
    return 0;
}

void dial_start(struct stream *s, const char *host, uint16_t port, const char *expect)
{
    assert(host && !s->dial && s->wire.fd < 0 && "a stream dials once");
    struct dial *d = s->dial = mem_alloc(sizeof *d);
    d->s = s;
    d->expect = mem_dup(expect);
    socklen_t len = numeric_parse(&d->numeric, host, port);
    if (len) {
        int error = dial_begin(s, (struct sockaddr *)&d->numeric, len);
        if (error) {
            dial_fail(s, error);
            return;
        }
        s->state = STREAM_CONNECTING;
        stream_watch(s);
        return;
    }
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG};
    d->lookup.data = d;
    int r = uv_getaddrinfo(s->hub->loop, &d->lookup, on_found, host, service, &hints);
    d->looking_up = r == 0;
    if (r < 0) {
        struct err e;
        err_set(&e, r == UV_ENOMEM ? -ENOMEM : -EINVAL, "look up %s: %s", s->address, uv_strerror(r));
        s->hub->steps->on_dialled(s, &e);
    }
}
