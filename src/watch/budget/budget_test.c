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
static void test_who_was_proposed_has_its_room_although_nothing_is_heard_of_it(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budgets_as_they_stand),
        cmocka_unit_test(test_who_was_proposed_has_its_room_although_nothing_is_heard_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
