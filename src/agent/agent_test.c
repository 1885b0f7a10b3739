/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "agent/life_test.h"
#include "agent/uplink/body.h"
#include "agent/uplink/uplink.h"
#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void says_who_it_is_what_it_has_and_what_runs(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(60000, true);
    life_start(f, &n, "lx01");
    json_t *hello = life_frame(f, FRAME_HELLO, 0, 1, NULL);
    assert_string_equal(life_string(hello, "name"), "lx01");
    assert_string_equal(life_string(hello, "boot"), "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de");
    assert_int_equal(strlen(life_string(hello, "instance")), 16);
    assert_int_equal(life_number(hello, "protocol"), 1);
    assert_null(json_object_get(hello, "once"));
    assert_null(json_object_get(hello, "collector"));
    json_t *inventory = life_frame(f, FRAME_INVENTORY, 0, 1, NULL);
    assert_true(json_is_true(json_object_get(inventory, "full")));
    assert_string_equal(life_string(inventory, "hash"), life_string(hello, "inventory"));
    assert_int_equal(life_number(json_object_get(inventory, "set"), "RealMemory"), 2048);
    json_t *beat = life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    assert_int_equal(life_number(beat, "seq"), 1);
    assert_int_equal(life_number(beat, "uptime_s"), 1234);
    CLEANUP_FREE char *work = json_write(json_object_get(beat, "work"));
    assert_string_equal(work, "[\"job.1\"]");
    life_stop(f, &n);
}

static void reports_once_and_ends(void **state)
{
    struct fake *f = *state;
    struct node n = {0};
    f->welcome = WELCOME(60000, true);
    life_start_with(f, &n, "lx01", true);
    assert_true(fake_wait(f, life_is_done, &n));
    assert_int_equal(n.why.code, 0);
    assert_true(json_is_true(json_object_get(life_frame(f, FRAME_HELLO, 0, 1, NULL), "once")));
    life_frame(f, FRAME_INVENTORY, 0, 1, NULL);
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    life_frame(f, FRAME_FINGERPRINT, 0, 1, NULL);
    assert_int_equal(f->n_frames, 4);
    life_stop(f, &n);
}

static void a_single_report_that_nobody_takes_fails(void **state)
{
    struct fake *f = *state;
    struct node n = {0};
    fake_close(f);
    life_start_with(f, &n, "lx01", true);
    assert_true(fake_wait(f, life_is_done, &n));
    assert_int_not_equal(n.why.code, 0);
    life_stop(f, &n);
}

static void comes_back_with_its_latest_state_only(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(50, false);
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 2, NULL);
    peer_close(f->peers[0]);
    int at;
    json_t *again = life_frame(f, FRAME_HELLO, 0, 2, &at);
    json_t *first = life_frame(f, FRAME_HELLO, 0, 1, NULL);
    assert_string_equal(life_string(again, "instance"), life_string(first, "instance"));
    assert_string_equal(life_string(again, "inventory"), life_string(first, "inventory"));
    uint64_t before = life_number(life_frame(f, FRAME_HEARTBEAT, 0, 2, NULL), "seq");
    assert_true(life_number(life_frame(f, FRAME_HEARTBEAT, at, 1, NULL), "seq") > before);
    life_stop(f, &n);
}

static void tries_again_after_a_refusal_and_after_garbage(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = NULL;
    life_start(f, &n, "lx01");
    int at;
    life_frame(f, FRAME_HELLO, 0, 1, &at);
    peer_refuse(f->peers[f->frames[at].peer], -EBUSY, "another agent with the name \"lx01\" is alive");
    life_frame(f, FRAME_HELLO, 0, 2, &at);
    fake_send(f, f->frames[at].peer, FRAME_WELCOME, "{\"interval_ms\":\"soon\"}");
    f->welcome = WELCOME(60000, false);
    life_frame(f, FRAME_HELLO, 0, 3, &at);
    life_frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    life_stop(f, &n);
}

/* Before the welcome nothing fits but that and a refusal; after it, what is for controllers and collectors
 * does not. */
static void frames_that_do_not_fit_change_nothing(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at, hellos = 0;
    f->welcome = NULL;
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HELLO, 0, 1, &at);
    int peer = f->frames[at].peer;
    fake_send(f, peer, FRAME_SHARE, "{\"epoch\":1,\"nodes\":\"lx02\"}");
    fake_send(f, peer, FRAME_SETTINGS, "{\"interval_ms\":\"soon\"}");
    fake_send(f, peer, FRAME_WELCOME, WELCOME(100, false));
    life_frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    for (int type = 0; type <= UINT8_MAX; type++)
        if (frame_is_known((uint8_t)type) &&
            !frame_fits((uint8_t)type, FRAME_TO_AGENT, FRAME_FROM_CONTROLLER))
            fake_send(f, peer, (enum frame_type)type, "{}");
    int from = f->n_frames;
    life_frame(f, FRAME_HEARTBEAT, from, 2, NULL);
    for (int i = 0; i < f->n_frames; i++) {
        hellos += f->frames[i].type == FRAME_HELLO;
        assert_int_not_equal(f->frames[i].type, FRAME_BATCH);
    }
    assert_int_equal(hellos, 1);
    life_stop(f, &n);
}

/* Starts lx01 and makes it a collector for `nodes`. Its port; *peer is its link. */
static uint16_t start_collector(struct fake *f, struct node *n, const char *nodes, int *peer)
{
    int at;
    life_start(f, n, "lx01");
    life_frame(f, FRAME_HELLO, 0, 1, &at);
    *peer = f->frames[at].peer;
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    fake_send(f, *peer, FRAME_SHARE, "{\"epoch\":1,\"nodes\":\"%s\"}", nodes);
    return (uint16_t)life_number(life_frame(f, FRAME_BATCH, 0, 1, NULL), "port");
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
    life_frame(f, FRAME_HELLO, from, nth, &at);
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
    life_start(f, &two, "lx02");
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
    assert_string_equal(life_string(life_frame(f, FRAME_HELLO, from, 1, NULL), "name"), "lx02");
    life_stop(f, &two);
    life_stop(f, &one);
}

static void a_collector_keeps_its_nodes_while_the_controller_is_away(void **state)
{
    struct fake *f = *state;
    struct node one, two;
    int peer;
    f->welcome = WELCOME(100, false);
    uint16_t port = start_collector(f, &one, "lx02", &peer);
    int from = f->n_frames;
    life_start(f, &two, "lx02");
    redirect(f, from, port, 1);
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    from = f->n_frames;
    peer_close(f->peers[peer]);
    json_t *collector = json_object_get(life_frame(f, FRAME_HELLO, from, 1, NULL), "collector");
    assert_int_equal(life_number(collector, "port"), port);
    assert_int_equal(life_number(collector, "epoch"), 1);
    assert_string_equal(life_string(collector, "nodes"), "lx02");
    wait_batch(f, from, "\"changed\":[{\"name\":\"lx02\"");
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    /* Without a share it collects no more, and its nodes come to the controller. */
    from = f->n_frames;
    int at;
    life_frame(f, FRAME_HELLO, 0, 1, &at);
    for (int i = 0; i < f->n_peers; i++)
        if (f->peers[i])
            fake_send(f, i, FRAME_SHARE, "{\"epoch\":2}");
    assert_string_equal(life_string(life_frame(f, FRAME_HELLO, from, 1, NULL), "name"), "lx02");
    life_stop(f, &two);
    life_stop(f, &one);
}

static void a_collector_that_is_not_there_is_left_after_three_tries(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(100, false);
    life_start(f, &n, "lx02");
    redirect(f, 0, 1, 1); /* nothing listens on port 1 */
    life_frame(f, FRAME_HELLO, 0, 2, NULL);
    life_stop(f, &n);
}

/* In time, and not when its next heartbeats are due: it would be taken down for a silence that is not its
 * own. */
static void a_collector_that_stands_still_is_left_in_time(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    f->welcome = "{\"interval_ms\":600000,\"answer_ms\":300,\"term\":1}";
    life_start(f, &n, "lx02");
    redirect(f, 0, fake_collect(f, "lx01"), 1);
    life_frame(f, FRAME_HELLO, 0, 2, &at);
    assert_true(f->frames[at].collected);
    life_frame(f, FRAME_HEARTBEAT, at, 1, &at);
    life_frame(f, FRAME_HELLO, at, 1, &at);
    assert_false(f->frames[at].collected);
    life_frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    life_stop(f, &n);
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
    life_start(f, &two, "lx02");
    redirect(f, from, port, 1);
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    expect_refusal(f, port, "lx09", lx09, "forbidden");
    expect_refusal(f, port, "lx09", lx02, "forbidden");
    expect_refusal(f, port, "lx02", "{\"protocol\":2}", "invalid");
    from = f->n_frames;
    expect_refusal(f, port, "lx02", lx02, "conflict");
    wait_batch(f, from, "{\"name\":\"lx02\",\"duplicate\":true}");
    wait_batch(f, from, "\"heard\":\"lx[01-02]\"");
    life_stop(f, &two);
    life_stop(f, &one);
}

static void a_collector_hands_fingerprints_both_ways(void **state)
{
    struct fake *f = *state;
    struct node one, two;
    int peer;
    struct components list = {0};
    CLEANUP_FREE char *welcome = life_welcome(f, 100, "\"recheck_ms\":3600000,\"also\":[\"file./etc/motd\"]");
    f->welcome = welcome;
    uint16_t port = start_collector(f, &one, "lx[02-03]", &peer);
    int from = f->n_frames;
    life_start(f, &two, "lx02");
    redirect(f, from, port, 1);
    int at = wait_batch(f, from, "\"fingerprints\":[{\"name\":\"lx02\"");
    assert_int_equal(f->frames[at].peer, peer);
    char *said = mem_dup(
        life_string(json_array_get(json_object_get(f->frames[at].body, "fingerprints"), 0), "fingerprint"));
    from = f->n_frames;
    fake_send(f, peer, FRAME_WANT, "{\"nodes\":\"lx02\",\"components\":\"%s\"}", said);
    at = wait_batch(f, from, "\"components\":[{\"name\":\"lx02\"");
    json_t *part = json_array_get(json_object_get(f->frames[at].body, "components"), 0);
    assert_string_equal(life_string(part, "fingerprint"), said);
    assert_int_equal(life_number(part, "parts"), 1);
    assert_int_equal(components_parse(&list, part, NULL), 0);
    assert_non_null(life_component(&list, "file./etc/motd")); /* the collector handed that on */
    components_fini(&list);
    free(said);
    from = f->n_frames;
    fake_send(f, peer, FRAME_RECHECK, "{\"nodes\":\"lx[02-03]\"}");
    wait_batch(f, from, "\"verified\":\"lx02\"");
    life_stop(f, &two);
    life_stop(f, &one);
}

static void renews_its_certificate_in_time(void **state)
{
    struct fake *f = *state;
    struct node n = {.home = fake_home(f, "lx01", span_s(1200))}; /* of 80 minutes */
    struct home_identity before, after;
    assert_int_equal(home_load(n.home, &before, NULL), 0);
    life_start_with(f, &n, "lx01", false);
    int at;
    /* A controller would send the agent of a collector away at once; not one that only visits. */
    assert_true(json_is_true(json_object_get(life_frame(f, FRAME_HELLO, 0, 1, NULL), "once")));
    json_t *renew = life_frame(f, FRAME_RENEW, 0, 1, &at);
    struct identity id = {.kind = IDENTITY_NODE, .name = "lx01"};
    CLEANUP_FREE char *cert = NULL;
    assert_int_equal(
        authority_sign(f->ca, life_string(renew, "request"), &id, NULL, span_s(7200), &cert, NULL), 0);
    /* A redirect waits until the certificate is there. */
    int peer = f->frames[at].peer;
    fake_send(f, peer, FRAME_REDIRECT, "{}");
    CLEANUP_TEXT struct text body = {0};
    text_add(&body, "{\"certificate\":");
    text_add_json(&body, cert);
    text_add(&body, "}");
    fake_send(f, peer, FRAME_RENEWED, "%s", body.s);
    /* The next link stands on the new one. */
    assert_null(json_object_get(life_frame(f, FRAME_HELLO, 0, 2, &at), "once"));
    life_frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    assert_int_equal(home_load(n.home, &after, NULL), 0);
    assert_string_equal(after.cert, cert);
    assert_string_not_equal(after.key, before.key);
    home_identity_fini(&before);
    home_identity_fini(&after);
    life_stop(f, &n);
}

static void does_not_start_without_an_identity_or_a_controller(void **state)
{
    struct fake *f = *state;
    struct address_list none = {0};
    struct err e = {0};
    struct agent *a;
    struct agent_settings s = {.home = f->dir, .root = "", .controllers = &none, .interval = span_s(1)};
    assert_int_equal(agent_start(&f->loop, &s, life_on_done, NULL, &a, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "fettle-agent join"));
    CLEANUP_FREE char *home = fake_home(f, "lx01", span_s(3600));
    fake_write(home, "controllers", "");
    s.home = home;
    assert_int_equal(agent_start(&f->loop, &s, life_on_done, NULL, &a, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "-c"));
}

#define BOOT_ID "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de"
#define CHECKLISIN_LIFE(hash, revision, run)                                  \
    "{\"type\":18,\"revision\":" #revision ",\"hash\":\"" hash                \
    "\",\"lines\":[\"Check=disk Probe=plugin Run=\\\"" run "\\\" Every=1d\"," \
    "\"Check=not.here Probe=plugin Run=true Nodes=lx09\",\"Check=future Probe=unheard.of\"]}"
#define ACIN_LIFE(id, run) \
    "{\"id\":\"" id "\",\"term\":3,\"run\":\"" run "\",\"boot\":\"" BOOT_ID "\",\"deadline_ms\":20000}"

/* What the controller signs. */
static void send_order(struct fake *f, int peer, enum frame_type type, const char *text)
{
    CLEANUP_FREE char *order = fake_order(f, text);
    fake_send(f, peer, type, "%s", order);
}

struct awaited_text {
    struct fake *f;
    uint8_t type;
    const char *part;
    int from, at;
};

static bool has_text(void *arg)
{
    struct awaited_text *w = arg;
    for (w->at = w->from; w->at < w->f->n_frames; w->at++) {
        if (w->f->frames[w->at].type != w->type)
            continue;
        CLEANUP_FREE char *s = json_write(w->f->frames[w->at].body);
        if (strstr(s, w->part))
            return true;
    }
    return false;
}

/* Waits for a frame of the type with this in it. Its index. */
static int wait_text(struct fake *f, uint8_t type, int from, const char *part)
{
    struct awaited_text w = {f, type, part, from, 0};
    if (!fake_wait(f, has_text, &w))
        fail_msg("no frame of type %d with %s", type, part);
    return w.at;
}

static void checks_what_the_controller_says_and_remembers_it(void **state)
{
    struct fake *f = *state;
    struct node n;
    life_start(f, &n, "lx01");
    json_t *hello = life_frame(f, FRAME_HELLO, 0, 1, NULL);
    assert_null(json_object_get(hello, "checklist"));
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    send_order(f, 0, FRAME_CHECKLIST, CHECKLISIN_LIFE("h1", 1, "exit 1"));
    json_t *first = life_frame(f, FRAME_CHECKS, 0, 1, NULL);
    assert_true(json_is_true(json_object_get(first, "full")));
    assert_string_equal(life_string(first, "list"), "h1");
    assert_string_equal(life_string(first, "boot"), BOOT_ID);
    assert_int_equal(json_array_size(json_object_get(first, "checks")), 1);
    wait_text(f, FRAME_CHECKS, 0, "\"result\":\"warn\"");
    agent_stop(n.agent);
    assert_true(fake_wait(f, life_is_done, &n));
    int from = f->n_frames;
    life_start_with(f, &n, "lx01", false);
    assert_string_equal(life_string(life_frame(f, FRAME_HELLO, from, 1, NULL), "checklist"), "h1");
    wait_text(f, FRAME_CHECKS, from, "\"result\":\"warn\"");
    life_stop(f, &n);
}

static void says_all_its_checks_on_each_link_and_when_asked(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    send_order(f, 0, FRAME_CHECKLIST, CHECKLISIN_LIFE("h1", 1, "exit 1"));
    wait_text(f, FRAME_CHECKS, 0, "\"result\":\"warn\"");
    peer_close(f->peers[0]);
    life_frame(f, FRAME_HELLO, 0, 2, &at);
    int again = wait_text(f, FRAME_CHECKS, at, "\"result\":\"warn\"");
    assert_true(json_is_true(json_object_get(f->frames[again].body, "full")));
    int from = f->n_frames;
    fake_send(f, f->frames[at].peer, FRAME_ACT, "{\"tell\":true}");
    assert_true(json_is_true(json_object_get(life_frame(f, FRAME_CHECKS, from, 1, NULL), "full")));
    life_stop(f, &n);
}

static void order_directly(struct fake *f, const char *id, const char *run, const char *nonce)
{
    fake_send(f, 0, FRAME_ACT,
              "{\"id\":\"%s\",\"nonce\":\"%s\",\"term\":3,\"run\":\"%s\",\"boot\":\"" BOOT_ID
              "\",\"deadline_ms\":20000}",
              id, nonce, run);
}

/* What it did not ask for just now may have lain in a buffer for hours. */
static void carries_out_operations_and_tells_of_them_again(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    fake_send(f, 0, FRAME_ACT, "%s", ACIN_LIFE("c1", "node:echo hi"));
    at = wait_text(f, FRAME_DONE, 0, "\"asks\"");
    order_directly(f, "c1", "node:echo old", "00000000000000000000000000000000");
    order_directly(f, "c1", "node:echo hi", json_text(f->frames[at].body, "nonce"));
    wait_text(f, FRAME_DONE, 0, "\"begun\"");
    wait_text(f, FRAME_DONE, 0, "hi\\n");
    peer_close(f->peers[0]);
    life_frame(f, FRAME_HELLO, 0, 2, &at);
    wait_text(f, FRAME_DONE, at, "hi\\n");
    life_stop(f, &n);
}

/* Answers the question in what the collector passed on, with what is signed for the node. */
static void pass_order(struct fake *f, int peer, const char *node, const json_t *passed, const char *id,
                       const char *run)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t,
                "{\"type\":20,\"node\":\"%s\",\"nonce\":\"%s\",\"id\":\"%s\",\"term\":3,\"run\":\"%s\","
                "\"boot\":\"" BOOT_ID "\",\"deadline_ms\":20000}",
                node, json_text(json_object_get(passed, "body"), "nonce"), id, run);
    CLEANUP_FREE char *order = fake_order(f, t.s);
    fake_send(f, peer, FRAME_PASS, "{\"node\":\"%s\",\"type\":20,\"body\":%s}", node, order);
}

static void a_collector_passes_checks_and_operations_on(void **state)
{
    struct fake *f = *state;
    struct node one, two;
    int peer, at;
    f->welcome = WELCOME(100, false);
    uint16_t port = start_collector(f, &one, "lx[02-03]", &peer);
    send_order(f, peer, FRAME_CHECKLIST, CHECKLISIN_LIFE("h1", 1, "exit 1"));
    wait_text(f, FRAME_CHECKS, 0, "\"list\":\"h1\"");
    int from = f->n_frames;
    life_start(f, &two, "lx02");
    redirect(f, from, port, 1);
    at = wait_text(f, FRAME_PASS, from, "\"result\":\"warn\""); /* the list came by the collector */
    assert_int_equal(f->frames[at].peer, peer);
    assert_string_equal(life_string(f->frames[at].body, "node"), "lx02");
    assert_int_equal(life_number(f->frames[at].body, "type"), FRAME_CHECKS);
    fake_send(f, peer, FRAME_PASS, "{\"node\":\"lx02\",\"type\":20,\"body\":%s}",
              ACIN_LIFE("c1", "node:echo hi"));
    at = wait_text(f, FRAME_PASS, from, "\"asks\"");
    pass_order(f, peer, "lx02", f->frames[at].body, "c1", "node:echo hi");
    wait_text(f, FRAME_PASS, from, "hi\\n");
    send_order(f, peer, FRAME_CHECKLIST, CHECKLISIN_LIFE("h2", 2, "exit 2"));
    wait_text(f, FRAME_PASS, from, "\"result\":\"fatal\"");
    /* Another link of the collector's knows nothing: everything is said again. */
    from = f->n_frames;
    peer_close(f->peers[peer]);
    at = wait_text(f, FRAME_PASS, from, "\"result\":\"fatal\"");
    assert_non_null(strstr(life_string(f->frames[at].body, "node"), "lx02"));
    wait_text(f, FRAME_PASS, from, "hi\\n");
    life_stop(f, &two);
    life_stop(f, &one);
}

static void a_frame_that_is_not_understood_ends_the_link_alone(void **state)
{
    static const enum frame_type types[] = {FRAME_WANT, FRAME_ENDED}; /* dialling again takes a second */
    struct fake *f = *state;
    struct node n;
    int at;
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HELLO, 0, 1, &at);
    life_frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int from = f->n_frames;
        fake_send(f, f->frames[at].peer, types[i], "[]");
        life_frame(f, FRAME_HELLO, from, 1, &at);
        life_frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    }
    life_stop(f, &n);
}

static void an_order_that_is_not_understood_changes_nothing(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_FINGERPRINT, 0, 1, &at);
    int peer = f->frames[at].peer, from = f->n_frames;
    CLEANUP_FREE char *order = life_survey_order(f, 5, "\"recheck_ms\":100,\"also\":7");
    fake_send(f, peer, FRAME_SETTINGS, "{\"survey\":%s}", order);
    fake_send(f, peer, FRAME_RECHECK, "{}"); /* nothing more is read than before */
    assert_true(json_is_true(json_object_get(life_frame(f, FRAME_FINGERPRINT, from, 1, &at), "same")));
    assert_int_equal(f->frames[at].peer, peer);
    life_stop(f, &n);
}

/* The controller's clock comes with the welcome. */
static void a_clock_that_is_wrong_is_seen_by_the_check_of_it(void **state)
{
    struct fake *f = *state;
    struct node n;
    char welcome[256];
    snprintf(welcome, sizeof welcome,
             "{\"interval_ms\":60000,\"spread_ms\":10,\"term\":3,\"controller\":\"c1\",\"now_ms\":%lld}",
             (long long)(wall_now().ns / 1000000 - 7200000));
    f->welcome = welcome;
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    send_order(
        f, 0, FRAME_CHECKLIST,
        "{\"type\":18,\"revision\":1,\"hash\":\"h1\",\"lines\":[\"Check=clock Probe=time Every=1s\"]}");
    wait_text(f, FRAME_CHECKS, 0, "ahead of the controller's");
    life_stop(f, &n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_LIFE(says_who_it_is_what_it_has_and_what_runs),
        IN_LIFE(reports_once_and_ends),
        IN_LIFE(a_single_report_that_nobody_takes_fails),
        IN_LIFE(comes_back_with_its_latest_state_only),
        IN_LIFE(tries_again_after_a_refusal_and_after_garbage),
        IN_LIFE(frames_that_do_not_fit_change_nothing),
        IN_LIFE(a_collector_reports_for_its_nodes),
        IN_LIFE(a_collector_keeps_its_nodes_while_the_controller_is_away),
        IN_LIFE(a_collector_that_is_not_there_is_left_after_three_tries),
        IN_LIFE(a_collector_that_stands_still_is_left_in_time),
        IN_LIFE(a_collector_hears_its_own_nodes_only),
        IN_LIFE(a_collector_hands_fingerprints_both_ways),
        IN_LIFE(checks_what_the_controller_says_and_remembers_it),
        IN_LIFE(says_all_its_checks_on_each_link_and_when_asked),
        IN_LIFE(carries_out_operations_and_tells_of_them_again),
        IN_LIFE(a_collector_passes_checks_and_operations_on),
        IN_LIFE(renews_its_certificate_in_time),
        IN_LIFE(does_not_start_without_an_identity_or_a_controller),
        IN_LIFE(a_frame_that_is_not_understood_ends_the_link_alone),
        IN_LIFE(an_order_that_is_not_understood_changes_nothing),
        IN_LIFE(a_clock_that_is_wrong_is_seen_by_the_check_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
