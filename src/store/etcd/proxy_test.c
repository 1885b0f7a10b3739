/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/proxy_test.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS_MAX = 128, TICK_MS = 10 };

struct proxy {
    int listener, port, to;
    pthread_t accepts, threads[THREADS_MAX];
    size_t n;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ends, released, answered;
    enum proxy_mode mode; /* of the next request that matches */
    char match[64];
};

struct passing {
    struct proxy *proxy;
    int client, etcd;
    struct text in;
    bool deaf, is_over;
};

static int connect_to(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void send_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

static bool proxy_ends(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    bool ends = p->ends;
    pthread_mutex_unlock(&p->lock);
    return ends;
}

/* The mode for this request. */
static enum proxy_mode mode_take(struct proxy *p, const char *request)
{
    const char *line_end = strstr(request, "\r\n"), *found = strstr(request, p->match);
    enum proxy_mode mode = PROXY_PASS;
    pthread_mutex_lock(&p->lock);
    if (p->mode != PROXY_PASS && found && found < line_end) {
        mode = p->mode;
        p->mode = PROXY_PASS;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return mode;
}

static void hold(struct passing *g)
{
    struct proxy *p = g->proxy;
    char answer[4096];
    shutdown(g->client, SHUT_RDWR);
    pthread_mutex_lock(&p->lock);
    while (!p->released && !p->ends)
        pthread_cond_wait(&p->changed, &p->lock);
    bool released = p->released;
    pthread_mutex_unlock(&p->lock);
    if (released) {
        send_all(g->etcd, g->in.s, g->in.len);
        ssize_t n = recv(g->etcd, answer, sizeof answer, 0);
        assert(n > 0);
    }
    pthread_mutex_lock(&p->lock);
    p->answered = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    g->is_over = true;
}

static void request_pass(struct passing *g)
{
    static const char garbage[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n{\"a\":]";
    char answer[4096];
    switch (mode_take(g->proxy, g->in.s)) {
    case PROXY_LOSE_ANSWER:
        send_all(g->etcd, g->in.s, g->in.len);
        g->is_over = recv(g->etcd, answer, sizeof answer, 0) > 0;
        assert(g->is_over);
        break;
    case PROXY_LOSE_REQUEST: g->is_over = true; break;
    case PROXY_HOLD: hold(g); break;
    case PROXY_GARBAGE: send_all(g->client, garbage, sizeof garbage - 1); break;
    case PROXY_DEAF:
        g->deaf = true;
        send_all(g->etcd, g->in.s, g->in.len);
        break;
    case PROXY_PASS: send_all(g->etcd, g->in.s, g->in.len); break;
    }
    text_clear(&g->in);
}

/* Whether a whole request is there. */
static bool request_is_whole(const struct text *in)
{
    const char *end = strstr(in->s, "\r\n\r\n"), *length = strcasestr(in->s, "\r\nContent-Length: ");
    size_t body = length ? strtoul(length + 18, NULL, 10) : 0;
    return end && in->len >= (size_t)(end + 4 - in->s) + body;
}

static void client_read(struct passing *g)
{
    ssize_t n = recv(g->client, text_room(&g->in, 65536), 65536, 0);
    if (n <= 0) {
        g->is_over = true;
        return;
    }
    g->in.len += (size_t)n;
    g->in.s[g->in.len] = '\0';
    if (request_is_whole(&g->in))
        request_pass(g);
}

static void etcd_read(struct passing *g)
{
    char bytes[65536];
    ssize_t n = recv(g->etcd, bytes, sizeof bytes, 0);
    if (n <= 0)
        g->is_over = true;
    else if (!g->deaf)
        send_all(g->client, bytes, (size_t)n);
}

static void *pass(void *arg)
{
    struct passing *g = arg;
    while (!g->is_over && !proxy_ends(g->proxy)) {
        struct pollfd fds[] = {{g->client, POLLIN, 0}, {g->etcd, POLLIN, 0}};
        poll(fds, 2, TICK_MS);
        if (fds[0].revents)
            client_read(g);
        if (fds[1].revents && !g->is_over)
            etcd_read(g);
    }
    close(g->client);
    if (g->etcd >= 0)
        close(g->etcd);
    text_fini(&g->in);
    free(g);
    return NULL;
}

static void *accept_all(void *arg)
{
    struct proxy *p = arg;
    while (!proxy_ends(p)) {
        struct pollfd fd = {p->listener, POLLIN, 0};
        if (poll(&fd, 1, TICK_MS) <= 0)
            continue;
        int client = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC), etcd = connect_to(p->to);
        if (etcd < 0 || client < 0) {
            close(client);
            continue;
        }
        struct passing *g = mem_alloc(sizeof *g);
        *g = (struct passing){.proxy = p, .client = client, .etcd = etcd};
        assert(p->n < THREADS_MAX);
        pthread_create(&p->threads[p->n++], NULL, pass, g);
    }
    return NULL;
}

struct proxy *proxy_create(int to_port)
{
    struct proxy *p = mem_alloc(sizeof *p);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof at;
    p->to = to_port;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = bind(p->listener, (struct sockaddr *)&at, sizeof at);
    assert(r == 0);
    listen(p->listener, 64);
    getsockname(p->listener, (struct sockaddr *)&at, &len);
    p->port = ntohs(at.sin_port);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    pthread_create(&p->accepts, NULL, accept_all, p);
    return p;
}

void proxy_destroy(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->accepts, NULL);
    for (size_t i = 0; i < p->n; i++)
        pthread_join(p->threads[i], NULL);
    close(p->listener);
    free(p);
}

int proxy_port(const struct proxy *p)
{
    return p->port;
}

void proxy_next(struct proxy *p, enum proxy_mode mode, const char *match)
{
    pthread_mutex_lock(&p->lock);
    p->mode = mode;
    p->released = p->answered = false;
    snprintf(p->match, sizeof p->match, "%s", match);
    pthread_mutex_unlock(&p->lock);
}

void proxy_wait(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->mode != PROXY_PASS)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void proxy_release(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    p->released = true;
    pthread_cond_broadcast(&p->changed);
    while (!p->answered)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
