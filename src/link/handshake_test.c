/* SPDX-License-Identifier: Apache-2.0 */
#include "link/fixture_test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct authority *ours, *theirs;
static struct party controller, node, stranger, expired, operator;
static struct tls_context *serving;  /* as the controller; wants certificates */
static struct tls_context *node_tls; /* dials as the node */
static struct end *client;

enum { DAY_S = 86400 };

static struct tls_context *server_tls(const struct party *p, enum tls_peer peer)
{
    struct tls_context *c = NULL;
    struct err e = {0};
    if (tls_server_context(p->cert, p->key, authority_pem(ours), peer, &c, &e) < 0)
        fail_msg("%s", e.msg);
    return c;
}

static struct tls_context *client_tls(const struct party *p)
{
    struct tls_context *c = NULL;
    struct err e = {0};
    if (tls_client_context(p ? p->cert : NULL, p ? p->key : NULL, authority_pem(ours), &c, &e) < 0)
        fail_msg("%s", e.msg);
    return c;
}

static int group_setup(void **state)
{
    ours = authority_new();
    theirs = authority_new();
    controller = party_new(ours, IDENTITY_CONTROLLER, "c1", DAY_S);
    node = party_new(ours, IDENTITY_NODE, "lx01", DAY_S);
    expired = party_new(ours, IDENTITY_NODE, "lx02", -60);
    operator= party_new(ours, IDENTITY_OPERATOR, "ann", DAY_S);
    stranger = party_new(theirs, IDENTITY_NODE, "lx01", DAY_S);
    serving = server_tls(&controller, TLS_PEER_REQUIRED);
    node_tls = client_tls(&node);
    return 0;
}

static int group_teardown(void **state)
{
    tls_context_destroy(serving);
    tls_context_destroy(node_tls);
    party_free(&controller);
    party_free(&node);
    party_free(&expired);
    party_free(&operator);
    party_free(&stranger);
    authority_close(ours);
    authority_close(theirs);
    return 0;
}

static int setup(void **state)
{
    stream_handshake_limit = span_s(30);
    client = NULL;
    return fixture_setup(state);
}

static void pair_open(void)
{
    server_start(serving);
    client = end_dial(node_tls, "urn:fettle:controller:c1");
    run_until(client->opened && server_end && server_end->opened);
}

static void both_sides_know_each_other(void **state)
{
    pair_open();
    assert_int_equal(client->peer.kind, IDENTITY_CONTROLLER);
    assert_string_equal(client->peer.name, "c1");
    assert_int_equal(server_end->peer.kind, IDENTITY_NODE);
    assert_string_equal(server_end->peer.name, "lx01");
    end_write(client, "ping");
    run_until(server_end->got.len == 4);
    end_write(server_end, "pong");
    run_until(client->got.len == 4);
    stream_close(client->s);
    run_until(client->closed && server_end->closed);
    assert_true(client->clean);
    assert_true(server_end->clean);
}

static void any_controller_is_a_prefix(void **state)
{
    server_start(serving);
    client = end_dial(node_tls, "urn:fettle:controller:");
    run_until(client->opened && server_end && server_end->opened);
}

/* The client's handshake is over before the server has looked at its certificate, so it opens. */
static void server_refuses(struct tls_context *tls, int code, const char *why, int client_code)
{
    server_start(serving);
    client = end_dial(tls, NULL);
    end_write(client, "let me in");
    run_until(client->closed && server_end && server_end->closed);
    assert_int_equal(server_end->opened, 0);
    assert_null(server_end->got.s);
    assert_int_equal(server_end->why.code, code);
    if (!strstr(server_end->why.msg, why))
        fail_msg("%s", server_end->why.msg);
    assert_int_equal(client->why.code, client_code);
}

static void another_authoritys_client_is_refused(void **state)
{
    struct tls_context *tls = client_tls(&stranger);
    server_refuses(tls, -EPERM, "certificate was refused", -EPERM);
    tls_context_destroy(tls);
}

static void an_expired_client_is_refused(void **state)
{
    struct tls_context *tls = client_tls(&expired);
    server_refuses(tls, -EKEYEXPIRED, "expired, ", -EPERM);
    assert_non_null(strstr(client->why.msg, "expired"));
    tls_context_destroy(tls);
}

static void a_client_without_a_certificate_is_refused(void **state)
{
    struct tls_context *tls = client_tls(NULL);
    server_refuses(tls, -EPERM, "showed no certificate", -EPERM);
    assert_string_equal(client->why.msg, "it wants a certificate, and there is none here");
    tls_context_destroy(tls);
}

static void a_client_without_a_certificate_is_nobody_where_that_is_allowed(void **state)
{
    struct tls_context *open = server_tls(&controller, TLS_PEER_OPTIONAL), *tls = client_tls(NULL);
    server_start(open);
    client = end_dial(tls, NULL);
    run_until(client->opened && server_end && server_end->opened);
    assert_int_equal(server_end->peer.kind, IDENTITY_NONE);
    tls_context_destroy(open);
    tls_context_destroy(tls);
}

static void a_wrong_certificate_is_refused_even_where_none_is_needed(void **state)
{
    struct tls_context *open = server_tls(&controller, TLS_PEER_OPTIONAL), *tls = client_tls(&stranger);
    server_start(open);
    client = end_dial(tls, NULL);
    run_until(client->closed && server_end && server_end->closed);
    assert_int_equal(server_end->why.code, -EPERM);
    tls_context_destroy(open);
    tls_context_destroy(tls);
}

static void client_refuses(const struct party *as, const char *expect, int code, const char *why)
{
    struct tls_context *tls = server_tls(as, TLS_PEER_REQUIRED);
    server_start(tls);
    client = end_dial(node_tls, expect);
    run_until(client->closed);
    assert_int_equal(client->opened, 0);
    assert_int_equal(client->why.code, code);
    if (!strstr(client->why.msg, why))
        fail_msg("%s", client->why.msg);
    tls_context_destroy(tls);
}

static void another_authoritys_server_is_refused(void **state)
{
    client_refuses(&stranger, NULL, -EPERM, "certificate was refused");
}

static void an_expired_server_is_refused(void **state)
{
    client_refuses(&expired, NULL, -EKEYEXPIRED, "expired, ");
}

static void a_server_of_another_name_is_refused(void **state)
{
    client_refuses(&controller, "urn:fettle:controller:c2", -EPERM, "urn:fettle:controller:c1");
}

static void a_node_is_no_controller(void **state)
{
    client_refuses(&node, "urn:fettle:controller:", -EPERM, "urn:fettle:node:lx01");
}

static void an_operator_cannot_serve(void **state)
{
    client_refuses(&operator, NULL, -EPERM, "certificate was refused");
}

static void join(const struct party *server_as, const char *pin)
{
    struct tls_context *serve = server_tls(server_as, TLS_PEER_OPTIONAL), *tls = NULL;
    assert_int_equal(tls_join_context(pin, &tls, NULL), 0);
    server_start(serve);
    client = end_dial(tls, NULL);
    tls_context_destroy(tls); /* the connection keeps what it needs */
    run_until(client->closed || (client->opened && server_end->opened));
    tls_context_destroy(serve);
}

static void a_joining_node_believes_the_pinned_authority(void **state)
{
    join(&controller, authority_fingerprint(ours));
    assert_int_equal(client->opened, 1);
    assert_string_equal(client->peer.name, "c1");
}

static void a_joining_node_believes_no_other_authority(void **state)
{
    join(&controller, authority_fingerprint(theirs));
    assert_int_equal(client->opened, 0);
    assert_int_equal(client->why.code, -EPERM);
}

static void a_joining_node_believes_controllers_only(void **state)
{
    join(&node, authority_fingerprint(ours));
    assert_int_equal(client->opened, 0);
    assert_int_equal(client->why.code, -EPERM);
}

/* The pinned certificate is public: sending it at the end of one's own chain must not help. */
static void a_joining_node_checks_who_signed(void **state)
{
    struct party evil = party_new(theirs, IDENTITY_CONTROLLER, "c1", DAY_S);
    CLEANUP_TEXT struct text chain = {0};
    text_printf(&chain, "%s%s", evil.cert, authority_pem(ours));
    struct party both = {evil.key, chain.s};
    join(&both, authority_fingerprint(ours));
    assert_int_equal(client->opened, 0);
    assert_int_equal(client->why.code, -EPERM);
    party_free(&evil);
}

static void plain_garbage_is_refused(void **state)
{
    server_start(serving);
    const char *garbage[] = {"GET / HTTP/1.1\r\n\r\n", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                             "\x16\x03\x01\x02\x01garbage garbage"};
    for (size_t i = 0; i < 3; i++) {
        server_end = NULL;
        client = end_dial(NULL, NULL);
        end_write(client, garbage[i]);
        run_until(server_end && client->drained);
        stream_close(client->s);
        run_until(client->closed && server_end->closed);
        assert_int_equal(server_end->opened, 0);
        assert_false(server_end->clean);
    }
}

static void tls_1_2_is_refused(void **state)
{
    server_start(serving);
    SSL_CTX *old = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(old, TLS1_2_VERSION);
    SSL *ssl = SSL_new(old);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, in, out);
    assert_true(SSL_connect(ssl) < 0);
    CLEANUP_FREE char *hello = NULL;
    size_t n = (size_t)BIO_pending(out);
    hello = pem_take(out);
    client = end_dial(NULL, NULL);
    assert_int_equal(stream_write(client->s, hello, n), 0);
    run_until(client->closed && server_end && server_end->closed);
    assert_int_equal(server_end->why.code, -EPROTO);
    assert_string_equal(server_end->why.msg, "it does not offer TLS 1.3");
    SSL_free(ssl);
    SSL_CTX_free(old);
}

static void silent_sockets_lock_nobody_out(void **state)
{
    enum { SILENT = 800 };
    struct rlimit was, more;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    more = was;
    more.rlim_cur = more.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &more), 0);
    if (more.rlim_max < 2 * SILENT + 64)
        skip();
    server_start(serving);
    static int fds[SILENT];
    for (int i = 0; i < SILENT; i++)
        fds[i] = raw_dial();
    run_until(server_ends == SILENT);
    for (struct stream *s = server_end->s->hub->all; s; s = s->all_next)
        assert_null(s->wire.ssl); /* they cost no TLS object */
    client = end_dial(node_tls, NULL);
    run_until(client->opened && server_end->opened);
    assert_int_equal(server_ends, SILENT + 1);
    for (int i = 0; i < SILENT; i++)
        close(fds[i]);
    stream_abort_all(&loop);
    run_until(client->closed && server_end->closed);
    setrlimit(RLIMIT_NOFILE, &was);
}

static void many_at_once_all_get_in(void **state)
{
    enum { MANY = 100 };
    struct end *many[MANY];
    server_start(serving);
    for (int i = 0; i < MANY; i++)
        many[i] = end_dial(node_tls, NULL);
    for (int i = 0; i < MANY; i++)
        run_until(many[i]->opened);
    assert_int_equal(server_ends, MANY);
}

static void handshakes_under_way_come_first(void **state)
{
    server_start(serving);
    int fd = raw_dial();
    run_until(server_ends == 1);
    struct stream *fresh = server_end->s;
    client = end_dial(node_tls, NULL);
    run_until(server_ends == 2 && server_end->s->wire.ssl);
    assert_int_equal(server_end->opened, 0);
    struct stream *begun = server_end->s;
    handshake_queue(fresh);
    handshake_queue(begun);
    struct hub *h = fresh->hub;
    assert_ptr_equal(fresh->work, &h->fresh);
    assert_ptr_equal(begun->work, &h->started);
    while (h->started.head)
        handshake_run(h, mono_now()); /* no time is left: one step at most */
    assert_ptr_equal(fresh->work, &h->fresh);
    assert_null(fresh->wire.ssl);
    close(fd);
}

/* As long as streams wait they have the time that the handshakes before them had. */
static void newcomers_leave_time_to_waiting_handshakes(void **state)
{
    server_start(serving);
    struct stream *open[2];
    for (int i = 0; i < 2; i++) {
        client = end_dial(node_tls, NULL);
        run_until(client->opened && server_ends == i + 1 && server_end->opened);
        open[i] = server_end->s;
    }
    run_quiet();
    int fd = raw_dial();
    run_until(server_ends == 3);
    struct stream *fresh = server_end->s;
    struct hub *h = fresh->hub;
    handshake_queue(fresh);
    hub_queue(&h->ready, open[0]);
    hub_queue(&h->ready, open[1]);
    h->owed = span_s(60);
    h->until = (struct mono){1}; /* this turn has time for one of them */
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_ptr_equal(open[1]->work, &h->ready);
    assert_ptr_equal(fresh->work, &h->fresh);
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_null(h->ready.head);
    assert_null(fresh->work); /* nobody waits: its handshake has begun */
    close(fd);
}

static void a_silent_client_is_closed_at_the_deadline(void **state)
{
    stream_handshake_limit = span_ms(50);
    server_start(serving);
    int fd = raw_dial();
    run_until(server_end && server_end->closed);
    assert_int_equal(server_end->why.code, -ETIMEDOUT);
    assert_int_equal(server_end->opened, 0);
    close(fd);
}

static void half_a_hello_is_closed_at_the_deadline(void **state)
{
    stream_handshake_limit = span_ms(50);
    server_start(serving);
    int fd = raw_dial();
    assert_int_equal(send(fd, "\x16\x03\x01\x01\x00\x01", 6, 0), 6);
    run_until(server_end && server_end->closed);
    assert_int_equal(server_end->why.code, -ETIMEDOUT);
    close(fd);
}

static void a_silent_server_is_given_up_at_the_deadline(void **state)
{
    server_start(NULL); /* accepts and says nothing */
    stream_handshake_limit = span_ms(50);
    client = end_dial(node_tls, NULL);
    run_until(client->closed);
    assert_int_equal(client->why.code, -ETIMEDOUT);
    assert_int_equal(client->opened, 0);
}

static void an_open_stream_has_no_deadline(void **state)
{
    stream_handshake_limit = span_ms(300);
    pair_open();
    assert_false(uv_is_active((uv_handle_t *)&client->s->timer));
    assert_false(uv_is_active((uv_handle_t *)&server_end->s->timer));
}

static void an_end_without_goodbye_is_told(void **state)
{
    pair_open();
    stream_abort(client->s, NULL);
    run_until(server_end->closed);
    assert_int_equal(server_end->why.code, -ECONNRESET);
}

static char pattern(size_t at)
{
    return (char)(at * 31 + at / 977);
}

static void big_writes_arrive_whole_through_a_small_queue(void **state)
{
    enum { TOTAL = 3 << 20, STEP = 10000 };
    queue_bytes_max = 64 << 10;
    pair_open();
    struct end *ends[] = {client, server_end};
    size_t sent[2] = {0};
    char block[STEP];
    while (ends[0]->got.len < TOTAL || ends[1]->got.len < TOTAL) {
        for (int i = 0; i < 2; i++) {
            for (int r = 0; r == 0 && sent[i] < TOTAL;) {
                size_t n = TOTAL - sent[i] < STEP ? TOTAL - sent[i] : STEP;
                for (size_t j = 0; j < n; j++)
                    block[j] = pattern(sent[i] + j);
                r = stream_write(ends[i]->s, block, n);
                sent[i] += r == 0 ? n : 0;
            }
        }
        run_once();
    }
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < TOTAL; j++)
            if (ends[i]->got.s[j] != pattern(j))
                fail_msg("byte %zu is wrong", j);
}

static void pause_holds_back_what_tls_has_read_ahead(void **state)
{
    enum { MUCH = 200 << 10, ONE_READ = 16 << 10 };
    pair_open();
    server_end->react = REACT_PAUSE_ON_BYTES;
    CLEANUP_FREE char *much = mem_alloc(MUCH);
    assert_int_equal(stream_write(client->s, much, MUCH), 0);
    run_until(server_end->got.len > 0);
    run_until(client->drained);
    run_quiet();
    assert_true(server_end->got.len <= ONE_READ);
    server_end->react = REACT_NOT;
    stream_resume(server_end->s);
    run_until(server_end->got.len == MUCH);
}

static void records_that_tls_has_read_ahead_all_arrive(void **state)
{
    pair_open();
    stream_pause(server_end->s);
    for (int i = 1; i <= 50; i++) {
        end_write(client, "x");
        run_until(client->drained == i);
    }
    stream_resume(server_end->s);
    run_until(server_end->got.len == 50);
}

static void bytes_that_came_with_the_handshake_arrive(void **state)
{
    server_start(serving);
    client = end_dial(node_tls, NULL);
    end_write(client, "early");
    run_until(server_end && server_end->s->wire.ssl);
    assert_int_equal(server_end->opened, 0);
    uv_poll_stop(&server_end->s->poll); /* until the client's last flight and its bytes are both here */
    server_end->s->watching = 0;
    run_until(client->drained);
    stream_watch(server_end->s);
    run_until(server_end->got.len == strlen("early"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(both_sides_know_each_other),
        TEST(any_controller_is_a_prefix),
        TEST(another_authoritys_client_is_refused),
        TEST(an_expired_client_is_refused),
        TEST(a_client_without_a_certificate_is_refused),
        TEST(a_client_without_a_certificate_is_nobody_where_that_is_allowed),
        TEST(a_wrong_certificate_is_refused_even_where_none_is_needed),
        TEST(another_authoritys_server_is_refused),
        TEST(an_expired_server_is_refused),
        TEST(a_server_of_another_name_is_refused),
        TEST(a_node_is_no_controller),
        TEST(an_operator_cannot_serve),
        TEST(a_joining_node_believes_the_pinned_authority),
        TEST(a_joining_node_believes_no_other_authority),
        TEST(a_joining_node_believes_controllers_only),
        TEST(a_joining_node_checks_who_signed),
        TEST(plain_garbage_is_refused),
        TEST(tls_1_2_is_refused),
        TEST(silent_sockets_lock_nobody_out),
        TEST(many_at_once_all_get_in),
        TEST(handshakes_under_way_come_first),
        TEST(newcomers_leave_time_to_waiting_handshakes),
        TEST(a_silent_client_is_closed_at_the_deadline),
        TEST(half_a_hello_is_closed_at_the_deadline),
        TEST(a_silent_server_is_given_up_at_the_deadline),
        TEST(an_open_stream_has_no_deadline),
        TEST(an_end_without_goodbye_is_told),
        TEST(big_writes_arrive_whole_through_a_small_queue),
        TEST(pause_holds_back_what_tls_has_read_ahead),
        TEST(records_that_tls_has_read_ahead_all_arrive),
        TEST(bytes_that_came_with_the_handshake_arrive),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
