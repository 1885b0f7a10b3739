/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/ward_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char FAST[] = "Check=space Probe=fs.space Path=/ Every=60s\n"
                           "Check=fast Probe=bench.memory.bandwidth When=scheduled Every=1h Deadline=60s\n";

/* All of them, and the i-th this. */
static struct ward *bench_create(size_t n, const char *checks)
{
    static const char equal[] = "{\"result\":\"ok\",\"text\":\"bandwidth 1000 MB/s\"}";
    struct ward *d = ward_create(n, checks);
    for (size_t i = 1; i <= n; i++)
        d->answer[i] = equal;
    return d;
}

static const char SLOW[] = "{\"result\":\"ok\",\"text\":\"bandwidth 800 MB/s\"}";

static size_t recorded(const struct ward *d)
{
    const struct floor *f = cluster_floor(d->x->c, "default", "fast");
    return f ? f->n : 0;
}

static void test_results_of_nodes_are_written_down_together_within_a_minute(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 30);
    assert_int_equal(d->ran[9], 1);
    assert_int_equal(recorded(d), 0);
    ward_run(d, 60);
    assert_int_equal(recorded(d), 9);
    const char *said = strstr(d->x->log.s, "bench.measured : fast of class default\n");
    assert_non_null(said);
    assert_null(strstr(said + 1, "bench.measured"));
    ward_destroy(d);
}

static void test_a_node_that_is_slower_than_others_of_its_class_fails(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 90);
    d->answer[9] = SLOW;
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_DEGRADED);
    assert_int_equal(ward_last(d, 8, "fast")->result, RESULT_OK);
    ward_destroy(d);
}

/* What was learned is agreed: a leader that knows nothing of the nodes judges as the one before it. */
static void test_a_new_leader_judges_as_the_one_before(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 90);
    world_lead_anew(d->x);
    world_open(d->x, 1, 9);
    ward_all_well(d);
    d->answer[9] = SLOW;
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_DEGRADED);
    assert_int_equal(ward_last(d, 8, "fast")->result, RESULT_OK);
    ward_destroy(d);
}

static void test_a_result_of_another_benchmark_is_no_measure(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 90);
    ward_take_checks(
        d, "Check=space Probe=fs.space Path=/ Every=60s\n"
           "Check=fast Probe=bench.memory.bandwidth Size=8M When=scheduled Every=1h Deadline=60s\n");
    d->answer[9] = SLOW;
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_OK);
    assert_int_equal(recorded(d), 9);
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_DEGRADED);
    ward_destroy(d);
}

static void test_only_nodes_that_are_of_the_class_now_count(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 90);
    const struct class_lines gpu = {"gpu", {{"Nodes", "lx[01-02]"}}};
    world_configure(d->x, &gpu, 1, "");
    d->answer[9] = SLOW;
    ward_run(d, 3700);
    assert_int_equal(ward_last(d, 9, "fast")->result, RESULT_OK); /* six others are known */
    ward_destroy(d);
}

static void test_results_that_are_refused_are_written_down_later(void **state)
{
    struct ward *d = bench_create(9, FAST);
    ward_run(d, 30);
    d->x->refuse = true;
    ward_run(d, 100);
    d->x->refuse = false;
    assert_int_equal(recorded(d), 0);
    ward_run(d, 10);
    assert_int_equal(recorded(d), 9);
    ward_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_of_nodes_are_written_down_together_within_a_minute),
        cmocka_unit_test(test_a_node_that_is_slower_than_others_of_its_class_fails),
        cmocka_unit_test(test_a_new_leader_judges_as_the_one_before),
        cmocka_unit_test(test_a_result_of_another_benchmark_is_no_measure),
        cmocka_unit_test(test_only_nodes_that_are_of_the_class_now_count),
        cmocka_unit_test(test_results_that_are_refused_are_written_down_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
