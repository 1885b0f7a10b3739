/* SPDX-License-Identifier: Apache-2.0 */
#include "beat/waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct waits of_ms(int64_t interval, int64_t late, int64_t timeout)
{
    struct waits w;
    waits_of(span_ms(interval), span_ms(late), span_ms(timeout), &w);
    return w;
}

static void is_what_the_manual_says(void **state)
{
    struct waits w = of_ms(10000, 30000, 60000);
    assert_int_equal(span_to_ms(w.hold), 15000);
    assert_int_equal(span_to_ms(w.missed), 17500);
    assert_int_equal(span_to_ms(w.answer), 20000);
    assert_int_equal(span_to_ms(w.away), 40000);
    assert_int_equal(span_to_ms(w.pause), 25000);
    assert_int_equal(span_to_ms(w.comeback), 30000);
    assert_int_equal(span_to_ms(w.regain), 32000);
    assert_int_equal(w.first.ns, 0);
    w = of_ms(1000, 2000, 3000);
    assert_int_equal(span_to_ms(w.hold), 1500);
    assert_int_equal(span_to_ms(w.missed), 1750);
    assert_int_equal(span_to_ms(w.answer), 2000);
    assert_int_equal(span_to_ms(w.away), 5000);
    assert_int_equal(span_to_ms(w.pause), 2000);
    assert_int_equal(span_to_ms(w.comeback), 4000);
    assert_int_equal(span_to_ms(w.regain), 6000);
    assert_int_equal(span_to_ms(w.first), 4000);
    assert_int_equal(span_to_ms(waits_excuse(&w, span_ms(1500))), 4500);
}

static void without_heartbeats_it_is_as_with_ten_seconds(void **state)
{
    struct waits none = of_ms(0, 30000, 60000), ten = of_ms(10000, 30000, 60000);
    assert_memory_equal(&none, &ten, sizeof none);
}

static void a_batch_comes_before_anybody_is_late(void **state)
{
    struct waits w = of_ms(300000, 450000, 600000);
    assert_int_equal(span_to_ms(w.hold), 375000);
    w = of_ms(300000, 360000, 600000);
    assert_int_equal(span_to_ms(w.hold), 330000);
}

/* Over all settings that are accepted: the ways on which a live node is heard again are shorter than its
 * window. */
static void every_way_back_fits_the_window(void **state)
{
    for (int64_t i = 1000; i <= 300000; i += i < 10000 ? 500 : 7000) {
        int64_t shortest = span_to_ms(waits_least_timeout(span_ms(i)));
        for (int64_t t = shortest; t < 4 * i + 200000; t += t < 20000 ? 250 : 5000) {
            struct waits w = of_ms(i, i + (t - i) / 2, t);
            int64_t window = t + span_to_ms(waits_excuse(&w, span_ms(0)));
            int64_t first = t + span_to_ms(w.first);
            assert_true(span_to_ms(w.missed) < t);
            assert_true(w.hold.ns <= w.missed.ns);
            assert_true(i + span_to_ms(w.answer) < window);
            assert_true(span_to_ms(w.away) - span_to_ms(w.missed) < window);
            assert_true(span_to_ms(w.pause) + span_to_ms(w.answer) + i < first);
            assert_true(span_to_ms(w.away) < first);
        }
    }
}

/* Over all settings that are accepted: nodes that fall silent together were heard last within one interval,
 * evenly. When the first of them is due, more than the share count. A node that lives is heard within the
 * time that a collector holds a batch, and of such nodes no more than the share ever count. */
static void mass_silence_is_seen_before_its_first_is_due(void **state)
{
    for (unsigned share = 5; share <= 100; share += 5)
        for (int64_t i = 1000; i <= 300000; i += i < 10000 ? 500 : 7000) {
            int64_t t = span_to_ms(waits_least_timeout(span_ms(i)));
            for (int64_t late = i + 1; late <= t; late += (t - i) / 7 + 1) {
                struct waits w = of_ms(i, late, t);
                int64_t quiet = span_to_ms(waits_quiet(span_ms(i), span_ms(late), span_ms(t), share));
                int64_t hold = span_to_ms(w.hold);
                assert_true((t - quiet) * 100 >= i * share || t - quiet >= i - (i * share / 100));
                assert_true(quiet >= i && quiet <= late);
                assert_true((hold - quiet) * 100 <= hold * share);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_the_manual_says),
        cmocka_unit_test(without_heartbeats_it_is_as_with_ten_seconds),
        cmocka_unit_test(a_batch_comes_before_anybody_is_late),
        cmocka_unit_test(mass_silence_is_seen_before_its_first_is_due),
        cmocka_unit_test(every_way_back_fits_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
