/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "agent/fake_test.h"
#include "agent/fingerprint/surveyor.h"
#include "agent/uplink/body.h"
#include "agent/uplink/uplink.h"
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
                       .root = n->root ? n->root : fake_root(f, name)};
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
    frame(f, FRAME_FINGERPRINT, 0, 1, NULL);
    assert_int_equal(f->n_frames, 4);
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
    for (int i = 0, beats = 0; i < at; i++) {
        beats += f->frames[i].type == FRAME_HEARTBEAT;
        assert_true(beats < 2);
    }
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

/* Before the welcome nothing fits but that and a refusal; after it, what is for controllers and collectors
 * does not. */
static void frames_that_do_not_fit_change_nothing(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at, hellos = 0;
    f->welcome = NULL;
    start(f, &n, "lx01");
    frame(f, FRAME_HELLO, 0, 1, &at);
    int peer = f->frames[at].peer;
    fake_send(f, peer, FRAME_SHARE, "{\"epoch\":1,\"nodes\":\"lx02\"}");
    fake_send(f, peer, FRAME_SETTINGS, "{\"interval_ms\":\"soon\"}");
    fake_send(f, peer, FRAME_WELCOME, WELCOME(100, false));
    frame(f, FRAME_HEARTBEAT, at, 1, NULL);
    for (int type = 0; type <= UINT8_MAX; type++)
        if (frame_is_known((uint8_t)type) &&
            !frame_fits((uint8_t)type, FRAME_TO_AGENT, FRAME_FROM_CONTROLLER))
            fake_send(f, peer, (enum frame_type)type, "{}");
    int from = f->n_frames;
    frame(f, FRAME_HEARTBEAT, from, 2, NULL);
    for (int i = 0; i < f->n_frames; i++) {
        hellos += f->frames[i].type == FRAME_HELLO;
        assert_int_not_equal(f->frames[i].type, FRAME_BATCH);
    }
    assert_int_equal(hellos, 1);
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

/* In time, and not when its next heartbeats are due: it would be taken down for a silence that is not its
 * own. */
static void a_collector_that_stands_still_is_left_in_time(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    f->welcome = "{\"interval_ms\":600000,\"answer_ms\":300,\"term\":1}";
    start(f, &n, "lx02");
    redirect(f, 0, fake_collect(f, "lx01"), 1);
    frame(f, FRAME_HELLO, 0, 2, &at);
    assert_true(f->frames[at].collected);
    frame(f, FRAME_HEARTBEAT, at, 1, &at);
    frame(f, FRAME_HELLO, at, 1, &at);
    assert_false(f->frames[at].collected);
    frame(f, FRAME_HEARTBEAT, at, 1, NULL);
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

/* The components that the frames of a list hold; the caller frees them. *parts is how many came. */
static void read_list(struct fake *f, int from, int peer, struct components *out, uint64_t *parts)
{
    uint64_t n = 1;
    for (*parts = 0; *parts < n; ++*parts) {
        int at;
        json_t *part = frame(f, FRAME_COMPONENTS, from, 1, &at);
        from = at + 1;
        assert_int_equal(f->frames[at].peer, peer);
        assert_int_equal(number_of(part, "part"), *parts);
        n = number_of(part, "parts");
        assert_int_equal(components_parse(out, part, NULL), 0);
    }
    assert_int_equal(components_sort(out, NULL), 0);
}

static const struct component *component(const struct components *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].name, name) == 0)
            return &c->list[i];
    return NULL;
}

/* Asks for what is behind a FINGERPRINT; the list has to hash to it. */
static void want_list(struct fake *f, int at, struct components *out)
{
    uint64_t parts;
    char hex[FINGERPRINT_HEX + 1];
    int from = f->n_frames, peer = f->frames[at].peer;
    const char *said = string_of(f->frames[at].body, "fingerprint");
    fake_send(f, peer, FRAME_WANT, "{\"components\":\"%s\"}", said);
    read_list(f, from, peer, out, &parts);
    struct fingerprint id = components_fingerprint(out);
    assert_string_equal(fingerprint_format(&id, hex), said);
}

static void assert_value(const struct components *c, const char *name, const char *value)
{
    const struct component *found = component(c, name);
    if (!found || found->state != COMPONENT_VALUE || strcmp(found->value, value) != 0)
        fail_msg("%s is %s, not %s", name, found ? found->value : "not there", value);
}

static void says_its_fingerprint_and_what_is_behind_it(void **state)
{
    struct fake *f = *state;
    struct node n;
    struct components list = {0};
    int at;
    start(f, &n, "lx01");
    json_t *said = frame(f, FRAME_FINGERPRINT, 0, 1, &at);
    assert_string_equal(string_of(said, "boot"), "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de");
    assert_int_equal(strlen(string_of(said, "fingerprint")), FINGERPRINT_HEX);
    want_list(f, at, &list);
    assert_value(&list, "kernel.cmdline", "BOOT_IMAGE=/vmlinuz quiet");
    components_fini(&list);
    /* Asked for another one it says which it is. */
    int from = f->n_frames;
    fake_send(f, f->frames[at].peer, FRAME_WANT, "{\"components\":\"%064d\"}", 0);
    assert_string_equal(string_of(frame(f, FRAME_FINGERPRINT, from, 1, NULL), "fingerprint"),
                        string_of(said, "fingerprint"));
    stop(f, &n);
}

static void reads_anew_on_request_and_says_the_same_in_21_bytes(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    start(f, &n, "lx01");
    frame(f, FRAME_FINGERPRINT, 0, 1, &at);
    int from = f->n_frames;
    fake_send(f, f->frames[at].peer, FRAME_RECHECK, "{}");
    assert_true(json_is_true(json_object_get(frame(f, FRAME_FINGERPRINT, from, 1, &at), "same")));
    assert_int_equal(f->frames[at].len + 8, 21);
    /* A new link was told nothing. */
    from = f->n_frames;
    peer_close(f->peers[f->frames[at].peer]);
    json_t *again = frame(f, FRAME_FINGERPRINT, from, 1, NULL);
    assert_string_equal(string_of(again, "fingerprint"),
                        string_of(frame(f, FRAME_FINGERPRINT, 0, 1, NULL), "fingerprint"));
    stop(f, &n);
}

static char *survey_order(struct fake *f, int revision, const char *members)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"type\":%d,\"revision\":%d,%s}", (int)FRAME_SETTINGS, revision, members);
    return fake_order(f, t.s);
}

/* A WELCOME that says how fingerprints are read, of revision 1. The caller frees it. */
static char *welcome_with(struct fake *f, int interval_ms, const char *members)
{
    struct text t = {0};
    CLEANUP_FREE char *survey = survey_order(f, 1, members);
    text_printf(&t, "{\"interval_ms\":%d,\"spread_ms\":10,\"term\":3,\"controller\":\"c1\",\"survey\":%s}",
                interval_ms, survey);
    return text_take(&t);
}

static void send_survey(struct fake *f, int peer, int revision, const char *members)
{
    CLEANUP_FREE char *survey = survey_order(f, revision, members);
    fake_send(f, peer, FRAME_SETTINGS, "{\"survey\":%s}", survey);
}

static void reads_anew_as_often_as_it_is_told(void **state)
{
    struct fake *f = *state;
    struct node n;
    CLEANUP_FREE char *welcome = welcome_with(f, 60000, "\"recheck_ms\":100");
    f->welcome = welcome;
    start(f, &n, "lx01");
    frame(f, FRAME_FINGERPRINT, 0, 4, NULL);
    stop(f, &n);
}

/* The index of the first fingerprint in full from here. */
static int wait_new_fingerprint(struct fake *f, int from)
{
    int at;
    do {
        frame(f, FRAME_FINGERPRINT, from, 1, &at);
        from = at + 1;
    } while (!json_object_get(f->frames[at].body, "fingerprint"));
    return at;
}

static void each_node_has_its_own_turn(void **state)
{
    enum { NODES = 1000, TENTHS = 10 };
    const uint64_t day_ms = 86400000;
    unsigned in[TENTHS] = {0};
    for (int i = 0; i < NODES; i++) {
        char name[16];
        struct mono now = {span_s(100000).ns};
        snprintf(name, sizeof name, "lx%04d", i);
        uint64_t ms = surveyor_turn_ms(name, day_ms, now);
        assert_in_range(ms, 1, day_ms);
        in[(ms - 1) * TENTHS / day_ms]++;
        struct mono turn = mono_add(now, span_ms((int64_t)ms));
        assert_int_equal(surveyor_turn_ms(name, day_ms, turn),
                         day_ms); /* also for an agent that began meanwhile */
    }
    for (int i = 0; i < TENTHS; i++)
        assert_in_range(in[i], NODES / TENTHS / 2, NODES / TENTHS * 2);
}

static void notices_what_changed_on_the_node(void **state)
{
    struct fake *f = *state;
    struct node n;
    struct components list = {0};
    start(f, &n, "lx01");
    frame(f, FRAME_FINGERPRINT, 0, 1, NULL);
    int from = f->n_frames;
    fake_write(n.root, "proc/cmdline", "BOOT_IMAGE=/vmlinuz mitigations=off\n");
    want_list(f, wait_new_fingerprint(f, from), &list);
    assert_value(&list, "kernel.cmdline", "BOOT_IMAGE=/vmlinuz mitigations=off");
    components_fini(&list);
    stop(f, &n);
}

static void watched_files_need_no_second(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    fake_write(n.root, "etc/fettle/fingerprint.conf", "File=/etc/gres.conf\n");
    fake_write(n.root, "etc/gres.conf", "first\n");
    start_with(f, &n, "lx01", false);
    wait_new_fingerprint(f, 0);
    int64_t fastest_ms = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        char text[16];
        struct mono before = mono_now();
        int from = f->n_frames;
        snprintf(text, sizeof text, "change %d\n", i);
        fake_write(n.root, "etc/gres.conf", text);
        wait_new_fingerprint(f, from);
        int64_t ms = span_to_ms(mono_sub(mono_now(), before));
        fastest_ms = ms < fastest_ms ? ms : fastest_ms;
    }
    /* A change just behind a look waits most of a second for the next one. */
    assert_true(fastest_ms < 500);
    stop(f, &n);
}

/* In its place, as editors and package managers do it. */
static void replace(const char *root, const char *path, const char *text)
{
    char made[256], from[512], to[512];
    snprintf(made, sizeof made, "%s.new", path);
    fake_write(root, made, text);
    snprintf(from, sizeof from, "%s/%s", root, made);
    snprintf(to, sizeof to, "%s/%s", root, path);
    assert_int_equal(rename(from, to), 0);
}

static void discard(const char *root, const char *path)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    assert_int_equal(unlink(whole), 0);
}

/* Waits less long than until the next look at files, so that events alone tell. */
static void expect_news(struct fake *f, int *from)
{
    *from = wait_new_fingerprint(f, *from) + 1;
}

static void a_watched_file_may_be_replaced_and_rewritten(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    fake_write(n.root, "etc/fettle/fingerprint.conf", "File=/etc/gres.conf\n");
    fake_write(n.root, "etc/gres.conf", "first\n");
    start_with(f, &n, "lx01", false);
    expect_news(f, &from);
    for (int i = 0; i < 2; i++) {
        replace(n.root, "etc/gres.conf", i ? "replaced again\n" : "replaced\n");
        expect_news(f, &from);
        fake_write(n.root, "etc/gres.conf", i ? "rewritten again\n" : "rewritten\n");
        expect_news(f, &from);
    }
    discard(n.root, "etc/gres.conf");
    expect_news(f, &from);
    fake_write(n.root, "etc/gres.conf", "here again\n");
    expect_news(f, &from);
    stop(f, &n);
}

static void a_named_file_may_come_later_with_its_directories(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    fake_write(n.root, "etc/fettle/fingerprint.conf", "File=/opt/site/etc/a.conf\n");
    start_with(f, &n, "lx01", false);
    expect_news(f, &from);
    replace(n.root, "opt/site/etc/a.conf", "there\n");
    expect_news(f, &from);
    replace(n.root, "opt/site/etc/a.conf", "another\n");
    expect_news(f, &from);
    stop(f, &n);
}

static void packages_are_watched(void **state)
{
    static const char one[] = "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n";
    static const char two[] = "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 2\n\n";
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    start_with(f, &n, "lx01", false);
    expect_news(f, &from);
    replace(n.root, "var/lib/dpkg/status", one);
    expect_news(f, &from);
    replace(n.root, "var/lib/dpkg/status", two);
    expect_news(f, &from);
    fake_write(n.root, "var/lib/dpkg/status", one);
    expect_news(f, &from);
    stop(f, &n);
}

/* What is named from then on is looked at, too. */
static void the_configuration_may_come_later(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    fake_write(n.root, "proc/sys/vm/laptop_mode", "0\n");
    start_with(f, &n, "lx01", false);
    expect_news(f, &from);
    fake_write(n.root, "etc/fettle/fingerprint.conf", "Sysctl=vm.laptop_mode\n");
    expect_news(f, &from);
    fake_write(n.root, "proc/sys/vm/laptop_mode", "5\n");
    expect_news(f, &from);
    stop(f, &n);
}

static void reads_what_the_controller_names_before_it_says_anything(void **state)
{
    struct fake *f = *state;
    struct node n;
    struct components list = {0};
    CLEANUP_FREE char *welcome = welcome_with(f, 60000, "\"also\":[\"file./etc/motd\"]");
    f->welcome = welcome;
    start(f, &n, "lx01");
    int at = wait_new_fingerprint(f, 0);
    want_list(f, at, &list);
    assert_non_null(component(&list, "file./etc/motd"));
    components_fini(&list);
    /* The same again changes nothing, and less is read anew. */
    int from = f->n_frames;
    send_survey(f, f->frames[at].peer, 2, "\"also\":[\"file./etc/motd\"]");
    send_survey(f, f->frames[at].peer, 3, "\"also\":[]");
    at = wait_new_fingerprint(f, from);
    want_list(f, at, &list);
    assert_null(component(&list, "file./etc/motd"));
    components_fini(&list);
    stop(f, &n);
}

static void a_survey_that_hangs_delays_no_heartbeat(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    fake_write(n.root, "etc/fettle/fingerprint.conf", "Command=slow Run=\"exec sleep 300\" Deadline=50s\n");
    f->welcome = WELCOME(50, true);
    start_with(f, &n, "lx01", false);
    frame(f, FRAME_HEARTBEAT, 0, 10, NULL);
    frame(f, FRAME_INVENTORY, 0, 1, NULL);
    for (int i = 0; i < f->n_frames; i++)
        assert_int_not_equal(f->frames[i].type, FRAME_FINGERPRINT);
    stop(f, &n);
}

static void a_survey_that_fails_is_unknown_and_comes_back(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    fake_write(n.root, "etc/fettle/fingerprint.conf", "Nonsense=1\n");
    f->welcome = WELCOME(50, false);
    start_with(f, &n, "lx01", false);
    frame(f, FRAME_HEARTBEAT, 0, 5, NULL);
    for (int i = 0; i < f->n_frames; i++)
        assert_int_not_equal(f->frames[i].type, FRAME_FINGERPRINT);
    fake_write(n.root, "etc/fettle/fingerprint.conf", "\n");
    wait_new_fingerprint(f, 0);
    stop(f, &n);
}

static void a_collector_hands_fingerprints_both_ways(void **state)
{
    struct fake *f = *state;
    struct node one, two;
    int peer;
    struct components list = {0};
    CLEANUP_FREE char *welcome = welcome_with(f, 100, "\"recheck_ms\":3600000,\"also\":[\"file./etc/motd\"]");
    f->welcome = welcome;
    uint16_t port = start_collector(f, &one, "lx[02-03]", &peer);
    int from = f->n_frames;
    start(f, &two, "lx02");
    redirect(f, from, port, 1);
    int at = wait_batch(f, from, "\"fingerprints\":[{\"name\":\"lx02\"");
    assert_int_equal(f->frames[at].peer, peer);
    char *said = mem_dup(
        string_of(json_array_get(json_object_get(f->frames[at].body, "fingerprints"), 0), "fingerprint"));
    from = f->n_frames;
    fake_send(f, peer, FRAME_WANT, "{\"nodes\":\"lx02\",\"components\":\"%s\"}", said);
    at = wait_batch(f, from, "\"components\":[{\"name\":\"lx02\"");
    json_t *part = json_array_get(json_object_get(f->frames[at].body, "components"), 0);
    assert_string_equal(string_of(part, "fingerprint"), said);
    assert_int_equal(number_of(part, "parts"), 1);
    assert_int_equal(components_parse(&list, part, NULL), 0);
    assert_non_null(component(&list, "file./etc/motd")); /* the collector handed that on */
    components_fini(&list);
    free(said);
    from = f->n_frames;
    fake_send(f, peer, FRAME_RECHECK, "{\"nodes\":\"lx[02-03]\"}");
    wait_batch(f, from, "\"verified\":\"lx02\"");
    stop(f, &two);
    stop(f, &one);
}

static void renews_its_certificate_in_time(void **state)
{
    struct fake *f = *state;
    struct node n = {.home = fake_home(f, "lx01", span_s(1200))}; /* of 80 minutes */
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

/* --- checks and operations ------------------------------------------------------------------ */

#define BOOT_ID "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de"
#define CHECKLIST(hash, revision, run)                                        \
    "{\"type\":18,\"revision\":" #revision ",\"hash\":\"" hash                \
    "\",\"lines\":[\"Check=disk Probe=plugin Run=\\\"" run "\\\" Every=1d\"," \
    "\"Check=not.here Probe=plugin Run=true Nodes=lx09\",\"Check=future Probe=unheard.of\"]}"
#define ACT(id, run) \
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
    start(f, &n, "lx01");
    json_t *hello = frame(f, FRAME_HELLO, 0, 1, NULL);
    assert_null(json_object_get(hello, "checklist"));
    frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    send_order(f, 0, FRAME_CHECKLIST, CHECKLIST("h1", 1, "exit 1"));
    json_t *first = frame(f, FRAME_CHECKS, 0, 1, NULL);
    assert_true(json_is_true(json_object_get(first, "full")));
    assert_string_equal(string_of(first, "list"), "h1");
    assert_string_equal(string_of(first, "boot"), BOOT_ID);
    assert_int_equal(json_array_size(json_object_get(first, "checks")), 1);
    wait_text(f, FRAME_CHECKS, 0, "\"result\":\"warn\"");
    agent_stop(n.agent);
    assert_true(fake_wait(f, is_done, &n));
    int from = f->n_frames;
    start_with(f, &n, "lx01", false);
    assert_string_equal(string_of(frame(f, FRAME_HELLO, from, 1, NULL), "checklist"), "h1");
    wait_text(f, FRAME_CHECKS, from, "\"result\":\"warn\"");
    stop(f, &n);
}

static void says_all_its_checks_on_each_link_and_when_asked(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    start(f, &n, "lx01");
    frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    send_order(f, 0, FRAME_CHECKLIST, CHECKLIST("h1", 1, "exit 1"));
    wait_text(f, FRAME_CHECKS, 0, "\"result\":\"warn\"");
    peer_close(f->peers[0]);
    frame(f, FRAME_HELLO, 0, 2, &at);
    int again = wait_text(f, FRAME_CHECKS, at, "\"result\":\"warn\"");
    assert_true(json_is_true(json_object_get(f->frames[again].body, "full")));
    int from = f->n_frames;
    fake_send(f, f->frames[at].peer, FRAME_ACT, "{\"tell\":true}");
    assert_true(json_is_true(json_object_get(frame(f, FRAME_CHECKS, from, 1, NULL), "full")));
    stop(f, &n);
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
    start(f, &n, "lx01");
    frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    fake_send(f, 0, FRAME_ACT, "%s", ACT("c1", "node:echo hi"));
    at = wait_text(f, FRAME_DONE, 0, "\"asks\"");
    order_directly(f, "c1", "node:echo old", "00000000000000000000000000000000");
    order_directly(f, "c1", "node:echo hi", json_text(f->frames[at].body, "nonce"));
    wait_text(f, FRAME_DONE, 0, "\"begun\"");
    wait_text(f, FRAME_DONE, 0, "hi\\n");
    peer_close(f->peers[0]);
    frame(f, FRAME_HELLO, 0, 2, &at);
    wait_text(f, FRAME_DONE, at, "hi\\n");
    stop(f, &n);
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
    send_order(f, peer, FRAME_CHECKLIST, CHECKLIST("h1", 1, "exit 1"));
    wait_text(f, FRAME_CHECKS, 0, "\"list\":\"h1\"");
    int from = f->n_frames;
    start(f, &two, "lx02");
    redirect(f, from, port, 1);
    at = wait_text(f, FRAME_PASS, from, "\"result\":\"warn\""); /* the list came by the collector */
    assert_int_equal(f->frames[at].peer, peer);
    assert_string_equal(string_of(f->frames[at].body, "node"), "lx02");
    assert_int_equal(number_of(f->frames[at].body, "type"), FRAME_CHECKS);
    fake_send(f, peer, FRAME_PASS, "{\"node\":\"lx02\",\"type\":20,\"body\":%s}", ACT("c1", "node:echo hi"));
    at = wait_text(f, FRAME_PASS, from, "\"asks\"");
    pass_order(f, peer, "lx02", f->frames[at].body, "c1", "node:echo hi");
    wait_text(f, FRAME_PASS, from, "hi\\n");
    send_order(f, peer, FRAME_CHECKLIST, CHECKLIST("h2", 2, "exit 2"));
    wait_text(f, FRAME_PASS, from, "\"result\":\"fatal\"");
    /* Another link of the collector's knows nothing: everything is said again. */
    from = f->n_frames;
    peer_close(f->peers[peer]);
    at = wait_text(f, FRAME_PASS, from, "\"result\":\"fatal\"");
    assert_non_null(strstr(string_of(f->frames[at].body, "node"), "lx02"));
    wait_text(f, FRAME_PASS, from, "hi\\n");
    stop(f, &two);
    stop(f, &one);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_fake, fake_teardown)
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
        T(frames_that_do_not_fit_change_nothing),
        T(a_collector_reports_for_its_nodes),
        T(a_collector_keeps_its_nodes_while_the_controller_is_away),
        T(a_collector_that_is_not_there_is_left_after_three_tries),
        T(a_collector_that_stands_still_is_left_in_time),
        T(a_collector_hears_its_own_nodes_only),
        T(says_its_fingerprint_and_what_is_behind_it),
        T(reads_anew_on_request_and_says_the_same_in_21_bytes),
        T(reads_anew_as_often_as_it_is_told),
        cmocka_unit_test(each_node_has_its_own_turn),
        T(notices_what_changed_on_the_node),
        T(watched_files_need_no_second),
        T(a_watched_file_may_be_replaced_and_rewritten),
        T(a_named_file_may_come_later_with_its_directories),
        T(packages_are_watched),
        T(the_configuration_may_come_later),
        T(reads_what_the_controller_names_before_it_says_anything),
        T(a_survey_that_hangs_delays_no_heartbeat),
        T(a_survey_that_fails_is_unknown_and_comes_back),
        T(a_collector_hands_fingerprints_both_ways),
        T(checks_what_the_controller_says_and_remembers_it),
        T(says_all_its_checks_on_each_link_and_when_asked),
        T(carries_out_operations_and_tells_of_them_again),
        T(a_collector_passes_checks_and_operations_on),
        T(renews_its_certificate_in_time),
        T(does_not_start_without_an_identity_or_a_controller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
