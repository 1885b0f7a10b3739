/* SPDX-License-Identifier: Apache-2.0 */
#include "http/world_test.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void on_gone(void *arg)
{
    struct world *w = arg;
    w->pending = NULL;
    w->gone++;
}

/* Answers with what it understood. */
static void answer_echo(struct http_request *r)
{
    static const char *const methods[] = {"get", "post", "put", "delete", "other"};
    CLEANUP_TEXT struct text out = {0};
    size_t len;
    const char *body = http_body(r, &len);
    const char *q = http_query(r, "q");
    const char *x = http_header(r, "X-Thing");
    text_printf(&out, "%s %s %s q=%s x=%s body=%.*s\n", http_method_name(r), methods[http_method(r)],
                http_path(r), q ? q : "-", x ? x : "-", (int)len, body);
    http_answer(r, 200, "text/plain", out.s, out.len);
}

static void answer_big(struct http_request *r)
{
    char *body = mem_alloc(BIG_BYTES);
    memset(body, 'b', BIG_BYTES);
    http_answer_take(r, 200, "text/plain", body, BIG_BYTES);
}

/* In three pieces; NULL for the last makes an error of it. */
static void answer_pieces(struct http_request *r, const char *last)
{
    struct err e;
    http_answer_add(r, mem_dup("one,"), 4);
    http_answer_add(r, mem_dup("two,"), 4);
    if (last)
        http_answer(r, 200, "text/plain", last, strlen(last));
    else
        http_answer_err(r, (err_set(&e, -EAGAIN, "not today"), &e));
}

/* Each slice takes a turn of the loop for itself. */
static void on_slice(void *arg)
{
    struct world *w = arg;
    struct mono until = mono_add(mono_now(), span_ms(6));
    while (mono_now().ns < until.ns)
        continue;
    if (--w->slices > 0)
        http_again(w->pending, on_slice);
    else
        http_answer(w->pending, 200, "text/plain", "sliced", 6);
}

static void on_party(void *arg, struct stream *s, struct party *out)
{
    struct world *w = arg;
    w->met++;
    *out = w->party;
}

static void on_request(void *arg, struct http_request *r)
{
    struct world *w = arg;
    const char *path = http_path(r), *thing = http_header(r, "X-Thing");
    struct err e;
    w->asked++;
    text_add(&w->order, thing ? thing : "");
    if (strcmp(path, "/later") == 0 || strcmp(path, "/events") == 0) {
        w->pending = r;
        http_set_arg(r, w, on_gone);
        if (strcmp(path, "/events") == 0)
            http_events_begin(r);
    } else if (strcmp(path, "/slices") == 0) {
        w->pending = r;
        w->slices = 50;
        http_set_arg(r, w, on_gone);
        http_again(r, on_slice);
    } else if (strcmp(path, "/big") == 0) {
        answer_big(r);
    } else if (strcmp(path, "/pieces") == 0) {
        answer_pieces(r, "three");
    } else if (strcmp(path, "/unsaid") == 0) {
        answer_pieces(r, NULL);
    } else if (strcmp(path, "/echo") == 0) {
        answer_echo(r);
    } else if (strcmp(path, "/json") == 0) {
        http_answer(r, 409, NULL, "{}", 2);
    } else {
        err_set(&e, -ENOENT, "no \"%s\"", path);
        http_answer_err(r, &e);
    }
}

void world_init_door(struct world *w, const struct slots_limits *door, const struct http_limits *limits)
{
    *w = (struct world){.dir = "/tmp/fettle-http-XXXXXX", .party = {.name = "somebody"}};
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->path, sizeof w->path, "%s/socket", w->dir);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->server = http_server_create(&w->loop, door, on_request, on_party, w);
    if (limits)
        http_server_set_limits(w->server, limits);
    struct err e = {0};
    if (http_server_listen_local(w->server, w->path, &e) < 0)
        fail_msg("%s", e.msg);
}

void world_init(struct world *w, size_t connections_max, const struct http_limits *limits)
{
    const struct slots_limits door = {.all = connections_max, .each = connections_max};
    world_init_door(w, &door, limits);
}

void world_fini(struct world *w)
{
    http_server_destroy(w->server);
    text_fini(&w->order);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(rmdir(w->dir), 0); /* the socket's file is gone too */
}

void client_init(struct client *c, struct world *w)
{
    *c = (struct client){.w = w, .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", w->path);
    assert_int_equal(connect(c->fd, (struct sockaddr *)&to, sizeof to), 0);
    text_add(&c->in, "");
}

void client_init_as(struct client *c, struct world *w, const char *name, bool privileged)
{
    unsigned met = w->met;
    w->party = (struct party){.privileged = privileged};
    snprintf(w->party.name, sizeof w->party.name, "%s", name);
    client_init(c, w);
    world_wait(w, &w->met, met + 1);
}

void client_fini(struct client *c)
{
    close(c->fd);
    text_fini(&c->in);
}

void world_turn(struct world *w, struct client *c, short events)
{
    uv_run(&w->loop, UV_RUN_NOWAIT);
    struct pollfd fds[] = {{.fd = uv_backend_fd(&w->loop), .events = POLLIN},
                           {.fd = c ? c->fd : -1, .events = events}};
    int timeout = uv_backend_timeout(&w->loop);
    poll(fds, 2, timeout < 0 || timeout > 100 ? 100 : timeout);
    uv_run(&w->loop, UV_RUN_NOWAIT);
}

void client_read(struct client *c, size_t n)
{
    ssize_t got = recv(c->fd, text_room(&c->in, n), n, 0);
    if (got > 0) {
        c->in.len += (size_t)got;
        c->in.s[c->in.len] = '\0';
    }
    c->ended = got == 0 || (got < 0 && errno != EAGAIN);
}

void client_send_bytes(struct client *c, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(c->fd, s, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return; /* the server hung up: what it said is in the answer */
        if (sent > 0) {
            s += sent;
            n -= (size_t)sent;
        }
        world_turn(c->w, c, 0);
    }
}

void client_send(struct client *c, const char *s)
{
    client_send_bytes(c, s, strlen(s));
}

bool client_has(const struct client *c, const char *what, unsigned times)
{
    if (!what)
        return c->ended;
    unsigned n = 0;
    for (const char *at = c->in.s; n < times && (at = strstr(at, what)); at++)
        n++;
    return n == times;
}

void client_wait_times(struct client *c, const char *what, unsigned times)
{
    struct mono until = mono_add(mono_now(), span_s(TIMEOUT_S));
    while (!client_has(c, what, times)) {
        if (c->ended || mono_now().ns > until.ns)
            fail_msg("\"%s\" did not come, but: %.2000s", what ? what : "(end)", c->in.s);
        world_turn(c->w, c, POLLIN);
        client_read(c, 64 << 10);
    }
}

void client_wait(struct client *c, const char *what)
{
    client_wait_times(c, what, 1);
}

void client_wait_end(struct client *c)
{
    client_wait(c, NULL);
}

void world_wait(struct world *w, const unsigned *count, unsigned n)
{
    struct mono until = mono_add(mono_now(), span_s(TIMEOUT_S));
    while (*count != n) {
        assert_true(mono_now().ns < until.ns);
        world_turn(w, NULL, 0);
    }
}

struct http_limits world_patient(void)
{
    return (struct http_limits){span_s(600), span_s(600), span_s(600), span_s(600), span_s(600)};
}
