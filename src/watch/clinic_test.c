/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char CHECKS[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                             "Check=mounts Probe=fs.mounted Path=/scratch Every=60s\n"
                             "Check=stress Probe=plugin Run=/bin/true When=extensive\n";

const char CLINIC_WELL[] = "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":0},"
                           "{\"check\":\"mounts\",\"result\":\"ok\",\"age_ms\":0}]",
           CLINIC_ILL[] = "[{\"check\":\"space\",\"result\":\"fatal\",\"age_ms\":0,"
                          "\"findings\":[{\"result\":\"fatal\",\"text\":\"full\"}]}]";

struct clinic *clinic_create(size_t n, const char *checks, const struct health_policy *policy)
{
    struct clinic *d = mem_alloc(sizeof *d);
    assert_int_equal(checks_parse("checks", checks, strlen(checks), &d->checks, NULL), 0);
    d->list = "00";
    d->x = world_create(n);
    d->x->policy.health = *policy;
    d->x->policy.health.checks = &d->checks;
    d->x->policy.health.remedies = &d->remedies;
    d->x->policy.health.meanings = d->meanings = meanings_read(NULL, NULL);
    watch_set_policy(d->x->w, &d->x->policy);
    return d;
}

void clinic_destroy(struct clinic *d)
{
    world_destroy(d->x);
    checks_fini(&d->checks);
    remedies_fini(&d->remedies);
    meanings_destroy(d->meanings);
    free(d);
}

struct clinic *clinic_open(size_t n)
{
    const struct health_policy policy = {.limits.act = true,
                                         .limits.percent[SCOPE_CLUSTER] = 10,
                                         .limits.percent[SCOPE_CLASS] = 50,
                                         .limits.percent[SCOPE_GROUP] = 25,
                                         .limits.percent[SCOPE_PARTITION] = 10,
                                         .group = span_s(180),
                                         .fresh = span_s(120),
                                         .override = span_s(4 * 3600),
                                         .cost = {1000, 200, 240000, 100, 0},
                                         .limits.remedies_a_week = 5};
    return clinic_create(n, CHECKS, &policy);
}

void clinic_take_checks(struct clinic *d, const char *checks)
{
    world_take_checks(d->x, &d->checks, checks);
}

void clinic_take_remedies(struct clinic *d, const char *remedies)
{
    struct err e;
    remedies_fini(&d->remedies);
    if (remedies_parse("remedies", remedies, strlen(remedies), &d->remedies, &e) < 0)
        fail_msg("%s", e.msg);
    watch_set_policy(d->x->w, &d->x->policy);
}

int clinic_tell(struct clinic *d, int i, const char *boot, bool full, const char *checks, bool *want,
                struct err *e)
{
    char own[37];
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"boot\":\"%s\",\"list\":\"%s\",\"full\":%s,\"checks\":%s}",
                boot ? boot : world_boot(d->x, i, own), d->list, full ? "true" : "false", checks);
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    return watch_checks(d->x->w, world_now(d->x), world_wall(d->x), world_node(d->x, i), body, want, e);
}

void clinic_tells(struct clinic *d, int i, bool full, const char *checks)
{
    bool want;
    struct err e;
    if (clinic_tell(d, i, NULL, full, checks, &want, &e) < 0)
        fail_msg("%s", e.msg);
}

enum health clinic_health(struct clinic *d, int i)
{
    return watch_health(d->x->w, world_now(d->x), world_node(d->x, i));
}

static void take_cluster(void *arg, const struct budget *b)
{
    if (strcmp(b->scope, "cluster") == 0)
        *(unsigned *)arg = b->out;
}

unsigned clinic_out(const struct clinic *d)
{
    unsigned n = 0;
    watch_each_budget(d->x->w, take_cluster, &n);
    return n;
}

void clinic_becomes(struct clinic *d, int i, const char *serial)
{
    snprintf(d->x->serial[i], sizeof d->x->serial[i], "%s", serial);
    world_reboot(d->x, i);
    world_run(d->x, 3);
}
