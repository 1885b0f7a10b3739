/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/clinic_test.h"
#include "watch/health/health.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The check space of lx01 says this now, with findings of these devices: "a b". */
static void believe(struct clinic *d, enum result result, const char *devices)
{
    struct verdict v;
    verdict_clear(&v);
    CLEANUP_FREE char *copy = mem_dup(devices);
    for (char *save, *one = strtok_r(copy, " ", &save); one; one = strtok_r(NULL, " ", &save))
        verdict_add(&v, result, one, "", "bad");
    v.result = result;
    said_note(d->x->w, watch_awake(d->x->w, world_now(d->x)), world_node(d->x, 1),
              check_place(d->x->w, "space"), &v);
}

static const struct saying *saying(const struct clinic *d)
{
    return saying_find(health_state_find(d->x->w, world_node(d->x, 1)), check_place(d->x->w, "space"));
}

static enum result now(const struct clinic *d)
{
    return said_now(d->x->w, watch_awake(d->x->w, world_now(d->x)), world_node(d->x, 1),
                    check_place(d->x->w, "space"));
}

static void test_a_plain_ok_is_no_saying(void **state)
{
    struct clinic *d = clinic_open(1);
    assert_int_equal(now(d), RESULT_UNKNOWN);
    believe(d, RESULT_OK, "");
    assert_int_equal(now(d), RESULT_OK);
    assert_null(saying(d));
    believe(d, RESULT_FATAL, "sda");
    assert_int_equal(now(d), RESULT_FATAL);
    assert_int_equal(saying(d)->n, 1);
    assert_string_equal(saying(d)->findings[0].device, "sda");
    believe(d, RESULT_OK, "");
    assert_int_equal(now(d), RESULT_OK);
    assert_null(saying(d));
    clinic_destroy(d);
}

/* It began when it was said first, and was told when it was said last. */
static void test_a_repeated_finding_began_before(void **state)
{
    static const struct {
        enum result result;
        const char *devices;
        bool same;
    } cases[] = {{RESULT_WARN, "sda sdb", true},
                 {RESULT_FATAL, "sda sdb", false},
                 {RESULT_WARN, "sda", false},
                 {RESULT_WARN, "sda sdc", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clinic *d = clinic_open(1);
        believe(d, RESULT_WARN, "sda sdb");
        struct mono first = saying(d)->since;
        d->x->now_ms += 500;
        believe(d, cases[i].result, cases[i].devices);
        assert_int_equal(saying(d)->since.ns == first.ns, cases[i].same);
        assert_int_equal(saying(d)->told.ns, first.ns + span_ms(500).ns);
        clinic_destroy(d);
    }
}

/* How old an answer was when it was told counts towards its age. */
static void test_an_answer_is_as_old_as_its_node_says(void **state)
{
    struct clinic *d = clinic_open(1);
    world_run(d->x, 200);
    clinic_tells(d, 1, true, "[{\"check\":\"space\",\"result\":\"ok\",\"age_ms\":100000}]");
    const struct health_state *v = health_state_find(d->x->w, world_node(d->x, 1));
    assert_int_equal(said_looked(d->x->w, v, check_place(d->x->w, "space")).ns,
                     world_now(d->x).ns - span_s(100).ns);
    clinic_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plain_ok_is_no_saying),
        cmocka_unit_test(test_a_repeated_finding_began_before),
        cmocka_unit_test(test_an_answer_is_as_old_as_its_node_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
