/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char A[] = "kernel.release=6.1 nic.count=2";

/* The answers of each node's BMC. */
struct site {
    struct world *x;
    const char *firmware[NODES + 1],
        *locked[NODES + 1]; /* firmware NULL: it does not answer, "": it has none */
    unsigned asked[NODES + 1];
    unsigned most_at_once;
    struct member *open[NODES + 1]; /* asked, and not answered yet */
    size_t n_open;
};

static int number_of(const struct member *m)
{
    return (int)strtol(m->name + 2, NULL, 10);
}

static void answer(struct site *s, struct member *m)
{
    int i = number_of(m);
    struct components c = {0};
    const char *firmware = s->firmware[i];
    if (firmware && *firmware) {
        components_add(&c, "redfish.bmc.firmware", COMPONENT_VALUE, firmware, NULL);
        components_sort(&c, NULL);
    }
    const struct bmc_said is = {.answered = firmware != NULL,
                                .on = true,
                                .text = "",
                                .locked = s->locked[i],
                                .firmware = c.n ? &c : NULL};
    watch_bmc(s->x->w, world_now(s->x), m, &is);
    components_fini(&c);
}

static void on_ask(void *arg, struct member *m)
{
    struct site *s = arg;
    s->asked[number_of(m)]++;
    s->open[s->n_open++] = m;
    s->most_at_once = s->n_open > s->most_at_once ? (unsigned)s->n_open : s->most_at_once;
}

static void run(struct site *s, int64_t seconds)
{
    for (int64_t t = 0; t < seconds; t++) {
        world_run(s->x, 1);
        watch_bmcs_to_ask(s->x->w, world_now(s->x), on_ask, s);
        while (s->n_open)
            answer(s, s->open[--s->n_open]);
    }
}

static struct site *site_create(size_t n)
{
    struct site *s = mem_alloc(sizeof *s);
    s->x = world_create(n);
    for (size_t i = 1; i <= n; i++)
        s->firmware[i] = "1.0";
    world_says(s->x, 1, (int)n, A);
    return s;
}

static void site_destroy(struct site *s)
{
    world_destroy(s->x);
    free(s);
}

static void accept(struct site *s)
{
    assert_int_equal(world_command(s->x, COMMAND_BASELINE_ACCEPT, "lx01", NULL), 0);
    run(s, 3);
    text_clear(&s->x->log);
}

static const struct cohort *cohort_of(const struct site *s, int i)
{
    return cohorts_of(watch_cohorts(s->x->w), world_node(s->x, i)->id);
}

/* The record of the BMC's firmware has this version; NULL: there is none. */
static void assert_recorded(const struct site *s, int i, const char *value)
{
    const struct member *m = world_node(s->x, i);
    assert_int_equal(m->bmc != NULL, value != NULL);
    if (value)
        assert_string_equal(listing_find(m->bmc, "redfish.bmc.firmware")->value, value);
}

static void test_components_of_a_bmc_join_those_of_its_node(void **state)
{
    struct site *s = site_create(3);
    run(s, 5);
    for (int i = 1; i <= 3; i++)
        assert_recorded(s, i, "1.0");
    assert_int_equal(cohort_of(s, 1)->n, 3);
    accept(s);
    world_stands(s->x, 2, "conformant", "");
    s->firmware[2] = "2.0";
    world_reboot(s->x, 2);
    world_says(s->x, 2, 2, A);
    run(s, 5);
    assert_recorded(s, 2, "2.0");
    world_stands(s->x, 2, "drifted",
                 "it is not as version 1 of its baseline says: redfish.bmc.firmware (major)");
    assert_string_equal(world_drift(s->x, 2)->named, "redfish.bmc.firmware");
    assert_int_equal(cohort_of(s, 1)->n, 2);
    s->firmware[2] = "1.0";
    world_reboot(s->x, 2);
    world_says(s->x, 2, 2, A);
    run(s, 5);
    world_stands(s->x, 2, "conformant", "");
    assert_null(world_drift(s->x, 2));
    site_destroy(s);
}

/* However many nodes there are: what they say, what their BMCs tell, both together, and what counts of a mute
 * BMC. */
static void test_equal_nodes_cost_one_list_of_each(void **state)
{
    struct site *s = site_create(40);
    run(s, 20);
    assert_int_equal(listings_count(cluster_listings(s->x->c)), 4);
    assert_int_equal(cohort_of(s, 1)->n, 40);
    site_destroy(s);
}

static void test_a_bmc_that_does_not_answer_proves_nothing(void **state)
{
    struct site *s = site_create(2);
    run(s, 5);
    accept(s);
    s->firmware[2] = NULL;
    world_reboot(s->x, 2);
    world_says(s->x, 2, 2, A);
    run(s, 2 * 3600 - 60);
    world_says(s->x, 1, 2, A);
    run(s, 5);
    world_stands(s->x, 2, "conformant", ""); /* its last answer still counts */
    run(s, 120);
    assert_int_equal(s->asked[2], 4);
    world_stands(s->x, 2, "unknown", "redfish.* could not be read: the BMC does not answer");
    assert_null(cohort_of(s, 2));
    assert_null(world_drift(s->x, 2));
    assert_recorded(s, 2, "1.0");
    s->firmware[2] = "1.0";
    run(s, 3600);
    world_says(s->x, 1, 2, A);
    run(s, 2);
    world_stands(s->x, 2, "conformant", "");
    assert_null(world_drift(s->x, 2));
    site_destroy(s);
}

static void test_a_controller_that_starts_knows_the_components_of_bmcs(void **state)
{
    struct site *s = site_create(3);
    run(s, 5);
    accept(s);
    unsigned asked = s->asked[1];
    world_lead_anew(s->x);
    for (int i = 1; i <= 3; i++)
        s->firmware[i] = NULL; /* and none answers */
    world_open(s->x, 1, 3);
    world_says(s->x, 1, 3, A);
    run(s, 5);
    for (int i = 1; i <= 3; i++)
        world_stands(s->x, i, "conformant", "");
    assert_int_equal(s->asked[1], asked);
    site_destroy(s);
}

/* Configured after the baseline was accepted, or asked for the first time by a newer version. */
static void test_a_baseline_that_was_accepted_without_bmcs_expects_nothing_of_them(void **state)
{
    struct site *s = site_create(3);
    world_run(s->x, 3);
    assert_int_equal(world_command(s->x, COMMAND_BASELINE_ACCEPT, "lx01", NULL), 0);
    run(s, 10);
    assert_recorded(s, 3, "1.0");
    for (int i = 1; i <= 3; i++) {
        world_stands(s->x, i, "conformant", "");
        assert_null(world_drift(s->x, i));
    }
    accept(s);
    s->firmware[3] = ""; /* it has another BMC, which gives no versions */
    world_reboot(s->x, 3);
    world_says(s->x, 3, 3, A);
    run(s, 5);
    assert_recorded(s, 3, NULL);
    world_stands(s->x, 3, "conformant", "");
    assert_int_equal(cohort_of(s, 1)->n, 2); /* but it is not proven to be the same */
    site_destroy(s);
}

/* New nodes are asked at once, a few at a time; those of which there is a record at a time of the day of
 * their own. */
static void test_each_bmc_is_asked_at_its_own_time_of_the_day(void **state)
{
    struct site *s = site_create(48);
    unsigned n = 0;
    run(s, 30);
    for (int i = 1; i <= 48; i++)
        assert_int_equal(s->asked[i], 1);
    assert_int_equal(s->most_at_once, 8);
    world_lead_anew(s->x);
    s->most_at_once = 0;
    run(s, 3600);
    for (int i = 1; i <= 48; i++) {
        assert_true(s->asked[i] <= 2);
        n += s->asked[i] - 1;
    }
    assert_true(n <= 8);
    assert_true(s->most_at_once <= 2);
    site_destroy(s);
}

static void test_a_lock_of_a_bmc_is_a_hold_until_it_ends(void **state)
{
    struct site *s = site_create(2);
    s->locked[2] = "its power interlock is active";
    run(s, 5);
    const struct elsewhere *is = &watch_observed(s->x->w, world_node(s->x, 2))->elsewhere[ELSEWHERE_BMC].is;
    CLEANUP_TEXT struct text t = {0};
    elsewhere_say(is, &t);
    assert_string_equal(t.s, "bmc: locked: its power interlock is active");
    s->locked[2] = NULL;
    run(s, 30);
    assert_int_equal(is->state, ELSEWHERE_HELD);
    run(s, 60);
    assert_int_equal(is->state, ELSEWHERE_NOBODY);
    assert_int_equal(s->asked[2], 2);
    site_destroy(s);
}

static void test_a_node_does_not_speak_for_its_bmc(void **state)
{
    struct site *s = site_create(2);
    struct err e = {0};
    const char *lie = "kernel.release=6.1 redfish.bmc.firmware=1.0";
    world_claims(s->x, 2, lie);
    assert_int_equal(world_sends(s->x, 2, lie, lie, 100, &e), -EINVAL);
    assert_non_null(
        strstr(e.msg, "component redfish.bmc.firmware is told by the node's BMC, and not by the node"));
    site_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_components_of_a_bmc_join_those_of_its_node),
        cmocka_unit_test(test_equal_nodes_cost_one_list_of_each),
        cmocka_unit_test(test_a_bmc_that_does_not_answer_proves_nothing),
        cmocka_unit_test(test_a_controller_that_starts_knows_the_components_of_bmcs),
        cmocka_unit_test(test_a_baseline_that_was_accepted_without_bmcs_expects_nothing_of_them),
        cmocka_unit_test(test_each_bmc_is_asked_at_its_own_time_of_the_day),
        cmocka_unit_test(test_a_lock_of_a_bmc_is_a_hold_until_it_ends),
        cmocka_unit_test(test_a_node_does_not_speak_for_its_bmc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
