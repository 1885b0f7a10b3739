/* SPDX-License-Identifier: Apache-2.0 */
#include "api/wire_test.h"

#include "http/response.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { TIMEOUT_S = 30 };

static void on_party(void *arg, struct stream *s, struct party *out)
{
    *out = (struct party){.name = "somebody"};
}

void wire_open(struct wire *w, http_request_fn *fn, void *arg)
{
    *w = (struct wire){.dir = "/tmp/fettle-api-XXXXXX"};
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->path, sizeof w->path, "%s/socket", w->dir);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->server =
        http_server_create(&w->loop, &(struct slots_limits){.all = 1000, .each = 1000}, fn, on_party, arg);
    assert_int_equal(http_server_listen_local(w->server, w->path, NULL), 0);
}

void wire_close(struct wire *w)
{
    http_server_destroy(w->server);
    stream_abort_all(&w->loop);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(rmdir(w->dir), 0);
}

void wire_turn(struct wire *w)
{
    uv_run(&w->loop, UV_RUN_NOWAIT);
    if (w->each_turn)
        w->each_turn(w->arg);
}

int wire_connect(struct wire *w, const char *bytes)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, w->path, strlen(w->path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    size_t len = strlen(bytes);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    return fd;
}

/* What has come within a moment, as read() gives it; -1 for nothing yet. */
static ssize_t read_some(struct wire *w, int fd, char *buf, size_t n)
{
    wire_turn(w);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    poll(&p, 1, 1);
    return read(fd, buf, n);
}

static struct mono deadline(void)
{
    return mono_add(mono_now(), span_s(TIMEOUT_S));
}

void wire_read_until(struct wire *w, int fd, struct text *t, const char *what)
{
    struct mono end = deadline();
    text_add(t, "");
    while (!strstr(t->s, what)) {
        char buf[65536];
        ssize_t n = read_some(w, fd, buf, sizeof buf);
        if (n > 0)
            text_add_bytes(t, buf, (size_t)n);
        if (n == 0 || mono_now().ns > end.ns)
            print_error("waited for %s; there came: %.2000s\n", what, t->s);
        assert_true(n != 0 && mono_now().ns <= end.ns);
    }
}

static int on_body(void *arg, const char *bytes, size_t n)
{
    text_add_bytes(arg, bytes, n);
    return 0;
}

int wire_ask(struct wire *w, const char *method, const char *target, const char *body, struct text *t)
{
    CLEANUP_TEXT struct text request = {0};
    text_printf(&request, "%s %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n", method, target);
    if (body)
        text_printf(&request, "Content-Length: %zu\r\n", strlen(body));
    text_printf(&request, "\r\n%s", body ? body : "");
    int fd = wire_connect(w, request.s);
    struct http_response *r = http_response_create(on_body, t);
    struct mono end = deadline();
    bool done = false;
    text_add(t, "");
    while (!done) {
        char buf[65536];
        ssize_t n = read_some(w, fd, buf, sizeof buf);
        if (n >= 0)
            assert_int_equal(http_response_feed(r, buf, (size_t)n, &done, NULL), 0);
        assert_true(mono_now().ns <= end.ns);
    }
    int status = http_response_status(r);
    http_response_destroy(r);
    close(fd);
    return status;
}
