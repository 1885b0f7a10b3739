/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/ward_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char FATAL[] = "{\"result\":\"fatal\",\"text\":\"slow\",\"findings\":[{\"result\":\"fatal\","
                     "\"text\":\"3 GB/s\"}]}",
           WELL[] = "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0}]",
           ILL[] = "[{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,"
                   "\"findings\":[{\"result\":\"fatal\",\"text\":\"full\"}]}]";

const char BURN[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                    "Check=burn Probe=plugin Run=/bin/true When=scheduled Every=1h Deadline=60s\n";

const char PAIR[] = "Check=pair Probe=plugin Run=/bin/true When=scheduled Group=2 Every=1h Deadline=60s\n";

const char EXAM[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                    "Check=pair Probe=plugin Run=/bin/true When=extensive Group=2 Deadline=60s\n";

void ward_take_checks(struct ward *d, const char *checks)
{
    world_take_checks(d->x, &d->checks, checks);
}

void ward_tell(struct ward *d, int i, const char *checks)
{
    char boot[37];
    bool want;
    struct err e;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"boot\":\"%s\",\"list\":\"00\",\"full\":true,\"checks\":%s}",
                world_boot(d->x, i, boot), checks);
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    if (watch_checks(d->x->w, world_now(d->x), world_wall(d->x), world_node(d->x, i), body, &want, &e) < 0)
        fail_msg("%s", e.msg);
}

void ward_all_well(struct ward *d)
{
    for (int i = 1; i <= (int)d->x->n; i++)
        ward_tell(d, i, d->says[i] ? d->says[i] : WELL);
}

struct ward *ward_create(size_t n, const char *checks)
{
    struct ward *d = mem_alloc(sizeof *d);
    d->x = world_create(n);
    d->x->policy.health = (struct health_policy){.limits.act = true,
                                                 .limits.percent[SCOPE_CLUSTER] = 100,
                                                 .limits.percent[SCOPE_CLASS] = 100,
                                                 .limits.percent[SCOPE_GROUP] = 100,
                                                 .limits.percent[SCOPE_PARTITION] = 100,
                                                 .trials_percent = 100,
                                                 .group = span_s(180),
                                                 .fresh = span_s(120),
                                                 .examine_deadline = span_s(3600),
                                                 .provision_deadline = span_s(1800),
                                                 .inconclusive = 3,
                                                 .override = span_s(4 * 3600),
                                                 .limits.remedies_a_week = 5,
                                                 .checks = &d->checks};
    ward_take_checks(d, checks);
    ward_all_well(d);
    return d;
}

void ward_destroy(struct ward *d)
{
    world_destroy(d->x);
    checks_fini(&d->checks);
    free(d);
}

static int number_of(const struct member *m)
{
    uint64_t n = 0;
    assert_int_equal(text_parse_u64(m->name + 2, 1, NODES, &n, NULL), 0);
    return (int)n;
}

static void on_run(void *arg, struct member *m, const struct trial_run *r)
{
    struct ward *d = arg;
    int i = number_of(m);
    if (r->stop) {
        d->stopped[i]++;
        return;
    }
    d->ran[i]++;
    snprintf(d->with[i], sizeof d->with[i], "%s %u", r->nodes ? r->nodes : "-", r->rank);
    char a[32], b[32];
    snprintf(a, sizeof a, "lx%02d", d->bad_link[0]);
    snprintf(b, sizeof b, "lx%02d", d->bad_link[1]);
    bool fails = r->nodes && strstr(r->nodes, a) && strstr(r->nodes, b);
    for (int k = 1; r->nodes && k <= (int)d->x->n; k++) {
        snprintf(a, sizeof a, "lx%02d", k);
        fails |= strstr(r->nodes, a) && d->answer[k];
    }
    assert_true(d->n_open < NODES);
    d->open[d->n_open].run = r->run;
    d->open[d->n_open].node = i;
    d->open[d->n_open++].fails = fails;
}

/* Answers for the nodes that do not hang. */
static void answer(struct ward *d)
{
    size_t kept = 0;
    for (size_t k = 0; k < d->n_open; k++) {
        int i = d->open[k].node;
        if (d->hangs[i]) {
            d->open[kept++] = d->open[k];
            continue;
        }
        const char *text = d->answer[i] ? d->answer[i] : d->open[k].fails ? FATAL : "{\"result\":\"ok\"}";
        CLEANUP_JSON json_t *o = json_read(text, strlen(text), NULL);
        struct verdict v;
        assert_int_equal(verdict_read(o, &v, NULL), 0);
        watch_tried(d->x->w, d->open[k].run, &v, "");
    }
    d->n_open = kept;
}

static void on_unread(void *arg, struct member *m, enum elsewhere_where where)
{
    struct ward *d = arg;
    bool is = d->drained[number_of(m)];
    const struct elsewhere e = {.where = where,
                                .state = is ? ELSEWHERE_HELD : ELSEWHERE_NOBODY,
                                .out = is,
                                .how = is ? "drained" : NULL};
    watch_elsewhere(d->x->w, world_now(d->x), m, &e);
}

void ward_run(struct ward *d, int seconds)
{
    for (int t = 0; t < seconds; t++) {
        world_run(d->x, 1);
        watch_trials(d->x->w, world_now(d->x), on_run, d);
        watch_unread(d->x->w, on_unread, d);
        answer(d);
        if (d->x->now_ms % 30000 < 1000)
            ward_all_well(d);
    }
}

bool ward_held(struct ward *d, int i)
{
    return world_held(d->x, i, CLAIM_TRIAL);
}

const struct tried *ward_last(struct ward *d, int i, const char *check)
{
    return trial_last(member_trial(world_node(d->x, i)), check);
}

unsigned ward_count_held(struct ward *d)
{
    unsigned n = 0;
    for (int i = 1; i <= (int)d->x->n; i++)
        n += ward_held(d, i);
    return n;
}

const struct incident *ward_incident(struct ward *d, int i)
{
    const struct ailment *a = member_ailment(world_node(d->x, i));
    return a && a->n_open ? &a->open[0] : NULL;
}

const struct repair *ward_repair(struct ward *d, int i)
{
    return member_repair(world_node(d->x, i));
}

struct ward *ward_examine(size_t n)
{
    struct ward *d = ward_create(n, EXAM);
    d->says[1] = ILL;
    ward_tell(d, 1, ILL);
    return d;
}

void ward_wait_step(struct ward *d, int i, enum step step)
{
    for (int t = 0; t < 30 && (!ward_repair(d, i) || ward_repair(d, i)->step != step); t++)
        ward_run(d, 1);
    assert_int_equal(ward_repair(d, i)->step, step);
}

void ward_begin(struct ward *d, int i)
{
    d->hangs[i] = true;
    ward_run(d, 5);
    assert_true(ward_held(d, i) && d->ran[i] == 1);
}

void ward_assert_free(struct ward *d)
{
    assert_int_equal(ward_count_held(d), 0);
    for (int i = 1; i <= (int)d->x->n; i++)
        assert_true(!member_trial(world_node(d->x, i)) || !*member_trial(world_node(d->x, i))->claim);
}
