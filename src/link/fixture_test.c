/* SPDX-License-Identifier: Apache-2.0 */
#include "link/fixture_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

uv_loop_t loop;
struct listener *server;
struct end *server_end;
int server_ends;
size_t queue_bytes_max;

static struct end *ends;
static struct tls_context *server_tls;
static uv_timer_t tick; /* so that waiting for what never comes ends */

static void on_open(struct stream *s, void *arg)
{
    struct end *end = arg;
    end->opened++;
    end->peer = *stream_peer(s);
    if (end->react == REACT_ABORT_ON_OPEN)
        stream_abort(s, NULL);
}

static void on_bytes(struct stream *s, void *arg, const char *bytes, size_t n)
{
    struct end *end = arg;
    assert_true(n > 0);
    text_add_bytes(&end->got, bytes, n);
    if (end->react == REACT_ABORT_ON_BYTES)
        stream_abort(s, NULL);
    if (end->react == REACT_CLOSE_ON_BYTES)
        stream_close(s);
    if (end->react == REACT_PAUSE_ON_BYTES)
        stream_pause(s);
    while (end->react == REACT_TAKE_ITS_TIME && stream_has_time(s))
        ;
}

static void on_drained(struct stream *s, void *arg)
{
    struct end *end = arg;
    end->drained++;
}

static void on_close(struct stream *s, void *arg, const struct err *why)
{
    struct end *end = arg;
    end->closed++;
    end->clean = !why;
    if (why)
        end->why = *why;
    end->s = NULL;
}

const struct stream_events end_events = {on_open, on_bytes, on_drained, on_close};

static void on_tick(uv_timer_t *timer)
{
}

int fixture_setup(void **state)
{
    uv_loop_init(&loop);
    uv_timer_init(&loop, &tick);
    uv_timer_start(&tick, on_tick, 100, 100);
    uv_unref((uv_handle_t *)&tick);
    queue_bytes_max = 1 << 20;
    server = NULL;
    server_end = NULL;
    server_ends = 0;
    return 0;
}

int fixture_teardown(void **state)
{
    listener_close(server);
    stream_abort_all(&loop);
    uv_close((uv_handle_t *)&tick, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    while (ends) {
        struct end *end = ends;
        ends = end->next;
        assert_int_equal(end->closed, 1);
        text_fini(&end->got);
        free(end);
    }
    return uv_loop_close(&loop);
}

struct end *end_new(void)
{
    struct end *end = mem_alloc(sizeof *end);
    end->next = ends;
    ends = end;
    return end;
}

struct end *end_dial(struct tls_context *tls, const char *expect)
{
    struct end *end = end_new();
    end->s = stream_dial(&loop, "127.0.0.1", listener_port(server), tls, expect, queue_bytes_max, &end_events,
                         end);
    assert_int_equal(end->opened + end->closed, 0);
    return end;
}

void end_write(struct end *end, const char *text)
{
    assert_int_equal(stream_write(end->s, text, strlen(text)), 0);
}

static void on_connection(void *arg, int fd)
{
    server_ends++;
    server_end = end_new();
    server_end->s = stream_accept(&loop, fd, server_tls, queue_bytes_max, &end_events, server_end);
    assert_int_equal(server_end->opened + server_end->closed, 0);
}

void server_start_at(const char *address)
{
    struct err e = {0};
    if (listener_open_tcp(&loop, address, 0, on_connection, NULL, &server, &e) < 0)
        fail_msg("%s", e.msg);
}

void server_start(struct tls_context *tls)
{
    server_tls = tls;
    server_start_at("127.0.0.1");
}

void run_once(void)
{
    uv_ref((uv_handle_t *)&tick);
    uv_run(&loop, UV_RUN_ONCE);
    uv_unref((uv_handle_t *)&tick);
}

void run_quiet(void)
{
    for (int i = 0; i < 50; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

int raw_dial(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(listener_port(server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

struct authority *authority_new(void)
{
    char dir[] = "/tmp/fettle-link-XXXXXX", path[64];
    struct authority *a = NULL;
    struct err e = {0};
    assert_non_null(mkdtemp(dir));
    if (authority_open(dir, &a, &e) < 0)
        fail_msg("%s", e.msg);
    snprintf(path, sizeof path, "%s/ca.pem", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/ca.key", dir);
    unlink(path);
    assert_int_equal(rmdir(dir), 0);
    return a;
}

struct party party_new(struct authority *a, enum identity_kind kind, const char *name, int64_t valid_s)
{
    struct party p;
    struct identity id = {.kind = kind, .role = kind == IDENTITY_OPERATOR ? ROLE_ADMIN : ROLE_NONE};
    CLEANUP_FREE char *csr = NULL;
    snprintf(id.name, sizeof id.name, "%s", name);
    assert_int_equal(tls_new_request(&p.key, &csr, NULL), 0);
    assert_int_equal(authority_sign(a, csr, &id, NULL, span_s(valid_s), &p.cert, NULL), 0);
    return p;
}

void party_free(struct party *p)
{
    free(p->key);
    free(p->cert);
}
