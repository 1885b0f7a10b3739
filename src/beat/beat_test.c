/* SPDX-License-Identifier: Apache-2.0 */
#include "beat/beat.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct beat_timeouts timeout = {{INT64_C(30000000000)}, {INT64_C(90000000000)}};

static struct mono at(int64_t s)
{
    return (struct mono){s * 1000000000};
}

static struct beat opened(uint64_t instance)
{
    struct beat b;
    beat_init(&b, at(0));
    assert_int_equal(beat_open(&b, instance, 1, false, NULL), 0);
    return b;
}

static void test_silence_means_more_with_time(void **state)
{
    struct beat b = opened(1);
    assert_int_equal(beat_take(&b, at(10), 1, 1, NULL), 0);
    assert_int_equal(beat_judge(&b, at(39), at(39), &timeout), LIVENESS_LIVE);
    assert_int_equal(beat_judge(&b, at(40), at(40), &timeout), LIVENESS_LATE);
    assert_int_equal(beat_judge(&b, at(99), at(99), &timeout), LIVENESS_LATE);
    assert_int_equal(beat_judge(&b, at(100), at(100), &timeout), LIVENESS_SILENT);
}

static void test_unheard_has_a_full_window(void **state)
{
    struct beat b;
    beat_init(&b, at(1000));
    assert_int_equal(b.liveness, LIVENESS_UNHEARD);
    assert_int_equal(beat_judge(&b, at(1089), at(1089), &timeout), LIVENESS_UNHEARD);
    assert_int_equal(beat_judge(&b, at(1090), at(1090), &timeout), LIVENESS_SILENT);
}

static void test_old_and_replayed_heartbeats(void **state)
{
    struct beat b = opened(1);
    struct err e;
    assert_int_equal(beat_take(&b, at(1), 1, 7, NULL), 0);
    assert_int_equal(beat_take(&b, at(50), 1, 7, &e), -EALREADY);
    assert_string_equal(e.msg, "heartbeat 7 again; the last was 7");
    assert_int_equal(beat_take(&b, at(50), 1, 3, NULL), -EALREADY);
    assert_int_equal(b.heard.ns, at(1).ns);
    assert_int_equal(beat_take(&b, at(50), 1, 8, NULL), 0);
    assert_int_equal(b.heard.ns, at(50).ns);
}

static void test_a_number_that_leaps_is_refused(void **state)
{
    struct beat b = opened(1);
    struct err e;
    assert_int_equal(beat_take(&b, at(1), 1, 1000000, NULL), 0); /* the listener was away for long */
    assert_int_equal(beat_take(&b, at(2), 1, UINT64_C(1) << 62, &e), -ERANGE);
    assert_string_equal(e.msg, "heartbeat 4611686018427387904 leaps; the last was 1000000");
    assert_int_equal(beat_take(&b, at(3), 1, 1000001 + BEAT_LEAP_MAX, NULL), -ERANGE);
    assert_int_equal(beat_take(&b, at(3), 1, 1000000 + BEAT_LEAP_MAX, NULL), 0);
    assert_int_equal(beat_open(&b, 1, 1, true, NULL), 0);
    assert_int_equal(beat_take(&b, at(9), 1, 5000000, NULL), 0); /* it was heard elsewhere meanwhile */
    assert_int_equal(beat_open(&b, 1, 0, false, NULL), 0); /* behind a collector, which tells what changes */
    assert_int_equal(beat_take(&b, at(9), 1, 5000001, NULL), 0);
    assert_int_equal(beat_take(&b, at(9), 1, 6000001, NULL), 0);
}

static void test_a_live_instance_has_one_key(void **state)
{
    struct beat b = opened(1);
    struct err e;
    assert_int_equal(beat_open(&b, 1, 2, true, &e), -EBUSY); /* somebody else who learnt the instance */
    assert_string_equal(e.msg, "another live agent has this name");
    assert_int_equal(b.key, 1);
    assert_int_equal(beat_open(&b, 1, 2, false, NULL), 0); /* its certificate was renewed */
    assert_int_equal(b.key, 2);
    assert_int_equal(beat_open(&b, 1, 0, false, NULL), 0); /* behind a collector */
    assert_int_equal(beat_open(&b, 1, 3, true, NULL), 0);
}

static void test_another_instance_is_not_believed(void **state)
{
    struct beat b = opened(1);
    struct err e;
    assert_int_equal(beat_take(&b, at(1), 2, 100, &e), -EBUSY);
    assert_string_equal(e.msg, "a heartbeat of another instance than the session's");
    assert_int_equal(b.liveness, LIVENESS_UNHEARD);
}

static void test_without_a_session_nothing_counts(void **state)
{
    struct beat b;
    beat_init(&b, at(0));
    assert_int_equal(beat_take(&b, at(1), 0, 1, NULL), -EBUSY);
    assert_int_equal(beat_take(&b, at(1), 5, 1, NULL), -EBUSY);
    assert_int_equal(b.liveness, LIVENESS_UNHEARD);
}

static void test_the_same_instance_goes_on(void **state)
{
    struct beat b = opened(1);
    beat_take(&b, at(1), 1, 7, NULL);
    assert_int_equal(beat_open(&b, 1, 1, true, NULL), 0);
    assert_int_equal(beat_take(&b, at(2), 1, 7, NULL), -EALREADY);
    assert_int_equal(beat_take(&b, at(2), 1, 8, NULL), 0);
}

static void test_a_replaced_instance_never_counts_again(void **state)
{
    struct beat b = opened(1);
    struct err e;
    for (uint64_t next = 2; next <= 1 + BEAT_FORMER_MAX; next++) {
        assert_int_equal(beat_open(&b, next, 1, false, NULL), 0);
        assert_int_equal(b.seq, 0);
        for (uint64_t former = 1; former < next; former++) {
            assert_int_equal(beat_open(&b, former, 1, false, &e), -EACCES);
            assert_int_equal(beat_take(&b, at(5), former, 1000, NULL), -EBUSY);
        }
    }
    assert_string_equal(e.msg, "agent instance 0000000000000004 was replaced by a newer one");
    assert_int_equal(b.instance, 1 + BEAT_FORMER_MAX);
}

static void test_two_live_agents(void **state)
{
    struct beat b = opened(1);
    struct err e;
    assert_int_equal(beat_open(&b, 2, 1, true, &e), -EBUSY);
    assert_string_equal(e.msg, "another live agent has this name");
    assert_int_equal(b.instance, 1);
    assert_int_equal(beat_open(&b, 0, 1, false, NULL), -EINVAL);
    assert_int_equal(b.instance, 1);
}

static void test_an_excuse_is_a_window_and_no_heartbeat(void **state)
{
    struct beat b = opened(1);
    beat_excuse(&b, at(50));
    assert_int_equal(b.liveness, LIVENESS_UNHEARD);
    assert_int_equal(beat_judge(&b, at(139), at(139), &timeout), LIVENESS_UNHEARD);

    beat_take(&b, at(60), 1, 1, NULL);
    b.liveness = beat_judge(&b, at(95), at(95), &timeout);
    assert_int_equal(b.liveness, LIVENESS_LATE);
    beat_excuse(&b, at(95));
    assert_int_equal(b.liveness, LIVENESS_LIVE);
    assert_int_equal(beat_judge(&b, at(184), at(184), &timeout), LIVENESS_LATE);
    beat_excuse(&b, at(10)); /* never takes away */
    assert_int_equal(b.heard.ns, at(95).ns);
}

static void test_only_a_heartbeat_ends_silence(void **state)
{
    const struct beat_timeouts more = {{INT64_C(1000000000000)}, {INT64_C(2000000000000)}};
    struct beat b = opened(1);
    b.liveness = beat_judge(&b, at(90), at(90), &timeout);
    assert_int_equal(b.liveness, LIVENESS_SILENT);
    beat_excuse(&b, at(91));
    assert_int_equal(beat_judge(&b, at(92), at(92), &timeout), LIVENESS_SILENT);
    assert_int_equal(beat_judge(&b, at(92), at(92), &more), LIVENESS_SILENT);
    beat_vouch(&b, at(93));
    assert_int_equal(beat_judge(&b, at(94), at(94), &timeout), LIVENESS_LIVE);
}

static void test_a_correction_counts_from_when_it_was_heard(void **state)
{
    struct beat b = opened(1);
    beat_correct(&b, at(-5)); /* there was no listener then */
    assert_int_equal(b.heard.ns, at(0).ns);
    beat_take(&b, at(20), 1, 1, NULL);
    beat_correct(&b, at(14));
    assert_int_equal(b.heard.ns, at(14).ns);
    beat_correct(&b, at(18)); /* it never revives */
    assert_int_equal(b.heard.ns, at(14).ns);
    beat_excuse(&b, at(50));
    beat_correct(&b, at(16));
    assert_int_equal(b.heard.ns, at(50).ns);
}

static void test_only_known_silence_takes_down(void **state)
{
    struct beat b = opened(1);
    beat_take(&b, at(0), 1, 1, NULL);
    assert_int_equal(beat_judge(&b, at(200), at(89), &timeout), LIVENESS_LATE);
    assert_int_equal(beat_judge(&b, at(200), at(90), &timeout), LIVENESS_SILENT);
}

static void test_when_silence_means_something_else(void **state)
{
    struct beat b = opened(1);
    assert_int_equal(beat_due(&b, &timeout).ns, at(90).ns);
    beat_take(&b, at(7), 1, 1, NULL);
    assert_int_equal(beat_due(&b, &timeout).ns, at(37).ns);
    b.liveness = LIVENESS_LATE;
    assert_int_equal(beat_due(&b, &timeout).ns, at(97).ns);
    b.liveness = LIVENESS_SILENT;
    assert_true(beat_due(&b, &timeout).ns == INT64_MAX);
}

static void test_an_instance_is_sixteen_hex_digits(void **state)
{
    uint64_t n = 0;
    assert_true(beat_parse_instance("0123456789abcdef", &n));
    assert_true(n == UINT64_C(0x0123456789abcdef));
    assert_false(beat_parse_instance("0000000000000000", &n));
    assert_false(beat_parse_instance("0123456789ABCDEF", &n));
    assert_false(beat_parse_instance("123456789abcdef", &n));
    assert_false(beat_parse_instance("0123456789abcdef0", &n));
    assert_false(beat_parse_instance("", &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence_means_more_with_time),
        cmocka_unit_test(test_unheard_has_a_full_window),
        cmocka_unit_test(test_old_and_replayed_heartbeats),
        cmocka_unit_test(test_a_number_that_leaps_is_refused),
        cmocka_unit_test(test_a_live_instance_has_one_key),
        cmocka_unit_test(test_another_instance_is_not_believed),
        cmocka_unit_test(test_without_a_session_nothing_counts),
        cmocka_unit_test(test_the_same_instance_goes_on),
        cmocka_unit_test(test_a_replaced_instance_never_counts_again),
        cmocka_unit_test(test_two_live_agents),
        cmocka_unit_test(test_an_excuse_is_a_window_and_no_heartbeat),
        cmocka_unit_test(test_only_a_heartbeat_ends_silence),
        cmocka_unit_test(test_a_correction_counts_from_when_it_was_heard),
        cmocka_unit_test(test_only_known_silence_takes_down),
        cmocka_unit_test(test_when_silence_means_something_else),
        cmocka_unit_test(test_an_instance_is_sixteen_hex_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
