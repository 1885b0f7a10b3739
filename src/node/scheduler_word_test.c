/* SPDX-License-Identifier: Apache-2.0 */
#include "node/scheduler_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_a_reading_is_copied(void **state)
{
    char reason[] = "bad cable";
    struct scheduler_word s = {0};
    scheduler_word_set(&s,
                       &(struct scheduler_word){
                           .state = "IDLE+DRAIN", .reason = reason, .by = "ann", .since = {7}, .read = {9}});
    reason[0] = 'm';
    assert_string_equal(s.state, "IDLE+DRAIN");
    assert_string_equal(s.reason, "bad cable");
    assert_string_equal(s.by, "ann");
    assert_int_equal(s.since.ns, 7);
    assert_int_equal(s.read.ns, 9);
    scheduler_word_set(&s, &(struct scheduler_word){.state = "IDLE", .read = {10}});
    assert_string_equal(s.state, "IDLE");
    assert_null(s.reason);
    assert_int_equal(s.since.ns, 0);
    scheduler_word_fini(&s);
}

static void test_a_reading_that_failed_keeps_when_it_was_read(void **state)
{
    struct scheduler_word s = {0};
    scheduler_word_set(&s, &(struct scheduler_word){
                               .state = "IDLE", .reason = "a note", .by = "ann", .since = {7}, .read = {9}});
    scheduler_word_set(&s, &(struct scheduler_word){.read = {20}});
    assert_null(s.state);
    assert_null(s.reason);
    assert_null(s.by);
    assert_int_equal(s.read.ns, 9);
    scheduler_word_fini(&s);
    assert_int_equal(s.read.ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reading_is_copied),
        cmocka_unit_test(test_a_reading_that_failed_keeps_when_it_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
