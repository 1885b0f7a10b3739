/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/watch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * A watch in virtual time, as the controller runs it: a tick each 100 ms, and each proposal is
 * committed at once. What it says is a log with the second in which it said so.
 */

struct world {
    struct cluster *c;
    struct watch *w;
    struct watch_policy policy;
    int64_t now_ms;
    bool sends[32]; /* the node sends every 10 s */
    uint64_t seq[32];
    unsigned claims;
    struct text log;
};

static const char BOOT[] = "01234567-89ab-4cde-8f01-23456789abcd",
                  BOOT2[] = "11234567-89ab-4cde-8f01-23456789abcd";

static struct mono now_of(const struct world *x)
{
    return (struct mono){x->now_ms * 1000000};
}

static bool propose(void *arg, const struct command *proposed)
{
    struct world *x = arg;
    struct decision d = {0};
    char id[16];
    CLEANUP_FREE char *folded =
        hostlist_fold((const char *const *)proposed->nodes->names, proposed->nodes->n);
    snprintf(id, sizeof id, "1.%u", ++x->claims);
    struct command cmd = *proposed;
    cmd.actor = "fettled";
    cmd.at = (struct wall){1};
    cmd.claim = cmd.kind == COMMAND_SILENT ? id : NULL;
    text_printf(&x->log, "%lld: %s %s\n", (long long)(x->now_ms / 1000), command_name(cmd.kind), folded);
    assert_int_equal(cluster_decide(x->c, &cmd, 0, &d, NULL), 0);
    for (size_t i = 0; i < d.n_ops; i++)
        assert_int_equal(cluster_put(x->c, d.ops[i].key, d.ops[i].value, NULL), 0);
    decision_fini(&d);
    return true;
}

static void notice(void *arg, const char *what, const char *nodes, const char *text)
{
    struct world *x = arg;
    text_printf(&x->log, "%lld: %s %s: %s\n", (long long)(x->now_ms / 1000), what, nodes, text);
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    struct world *x = arg;
    text_printf(&x->log, "%lld: alarm.%s %s: %s\n", (long long)(x->now_ms / 1000),
                over ? "over" : alarm_name(a->kind), over ? a->subject : a->nodes, over ? over : a->text);
}

static void configure(struct world *x, size_t n)
{
    struct roster r = {.partition_max = 31, .n = n, .nodes = mem_alloc(n * sizeof *r.nodes)};
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%02zu", i + 1);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    cluster_configure(x->c, &r, NULL);
}

static void watch_anew(struct world *x)
{
    const struct watch_sink sink = {x, propose, notice, on_alarm};
    watch_destroy(x->w);
    x->w = watch_create(x->c, &x->policy, now_of(x), &sink);
}

static struct world *world(size_t n)
{
    struct world *x = mem_alloc(sizeof *x);
    x->c = cluster_create();
    x->policy = (struct watch_policy){.plain = {span_s(30), span_s(90)},
                                      .sensitive = {span_s(120), span_s(420)},
                                      .borrowed = {span_s(30), span_s(60)},
                                      .quiet = span_s(30),
                                      .silent_share_percent = 25,
                                      .judge = true};
    configure(x, n);
    watch_anew(x);
    return x;
}

static void world_end(struct world *x)
{
    watch_destroy(x->w);
    cluster_destroy(x->c);
    text_fini(&x->log);
    free(x);
}

static struct member *node(const struct world *x, int i)
{
    char name[32];
    snprintf(name, sizeof name, "lx%02d", i);
    return cluster_meet(x->c, name);
}

static int open_as(struct world *x, int i, uint64_t instance, const char *boot, void *session, struct err *e)
{
    const struct hello h = {
        .name = node(x, i)->name, .version = "1", .boot = boot, .instance = instance, .inventory = ""};
    void *old;
    bool want;
    return watch_open(x->w, now_of(x), node(x, i), &h, session, NULL, &want, &old, e);
}

static int beat(struct world *x, int i, uint64_t instance, uint64_t seq, const char *boot, const char *work)
{
    CLEANUP_JSON json_t *running = work ? json_read(work, strlen(work), NULL) : NULL;
    const struct heartbeat h = {.instance = instance, .seq = seq, .boot = boot, .work = running};
    return watch_heartbeat(x->w, now_of(x), (struct wall){1}, node(x, i), &h, NULL);
}

static void start(struct world *x, int first, int last)
{
    for (int i = first; i <= last; i++) {
        assert_int_equal(open_as(x, i, (uint64_t)i, BOOT, &x->sends[i], NULL), 0);
        assert_int_equal(beat(x, i, (uint64_t)i, ++x->seq[i], BOOT, "[]"), 0);
        x->sends[i] = true;
    }
}

static void run(struct world *x, int64_t seconds)
{
    for (int64_t end = x->now_ms + seconds * 1000; x->now_ms < end;) {
        x->now_ms += WATCH_TICK_MS;
        for (int i = 1; i < 32; i++)
            if (x->sends[i] && x->now_ms % 10000 == i * 100)
                beat(x, i, (uint64_t)i, ++x->seq[i], BOOT, "[]");
        watch_tick(x->w, now_of(x), (struct wall){1});
        while (watch_step(x->w, 7))
            ;
    }
}

/* The lines since the last call. */
static const char *said(struct world *x)
{
    static char shown[8192];
    snprintf(shown, sizeof shown, "%s", x->log.len ? x->log.s : "");
    text_clear(&x->log);
    return shown;
}

static void set(struct world *x, int i, enum field f)
{
    char key[32];
    snprintf(key, sizeof key, "edit/lx%02d", i);
    const char *value =
        f == FIELD_SENSITIVE ? "{\"set\":{\"Sensitive\":\"yes\"}}" : "{\"set\":{\"Borrowed\":\"yes\"}}";
    assert_int_equal(cluster_put(x->c, key, value, NULL), 0);
}

static void drain(struct world *x, int i)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(
        &t,
        "{\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"x\",\"since\":\"1\",\"nodes\":\"lx%02d\","
        "\"drained\":\"\"}",
        i);
    assert_int_equal(cluster_put(x->c, "claim/9.1", t.s, NULL), 0);
}

static enum liveness live(const struct world *x, int i)
{
    return watch_observed(x->w, node(x, i))->beat.liveness;
}

/* --- grace ----------------------------------------------------------------------------------- */

static void test_first_heard_is_admitted(void **state)
{
    struct world *x = world(2);
    start(x, 1, 1);
    run(x, 2);
    assert_string_equal(said(x), "1: node.admitted lx01\n");
    assert_int_equal(live(x, 2), LIVENESS_UNHEARD);
    run(x, 200);
    assert_string_equal(said(x), ""); /* lx02 was never heard, so its silence changes nothing */
    world_end(x);
}

static void tick(struct world *x)
{
    x->now_ms += WATCH_TICK_MS;
    watch_tick(x->w, now_of(x), (struct wall){1});
    while (watch_step(x->w, 1000))
        ;
}

static void test_very_many_are_admitted_in_turns(void **state)
{
    struct world *x = world(2600);
    for (int i = 1; i <= 2600; i++) {
        assert_int_equal(open_as(x, i, (uint64_t)i, BOOT, x, NULL), 0);
        assert_int_equal(beat(x, i, (uint64_t)i, 1, BOOT, "[]"), 0);
    }
    run(x, 1);
    assert_string_equal(said(x), "1: node.admitted lx[01-99,100-500]\n1: node.admitted lx[501-1000]\n");
    tick(x);
    assert_string_equal(said(x), "1: node.admitted lx[1001-1500]\n1: node.admitted lx[1501-2000]\n");
    configure(x, 2400); /* what was found of the others does not count any more */
    tick(x);
    assert_string_equal(said(x), "1: node.admitted lx[2001-2400]\n");
    tick(x);
    assert_string_equal(said(x), "");
    world_end(x);
}

static void test_late_then_down_then_back(void **state)
{
    struct world *x = world(10);
    start(x, 1, 10);
    run(x, 100);
    said(x);
    x->sends[3] = false; /* last heard at 90.3 */
    run(x, 29);
    assert_string_equal(said(x), "120: node.late lx03: not heard of late; takes no new work\n");
    run(x, 70);
    assert_string_equal(said(x), "180: node.silent lx03\n");
    x->sends[3] = true;
    run(x, 20);
    assert_string_equal(said(x), "200: node.live lx03: heard again\n201: node.heard lx03\n");
    assert_int_equal(node(x, 3)->n_claims, 0);
    world_end(x);
}

static void test_back_within_grace_was_never_disturbed(void **state)
{
    struct world *x = world(10);
    start(x, 1, 10);
    run(x, 100);
    said(x);
    x->sends[3] = false;
    run(x, 79);
    x->sends[3] = true;
    run(x, 30);
    assert_string_equal(said(x), "120: node.late lx03: not heard of late; takes no new work\n"
                                 "180: node.live lx03: heard again\n");
    assert_int_equal(node(x, 3)->n_claims, 0);
    world_end(x);
}

static void test_sensitive_and_borrowed_nodes(void **state)
{
    struct world *x = world(20);
    start(x, 1, 20);
    set(x, 3, FIELD_SENSITIVE);
    set(x, 4, FIELD_BORROWED);
    run(x, 100);
    said(x);
    x->sends[3] = x->sends[4] = false;
    run(x, 119);
    assert_string_equal(said(x), "120: node.late lx04: not heard of late; takes no new work\n"
                                 "150: node.silent lx04\n"
                                 "210: node.late lx03: not heard of late; takes no new work\n");
    run(x, 300);
    assert_string_equal(said(x), "510: node.silent lx03\n");
    world_end(x);
}

/* --- faults of the controller ---------------------------------------------------------------- */

static void test_time_in_which_it_stood_still_is_no_silence(void **state)
{
    struct world *x = world(10);
    start(x, 1, 10);
    run(x, 100);
    said(x);
    x->now_ms += 600000 - WATCH_TICK_MS;
    tick(x);
    for (int i = 1; i <= 10; i++)
        assert_int_equal(live(x, i), LIVENESS_LIVE);
    run(x, 60);
    assert_string_equal(said(x), "");
    world_end(x);
}

/* What waited in the sockets is read before the timers run: it must not be heard in the future. */
static void test_heard_before_the_first_tick_after_it_stood_still(void **state)
{
    struct world *x = world(10);
    start(x, 1, 10);
    run(x, 100);
    said(x);
    x->now_ms += 600000;
    for (int i = 1; i <= 10; i++)
        assert_int_equal(beat(x, i, (uint64_t)i, ++x->seq[i], BOOT, "[]"), 0);
    x->sends[3] = false;
    run(x, 40);
    assert_string_equal(said(x), "730: node.late lx03: not heard of late; takes no new work\n");
    world_end(x);
}

static void test_a_restart_waits_a_full_window(void **state)
{
    struct world *x = world(10);
    x->policy.spread = span_s(15);
    start(x, 1, 10);
    run(x, 100);
    said(x);
    memset(x->sends, 0, sizeof x->sends);
    watch_anew(x);
    assert_int_equal(live(x, 1), LIVENESS_UNHEARD);
    run(x, 60);
    start(x, 1, 9);
    run(x, 44);
    assert_string_equal(said(x), "");
    run(x, 5);
    assert_string_equal(said(x), "205: node.silent lx10\n");
    world_end(x);
}

static void test_nodes_whose_collector_was_lost_have_a_window(void **state)
{
    struct world *x = world(10);
    start(x, 1, 10);
    run(x, 100);
    said(x);
    x->sends[3] = false;
    run(x, 60);
    watch_excuse(x->w, now_of(x), span_s(0), node(x, 3));
    assert_int_equal(live(x, 3), LIVENESS_LIVE);
    run(x, 88);
    assert_string_equal(said(x), "120: node.late lx03: not heard of late; takes no new work\n"
                                 "190: node.late lx03: not heard of late; takes no new work\n");
    run(x, 4);
    assert_string_equal(said(x), "250: node.silent lx03\n");
    world_end(x);
}

static void vouched(struct world *x, int i, int collector)
{
    void *old;
    bool want;
    const struct hello h = {
        .name = node(x, i)->name, .version = "1", .boot = BOOT, .instance = (uint64_t)i, .inventory = ""};
    x->sends[i] = false;
    assert_int_equal(watch_open(x->w, now_of(x), node(x, i), &h, &x->sends[collector], node(x, collector),
                                &want, &old, NULL),
                     0);
    watch_vouch(x->w, now_of(x), (struct wall){1}, node(x, i));
}

/* lx02 collects for lx03, which was heard last at 100. */
static struct world *collected(void)
{
    struct world *x = world(10);
    start(x, 1, 10);
    run(x, 100);
    vouched(x, 3, 2);
    said(x);
    return x;
}

static void test_silence_counts_from_when_the_collector_heard_it(void **state)
{
    struct world *x = collected();
    run(x, 15);
    watch_missed(x->w, now_of(x), span_s(20), node(x, 3));
    run(x, 74);
    assert_string_equal(said(x), "125: node.late lx03: not heard of late; takes no new work\n");
    run(x, 1);
    watch_missed(x->w, now_of(x), span_ms(95000), node(x, 3));
    run(x, 1);
    assert_string_equal(said(x), "190: node.silent lx03\n");
    world_end(x);
}

/* A collector that says nothing proves nothing about its nodes: they wait until it is given up, or speaks. */
static void test_nobody_is_taken_down_while_its_collector_is_silent(void **state)
{
    struct world *x = collected();
    x->sends[2] = false; /* last heard at 90.2 */
    run(x, 97);
    assert_string_equal(said(x), "120: node.late lx02: not heard of late; takes no new work\n"
                                 "130: node.late lx03: not heard of late; takes no new work\n"
                                 "180: node.silent lx02\n");
    assert_int_equal(live(x, 3), LIVENESS_LATE);
    x->sends[2] = true;
    run(x, 5);
    assert_string_equal(said(x),
                        "200: node.live lx02: heard again\n200: node.silent lx03\n201: node.heard lx02\n");
    world_end(x);
}

static void test_a_shorter_timeout_begins_with_a_window(void **state)
{
    struct world *x = world(10);
    x->policy.plain = (struct beat_timeouts){span_s(450), span_s(600)};
    x->policy.quiet = span_s(450);
    watch_set_policy(x->w, &x->policy);
    start(x, 1, 10);
    run(x, 5);
    memset(x->sends, 0, sizeof x->sends);
    run(x, 300);
    said(x);
    x->policy.plain = (struct beat_timeouts){span_s(30), span_s(90)};
    x->policy.quiet = span_s(30);
    watch_set_policy(x->w, &x->policy);
    run(x, 29);
    assert_string_equal(said(x), "");
    watch_set_policy(x->w, &x->policy); /* the same policy again excuses no node */
    run(x, 4);
    assert_int_equal(live(x, 1), LIVENESS_LATE);
    assert_int_equal(live(x, 10), LIVENESS_LATE);
    world_end(x);
}

static void test_nobody_is_judged_without_heartbeats(void **state)
{
    struct world *x = world(10);
    x->policy.judge = false;
    watch_set_policy(x->w, &x->policy);
    start(x, 1, 10);
    memset(x->sends, 0, sizeof x->sends);
    run(x, 1000);
    assert_string_equal(said(x), "1: node.admitted lx[01-10]\n");
    assert_int_equal(live(x, 1), LIVENESS_LIVE);
    x->policy.judge = true;
    watch_set_policy(x->w, &x->policy);
    run(x, 25);
    assert_string_equal(said(x), "");
    world_end(x);
}

/* --- many at once ---------------------------------------------------------------------------- */

static void test_mass_silence_raises_one_alarm(void **state)
{
    struct world *x = world(12);
    size_t silent, all;
    start(x, 1, 12);
    run(x, 100);
    said(x);
    for (int i = 1; i <= 4; i++)
        x->sends[i] = false;
    run(x, 300);
    assert_string_equal(
        said(x),
        "120: node.late lx[01-02]: not heard of late; takes no new work\n"
        "120: node.late lx[03-04]: not heard of late; takes no new work\n"
        "121: alarm.silence : 4 of 12 nodes are silent at once, more than 25 %: no node is taken down "
        "until fewer are\n");
    assert_true(watch_alarm(x->w, &silent, &all));
    assert_int_equal(silent, 4);
    assert_int_equal(all, 12);
    for (int i = 1; i <= 3; i++)
        x->sends[i] = true;
    run(x, 88);
    assert_string_equal(said(x), "400: node.live lx[01-02]: heard again\n"
                                 "400: node.live lx03: heard again\n"
                                 "401: alarm.over : 1 of 12 nodes are silent; nodes are judged again\n");
    assert_false(watch_alarm(x->w, &silent, &all));
    run(x, 10);
    assert_string_equal(said(x), "491: node.silent lx04\n"); /* a full window after the alarm */
    world_end(x);
}

static void test_few_nodes_raise_no_alarm(void **state)
{
    struct world *x = world(5);
    start(x, 1, 5);
    run(x, 100);
    said(x);
    x->sends[1] = x->sends[2] = false;
    run(x, 100);
    assert_string_equal(said(x), "120: node.late lx[01-02]: not heard of late; takes no new work\n"
                                 "180: node.silent lx01\n180: node.silent lx02\n");
    world_end(x);
}

/* All fall silent in the same moment, and the moment falls into the middle of a sweep. */
static void test_a_sweep_s_first_half_is_no_minority(void **state)
{
    for (int64_t offset = 0; offset < 1000; offset += 100) {
        struct world *x = world(20);
        start(x, 1, 20);
        run(x, 2);
        memset(x->sends, 0, sizeof x->sends);
        x->now_ms += offset;
        watch_anew(x); /* all nodes have the same window */
        said(x);
        run(x, 200);
        assert_null(strstr(said(x), "node.silent"));
        world_end(x);
    }
}

static void test_who_is_held_already_raises_no_alarm(void **state)
{
    struct world *x = world(12);
    start(x, 1, 12);
    run(x, 100);
    for (int i = 1; i <= 12; i += 2) {
        x->sends[i] = false;
        run(x, 100);
    }
    assert_null(strstr(said(x), "alarm"));
    world_end(x);
}

/* --- work ------------------------------------------------------------------------------------ */

static void test_drained_when_work_ends_draining_when_it_appears(void **state)
{
    struct world *x = world(4);
    start(x, 1, 4);
    run(x, 5);
    said(x);
    x->sends[2] = false;
    beat(x, 2, 2, 100, BOOT, "[\"job 7\"]");
    drain(x, 2);
    run(x, 3);
    assert_string_equal(said(x), "");
    beat(x, 2, 2, 101, BOOT, "[]");
    run(x, 2);
    assert_string_equal(said(x), "9: node.drained lx02\n");
    beat(x, 2, 2, 102, BOOT, "[\"job 8\"]");
    run(x, 2);
    assert_string_equal(said(x), "11: node.draining lx02\n");
    world_end(x);
}

static const char *power(const struct world *x, int i, const char *run, bool force, int rc)
{
    static struct err e;
    e = (struct err){0};
    assert_int_equal(watch_may_power(x->w, node(x, i), run, force, &e), rc);
    return e.msg;
}

/* A power command of a person needs to know whether work runs; only the switch stops a forced one. */
static void test_a_power_command_asks_for_work(void **state)
{
    struct world *x = world(2);
    start(x, 1, 1);
    run(x, 1);
    power(x, 1, "power.off", false, 0);
    beat(x, 1, 1, ++x->seq[1], BOOT, "[\"slurm.4711\"]");
    assert_string_equal(power(x, 1, "power.off", false, -EBUSY),
                        "work runs on it: slurm.4711; only a command with force goes through");
    power(x, 1, "power.off", true, 0);
    power(x, 1, "power.on", false, 0);
    beat(x, 1, 1, ++x->seq[1], BOOT, "[]");
    watch_scheduler(x->w, node(x, 1), WORK_BUSY, false);
    assert_string_equal(power(x, 1, "power.cycle", false, -EBUSY),
                        "work runs on it, as the scheduler says; only a command with force goes through");
    watch_scheduler(x->w, node(x, 1), WORK_UNKNOWN, false);
    power(x, 1, "power.cycle", false, -EAGAIN);
    watch_scheduler(x->w, node(x, 1), WORK_IDLE, false);
    power(x, 1, "power.cycle", false, 0);
    assert_string_equal(power(x, 2, "power.reset", false, -EAGAIN),
                        "it is not known whether work runs on it; only a command with force goes through");
    cluster_put(x->c, "switch/stop", "{\"on\":true,\"by\":\"root\",\"at\":\"1\",\"why\":\"cooling\"}", NULL);
    assert_string_equal(power(x, 1, "power.on", true, -EBUSY), "everything is stopped: root: cooling");
    world_end(x);
}

/* The last report of a node that is silent by now is no proof. */
static void test_a_silent_node_may_have_work(void **state)
{
    struct world *x = world(1);
    start(x, 1, 1);
    run(x, 1);
    x->sends[1] = false;
    run(x, 100);
    power(x, 1, "power.off", false, -EAGAIN);
    power(x, 1, "power.off", true, 0);
    world_end(x);
}

static void test_unknown_work_never_drains(void **state)
{
    struct world *x = world(4);
    start(x, 1, 4);
    run(x, 5);
    said(x);
    x->sends[2] = false;
    beat(x, 2, 2, 100, BOOT, NULL);
    drain(x, 2);
    run(x, 3);
    assert_string_equal(said(x), "");
    /* Another boot: what ran before runs no more, what runs now is not known yet. */
    beat(x, 2, 2, 101, BOOT, "[\"job 7\"]");
    watch_close(x->w, node(x, 2), &x->sends[2]);
    assert_int_equal(open_as(x, 2, 77, BOOT2, &x->sends[2], NULL), 0);
    assert_int_equal(watch_observed(x->w, node(x, 2))->work, WORK_UNKNOWN);
    run(x, 3);
    assert_string_equal(said(x), "9: node.admitted lx02\n"); /* and its work is not known */
    world_end(x);
}

static void test_a_late_node_s_work_is_old_news(void **state)
{
    struct world *x = world(4);
    start(x, 1, 4);
    run(x, 5);
    x->sends[2] = false;
    run(x, 45);
    said(x);
    drain(x, 2);
    run(x, 3);
    assert_string_equal(said(x), "");
    world_end(x);
}

/* --- who speaks ------------------------------------------------------------------------------ */

static void test_a_second_live_agent_is_noticed(void **state)
{
    struct world *x = world(4);
    int other;
    struct err e;
    start(x, 1, 4);
    run(x, 5);
    said(x);
    assert_int_equal(open_as(x, 2, 99, BOOT, &other, &e), -EBUSY);
    assert_string_equal(e.msg, "another live agent has this name");
    assert_string_equal(said(x), "5: node.duplicate lx02: a second agent claims the name and is refused: its "
                                 "key is 0000000000000000, the other's 0000000000000000\n");
    assert_ptr_equal(watch_observed(x->w, node(x, 2))->session, &x->sends[2]);
    watch_close(x->w, node(x, 2), &other); /* the stranger's end is not the session's */
    assert_ptr_equal(watch_observed(x->w, node(x, 2))->session, &x->sends[2]);
    world_end(x);
}

/* The other end of the old connection is long gone, and the controller was not told. */
static void test_a_rebooted_node_takes_its_place_when_the_old_is_late(void **state)
{
    struct world *x = world(4);
    int other;
    start(x, 1, 4);
    run(x, 5);
    x->sends[2] = false;
    run(x, 20);
    assert_int_equal(open_as(x, 2, 99, BOOT2, &other, NULL), -EBUSY);
    run(x, 12);
    assert_int_equal(open_as(x, 2, 99, BOOT2, &other, NULL), 0);
    assert_int_equal(beat(x, 2, 99, 1, BOOT2, "[]"), 0);
    said(x);
    assert_int_equal(open_as(x, 2, 2, BOOT, &x->sends[2], NULL), -EACCES);
    assert_string_equal(said(x),
                        "37: node.duplicate lx02: a second agent claims the name and is refused: its "
                        "key is 0000000000000000, the other's 0000000000000000\n");
    world_end(x);
}

/* An agent that starts anew between two batches of its collector comes as another instance in the
 * same session. */
static void test_a_collector_s_word_for_another_instance(void **state)
{
    struct world *x = world(4);
    start(x, 1, 4);
    assert_int_equal(open_as(x, 2, 99, BOOT, &x->sends[2], NULL), 0);
    assert_int_equal(beat(x, 2, 99, 1, BOOT, "[]"), 0);
    assert_int_equal(beat(x, 2, 2, 1000, BOOT, "[]"), -EBUSY);
    world_end(x);
}

static void test_another_boot_s_heartbeat(void **state)
{
    struct world *x = world(4);
    start(x, 1, 4);
    x->sends[2] = false;
    run(x, 40);
    said(x);
    assert_int_equal(beat(x, 2, 2, 100, BOOT2, "[]"), -EBUSY);
    assert_int_equal(beat(x, 2, 2, 1, BOOT, "[]"), -EALREADY);
    assert_int_equal(beat(x, 2, 7, 100, BOOT, "[]"), -EBUSY);
    run(x, 2);
    assert_string_equal(said(x), "");
    assert_int_equal(live(x, 2), LIVENESS_LATE);
    world_end(x);
}

static void test_a_bad_boot_id(void **state)
{
    struct world *x = world(1);
    struct err e;
    assert_int_equal(open_as(x, 1, 1, "yesterday", x, &e), -EINVAL);
    assert_string_equal(e.msg, "\"yesterday\" is not a boot id");
    assert_null(watch_observed(x->w, node(x, 1))->session);
    world_end(x);
}

static void test_the_unlisted_touch_nothing(void **state)
{
    struct world *x = world(3);
    start(x, 1, 6);
    run(x, 5);
    assert_string_equal(said(x), "1: node.admitted lx[01-03]\n");
    assert_int_equal(live(x, 5), LIVENESS_LIVE);
    x->sends[4] = x->sends[5] = x->sends[6] = false;
    run(x, 200);
    assert_string_equal(said(x), "");
    assert_int_equal(live(x, 5), LIVENESS_SILENT);
    configure(x, 6);
    run(x, 2);
    assert_string_equal(said(x), ""); /* never admitted */
    world_end(x);
}

/* --- answers --------------------------------------------------------------------------------- */

static void test_fitness(void **state)
{
    struct world *x = world(2);
    CLEANUP_TEXT struct text claims = {0}, shortfall = {0}, why = {0};
    struct fitness f;
    start(x, 1, 2);
    run(x, 2);
    watch_fitness(x->w, now_of(x), node(x, 1), &claims, &shortfall, &f);
    assert_false(lifecycle_schedulable(&f, &why));
    assert_string_equal(why.s, "has not reported its inventory yet");
    CLEANUP_JSON json_t *report = json_pack("{s:b,s:s,s:{s:i}}", "full", 1, "hash", "a", "set", "CPUs", 2);
    assert_int_equal(watch_inventory(x->w, node(x, 1), report, NULL), 0);
    watch_fitness(x->w, now_of(x), node(x, 1), &claims, &shortfall, &f);
    assert_true(lifecycle_schedulable(&f, &why));
    assert_int_equal(cluster_put(x->c, "edit/lx01", "{\"set\":{\"CPUs\":\"4\"}}", NULL), 0);
    drain(x, 1);
    watch_fitness(x->w, now_of(x), node(x, 1), &claims, &shortfall, &f);
    assert_false(lifecycle_schedulable(&f, &why));
    assert_string_equal(why.s, "drain by root: x; less than specified: CPUs 2 < 4");
    world_end(x);
}

/* --- in pieces ------------------------------------------------------------------------------- */

static size_t how_many_are(const struct world *x, int n, enum liveness is)
{
    size_t count = 0;
    for (int i = 1; i <= n; i++)
        count += live(x, i) == is;
    return count;
}

static void all_come(struct world *x, int n)
{
    for (int i = 1; i <= n; i++) {
        assert_int_equal(open_as(x, i, (uint64_t)i, BOOT, x, NULL), 0);
        assert_int_equal(beat(x, i, (uint64_t)i, 1, BOOT, "[]"), 0);
    }
}

/* All are due in one tick: none is looked at beyond what is allowed, nor left out. */
static void test_a_step_judges_the_silence_of_so_many_at_most(void **state)
{
    struct world *x = world(100);
    all_come(x, 100);
    run(x, 29);
    said(x);
    while (how_many_are(x, 100, LIVENESS_LATE) == 0) {
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, now_of(x), (struct wall){1});
        watch_step(x->w, 9);
    }
    assert_int_equal(how_many_are(x, 100, LIVENESS_LATE), 9);
    for (size_t late = 18; late < 100; late += 9) {
        assert_true(watch_step(x->w, 9));
        assert_int_equal(how_many_are(x, 100, LIVENESS_LATE), late);
    }
    run(x, 1);
    assert_non_null(strstr(said(x), "node.late lx[01-99,100]: not heard of late"));
    world_end(x);
}

/* A hundred thousand: so many looks make a sweep, none of its steps is longer, and what it finds is proposed
 * when all were looked at. */
static void test_a_sweep_is_made_of_steps(void **state)
{
    enum { NODES = 100000, NODES_A_STEP = 100 };
    struct world *x = world(NODES);
    all_come(x, 100);
    size_t steps = 0;
    for (int i = 0; i < WATCH_SLICES; i++) {
        assert_string_equal(said(x), "");
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, now_of(x), (struct wall){1});
        while (watch_step(x->w, NODES_A_STEP))
            steps++;
    }
    assert_string_equal(said(x), "1: node.admitted lx[01-99,100]\n");
    assert_in_range(steps, NODES / NODES_A_STEP, NODES / NODES_A_STEP + 50);
    world_end(x);
}

/* Pieces that come late make a sweep longer, and leave nobody out. */
static void test_a_sweep_waits_for_its_steps(void **state)
{
    struct world *x = world(100);
    all_come(x, 100);
    for (int i = 0; i < 3 * WATCH_SLICES; i++) {
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, now_of(x), (struct wall){1});
        watch_step(x->w, 3);
    }
    assert_string_equal(said(x), "");
    run(x, 1);
    assert_string_equal(said(x), "3: node.admitted lx[01-99,100]\n");
    world_end(x);
}

/* Nothing that is judged on the whole is judged on a part: half of the nodes were looked at when silence was
 * found, and the alarm waits for the end. */
static void test_mass_silence_is_judged_when_all_were_looked_at(void **state)
{
    struct world *x = world(40);
    size_t silent, all;
    all_come(x, 40);
    run(x, 35);
    assert_true(watch_alarm(x->w, &silent, &all));
    said(x);
    for (int i = 1; i <= 40; i++)
        beat(x, i, (uint64_t)i, 2, BOOT, "[]");
    for (int i = 0; i < WATCH_SLICES; i++) {
        x->now_ms += WATCH_TICK_MS;
        watch_tick(x->w, now_of(x), (struct wall){1});
        for (int k = 0; k < (i < WATCH_SLICES - 1 ? 50 : 3); k++)
            watch_step(x->w, 1);
    }
    assert_true(watch_alarm(x->w, &silent, &all));
    run(x, 1);
    assert_false(watch_alarm(x->w, &silent, &all));
    world_end(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_heard_is_admitted),
        cmocka_unit_test(test_very_many_are_admitted_in_turns),
        cmocka_unit_test(test_late_then_down_then_back),
        cmocka_unit_test(test_back_within_grace_was_never_disturbed),
        cmocka_unit_test(test_sensitive_and_borrowed_nodes),
        cmocka_unit_test(test_time_in_which_it_stood_still_is_no_silence),
        cmocka_unit_test(test_heard_before_the_first_tick_after_it_stood_still),
        cmocka_unit_test(test_a_restart_waits_a_full_window),
        cmocka_unit_test(test_nodes_whose_collector_was_lost_have_a_window),
        cmocka_unit_test(test_silence_counts_from_when_the_collector_heard_it),
        cmocka_unit_test(test_nobody_is_taken_down_while_its_collector_is_silent),
        cmocka_unit_test(test_a_shorter_timeout_begins_with_a_window),
        cmocka_unit_test(test_nobody_is_judged_without_heartbeats),
        cmocka_unit_test(test_mass_silence_raises_one_alarm),
        cmocka_unit_test(test_few_nodes_raise_no_alarm),
        cmocka_unit_test(test_a_sweep_s_first_half_is_no_minority),
        cmocka_unit_test(test_a_step_judges_the_silence_of_so_many_at_most),
        cmocka_unit_test(test_a_sweep_is_made_of_steps),
        cmocka_unit_test(test_a_sweep_waits_for_its_steps),
        cmocka_unit_test(test_mass_silence_is_judged_when_all_were_looked_at),
        cmocka_unit_test(test_who_is_held_already_raises_no_alarm),
        cmocka_unit_test(test_drained_when_work_ends_draining_when_it_appears),
        cmocka_unit_test(test_a_power_command_asks_for_work),
        cmocka_unit_test(test_a_silent_node_may_have_work),
        cmocka_unit_test(test_unknown_work_never_drains),
        cmocka_unit_test(test_a_late_node_s_work_is_old_news),
        cmocka_unit_test(test_a_second_live_agent_is_noticed),
        cmocka_unit_test(test_a_rebooted_node_takes_its_place_when_the_old_is_late),
        cmocka_unit_test(test_a_collector_s_word_for_another_instance),
        cmocka_unit_test(test_another_boot_s_heartbeat),
        cmocka_unit_test(test_a_bad_boot_id),
        cmocka_unit_test(test_the_unlisted_touch_nothing),
        cmocka_unit_test(test_fitness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
