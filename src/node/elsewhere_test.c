/* SPDX-License-Identifier: Apache-2.0 */
#include "node/elsewhere.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check_words(const struct elsewhere *e, const char *words)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    elsewhere_say(e, &t);
    assert_string_equal(t.s, words);
}

static void test_words(void **state)
{
    (void)state;
    check_words(&(struct elsewhere){0}, "");
    check_words(&(struct elsewhere){.state = ELSEWHERE_UNKNOWN},
                "slurm: whether somebody holds it is not known");
    check_words(&(struct elsewhere){.state = ELSEWHERE_UNKNOWN, .since = {INT64_C(1794000000000000000)}},
                "slurm: whether somebody holds it is not known since 2026-11-06T21:20:00.000Z");
    check_words(&(struct elsewhere){.state = ELSEWHERE_HELD, .how = "down"}, "slurm: down");
    check_words(
        &(struct elsewhere){.state = ELSEWHERE_HELD, .how = "drained", .by = "ann", .why = "new memory"},
        "slurm: drained by ann: new memory");
    check_words(&(struct elsewhere){.where = ELSEWHERE_OCHAMI, .state = ELSEWHERE_HELD, .how = "locked"},
                "ochami: locked");
}

/* slurmctld drains nodes by itself: nobody holds them, and no work lands there. */
static void test_out_though_nobody_holds_it(void **state)
{
    (void)state;
    CLEANUP_TEXT struct text t = {0};
    const struct elsewhere out = {.out = true, .how = "down", .why = "Not responding"};
    check_words(&out, "");
    elsewhere_say_out(&out, &t);
    assert_string_equal(t.s, "slurm: down: Not responding");
    const struct elsewhere given = {.how = "down", .why = "Not responding"};
    struct elsewhere e = {0};
    assert_true(elsewhere_set(&e, &given));
    assert_true(elsewhere_set(&e, &out));
    assert_true(e.out);
    elsewhere_fini(&e);
}

static void test_a_state_that_lasts_keeps_its_beginning(void **state)
{
    (void)state;
    struct elsewhere e = {0};
    const struct elsewhere unknown = {.state = ELSEWHERE_UNKNOWN, .since = {5}},
                           later = {.state = ELSEWHERE_UNKNOWN, .since = {9}},
                           held = {.state = ELSEWHERE_HELD, .since = {7}, .how = "drained"},
                           undated = {.state = ELSEWHERE_HELD, .how = "drained"};
    assert_true(elsewhere_set(&e, &unknown));
    assert_false(elsewhere_set(&e, &later));
    assert_int_equal(e.since.ns, 5);
    assert_true(elsewhere_set(&e, &held));
    assert_false(elsewhere_set(&e, &undated));
    assert_int_equal(e.since.ns, 7);
    assert_true(elsewhere_set(&e, &(struct elsewhere){0}));
    assert_null(e.how);
    elsewhere_fini(&e);
}

/* Also where one has a text and the other has none. */
static void test_each_member_is_news(void **state)
{
    const struct elsewhere
        held = {.state = ELSEWHERE_HELD, .how = "drained", .by = "ann", .why = "memory"},
        other[] = {
            {.state = ELSEWHERE_HELD, .how = "reserved", .by = "ann", .why = "memory"},
            {.state = ELSEWHERE_HELD, .how = "drained", .by = "bob", .why = "memory"},
            {.state = ELSEWHERE_HELD, .how = "drained", .why = "memory"},
            {.state = ELSEWHERE_HELD, .how = "drained", .by = "ann", .why = "fan"},
            {.state = ELSEWHERE_HELD, .how = "drained", .by = "ann"},
            {.state = ELSEWHERE_HELD, .out = true, .how = "drained", .by = "ann", .why = "memory"},
            {.state = ELSEWHERE_UNKNOWN, .how = "drained", .by = "ann", .why = "memory"},
        };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct elsewhere e = {0};
        assert_true(elsewhere_set(&e, &held));
        assert_false(elsewhere_set(&e, &held));
        assert_true(elsewhere_set(&e, &other[i]));
        assert_true(elsewhere_set(&e, &held));
        elsewhere_fini(&e);
    }
}

static void test_names(void **state)
{
    assert_string_equal(elsewhere_where_name(ELSEWHERE_BMC), "bmc");
    assert_string_equal(elsewhere_state_name(ELSEWHERE_NOBODY), "nobody");
    assert_string_equal(elsewhere_state_name(ELSEWHERE_HELD), "held");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_out_though_nobody_holds_it),
        cmocka_unit_test(test_a_state_that_lasts_keeps_its_beginning),
        cmocka_unit_test(test_each_member_is_news),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
