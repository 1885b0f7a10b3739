/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/budget/budget.h"
#include "watch/clinic_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void say_budget(void *arg, const struct budget *b)
{
    text_printf(arg, "%s %u/%u of %u\n", b->scope, b->out, b->limit, b->nodes);
}

static void test_budgets_as_they_stand(void **state)
{
    struct clinic *d = clinic_open(20);
    CLEANUP_TEXT struct text t = {0};
    clinic_tells(d, 1, true, CLINIC_ILL);
    watch_set_policy(d->x->w, &d->x->policy); /* the nodes are counted at once, */
    for (int i = 0; i < 2; i++) {
        text_clear(&t);
        watch_each_budget(d->x->w, say_budget, &t);
        assert_string_equal(t.s, "cluster 1/2 of 20\nclass default 1/10 of 20\npartition 0 1/2 of 20\n");
        world_run(d->x, 4); /* and then by each sweep */
    }
    clinic_destroy(d);
}

/* As long as the store may still write it down. */
static void test_a_proposed_node_keeps_its_room_while_its_commit_is_unknown(void **state)
{
    struct clinic *d = clinic_open(10);
    d->x->refuse = true; /* as one that is under way already */
    clinic_tells(d, 1, true, CLINIC_ILL);
    clinic_tells(d, 1, true, CLINIC_WELL);
    world_run(d->x, 60);
    d->x->refuse = false;
    clinic_tells(d, 2, true, CLINIC_ILL);
    world_run(d->x, 60);
    assert_null(member_repair(world_node(d->x, 2)));
    world_run(d->x, 200);
    clinic_tells(d, 2, true, CLINIC_ILL);
    world_run(d->x, 5);
    assert_non_null(member_repair(world_node(d->x, 2)));
    clinic_destroy(d);
}

/* What has no room: the cluster (10 %), the class (50 %), the group (25 %) or the partition (10 %). */
static void test_the_tightest_budget_decides_and_says_so(void **state)
{
    static const struct class_lines gpu = {"gpu", {{"Nodes", "lx[01-02]"}}};
    static const struct {
        const char *set;
        unsigned percent[4]; /* cluster, class, group, partition */
        const char *scope;
    } cases[] = {{"{\"Group\":\"7\"}", {10, 100, 100, 100}, "cluster"},
                 {"{\"Group\":\"7\"}", {100, 50, 100, 100}, "class gpu"},
                 {"{\"Group\":\"7\"}", {100, 100, 25, 100}, "group 7"},
                 {"{\"Group\":\"7\"}", {100, 100, 100, 10}, "partition 0"},
                 {"{\"Group\":\"7\"}", {100, 100, 100, 100}, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clinic *d = clinic_open(10);
        struct budget full;
        world_configure(d->x, &gpu, 1, "");
        assert_int_equal(world_command(d->x, COMMAND_SET, "lx[01-04]", cases[i].set), 0);
        assert_int_equal(world_command(d->x, COMMAND_SET, "lx[05-08]", "{\"Group\":\"8\"}"), 0);
        d->x->policy.health.limits.percent[SCOPE_CLUSTER] = cases[i].percent[0];
        d->x->policy.health.limits.percent[SCOPE_CLASS] = cases[i].percent[1];
        d->x->policy.health.limits.percent[SCOPE_GROUP] = cases[i].percent[2];
        d->x->policy.health.limits.percent[SCOPE_PARTITION] = cases[i].percent[3];
        watch_set_policy(d->x->w, &d->x->policy);
        assert_true(budget_allows(d->x->w, world_node(d->x, 2), 1, &full));
        clinic_tells(d, 1, true, CLINIC_ILL);
        assert_int_equal(clinic_out(d), 1);
        assert_true(budget_allows(d->x->w, world_node(d->x, 2), 0, &full)); /* it is out already */
        bool room = budget_allows(d->x->w, world_node(d->x, 2), 1, &full);
        assert_int_equal(room, cases[i].scope == NULL);
        if (cases[i].scope)
            assert_string_equal(full.scope, cases[i].scope);
        bool elsewhere = cases[i].percent[0] == 100 && cases[i].percent[3] == 100;
        assert_int_equal(budget_allows(d->x->w, world_node(d->x, 5), 1, &full), elsewhere);
        clinic_destroy(d);
    }
}

static void test_a_node_that_waits_for_room_is_told_once_until_none_waits(void **state)
{
    struct clinic *d = clinic_open(10);
    clinic_tells(d, 1, true, CLINIC_ILL);
    text_clear(&d->x->log);
    clinic_tells(d, 2, true, CLINIC_ILL);
    clinic_tells(d, 3, true, CLINIC_ILL);
    assert_true(budget_is_waited_for(d->x->w));
    assert_non_null(strstr(d->x->log.s,
                           "alarm.budget lx02: stays in service: 1 of 10 nodes of the cluster are out, "
                           "and at most 1 may be"));
    world_run(d->x, 5);
    assert_null(strstr(d->x->log.s, "alarm.budget lx03"));
    assert_string_equal(watch_alarms(d->x->w)->nodes, "lx02");
    assert_null(strstr(d->x->log.s, "alarm.over"));
    clinic_tells(d, 2, true, CLINIC_WELL);
    clinic_tells(d, 3, true, CLINIC_WELL);
    world_run(d->x, 3);
    assert_non_null(strstr(d->x->log.s, "alarm.over : no node waits for room in a budget any more"));
    assert_false(budget_is_waited_for(d->x->w));
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budgets_as_they_stand),
        cmocka_unit_test(test_a_proposed_node_keeps_its_room_while_its_commit_is_unknown),
        cmocka_unit_test(test_the_tightest_budget_decides_and_says_so),
        cmocka_unit_test(test_a_node_that_waits_for_room_is_told_once_until_none_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
