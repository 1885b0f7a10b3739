/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "agent/body.h"
#include "agent/fake.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The whole life of agents against a controller that says what the test wants. */

#define WELCOME(interval_ms, want) \
    "{\"interval_ms\":" #interval_ms ",\"spread_ms\":10,\"term\":3,\"controller\":\"c1\",\"want\":" #want "}"

struct node {
    struct agent *agent;
    char *home, *root;
    bool done;
    struct err why;
};

static int open_fake(void **state)
{
    struct fake *f = mem_alloc(sizeof *f);
    fake_init(f);
    f->welcome = WELCOME(60000, false);
    *state = f;
    return 0;
}

static int close_fake(void **state)
{
    struct fake *f = *state;
    fake_fini(f);
    free(f);
    return 0;
}

static void on_done(void *arg, const struct err *why)
{
    struct node *n = arg;
    n->done = true;
    n->agent = NULL;
    if (why)
        n->why = *why;
}

static bool is_done(void *arg)
{
    return ((struct node *)arg)->done;
}

static void start_with(struct fake *f, struct node *n, const char *name, bool once)
{
    struct address_list none = {0};
    struct err e = {0};
    *n = (struct node){.home = n->home ? n->home : fake_home(f, name, span_s(3600)),
                       .root = fake_root(f, name)};
    struct agent_settings s = {.home = n->home,
                               .root = n->root,
                               .controllers = &none,
                               .interval = span_s(60),
                               .once = once,
                               .collect_port = 0};
    if (agent_start(&f->loop, &s, on_done, n, &n->agent, &e))
        fail_msg("%s", e.msg);
}

static void start(struct fake *f, struct node *n, const char *name)
{
    *n = (struct node){0};
    start_with(f, n, name, false);
}

static void stop(struct fake *f, struct node *n)
{
    if (n->agent)
        agent_stop(n->agent);
    assert_true(fake_wait(f, is_done, n));
    free(n->home);
    free(n->root);
}

static json_t *frame(struct fake *f, uint8_t type, int from, int nth, int *index)
{
    int i = fake_wait_frame(f, type, from, nth);
    assert_true(i >= 0);
    if (index)
        *index = i;
    return f->frames[i].body;
}

static const char *string_of(json_t *body, const char *key)
{
    const char *s = NULL;
    assert_int_equal(json_take_string(body, key, &s, NULL), 0);
    return s;
}

static uint64_t number_of(json_t *body, const char *key)
{
    uint64_t n = 0;
    assert_int_equal(json_take_u64(body, key, INT64_MAX, &n, NULL), 0);
    return n;
}

static void says_who_it_is_what_it_has_and_what_runs(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(60000, true);
    start(f, &n, "lx01");
    json_t *hello = frame(f, FRAME_HELLO, 0, 1, NULL);
    assert_string_equal(string_of(hello, "name"), "lx01");
    assert_string_equal(string_of(hello, "boot"), "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de");
    assert_int_equal(strlen(string_of(hello, "instance")), 16);
    assert_int_equal(number_of(hello, "protocol"), 1);
    assert_null(json_object_get(hello, "once"));
    assert_null(json_object_get(hello, "collector"));
    json_t *inventory = frame(f, FRAME_INVENTORY, 0, 1, NULL);
    assert_true(json_is_true(json_object_get(inventory, "full")));
    assert_string_equal(string_of(inventory, "hash"), string_of(hello, "inventory"));
    assert_int_equal(number_of(json_object_get(inventory, "set"), "RealMemory"), 2048);
    json_t *beat = frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    assert_int_equal(number_of(beat, "seq"), 1);
    assert_int_equal(number_of(beat, "uptime_s"), 1234);
    CLEANUP_FREE char *work = json_write(json_object_get(beat, "work"));
    assert_string_equal(work, "[\"job.1\"]");
    stop(f, &n);
}

static void beats_every_interval_with_growing_numbers(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(50, false);
    start(f, &n, "lx01");
    for (int i = 1; i <= 4; i++)
        assert_int_equal(number_of(frame(f, FRAME_HEARTBEAT, 0, i, NULL), "seq"), i);
    assert_int_equal(f->n_peers, 1);
    for (int i = 0; i < f->n_frames; i++)
        assert_int_not_equal(f->frames[i].type, FRAME_INVENTORY); /* nobody wanted it and nothing changed */
    stop(f, &n);
}

static void unreadable_work_is_unknown(void **state)
{
    struct fake *f = *state;
    struct node n = {0};
    char path[512];
    f->welcome = WELCOME(50, false);
    start(f, &n, "lx01");
    snprintf(path, sizeof path, "%s/run/fettle/work/job.1", n.root);
    frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    unlink(path);
    snprintf(path, sizeof path, "%s/run/fettle/work", n.root);
    rmdir(path);
    fake_write(n.root, "run/fettle/work", "no directory");
    int from = f->n_frames;
    assert_true(json_is_null(json_object_get(frame(f, FRAME_HEARTBEAT, from, 3, NULL), "work")));
    stop(f, &n);
}

static void reports_once_and_ends(void **state)
{
    struct fake *f = *state;
    struct node n = {0};
    f->welcome = WELCOME(60000, true);
    start_with(f, &n, "lx01", true);
    assert_true(fake_wait(f, is_done, &n));
    assert_int_equal(n.why.code, 0);
    assert_true(json_is_true(json_object_get(frame(f, FRAME_HELLO, 0, 1, NULL), "once")));
    frame(f, FRAME_INVENTORY, 0, 1, NULL);
    frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    assert_int_equal(f->n_frames, 3);
    stop(f, &n);
}

static void a_single_report_that_nobody_takes_fails(void **state)
{
    struct fake *f = *state;
    struct node n = {0};
    fake_close(f);
    start_with(f, &n, "lx01", true);
    assert_true(fake_wait(f, is_done, &n));
    assert_int_not_equal(n.why.code, 0);
    stop(f, &n);
}

static void with_an_interval_of_zero_it_reports_once_and_waits(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(0, false);
    start(f, &n, "lx01");
    frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    fake_send(f, 0, FRAME_WANT, "{}"); /* its answer comes, and no second heartbeat before it */
    int at;
    frame(f, FRAME_INVENTORY, 0, 1, &at);
    assert_int_equal(at, 2);
    fake_send(f, 0, FRAME_SETTINGS, "{\"interval_ms\":50,\"spread_ms\":10}");
    frame(f, FRAME_HEARTBEAT, 0, 3, NULL);
    stop(f, &n);
}

static void comes_back_with_its_latest_state_only(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(50, false);
    start(f, &n, "lx01");
    frame(f, FRAME_HEARTBEAT, 0, 2, NULL);
    peer_close(f->peers[0]);
    int at;
    json_t *again = frame(f, FRAME_HELLO, 0, 2, &at);
    json_t *first = frame(f, FRAME_HELLO, 0, 1, NULL);
    assert_string_equal(string_of(again, "instance"), string_of(first, "instance"));
    assert_string_equal(string_of(again, "inventory"), string_of(first, "inventory"));
    uint64_t before = number_of(frame(f, FRAME_HEARTBEAT, 0, 2, NULL), "seq");
    assert_true(number_of(frame(f, FRAME_HEARTBEAT, at, 1, NULL), "seq") > before);
    stop(f, &n);
}

static void tries_again_after_a_refusal_and_after_garbage(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = NULL;
    start(f, &n, "lx01");
    int at;
    frame(f, FRAME_HELLO, 0, 1, &at);
    peer_refuse(f->peers[f->frames[at].peer], -EBUSY, "another agent with the name \"lx01\" is alive");
    frame(f, FRAME_HELLO, 0, 2, &at);
    fake_send(f, f->frames[at].peer, FRAME_WELCOME, "{\"interval_ms\":\"soon\"}");
    f->welcome = WELCOME(60000, false);
    frame(f, FRAME_HELLO, 0, 3, &at);
    frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    stop(f, &n);
}

/* Starts lx01 and makes it a collector for `nodes`. Its port; *peer is its link. */
static uint16_t start_collector(struct fake *f, struct node *n, const char *nodes, int *peer)
{
    int at;
    start(f, n, "lx01");
    frame(f, FRAME_HELLO, 0, 1, &at);
    *peer = f->frames[at].peer;
    frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    fake_send(f, *peer, FRAME_SHARE, "{\"epoch\":1,\"nodes\":\"%s\"}", nodes);
    return (uint16_t)number_of(frame(f, FRAME_BATCH, 0, 1, NULL), "port");
}

struct awaited_batch {
    struct fake *f;
    const char *part;
    int from, at;
};

static bool has_batch(void *arg)
{
    struct awaited_batch *w = arg;
    for (w->at = w->from; w->at < w->f->n_frames; w->at++) {
        if (w->f->frames[w->at].type != FRAME_BATCH)
            continue;
        CLEANUP_FREE char *s = json_write(w->f->frames[w->at].body);
        if (strstr(s, w->part))
            return true;
    }
    return false;
}

/* Waits for a batch with this in it. */
static int wait_batch(struct fake *f, int from, const char *part)
{
    struct awaited_batch w = {f, part, from, 0};
    if (!fake_wait(f, has_batch, &w))
        fail_msg("no batch with %s", part);
    return w.at;
}

static void redirect(struct fake *f, int from, uint16_t port, int nth)
{
    int at;
    frame(f, FRAME_HELLO, from, nth, &at);
    fake_send(f, f->frames[at].peer, FRAME_REDIRECT,
              "{\"collector\":{\"name\":\"lx01\",\"host\":\"127.0.0.1\",\"port\":%u}}", port);
}

static void a_collector_reports_for_its_nodes(void **state)
{
    struct fake *f = *state;
    struct node one, two;
    int peer;
    f->welcome = WELCOME(100, false);
    uint16_t port = start_collector(f, &one, "lx[02-03]", &peer);
    int from = f->n_frames;
    start(f, &two, "lx02");
    redirect(f, from, port, 1);
    int at = wait_batch(f, from, "\"changed\":[{\"name\":\"lx02\"");
    assert_int_equal(f->frames[at].peer, peer);
    wait_batch(f, from, "\"work\":[\"job.1\"]");
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    /* Its inventory goes the same way. */
    fake_send(f, peer, FRAME_WANT, "{\"nodes\":\"lx[02-03]\"}");
    at = wait_batch(f, from, "\"inventories\":[{\"name\":\"lx02\"");
    CLEANUP_FREE char *s = json_write(f->frames[at].body);
    assert_non_null(strstr(s, "\"RealMemory\":2048"));
    assert_non_null(strstr(s, "\"full\":true"));
    /* A node that leaves the share asks a controller again. */
    from = f->n_frames;
    fake_send(f, peer, FRAME_SHARE, "{\"epoch\":2,\"nodes\":\"lx03\"}");
    assert_string_equal(string_of(frame(f, FRAME_HELLO, from, 1, NULL), "name"), "lx02");
    stop(f, &two);
    stop(f, &one);
}

static void a_collector_keeps_its_nodes_while_the_controller_is_away(void **state)
{
    struct fake *f = *state;
    struct node one, two;
    int peer;
    f->welcome = WELCOME(100, false);
    uint16_t port = start_collector(f, &one, "lx02", &peer);
    int from = f->n_frames;
    start(f, &two, "lx02");
    redirect(f, from, port, 1);
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    from = f->n_frames;
    peer_close(f->peers[peer]);
    json_t *collector = json_object_get(frame(f, FRAME_HELLO, from, 1, NULL), "collector");
    assert_int_equal(number_of(collector, "port"), port);
    assert_int_equal(number_of(collector, "epoch"), 1);
    assert_string_equal(string_of(collector, "nodes"), "lx02");
    wait_batch(f, from, "\"changed\":[{\"name\":\"lx02\"");
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    /* Without a share it collects no more, and its nodes come to the controller. */
    from = f->n_frames;
    int at;
    frame(f, FRAME_HELLO, 0, 1, &at);
    for (int i = 0; i < f->n_peers; i++)
        if (f->peers[i])
            fake_send(f, i, FRAME_SHARE, "{\"epoch\":2}");
    assert_string_equal(string_of(frame(f, FRAME_HELLO, from, 1, NULL), "name"), "lx02");
    stop(f, &two);
    stop(f, &one);
}

static void a_collector_that_is_not_there_is_left_after_three_tries(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(100, false);
    start(f, &n, "lx02");
    redirect(f, 0, 1, 1); /* nothing listens on port 1 */
    frame(f, FRAME_HELLO, 0, 2, NULL);
    stop(f, &n);
}

/* A client that says one thing and writes down what it is told. */
struct client {
    const char *body;
    uint8_t type;
    uint8_t got;
    char answer[256];
    bool closed;
};

static void client_open(struct peer *p, void *arg)
{
    struct client *c = arg;
    peer_send(p, c->type, 0, c->body, strlen(c->body));
}

static void client_frame(struct peer *p, void *arg, const struct frame *f)
{
    struct client *c = arg;
    c->got = f->type;
    snprintf(c->answer, sizeof c->answer, "%s", f->body);
}

static void client_close(struct peer *p, void *arg, const struct err *why)
{
    ((struct client *)arg)->closed = true;
}

static bool client_done(void *arg)
{
    struct client *c = arg;
    return c->closed;
}

static const struct peer_events client_events = {client_open, client_frame, client_close};

static void expect_refusal(struct fake *f, uint16_t port, const char *node, const char *body,
                           const char *code)
{
    struct client c = {.body = body, .type = FRAME_HELLO};
    struct tls_context *tls = fake_node_tls(f, node);
    peer_dial(&f->loop, "127.0.0.1", port, tls, "urn:fettle:node:lx01", &client_events, &c);
    assert_true(fake_wait(f, client_done, &c));
    assert_int_equal(c.got, FRAME_REFUSE);
    if (!strstr(c.answer, code))
        fail_msg("%s is answered with %s, not %s", body, c.answer, code);
    tls_context_destroy(tls);
}

static void a_collector_hears_its_own_nodes_only(void **state)
{
    static const char lx02[] = "{\"protocol\":1,\"name\":\"lx02\",\"boot\":\"b\",\"instance\":\"i\"}";
    static const char lx09[] = "{\"protocol\":1,\"name\":\"lx09\",\"boot\":\"b\",\"instance\":\"i\"}";
    struct fake *f = *state;
    struct node one, two;
    int peer;
    f->welcome = WELCOME(100, false);
    uint16_t port = start_collector(f, &one, "lx02", &peer);
    int from = f->n_frames;
    start(f, &two, "lx02");
    redirect(f, from, port, 1);
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    expect_refusal(f, port, "lx09", lx09, "forbidden");
    expect_refusal(f, port, "lx09", lx02, "forbidden");
    expect_refusal(f, port, "lx02", "{\"protocol\":2}", "invalid");
    from = f->n_frames;
    expect_refusal(f, port, "lx02", lx02, "conflict");
    wait_batch(f, from, "{\"name\":\"lx02\",\"duplicate\":true}");
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    stop(f, &two);
    stop(f, &one);
}

static void renews_its_certificate_in_time(void **state)
{
    struct fake *f = *state;
    struct node n = {.home = fake_home(f, "lx01", span_s(3600))};
    char path[512];
    const struct timespec old[2] = {{.tv_sec = wall_now().ns / 1000000000 - 86400},
                                    {.tv_sec = wall_now().ns / 1000000000 - 86400}};
    snprintf(path, sizeof path, "%s/node.pem", n.home);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    struct home_identity before, after;
    assert_int_equal(home_load(n.home, &before, NULL), 0);
    start_with(f, &n, "lx01", false);
    int at;
    /* A controller would send the agent of a collector away at once; not one that only visits. */
    assert_true(json_is_true(json_object_get(frame(f, FRAME_HELLO, 0, 1, NULL), "once")));
    json_t *renew = frame(f, FRAME_RENEW, 0, 1, &at);
    struct identity id = {.kind = IDENTITY_NODE, .name = "lx01"};
    CLEANUP_FREE char *cert = NULL;
    assert_int_equal(authority_sign(f->ca, string_of(renew, "request"), &id, NULL, span_s(7200), &cert, NULL),
                     0);
    /* A redirect waits until the certificate is there. */
    int peer = f->frames[at].peer;
    fake_send(f, peer, FRAME_REDIRECT, "{}");
    CLEANUP_TEXT struct text body = {0};
    text_add(&body, "{\"certificate\":");
    text_add_json(&body, cert);
    text_add(&body, "}");
    fake_send(f, peer, FRAME_RENEWED, "%s", body.s);
    /* The next link stands on the new one. */
    assert_null(json_object_get(frame(f, FRAME_HELLO, 0, 2, &at), "once"));
    frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    assert_int_equal(home_load(n.home, &after, NULL), 0);
    assert_string_equal(after.cert, cert);
    assert_string_not_equal(after.key, before.key);
    home_identity_fini(&before);
    home_identity_fini(&after);
    stop(f, &n);
}

static void does_not_start_without_an_identity_or_a_controller(void **state)
{
    struct fake *f = *state;
    struct address_list none = {0};
    struct err e = {0};
    struct agent *a;
    struct agent_settings s = {.home = f->dir, .root = "", .controllers = &none, .interval = span_s(1)};
    assert_int_equal(agent_start(&f->loop, &s, on_done, NULL, &a, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "fettle-agent join"));
    CLEANUP_FREE char *home = fake_home(f, "lx01", span_s(3600));
    fake_write(home, "controllers", "");
    s.home = home;
    assert_int_equal(agent_start(&f->loop, &s, on_done, NULL, &a, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "-c"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_fake, close_fake)
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        T(says_who_it_is_what_it_has_and_what_runs),
        T(beats_every_interval_with_growing_numbers),
        T(unreadable_work_is_unknown),
        T(reports_once_and_ends),
        T(a_single_report_that_nobody_takes_fails),
        T(with_an_interval_of_zero_it_reports_once_and_waits),
        T(comes_back_with_its_latest_state_only),
        T(tries_again_after_a_refusal_and_after_garbage),
        T(a_collector_reports_for_its_nodes),
        T(a_collector_keeps_its_nodes_while_the_controller_is_away),
        T(a_collector_that_is_not_there_is_left_after_three_tries),
        T(a_collector_hears_its_own_nodes_only),
        T(renews_its_certificate_in_time),
        T(does_not_start_without_an_identity_or_a_controller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
