/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/stub_test.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { REQUESTS_MAX = 64 };

struct stub {
    const struct stub_answer *answers;
    size_t n;
    char dir[64], path[80];
    int listener;
    int quit[2]; /* a pipe; readable when the thread is to end */
    pthread_t thread;
    int joined;
    size_t n_requests, n_connections;
    struct text requests[REQUESTS_MAX];
};

/* False when the thread is to end. */
static int await(struct stub *s, int fd, short events)
{
    struct pollfd p[2] = {{.fd = s->quit[0], .events = POLLIN}, {.fd = fd, .events = events}};
    while (poll(p, 2, -1) < 0)
        assert(errno == EINTR);
    return p[0].revents == 0;
}

static size_t body_length(const char *head)
{
    const char *at = strcasestr(head, "\r\nContent-Length:");
    return at ? strtoul(at + strlen("\r\nContent-Length:"), NULL, 10) : 0;
}

static int read_request(struct stub *s, int fd, struct text *into)
{
    for (;;) {
        const char *end = into->s ? strstr(into->s, "\r\n\r\n") : NULL;
        if (end && into->len >= (size_t)(end + 4 - into->s) + body_length(into->s))
            return 1;
        char part[4096];
        ssize_t n = await(s, fd, POLLIN) ? recv(fd, part, sizeof part, 0) : 0;
        if (n <= 0)
            return 0;
        text_add_bytes(into, part, (size_t)n);
    }
}

static int send_all(struct stub *s, int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        if (!await(s, fd, POLLOUT))
            return 0;
        ssize_t put = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0)
            return 0;
        bytes += put;
        n -= (size_t)put;
    }
    return 1;
}

static int send_answer(struct stub *s, int fd, const struct stub_answer *a)
{
    static char blanks[65536];
    memset(blanks, ' ', sizeof blanks);
    if (a->bytes && !send_all(s, fd, a->bytes, a->len ? a->len : strlen(a->bytes)))
        return 0;
    for (size_t left = a->fill; left > 0;) {
        size_t n = left < sizeof blanks ? left : sizeof blanks;
        if (!send_all(s, fd, blanks, n))
            return 0;
        left -= n;
    }
    return 1;
}

static void serve(struct stub *s, int fd)
{
    while (s->n_requests < s->n && read_request(s, fd, &s->requests[s->n_requests])) {
        const struct stub_answer *a = &s->answers[s->n_requests++];
        if (!send_answer(s, fd, a) || a->after == STUB_CLOSE)
            break;
        if (a->after == STUB_HOLD) {
            char one;
            while (await(s, fd, POLLIN) && recv(fd, &one, 1, 0) > 0)
                ;
            break;
        }
    }
    close(fd);
}

static void *run(void *arg)
{
    struct stub *s = arg;
    while (await(s, s->listener, POLLIN)) {
        int fd = accept(s->listener, NULL, NULL);
        if (fd < 0)
            continue;
        s->n_connections++;
        serve(s, fd);
    }
    return NULL;
}

struct stub *stub_start(const struct stub_answer *answers, size_t n)
{
    assert(n <= REQUESTS_MAX);
    struct stub *s = mem_alloc(sizeof *s);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    s->answers = answers;
    s->n = n;
    snprintf(s->dir, sizeof s->dir, "/tmp/fettle-stub-XXXXXX");
    char *made = mkdtemp(s->dir);
    assert(made);
    snprintf(s->path, sizeof s->path, "%s/socket", s->dir);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", s->path);
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = bind(s->listener, (struct sockaddr *)&to, sizeof to) | listen(s->listener, 16) | pipe(s->quit) |
            pthread_create(&s->thread, NULL, run, s);
    assert(r == 0);
    return s;
}

const char *stub_path(const struct stub *s)
{
    return s->path;
}

void stub_join(struct stub *s)
{
    if (s->joined)
        return;
    s->joined = 1;
    close(s->quit[1]);
    pthread_join(s->thread, NULL);
    close(s->quit[0]);
    close(s->listener);
}

void stub_stop(struct stub *s)
{
    stub_join(s);
    unlink(s->path);
    rmdir(s->dir);
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        text_fini(&s->requests[i]);
    free(s);
}

size_t stub_requests(const struct stub *s)
{
    return s->n_requests;
}

size_t stub_connections(const struct stub *s)
{
    return s->n_connections;
}

const char *stub_request(const struct stub *s, size_t i)
{
    return s->requests[i].s;
}

char *stub_json(int status, const char *body)
{
    struct text t = {0};
    text_printf(&t, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                status, strlen(body), body);
    return text_take(&t);
}
