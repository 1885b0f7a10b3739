/* SPDX-License-Identifier: Apache-2.0 */
/* A leader that tells and a controller that is told, over TLS, in one loop. */
#include "controller/observe/observer.h"
#include "controller/observe/teller.h"
#include "link/stream.h"
#include "watch/watch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TIMEOUT_S = 60 };

struct scene {
    uv_loop_t loop;
    uv_timer_t beat; /* a turn ends each millisecond */
    struct cluster *c;
    struct watch_policy policy;
    struct watch *leads, *follows;
    char dir[32];
    struct authority *ca;
    struct tls_context *server_tls, *client_tls;
    struct http_server *server;
    struct teller *teller;
    struct observer *observer;
    struct wall until;
    struct text address;
    int refused;
};

static bool refuse(void *arg, const struct command *cmd)
{
    return false;
}

static void mute(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void no_alarm(void *arg, const struct alarm *a, const char *over)
{
}

static const struct watch_sink sink = {NULL, refuse, mute, no_alarm};

static struct tls_context *context(struct scene *s, const char *uri, bool server)
{
    CLEANUP_FREE char *key = NULL, *csr = NULL, *cert = NULL;
    struct identity id;
    struct tls_context *tls = NULL;
    struct err e;
    if (identity_parse(uri, &id, &e) < 0 || tls_new_request(&key, &csr, &e) < 0 ||
        authority_sign(s->ca, csr, &id, NULL, span_s(3600), &cert, &e) < 0)
        fail_msg("%s", e.msg);
    int rc = server ? tls_server_context(cert, key, authority_pem(s->ca), TLS_PEER_OPTIONAL, &tls, &e)
                    : tls_client_context(cert, key, authority_pem(s->ca), &tls, &e);
    if (rc < 0)
        fail_msg("%s", e.msg);
    return tls;
}

static void on_request(void *arg, struct http_request *r)
{
    struct scene *s = arg;
    struct err e;
    assert_int_equal(stream_peer(http_stream(r))->kind, IDENTITY_CONTROLLER);
    assert_string_equal(http_path(r), "/v1/observed");
    e.code = s->teller ? teller_add(s->teller, r, s->until, &e) : err_set(&e, -EREMOTE, "it does not lead");
    s->refused += e.code < 0;
    if (e.code < 0)
        http_answer_err(r, &e);
}

static void on_party(void *arg, struct stream *stream, struct party *out)
{
    snprintf(out->name, sizeof out->name, "%s", stream_peer(stream)->name);
}

static void tell(struct scene *s, uint64_t instance)
{
    const struct teller_setup setup = {
        .loop = &s->loop, .watch = s->leads, .origin = cluster_origin(s->c), .term = 1, .instance = instance};
    s->teller = teller_create(&setup);
}

static void roster_make(struct cluster *c, size_t n)
{
    struct roster r = {.n = n, .nodes = mem_alloc(n * sizeof *r.nodes), .partition_max = 31};
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%04zu", i);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    cluster_configure(c, &r, NULL);
}

static void on_beat(uv_timer_t *timer)
{
}

static void scene_init(struct scene *s, size_t nodes, const char *server)
{
    static const struct slots_limits door = {.all = 100, .each = 100, .reserve = 4};
    struct err e;
    *s = (struct scene){.dir = "/tmp/fettle-observe-XXXXXX", .c = cluster_create()};
    s->policy = (struct watch_policy){.plain = {span_s(3000), span_s(9000)},
                                      .sensitive = {span_s(3000), span_s(9000)},
                                      .borrowed = {span_s(3000), span_s(9000)},
                                      .quiet = span_s(3000),
                                      .silent_share_percent = 25,
                                      .conform = {span_s(3600 * 13), span_s(3600 * 24), span_s(3600 * 4), 10},
                                      .judge = true};
    roster_make(s->c, nodes);
    assert_int_equal(uv_loop_init(&s->loop), 0);
    uv_timer_init(&s->loop, &s->beat);
    uv_timer_start(&s->beat, on_beat, 1, 1);
    assert_non_null(mkdtemp(s->dir));
    if (authority_open(s->dir, &s->ca, &e) < 0)
        fail_msg("%s", e.msg);
    s->server_tls = context(s, server, true);
    s->client_tls = context(s, "urn:fettle:controller:c2", false);
    s->leads = watch_create(s->c, &s->policy, mono_now(), &sink);
    s->follows = watch_create(s->c, &s->policy, mono_now(), &sink);
    tell(s, 7);
    s->server = http_server_create(&s->loop, &door, on_request, on_party, s);
    if (http_server_listen_tls(s->server, "127.0.0.1", 0, s->server_tls, &e) < 0)
        fail_msg("%s", e.msg);
    text_printf(&s->address, "127.0.0.1:%u", (unsigned)http_server_port(s->server));
    const struct observer_setup setup = {
        .loop = &s->loop, .cluster = s->c, .watch = s->follows, .policy = &s->policy, .tls = s->client_tls};
    s->observer = observer_create(&setup);
}

static void scene_fini(struct scene *s)
{
    static const char *const files[] = {"ca.pem", "ca.key"};
    uv_close((uv_handle_t *)&s->beat, NULL);
    observer_destroy(s->observer);
    http_server_destroy(s->server);
    teller_destroy(s->teller);
    stream_abort_all(&s->loop);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&s->loop), 0);
    tls_context_destroy(s->server_tls);
    tls_context_destroy(s->client_tls);
    authority_close(s->ca);
    watch_destroy(s->leads);
    watch_destroy(s->follows);
    cluster_destroy(s->c);
    text_fini(&s->address);
    for (size_t i = 0; i < 2; i++) {
        CLEANUP_TEXT struct text path = {0};
        text_printf(&path, "%s/%s", s->dir, files[i]);
        assert_int_equal(unlink(path.s), 0);
    }
    assert_int_equal(rmdir(s->dir), 0);
}

static struct member *node(const struct scene *s, unsigned i)
{
    return cluster_by_id(s->c, i);
}

static char padding[64 << 10];

static void inventory(struct scene *s, unsigned i, unsigned cpus)
{
    CLEANUP_JSON json_t *body = json_pack("{s:b,s:s,s:{s:i,s:s}}", "full", 1, "hash", "0123456789abcdef",
                                          "set", "CPUs", (int)cpus, "Padding", padding);
    assert_int_equal(watch_inventory(s->leads, node(s, i), body, NULL), 0);
}

static uint64_t cpus_at_the_follower(const struct scene *s, unsigned i)
{
    return watch_report(s->follows, node(s, i))->cpus.value;
}

/* A turn of both controllers. */
static void turn(struct scene *s)
{
    uv_run(&s->loop, UV_RUN_ONCE);
    if (s->teller)
        teller_turn(s->teller, mono_now());
    observer_turn(s->observer, mono_now());
}

static bool is_told(const struct scene *s)
{
    struct span age;
    return observer_age(s->observer, mono_now(), &age, NULL) == 0;
}

#define turn_until(s, condition)                                         \
    do {                                                                 \
        struct mono turn_end_ = mono_add(mono_now(), span_s(TIMEOUT_S)); \
        while (!(condition)) {                                           \
            if (mono_now().ns > turn_end_.ns)                            \
                fail_msg("did not come: %s", #condition);                \
            turn(s);                                                     \
        }                                                                \
    } while (0)

static void test_what_is_observed_is_told(void **state)
{
    struct scene s;
    struct span age;
    struct err e;
    scene_init(&s, 300, "urn:fettle:controller:c1");
    for (unsigned i = 0; i < 300; i++)
        inventory(&s, i, 4);
    assert_int_equal(observer_age(s.observer, mono_now(), &age, &e), -EREMOTE);
    assert_true(age.ns < 0);
    observer_leader(s.observer, s.address.s);
    turn_until(&s, is_told(&s));
    for (unsigned i = 0; i < 300; i++)
        assert_int_equal(cpus_at_the_follower(&s, i), 4);
    inventory(&s, 17, 8);
    turn_until(&s, cpus_at_the_follower(&s, 17) == 8);
    assert_int_equal(teller_readers(s.teller), 1);
    assert_int_equal(observer_age(s.observer, mono_now(), &age, &e), 0);
    scene_fini(&s);
}

/* The old picture answers until the new one is whole, and its age grows. */
static void test_after_a_cut_all_is_read_anew(void **state)
{
    struct scene s;
    struct span age, later;
    struct err e;
    scene_init(&s, 20, "urn:fettle:controller:c1");
    inventory(&s, 3, 4);
    observer_leader(s.observer, s.address.s);
    turn_until(&s, is_told(&s));
    teller_destroy(STEAL(s.teller));
    turn_until(&s, !is_told(&s));
    assert_int_equal(observer_age(s.observer, mono_now(), &age, &e), -EREMOTE);
    turn(&s);
    observer_age(s.observer, mono_now(), &later, &e);
    assert_true(later.ns > age.ns);
    assert_int_equal(cpus_at_the_follower(&s, 3), 4);
    turn_until(&s, s.refused > 0);
    inventory(&s, 3, 8);
    tell(&s, 8);
    turn_until(&s, is_told(&s));
    assert_int_equal(cpus_at_the_follower(&s, 3), 8);
    scene_fini(&s);
}

static void test_no_leader_and_another_one(void **state)
{
    struct scene s;
    scene_init(&s, 2, "urn:fettle:controller:c1");
    observer_leader(s.observer, s.address.s);
    turn_until(&s, is_told(&s));
    observer_leader(s.observer, "");
    assert_false(is_told(&s));
    turn_until(&s, teller_readers(s.teller) == 0);
    observer_leader(s.observer, s.address.s);
    turn_until(&s, is_told(&s));
    observer_anew(s.observer);
    assert_false(is_told(&s));
    turn_until(&s, is_told(&s));
    scene_fini(&s);
}

/* Only a controller is believed. */
static void test_a_node_tells_nothing(void **state)
{
    struct scene s;
    struct span age;
    struct err e = {0};
    scene_init(&s, 2, "urn:fettle:node:lx0001");
    observer_leader(s.observer, s.address.s);
    turn_until(&s, observer_age(s.observer, mono_now(), &age, &e) == -EREMOTE && strstr(e.msg, "lx0001"));
    assert_int_equal(teller_readers(s.teller), 0);
    scene_fini(&s);
}

/* --- readers that are broken --------------------------------------------------------------------------- */

struct raw {
    struct stream *s;
    struct text got;
    bool pauses, closed;
    unsigned walks; /* ends of walks that were told */
};

static void raw_open(struct stream *s, void *arg)
{
    static const char request[] = "GET /v1/observed HTTP/1.0\r\nHost: h\r\n\r\n";
    stream_write(s, request, sizeof request - 1);
}

static void raw_bytes(struct stream *s, void *arg, const char *bytes, size_t n)
{
    struct raw *r = arg;
    text_add_bytes(&r->got, bytes, n);
    r->walks += memmem(bytes, n, "event: now", 10) != NULL;
    if (r->pauses)
        stream_pause(s);
}

static void raw_close(struct stream *s, void *arg, const struct err *why)
{
    ((struct raw *)arg)->closed = true;
}

static void raw_dial(struct scene *s, struct raw *r)
{
    static const struct stream_events events = {
        .on_open = raw_open, .on_bytes = raw_bytes, .on_close = raw_close};
    r->s = stream_dial(&s->loop, "127.0.0.1", http_server_port(s->server), s->client_tls, NULL, 4096, &events,
                       r);
}

static void test_readers_are_not_too_many(void **state)
{
    struct scene s;
    struct raw all[TELLER_READERS_MAX + 1] = {{0}};
    scene_init(&s, 2, "urn:fettle:controller:c1");
    for (size_t i = 0; i <= TELLER_READERS_MAX; i++)
        raw_dial(&s, &all[i]);
    turn_until(&s, s.refused == 1 && teller_readers(s.teller) == TELLER_READERS_MAX);
    scene_fini(&s);
    for (size_t i = 0; i <= TELLER_READERS_MAX; i++)
        text_fini(&all[i].got);
}

static size_t times(const struct raw *r, const char *what)
{
    size_t n = 0;
    for (const char *at = r->got.s; at && (at = strstr(at, what)); at++)
        n++;
    return n;
}

/* More is to be told than the connection holds. When the reader goes on, it gets what is true then, and not
 * each change. */
static void test_a_slow_reader_is_told_the_newest(void **state)
{
    enum { NODES = 300, ROUNDS = 2, TURNS = 20 };
    struct scene s;
    struct raw slow = {.pauses = true};
    scene_init(&s, NODES, "urn:fettle:controller:c1");
    memset(padding, 'x', sizeof padding - 1);
    for (unsigned i = 0; i < NODES; i++)
        inventory(&s, i, 1);
    raw_dial(&s, &slow);
    turn_until(&s, slow.got.len > 0);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < NODES; i++)
            inventory(&s, i, round == ROUNDS ? 777 : round);
        for (unsigned i = 0; i < TURNS; i++)
            turn(&s);
    }
    assert_int_equal(slow.walks, 0);
    slow.pauses = false;
    if (!slow.closed) { /* else the HTTP server's 30 s for a reader without progress came first, on a busy
                           machine */
        stream_resume(slow.s);
        turn_until(&s, slow.walks >= 2);
        assert_true(times(&slow, "\"CPUs\":777") >= NODES); /* a walk may tell some twice */
        assert_true(times(&slow, "event: node") <= 2 * NODES);
    }
    memset(padding, 0, sizeof padding);
    scene_fini(&s);
    text_fini(&slow.got);
}

/* A token that ends, ends the reading. */
static void test_a_stream_has_an_end(void **state)
{
    struct scene s;
    struct raw r = {0};
    scene_init(&s, 2, "urn:fettle:controller:c1");
    s.until = (struct wall){wall_now().ns + span_ms(300).ns};
    raw_dial(&s, &r);
    turn_until(&s, r.closed);
    assert_int_equal(teller_readers(s.teller), 0);
    assert_int_equal(times(&r, "event: whole"), 1);
    scene_fini(&s);
    text_fini(&r.got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_observed_is_told),
        cmocka_unit_test(test_after_a_cut_all_is_read_anew),
        cmocka_unit_test(test_no_leader_and_another_one),
        cmocka_unit_test(test_a_node_tells_nothing),
        cmocka_unit_test(test_readers_are_not_too_many),
        cmocka_unit_test(test_a_slow_reader_is_told_the_newest),
        cmocka_unit_test(test_a_stream_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
