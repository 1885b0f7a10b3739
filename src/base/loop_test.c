/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* There is one account: each test has an hour of its own. */
enum { HOUR_S = 3600 };

static struct mono ended;
static struct span waited, cpu;

/* Ends a turn at this moment, before which the loop had waited but for so long. */
static void turn_end_ms(int64_t now_ms, int64_t took_ms, int64_t cpu_ms)
{
    struct mono now = {now_ms * 1000000};
    waited.ns += mono_sub(now, ended).ns - span_ms(took_ms).ns;
    cpu.ns += span_ms(cpu_ms).ns;
    ended = now;
    loop_turned(now, (struct wall){now.ns}, waited, cpu);
}

static size_t longest_at_s(int64_t s, struct loop_turn *out)
{
    return loop_longest((struct mono){s * 1000000000}, out);
}

/* Does this for so long, after which `inside` is done for 4 ms; NULL: nothing. */
static void work_for_ms(const char *what, int64_t ms, const char *inside)
{
    static struct mono now = {1};
    struct loop_mark m = loop_enter_at(what, now);
    now = mono_add(now, span_ms(ms));
    if (inside)
        work_for_ms(inside, 4, NULL);
    loop_leave_at(&m, now);
    now = mono_add(now, span_ms(1)); /* of nobody */
}

static int begin(void **state)
{
    turn_end_ms(1000, 0, 0);
    return 0;
}

static void a_wait_is_no_turn(void **state)
{
    struct loop_turn turns[LOOP_SECONDS];
    turn_end_ms(2000, 100, 70);
    assert_int_equal(longest_at_s(2, turns), 1);
    assert_int_equal(turns[0].took.ns, span_ms(100).ns);
    assert_int_equal(turns[0].cpu.ns, span_ms(70).ns);
    assert_int_equal(turns[0].at.ns, span_s(2).ns);
    assert_int_equal(turns[0].n, 0);
}

static void the_longest_of_each_second_stays_for_a_minute(void **state)
{
    struct loop_turn turns[LOOP_SECONDS];
    const int64_t s = HOUR_S;
    turn_end_ms(s * 1000 + 100, 3, 0);
    turn_end_ms(s * 1000 + 200, 9, 0);
    turn_end_ms(s * 1000 + 300, 4, 0);
    turn_end_ms((s + 30) * 1000, 20, 0);
    turn_end_ms((s + 59) * 1000, 1, 0);
    assert_int_equal(longest_at_s(s + 59, turns), 3);
    assert_int_equal(turns[0].took.ns, span_ms(20).ns);
    assert_int_equal(turns[1].took.ns, span_ms(9).ns);
    assert_int_equal(turns[2].took.ns, span_ms(1).ns);
    assert_int_equal(longest_at_s(s + 60, turns), 2);
    turn_end_ms((s + 90) * 1000, 5, 0); /* in the place of the one of a minute ago */
    assert_int_equal(longest_at_s(s + 90, turns), 2);
    assert_int_equal(turns[0].took.ns, span_ms(5).ns);
}

static void work_is_charged_to_its_name(void **state)
{
    static const char *const reading = "reading", *const writing = "writing";
    struct loop_turn turns[LOOP_SECONDS];
    const int64_t s = 2 * HOUR_S;
    turn_end_ms(s * 1000, 1, 1);
    for (int i = 0; i < 2; i++)
        work_for_ms(reading, 2, writing);
    turn_end_ms((s + 1) * 1000, 20, 1);
    assert_int_equal(longest_at_s(s + 1, turns), 2);
    assert_int_equal(turns[0].n, 2);
    assert_ptr_equal(turns[0].parts[0].what, writing);
    assert_int_equal(turns[0].parts[0].times, 2);
    assert_int_equal(turns[0].parts[0].took.ns, span_ms(8).ns);
    assert_ptr_equal(turns[0].parts[1].what, reading);
    assert_int_equal(turns[0].parts[1].times, 2);
    assert_int_equal(turns[0].parts[1].took.ns, span_ms(4 + 2).ns); /* a millisecond after what was inside */
    turn_end_ms((s + 2) * 1000, 30, 1);                             /* the work before is not its own */
    assert_int_equal(longest_at_s(s + 2, turns), 3);
    assert_int_equal(turns[0].n, 0);
}

static void those_that_took_longest_are_kept(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct loop_turn turns[LOOP_SECONDS];
    const int64_t s = 3 * HOUR_S;
    for (size_t i = 0; i < 5; i++) {
        work_for_ms(names[i], i == 2 ? 10 : i == 4 ? 5 : 0, NULL);
    }
    turn_end_ms(s * 1000, 20, 1);
    assert_int_equal(longest_at_s(s, turns), 1);
    assert_int_equal(turns[0].n, LOOP_PARTS_KEPT);
    assert_string_equal(turns[0].parts[0].what, "c");
    assert_string_equal(turns[0].parts[1].what, "e");
}

/* The names are constants elsewhere; only their addresses matter. */
static void more_kinds_than_are_kept_apart_go_to_nobody(void **state)
{
    static const char names[100];
    struct loop_turn turns[LOOP_SECONDS];
    const int64_t s = 4 * HOUR_S;
    for (size_t i = 0; i < sizeof names; i++) {
        work_for_ms(&names[i], i == 99 ? 5 : 0, NULL);
    }
    turn_end_ms(s * 1000, 20, 1);
    assert_int_equal(longest_at_s(s, turns), 1);
    assert_int_equal(turns[0].n, LOOP_PARTS_KEPT);
    for (size_t i = 0; i < turns[0].n; i++)
        assert_true(turns[0].parts[i].what != &names[99]);
}

/* Which count went up by one turn of this length. */
static size_t counted(int64_t took_ms)
{
    const struct loop_counts before = *loop_counts();
    static int64_t s = 5 * HOUR_S;
    size_t at = LOOP_COUNTS;
    turn_end_ms(++s * 100000, took_ms, 0);
    for (size_t i = 0; i < LOOP_COUNTS; i++)
        if (loop_counts()->took[i] != before.took[i])
            at = i;
    assert_true(at < LOOP_COUNTS);
    assert_int_equal(loop_counts()->cpu[0], before.cpu[0] + 1);
    return at;
}

static void turns_are_counted_by_length(void **state)
{
    static const int64_t lengths_ms[] = {1, 2, 3, 5, 7, 10, 30, 100, 1000, 60000};
    for (size_t i = 0; i < sizeof lengths_ms / sizeof lengths_ms[0]; i++) {
        size_t at = counted(lengths_ms[i]);
        assert_true(span_ms(lengths_ms[i]).ns < loop_bound(at).ns);
        assert_true(span_ms(lengths_ms[i]).ns >= loop_bound(at - 1).ns);
        assert_true(loop_bound(at).ns <= span_ms(lengths_ms[i]).ns / 8 * 9 + 1);
    }
    assert_int_equal(counted(0), 0);
    assert_int_equal(counted(90000), LOOP_COUNTS - 1);
}

/* Asks after so many microseconds of a turn that began at that moment; how long it may go on. */
static int64_t share_us(struct mono began, int64_t after_us, int64_t most_us)
{
    struct mono now = {began.ns + after_us * 1000};
    return mono_sub(loop_share_at((struct span){most_us * 1000}, now), now).ns / 1000;
}

static void those_that_can_wait_share_a_turn(void **state)
{
    const struct mono began = {(int64_t)6 * HOUR_S * 1000000000};
    loop_waits();
    struct loop_mark m = loop_enter_at("first", began);
    loop_leave_at(&m, began);
    assert_int_equal(share_us(began, 100, 1000), 1000);
    assert_int_equal(share_us(began, 1100, 3000), LOOP_SHARED_US - 1100);
    assert_int_equal(share_us(began, LOOP_SHARED_US - 1, 1000), LOOP_LEAST_US); /* nothing starves */
    assert_int_equal(share_us(began, 10000, 1000), LOOP_LEAST_US);
    loop_waits();
    assert_int_equal(share_us(began, 20000, 9000), LOOP_SHARED_US); /* which is the first of its turn */
    assert_int_equal(share_us(began, 21000, 9000), LOOP_SHARED_US - 1000);
}

static void a_turn_that_is_over_gives_the_next_its_share(void **state)
{
    const int64_t s = 7 * HOUR_S;
    const struct mono began = {s * 1000000000};
    loop_waits();
    assert_int_equal(share_us(began, 0, 9000), LOOP_SHARED_US);
    turn_end_ms(s * 1000 + 5, 5, 5);
    assert_int_equal(share_us(began, 5000, 9000), LOOP_SHARED_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_no_turn),
        cmocka_unit_test(the_longest_of_each_second_stays_for_a_minute),
        cmocka_unit_test(work_is_charged_to_its_name),
        cmocka_unit_test(those_that_took_longest_are_kept),
        cmocka_unit_test(more_kinds_than_are_kept_apart_go_to_nobody),
        cmocka_unit_test(turns_are_counted_by_length),
        cmocka_unit_test(those_that_can_wait_share_a_turn),
        cmocka_unit_test(a_turn_that_is_over_gives_the_next_its_share),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
