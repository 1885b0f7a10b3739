/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests against a server in the same loop that answers each path with the bytes of a table, however wrong
 * they are, and keeps what it was sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/text.h"
#include "fetch/fetch.h"

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ANSWERED_MS = 300, SLOW_NAME_S = 5 };

struct world {
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_timer_t metronome; /* a turn of the loop never waits for long */
    unsigned port, n_connections, n_requests;
    struct text asked; /* the last request */
    struct fetch *fetch;
    unsigned n_done;
    int status;
    struct text body;
    struct err why;
    struct fetch *ended; /* destroyed by the callback */
    bool sent;
    struct request *stream;
    struct text pieces;
    enum { GO_ON, STOP, DESTROY } on_piece;
    char dir[40];
};

struct connection {
    uv_tcp_t tcp;
    struct world *world;
    struct text in;
};

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Length: "

static const struct {
    const char *path, *answer;
} answers[] = {
    {"/ok", OK_HEAD "2\r\n\r\n{}"},
    {"/none", "HTTP/1.1 204 No Content\r\n\r\n"},
    {"/refused", "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno!"},
    {"/moved", "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n"},
    {"/half", OK_HEAD "100\r\n\r\nhalf"},
    {"/garbage", "hello\r\n\r\n"},
    {"/endless", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {"/away", ""},
    {"/stream", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"},
    {"/ends", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
};

static sem_t slow_names, looked_up;

/* A name that takes long to be looked up; libcurl calls this one. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **out)
{
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (node && strcmp(node, "slow.test") == 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += SLOW_NAME_S;
        sem_timedwait(&slow_names, &until);
        sem_post(&looked_up);
        return EAI_NONAME;
    }
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(node, service, hints, out);
}

static void on_closed(uv_handle_t *h)
{
    struct connection *c = h->data;
    text_fini(&c->in);
    free(c);
}

static void on_written(uv_write_t *w, int status)
{
    free(w->data);
    free(w);
}

static void send_bytes(struct connection *c, const char *bytes, size_t len)
{
    uv_write_t *w = mem_alloc(sizeof *w);
    w->data = mem_dup_len(bytes, len);
    uv_buf_t buf = uv_buf_init(w->data, (unsigned)len);
    uv_write(w, (uv_stream_t *)&c->tcp, &buf, 1, on_written);
}

static void send_much(struct connection *c)
{
    size_t piece = 1 << 20;
    char *zeros = mem_alloc(piece);
    for (int i = 0; i < 5; i++) {
        send_bytes(c, "100000\r\n", 8);
        send_bytes(c, zeros, piece);
        send_bytes(c, "\r\n", 2);
    }
    free(zeros);
}

static void answer(struct connection *c)
{
    const char *path = strchr(c->in.s, ' ') + 1;
    size_t n = strcspn(path, " ?");
    c->world->n_requests++;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (strlen(answers[i].path) != n || strncmp(path, answers[i].path, n) != 0)
            continue;
        const char *bytes = answers[i].answer;
        if (bytes[0])
            send_bytes(c, bytes, strlen(bytes));
        if (strncmp(path, "/endless", n) == 0)
            send_much(c);
        if (strncmp(path, "/half", n) == 0 || !bytes[0])
            uv_close((uv_handle_t *)&c->tcp, on_closed);
        return;
    }
    /* any other path is never answered */
}

static void on_room(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    *buf = uv_buf_init(mem_alloc(suggested), (unsigned)suggested);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
    struct connection *c = s->data;
    if (n > 0)
        text_add_bytes(&c->in, buf->base, (size_t)n);
    free(buf->base);
    if (n < 0) {
        if (!uv_is_closing((uv_handle_t *)s))
            uv_close((uv_handle_t *)s, on_closed);
        return;
    }
    const char *end = c->in.s ? strstr(c->in.s, "\r\n\r\n") : NULL;
    const char *length = c->in.s ? strstr(c->in.s, "Content-Length: ") : NULL;
    if (!end || (length && !end[4]))
        return;
    text_clear(&c->world->asked);
    text_add(&c->world->asked, c->in.s);
    answer(c);
    if (!uv_is_closing((uv_handle_t *)s))
        text_clear(&c->in);
}

static void on_connection(uv_stream_t *s, int status)
{
    struct world *w = s->data;
    struct connection *c = mem_alloc(sizeof *c);
    c->world = w;
    w->n_connections++;
    uv_tcp_init(&w->loop, &c->tcp);
    c->tcp.data = c;
    uv_accept(s, (uv_stream_t *)&c->tcp);
    uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read);
}

static void options(struct world *w, const char *token)
{
    fetch_destroy(w->fetch);
    w->fetch = fetch_create(&w->loop, &(struct fetch_options){.token = token, .answered_ms = ANSWERED_MS});
}

static void on_metronome(uv_timer_t *t)
{
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    struct sockaddr_in at;
    int len = sizeof at;
    *w = (struct world){.dir = "/tmp/fettle-fetch-XXXXXX"};
    *state = w;
    assert_non_null(mkdtemp(w->dir));
    uv_loop_init(&w->loop);
    uv_timer_init(&w->loop, &w->metronome);
    uv_timer_start(&w->metronome, on_metronome, 5, 5);
    uv_tcp_init(&w->loop, &w->listener);
    w->listener.data = w;
    uv_ip4_addr("127.0.0.1", 0, &at);
    uv_tcp_bind(&w->listener, (struct sockaddr *)&at, 0);
    assert_int_equal(uv_listen((uv_stream_t *)&w->listener, 16, on_connection), 0);
    uv_tcp_getsockname(&w->listener, (struct sockaddr *)&at, &len);
    w->port = ntohs(at.sin_port);
    options(w, NULL);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fetch_destroy(w->fetch);
    uv_close((uv_handle_t *)&w->listener, NULL);
    uv_close((uv_handle_t *)&w->metronome, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    text_fini(&w->asked);
    text_fini(&w->body);
    text_fini(&w->pieces);
    assert_int_equal(rmdir(w->dir), 0);
    free(w);
    return 0;
}

static void on_done(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct world *w = arg;
    w->n_done++;
    w->sent = fetch_sent(w->fetch);
    w->status = status;
    w->why = *why;
    text_clear(&w->body);
    text_add_bytes(&w->body, body, len);
    assert_int_equal(body[len], '\0');
    if (w->ended) {
        fetch_destroy(w->ended);
        w->fetch = w->ended = NULL;
    }
}

static void start(struct world *w, const char *method, const char *path, const char *body)
{
    CLEANUP_TEXT struct text url = {0};
    text_printf(&url, "http://127.0.0.1:%u%s", w->port, path);
    fetch_start(w->fetch, method, url.s, body, on_done, w);
}

static int ask_url(struct world *w, const char *url)
{
    unsigned before = w->n_done;
    fetch_start(w->fetch, "GET", url, NULL, on_done, w);
    assert_int_equal(w->n_done, before); /* later, never from within */
    while (w->n_done == before)
        uv_run(&w->loop, UV_RUN_ONCE);
    return w->status;
}

static int ask(struct world *w, const char *method, const char *path, const char *body)
{
    unsigned before = w->n_done;
    start(w, method, path, body);
    assert_int_equal(w->n_done, before);
    while (w->n_done == before)
        uv_run(&w->loop, UV_RUN_ONCE);
    return w->status;
}

static void test_an_answer_is_status_and_body(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", "/ok", NULL), 200);
    assert_string_equal(w->body.s, "{}");
    assert_int_equal(ask(w, "PATCH", "/none", "{\"a\":1}"), 204);
    assert_int_equal(w->body.len, 0);
    assert_int_equal(strncmp(w->asked.s, "PATCH /none HTTP/1.1\r\n", 22), 0);
    assert_non_null(strstr(w->asked.s, "Content-Type: application/json\r\n"));
    assert_non_null(strstr(w->asked.s, "\r\n\r\n{\"a\":1}"));
    assert_null(strstr(w->asked.s, "Authorization"));
    assert_int_equal(ask(w, "DELETE", "/refused", NULL), 404);
    assert_string_equal(w->body.s, "no!");
}

static void test_a_redirect_is_an_answer(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", "/moved", NULL), 302);
    assert_int_equal(w->n_requests, 1);
}

static void test_a_broken_answer_is_status_0_with_words(void **state)
{
    struct world *w = *state;
    static const char *const paths[] = {"/half", "/garbage", "/away", "/never"};
    static const int codes[] = {-EPROTO, -EPROTO, -EPROTO, -ETIMEDOUT};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(ask(w, "GET", paths[i], NULL), 0);
        assert_int_equal(w->why.code, codes[i]);
        assert_true(w->why.msg[0]);
    }
}

static void test_nobody_there_is_said(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask_url(w, "http://127.0.0.1:1/"), 0);
    assert_int_equal(w->why.code, -ECONNREFUSED);
}

static void test_a_long_answer_is_cut_off(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", "/endless", NULL), 0);
    assert_int_equal(w->why.code, -E2BIG);
    assert_string_equal(w->why.msg, "the answer is longer than 4194304 bytes");
}

static void test_no_other_protocols(void **state)
{
    struct world *w = *state;
    static const char *const urls[] = {
        "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "", "::", "http://user@127.0.0.1/"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        assert_int_equal(ask_url(w, urls[i]), 0);
        assert_true(w->why.msg[0]);
    }
}

static void test_no_proxy_of_the_environment(void **state)
{
    struct world *w = *state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    assert_int_equal(ask(w, "GET", "/ok", NULL), 200);
    unsetenv("http_proxy");
}

static void write_token(const char *path, const char *bytes, size_t len)
{
    FILE *f = fopen(path, "w");
    assert_int_equal(fchmod(fileno(f), 0600), 0);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    fclose(f);
}

static void test_the_token_is_read_each_time(void **state)
{
    struct world *w = *state;
    char path[64];
    snprintf(path, sizeof path, "%s/token", w->dir);
    options(w, path);
    write_token(path, "first.token\n", 12);
    assert_int_equal(ask(w, "GET", "/ok", NULL), 200);
    assert_non_null(strstr(w->asked.s, "\r\nAuthorization: Bearer first.token\r\n"));
    write_token(path, "second", 6);
    assert_int_equal(ask(w, "GET", "/ok", NULL), 200);
    assert_non_null(strstr(w->asked.s, "\r\nAuthorization: Bearer second\r\n"));
    unlink(path);
}

static void test_a_token_that_is_none_sends_nothing(void **state)
{
    struct world *w = *state;
    char path[64];
    snprintf(path, sizeof path, "%s/token", w->dir);
    options(w, path);
    assert_int_equal(ask(w, "GET", "/ok", NULL), 0);
    assert_non_null(strstr(w->why.msg, path));
    static const char *const wrong[] = {"", " \n", "a\r\nX-Evil: 1", "two words", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_token(path, wrong[i], strlen(wrong[i]));
        assert_int_equal(ask(w, "GET", "/ok", NULL), 0);
    }
    char *long_one = mem_alloc(FETCH_TOKEN_BYTES_MAX + 1);
    memset(long_one, 'a', FETCH_TOKEN_BYTES_MAX + 1);
    write_token(path, long_one, FETCH_TOKEN_BYTES_MAX + 1);
    assert_int_equal(ask(w, "GET", "/ok", NULL), 0);
    free(long_one);
    write_token(path, "good", 4);
    assert_int_equal(chmod(path, 0640), 0); /* others have read it */
    assert_int_equal(ask(w, "GET", "/ok", NULL), 0);
    assert_non_null(strstr(w->why.msg, "others than its owner may read"));
    unlink(path);
    options(w, w->dir); /* no file at all */
    assert_int_equal(ask(w, "GET", "/ok", NULL), 0);
    assert_int_equal(w->n_requests, 0);
}

static void on_header(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct world *w = arg;
    assert_string_equal(fetch_header(w->fetch, "location"), "/ok");
    assert_string_equal(fetch_header(w->fetch, "ETag"), "");
    on_done(arg, status, body, len, why);
}

static void test_a_user_an_etag_and_a_header(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text url = {0};
    fetch_destroy(w->fetch);
    const struct fetch_options o = {.user = "admin", .password = "two words", .answered_ms = ANSWERED_MS};
    w->fetch = fetch_create(&w->loop, &o);
    text_printf(&url, "http://127.0.0.1:%u/moved", w->port);
    fetch_start_if(w->fetch, "W/\"1\"", "PATCH", url.s, "{}", on_header, w);
    while (w->n_done == 0)
        uv_run(&w->loop, UV_RUN_ONCE);
    assert_int_equal(w->status, 302);
    assert_non_null(strstr(w->asked.s, "\r\nAuthorization: Basic YWRtaW46dHdvIHdvcmRz\r\n"));
    assert_non_null(strstr(w->asked.s, "\r\nIf-Match: W/\"1\"\r\n"));
    assert_string_equal(fetch_header(w->fetch, "Location"), ""); /* only while it is told */
    fetch_start_if(w->fetch, "a\r\nX: y", "GET", url.s, NULL, on_done, w);
    while (w->n_done == 1)
        uv_run(&w->loop, UV_RUN_ONCE);
    assert_int_equal(w->why.code, -EINVAL);
    assert_int_equal(w->n_requests, 1);
}

/* A POST is sent once, on a connection of its own, even if the server hangs up on it. */
static void test_a_post_is_sent_once(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, "GET", "/ok", NULL), 200);
    assert_int_equal(ask(w, "GET", "/ok", NULL), 200);
    assert_int_equal(w->n_connections, 1); /* others share theirs */
    assert_int_equal(ask(w, "POST", "/away", "{}"), 0);
    assert_int_equal(w->n_requests, 3);
    assert_int_equal(w->n_connections, 2);
}

/* A server that is asked often keeps the connection, and still nothing is sent twice. */
static void test_a_post_on_a_kept_connection_is_sent_once(void **state)
{
    struct world *w = *state;
    fetch_destroy(w->fetch);
    w->fetch = fetch_create(&w->loop, &(struct fetch_options){.header = "X-More: 1",
                                                              .answered_ms = ANSWERED_MS,
                                                              .keeps_connections = true});
    assert_int_equal(ask(w, "POST", "/ok", "{}"), 200);
    assert_int_equal(ask(w, "POST", "/ok", "{\"a\":1}"), 200);
    assert_non_null(strstr(w->asked.s, "\r\nX-More: 1\r\n"));
    assert_non_null(strstr(w->asked.s, "\r\n\r\n{\"a\":1}"));
    assert_int_equal(w->n_connections, 1);
    assert_int_equal(ask(w, "POST", "/away", "{}"), 0);
    assert_true(w->sent);
    assert_int_equal(w->n_requests, 3); /* libcurl may connect anew, and has no body to send then */
}

static void test_a_request_that_was_not_sent_is_known(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask_url(w, "http://127.0.0.1:1/"), 0);
    assert_false(w->sent);
    assert_int_equal(ask(w, "GET", "/never", NULL), 0);
    assert_true(w->sent);
}

static void on_piece(void *arg, const char *bytes, size_t len)
{
    struct world *w = arg;
    text_add_bytes(&w->pieces, bytes, len);
    if (w->on_piece == STOP)
        fetch_stop(w->stream);
    if (w->on_piece == DESTROY)
        fetch_destroy(STEAL(w->fetch));
}

static void stream(struct world *w, const char *path)
{
    CLEANUP_TEXT struct text url = {0};
    text_printf(&url, "http://127.0.0.1:%u%s", w->port, path);
    text_clear(&w->pieces);
    w->n_done = 0;
    w->stream = fetch_stream(w->fetch, "POST", url.s, "{}", on_piece, on_done, w);
    while (w->n_done == 0 && !w->pieces.len)
        uv_run(&w->loop, UV_RUN_ONCE);
}

/* It lasts longer than any answer may. */
static void test_a_stream_lasts(void **state)
{
    struct world *w = *state;
    stream(w, "/stream");
    assert_string_equal(w->pieces.s, "abc");
    assert_int_equal(ask(w, "GET", "/never", NULL), 0);
    assert_int_equal(w->why.code, -ETIMEDOUT);
    assert_int_equal(ask(w, "GET", "/never", NULL), 0);
    assert_int_equal(w->n_done, 2); /* and neither was the stream */
    fetch_stop(w->stream);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(w->n_done, 2);
}

static void test_a_stream_that_ends_is_told_last(void **state)
{
    struct world *w = *state;
    stream(w, "/ends");
    while (w->n_done == 0)
        uv_run(&w->loop, UV_RUN_ONCE);
    assert_string_equal(w->pieces.s, "abc");
    assert_int_equal(w->status, 200);
    assert_int_equal(w->body.len, 0);
    stream(w, "/away");
    assert_int_equal(w->n_done, 1);
    assert_int_equal(w->status, 0);
}

static void test_a_piece_may_end_all(void **state)
{
    struct world *w = *state;
    static const char *const paths[] = {"/stream", "/ends"};
    w->on_piece = STOP;
    for (size_t i = 0; i < 2; i++) {
        stream(w, paths[i]);
        uv_run(&w->loop, UV_RUN_NOWAIT);
        assert_string_equal(w->pieces.s, "abc");
    }
    w->on_piece = DESTROY;
    for (size_t i = 0; i < 2; i++) {
        stream(w, paths[i]);
        assert_null(w->fetch);
        options(w, NULL);
    }
    assert_int_equal(w->n_done, 0);
}

static void test_many_at_once(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 100; i++)
        start(w, i % 2 ? "GET" : "POST", i % 3 ? "/ok" : "/half", i % 2 ? NULL : "{}");
    while (w->n_done < 100)
        uv_run(&w->loop, UV_RUN_ONCE);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(w->n_done, 100);
}

static void test_destroy_calls_nobody(void **state)
{
    struct world *w = *state;
    start(w, "GET", "/never", NULL);
    fetch_start(w->fetch, "GET", "gopher://x/", NULL, on_done, w);
    for (int i = 0; i < 3; i++) {
        uv_run(&w->loop, UV_RUN_NOWAIT);
        start(w, "GET", "/never", NULL);
    }
    unsigned before = w->n_done;
    fetch_destroy(w->fetch);
    w->fetch = NULL;
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(w->n_done, before);
}

static void test_a_callback_may_destroy(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 5; i++)
        start(w, "GET", "/ok", NULL);
    w->ended = w->fetch;
    while (w->fetch)
        uv_run(&w->loop, UV_RUN_ONCE);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(w->n_done, 1);
}

static void on_beat(uv_timer_t *t)
{
    int64_t *last_and_longest = t->data, now = mono_now().ns;
    if (now - last_and_longest[0] > last_and_longest[1])
        last_and_longest[1] = now - last_and_longest[0];
    last_and_longest[0] = now;
}

/* Neither the looking up nor the giving up of it stops the loop. */
static void test_a_slow_name_does_not_stop_the_loop(void **state)
{
    struct world *w = *state;
    sem_init(&slow_names, 0, 0);
    sem_init(&looked_up, 0, 0);
    int64_t last_and_longest[2] = {mono_now().ns, 0};
    uv_timer_t beat;
    uv_timer_init(&w->loop, &beat);
    beat.data = last_and_longest;
    uv_timer_start(&beat, on_beat, 10, 10);
    struct mono begun = mono_now();
    assert_int_equal(ask_url(w, "http://slow.test:9/"), 0);
    assert_int_equal(w->why.code, -ETIMEDOUT);
    fetch_start(w->fetch, "GET", "http://slow.test:9/", NULL, on_done, w);
    uv_run(&w->loop, UV_RUN_ONCE);
    fetch_destroy(w->fetch);
    w->fetch = NULL;
    assert_true(mono_sub(mono_now(), begun).ns < span_s(SLOW_NAME_S).ns / 2);
    assert_true(last_and_longest[1] < span_s(SLOW_NAME_S).ns / 2);
    uv_close((uv_handle_t *)&beat, NULL);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    for (int i = 0; i < 2; i++) /* libcurl has left its look-ups alone */
        sem_post(&slow_names);
    for (int i = 0; i < 2; i++)
        sem_wait(&looked_up);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_answer_is_status_and_body),
        TEST(test_a_redirect_is_an_answer),
        TEST(test_a_broken_answer_is_status_0_with_words),
        TEST(test_nobody_there_is_said),
        TEST(test_a_long_answer_is_cut_off),
        TEST(test_no_other_protocols),
        TEST(test_no_proxy_of_the_environment),
        TEST(test_the_token_is_read_each_time),
        TEST(test_a_token_that_is_none_sends_nothing),
        TEST(test_a_user_an_etag_and_a_header),
        TEST(test_a_post_is_sent_once),
        TEST(test_a_post_on_a_kept_connection_is_sent_once),
        TEST(test_a_request_that_was_not_sent_is_known),
        TEST(test_a_stream_lasts),
        TEST(test_a_stream_that_ends_is_told_last),
        TEST(test_a_piece_may_end_all),
        TEST(test_many_at_once),
        TEST(test_destroy_calls_nobody),
        TEST(test_a_callback_may_destroy),
        TEST(test_a_slow_name_does_not_stop_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
