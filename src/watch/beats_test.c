/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/beats_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char BOOT[] = "01234567-89ab-4cde-8f01-23456789abcd", BOOT2[] = "11234567-89ab-4cde-8f01-23456789abcd";

struct mono beats_now(const struct beats *x)
{
    return (struct mono){x->now_ms * 1000000};
}

static bool propose(void *arg, const struct command *proposed)
{
    struct beats *x = arg;
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
    struct beats *x = arg;
    text_printf(&x->log, "%lld: %s %s: %s\n", (long long)(x->now_ms / 1000), what, nodes, text);
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    struct beats *x = arg;
    text_printf(&x->log, "%lld: alarm.%s %s: %s\n", (long long)(x->now_ms / 1000),
                over ? "over" : alarm_name(a->kind), over ? a->subject : a->nodes, over ? over : a->text);
}

void beats_configure(struct beats *x, size_t n)
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

void beats_lead_anew(struct beats *x)
{
    const struct watch_sink sink = {x, propose, notice, on_alarm};
    watch_destroy(x->w);
    x->w = watch_create(x->c, &x->policy, beats_now(x), &sink);
}

struct beats *beats_create(size_t n)
{
    struct beats *x = mem_alloc(sizeof *x);
    x->c = cluster_create();
    x->policy = (struct watch_policy){.plain = {span_s(30), span_s(90)},
                                      .sensitive = {span_s(120), span_s(420)},
                                      .borrowed = {span_s(30), span_s(60)},
                                      .quiet = span_s(30),
                                      .silent_share_percent = 25,
                                      .judge = true};
    beats_configure(x, n);
    beats_lead_anew(x);
    return x;
}

void beats_destroy(struct beats *x)
{
    watch_destroy(x->w);
    cluster_destroy(x->c);
    text_fini(&x->log);
    free(x);
}

struct member *beats_node(const struct beats *x, int i)
{
    char name[32];
    snprintf(name, sizeof name, "lx%02d", i);
    return cluster_meet(x->c, name);
}

int beats_open(struct beats *x, int i, uint64_t instance, const char *boot, void *session, struct err *e)
{
    const struct hello h = {
        .name = beats_node(x, i)->name, .version = "1", .boot = boot, .instance = instance, .inventory = ""};
    void *old;
    bool want;
    return watch_open(x->w, beats_now(x), beats_node(x, i), &h, session, NULL, &want, &old, e);
}

int beats_beat(struct beats *x, int i, uint64_t instance, uint64_t seq, const char *boot, const char *work)
{
    CLEANUP_JSON json_t *running = work ? json_read(work, strlen(work), NULL) : NULL;
    const struct heartbeat h = {.instance = instance, .seq = seq, .boot = boot, .work = running};
    return watch_heartbeat(x->w, beats_now(x), (struct wall){1}, beats_node(x, i), &h, NULL);
}

void beats_start(struct beats *x, int first, int last)
{
    for (int i = first; i <= last; i++) {
        assert_int_equal(beats_open(x, i, (uint64_t)i, BOOT, &x->sends[i], NULL), 0);
        assert_int_equal(beats_beat(x, i, (uint64_t)i, ++x->seq[i], BOOT, "[]"), 0);
        x->sends[i] = true;
    }
}

void beats_run(struct beats *x, int64_t seconds)
{
    for (int64_t end = x->now_ms + seconds * 1000; x->now_ms < end;) {
        x->now_ms += WATCH_TICK_MS;
        for (int i = 1; i < 32; i++)
            if (x->sends[i] && x->now_ms % 10000 == i * 100)
                beats_beat(x, i, (uint64_t)i, ++x->seq[i], BOOT, "[]");
        watch_tick(x->w, beats_now(x), (struct wall){1});
        while (watch_step(x->w, 7))
            ;
    }
}

const char *beats_said(struct beats *x)
{
    static char shown[8192];
    snprintf(shown, sizeof shown, "%s", x->log.len ? x->log.s : "");
    text_clear(&x->log);
    return shown;
}

void beats_set(struct beats *x, int i, enum field f)
{
    char key[32];
    snprintf(key, sizeof key, "edit/lx%02d", i);
    const char *value =
        f == FIELD_SENSITIVE ? "{\"set\":{\"Sensitive\":\"yes\"}}" : "{\"set\":{\"Borrowed\":\"yes\"}}";
    assert_int_equal(cluster_put(x->c, key, value, NULL), 0);
}

void beats_drain(struct beats *x, int i)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(
        &t,
        "{\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"x\",\"since\":\"1\",\"nodes\":\"lx%02d\","
        "\"drained\":\"\"}",
        i);
    assert_int_equal(cluster_put(x->c, "claim/9.1", t.s, NULL), 0);
}

enum liveness beats_live(const struct beats *x, int i)
{
    return watch_observed(x->w, beats_node(x, i))->beat.liveness;
}

void beats_tick(struct beats *x)
{
    x->now_ms += WATCH_TICK_MS;
    watch_tick(x->w, beats_now(x), (struct wall){1});
    while (watch_step(x->w, 1000))
        ;
}

void beats_come(struct beats *x, int n)
{
    for (int i = 1; i <= n; i++) {
        assert_int_equal(beats_open(x, i, (uint64_t)i, BOOT, x, NULL), 0);
        assert_int_equal(beats_beat(x, i, (uint64_t)i, 1, BOOT, "[]"), 0);
    }
}
