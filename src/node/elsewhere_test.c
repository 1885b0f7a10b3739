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
                "whether somebody holds it in Slurm is not known");
    check_words(&(struct elsewhere){.state = ELSEWHERE_UNKNOWN, .since = {INT64_C(1794000000000000000)}},
                "whether somebody holds it in Slurm is not known since 2026-11-06T21:20:00.000Z");
    check_words(&(struct elsewhere){.state = ELSEWHERE_HELD, .how = "down in Slurm"}, "down in Slurm");
    check_words(
        &(struct elsewhere){
            .state = ELSEWHERE_HELD, .how = "drained in Slurm", .by = "ann", .why = "new memory"},
        "drained in Slurm by ann: new memory");
}

static void test_a_state_that_lasts_keeps_its_beginning(void **state)
{
    (void)state;
    struct elsewhere e = {0};
    const struct elsewhere unknown = {.state = ELSEWHERE_UNKNOWN, .since = {5}},
                           later = {.state = ELSEWHERE_UNKNOWN, .since = {9}},
                           held = {.state = ELSEWHERE_HELD, .since = {7}, .how = "drained in Slurm"},
                           undated = {.state = ELSEWHERE_HELD, .how = "drained in Slurm"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_a_state_that_lasts_keeps_its_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
