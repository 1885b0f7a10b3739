/* SPDX-License-Identifier: Apache-2.0 */
#include "health/argument.h"
#include "health/check.h"
#include "health/checks_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A threshold that need not be given says in brackets what it is then: the man page has it from there. */
static void test_a_threshold_says_its_default(void **state)
{
    struct argument a;
    for (int p = 0; p < PROBES; p++)
        for (size_t i = 0; argument_at((enum probe)p, i, &a); i++) {
            bool threshold = a.form != ARGUMENT_TEXT && a.form != ARGUMENT_PATH;
            bool names = p == PROBE_SERVICE; /* Port: which one, and not how many */
            if (threshold && !a.must && !names && a.what[strlen(a.what) - 1] != ')')
                fail_msg("%s of %s does not say its default", a.key, probe_row((enum probe)p)->name);
        }
}

static void test_a_record_that_says_nothing_is_as_its_probe(void **state)
{
    struct checks c = {0};
    checks_good("Check=zombies\n", &c);
    const struct check *k = &c.list[0];
    assert_int_equal(c.n, 1);
    assert_string_equal(k->name, "zombies");
    assert_int_equal(k->probe, PROBE_ZOMBIES);
    assert_int_equal(k->when, CHECK_BOOT | CHECK_PERIODIC);
    assert_int_equal(k->every.ns, span_s(60).ns);
    assert_int_equal(k->deadline.ns, span_s(10).ns);
    assert_int_equal(k->severity, RESULT_DEGRADED);
    assert_int_equal(k->fails, 1);
    assert_int_equal(k->passes, 1);
    assert_int_equal(k->fail_percent, 0);
    assert_int_equal(k->window.ns, span_s(600).ns);
    assert_int_equal(k->sticky.ns, 0);
    assert_false(k->observe);
    assert_int_equal(k->canary_percent, 100);
    assert_int_equal(k->group, 1);
    assert_int_equal(k->classes.n, 0);
    assert_int_equal(k->nodes.n, 0);
    assert_int_equal(k->n_args, 0);
    checks_fini(&c);
}

/* What should not be there while no work runs is looked at then alone. */
static void test_a_probe_of_idle_nodes_waits_for_one(void **state)
{
    struct checks c = {0};
    checks_good("Check=orphans\nCheck=memory.idle When=boot,idle\nCheck=nvidia.idle When=periodic\n", &c);
    assert_int_equal(c.list[0].when, CHECK_PERIODIC | CHECK_IDLE);
    assert_int_equal(c.list[1].when, CHECK_BOOT | CHECK_PERIODIC | CHECK_IDLE);
    assert_int_equal(c.list[2].when, CHECK_PERIODIC);
    checks_fini(&c);
    check_line_is("Check=orphans When=idle", "Check=orphans");
    check_line_is("Check=orphans When=periodic", "Check=orphans When=periodic");
}

static void test_nodes_run_a_check_together_where_no_work_runs(void **state)
{
    struct checks c = {0};
    checks_good("Check=pair Probe=plugin Run=/x When=scheduled,demand Group=2", &c);
    assert_int_equal(c.list[0].group, 2);
    checks_fini(&c);
    checks_good("Check=pair Probe=plugin Run=/x When=scheduled,extensive Group=2", &c);
    checks_fini(&c);
    checks_refused(
        "Check=pair Probe=plugin Run=/x Group=2",
        "checks.conf:1: Group: nodes run a check together only with When=scheduled, extensive or demand");
}

static void test_scheduled_checks_have_times_of_their_own(void **state)
{
    struct checks c = {0};
    checks_good("Check=burn Probe=plugin Every=30d Run=/x When=scheduled,extensive\n"
                "Check=all-reduce Probe=plugin Run=/x When=scheduled",
                &c);
    assert_int_equal(c.list[0].every.ns, span_s(30 * 86400).ns);
    assert_int_equal(c.list[1].every.ns, span_s(86400).ns);
    assert_int_equal(c.list[1].when, CHECK_SCHEDULED);
    checks_fini(&c);
    checks_refused("Check=x Probe=plugin Run=/x When=scheduled,idle",
                   "checks.conf:1: When: scheduled goes only with extensive and demand; idle is for checks "
                   "that the node "
                   "runs at its own times");
    checks_refused("Check=x Probe=plugin Run=/x When=scheduled Every=59s",
                   "checks.conf:1: Every: a scheduled check takes the node from work; 1m is the minimum");
    checks_refused("Check=x Probe=plugin Run=/x Every=8d",
                   "checks.conf:1: Every: more than 7d is for When=scheduled");
    checks_refused(
        "Check=kernel.log When=scheduled",
        "checks.conf:1: When: probe kernel.log reports events as they come, and cannot be scheduled");
}

static void test_there_are_so_many_scheduled_ones_at_most(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct checks c = {0};
    for (int i = 0; i < CHECKS_SCHEDULED_MAX; i++)
        text_printf(&t, "Check=c%d Probe=plugin Run=/x When=scheduled\n", i);
    checks_good(t.s, &c);
    checks_fini(&c);
    text_add(&t, "Check=more Probe=plugin Run=/x When=scheduled\n");
    checks_refused(
        t.s, "checks.conf:65: check \"more\" is one too many with When=scheduled; there are 64 at most");
}

static void test_the_defaults_are_those_of_clusterware(void **state)
{
    static const struct {
        const char *name;
        enum probe probe;
    } rows[] = {{"system-errors", PROBE_KERNEL_LOG}, {"fs-capacity", PROBE_FS_SPACE},
                {"slurmd", PROBE_SERVICE},           {"ntp", PROBE_TIME},
                {"zombie", PROBE_ZOMBIES},           {"ethlink", PROBE_ETHERNET}};
    struct checks c = {0};
    checks_default(&c);
    assert_int_equal(c.n, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < c.n; i++) {
        assert_string_equal(c.list[i].name, rows[i].name);
        assert_int_equal(c.list[i].probe, rows[i].probe);
    }
    assert_non_null(check_arg(checks_find(&c, "fs-capacity"), "Inodes"));
    assert_string_equal(check_arg(checks_find(&c, "slurmd"), "Name"), "slurmd");
    checks_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_threshold_says_its_default),
        cmocka_unit_test(test_a_record_that_says_nothing_is_as_its_probe),
        cmocka_unit_test(test_a_probe_of_idle_nodes_waits_for_one),
        cmocka_unit_test(test_nodes_run_a_check_together_where_no_work_runs),
        cmocka_unit_test(test_the_defaults_are_those_of_clusterware),
        cmocka_unit_test(test_scheduled_checks_have_times_of_their_own),
        cmocka_unit_test(test_there_are_so_many_scheduled_ones_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
