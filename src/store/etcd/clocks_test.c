/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/clocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* In milliseconds: a reading each second, by a clock that is `ahead`, which was `late` on its way to etcd,
 * and was read `after` that. Returns the time of the next one. */
static int64_t read_some(struct clocks *k, int64_t now, int n, int64_t ahead, int64_t late, int64_t after)
{
    for (int i = 0; i < n; i++, now += 1000)
        clocks_take(k, (struct wall){(now - late + ahead) * 1000000},
                    (struct wall){(now + after - 1000) * 1000000}, (struct wall){(now + after) * 1000000});
    return now;
}

static void check_between(const struct clocks *k, int64_t least_ms, int64_t most_ms)
{
    struct span ahead, within;
    assert_true(clocks_ahead(k, &ahead, &within));
    assert_true(within.ns >= 0 && within.ns <= 1000000000);
    assert_in_range((ahead.ns - within.ns) / 1000000 + 100000, least_ms + 100000, most_ms + 100000);
    assert_in_range((ahead.ns + within.ns) / 1000000 + 100000, least_ms + 100000, most_ms + 100000);
}

static void test_nothing_is_said_before_there_are_enough(void **state)
{
    struct clocks k = {0};
    struct span ahead, within;
    int64_t now = read_some(&k, 100000, CLOCKS_READINGS - 1, 0, 0, 10);
    assert_false(clocks_ahead(&k, &ahead, &within));
    now = read_some(&k, now, 1, 0, 0, 10);
    assert_true(clocks_ahead(&k, &ahead, &within));
    for (int i = 0; i < 100; i++) {
        now = read_some(&k, now, 1, 0, 0, 10);
        assert_true(clocks_ahead(&k, &ahead, &within));
    }
}

static void test_the_difference_lies_between_the_bounds(void **state)
{
    static const int64_t aheads[] = {0, 5000, -5000, 30, -30};
    for (size_t i = 0; i < sizeof aheads / sizeof aheads[0]; i++) {
        struct clocks k = {0};
        struct span ahead, within;
        read_some(&k, 100000, 20, aheads[i], 0, 400);
        assert_true(clocks_ahead(&k, &ahead, &within));
        assert_true(llabs(ahead.ns - aheads[i] * 1000000) <= within.ns);
        check_between(&k, aheads[i] - 1000, aheads[i] + 1000);
    }
}

/* A request that hung on its way to etcd, and some more of them. */
static void test_a_slow_request_does_not_move_it(void **state)
{
    struct clocks k = {0};
    int64_t now = read_some(&k, 100000, 8, 0, 0, 400);
    now = read_some(&k, now, 1, 0, 9000, 400);
    check_between(&k, -1000, 1000);
    now = read_some(&k, now, CLOCKS_READINGS - 2, 0, 9000, 400);
    check_between(&k, -1000, 1000);
}

static void test_a_clock_that_is_set_is_seen(void **state)
{
    struct clocks k = {0};
    int64_t now = read_some(&k, 100000, 8, 0, 0, 400);
    now = read_some(&k, now, CLOCKS_READINGS, -7000, 0, 400);
    check_between(&k, -8000, -6000);
    now = read_some(&k, now, CLOCKS_READINGS, 7000, 0, 400);
    check_between(&k, 6000, 8000);
}

static void test_our_own_clock_that_is_set_back_says_nothing(void **state)
{
    struct clocks k = {0};
    int64_t now = read_some(&k, 100000, 8, 0, 0, 400);
    const struct clocks before = k;
    clocks_take(&k, (struct wall){now}, (struct wall){2}, (struct wall){1});
    assert_memory_equal(&k, &before, sizeof k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_said_before_there_are_enough),
        cmocka_unit_test(test_the_difference_lies_between_the_bounds),
        cmocka_unit_test(test_a_slow_request_does_not_move_it),
        cmocka_unit_test(test_a_clock_that_is_set_is_seen),
        cmocka_unit_test(test_our_own_clock_that_is_set_back_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
