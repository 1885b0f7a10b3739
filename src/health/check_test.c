/* SPDX-License-Identifier: Apache-2.0 */
#include "health/argument.h"
#include "health/check.h"
#include "health/checks_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void test_an_argument_that_is_not_there_is_the_fallback(void **state)
{
    struct check k = check_with("x");
    unsigned percent;
    uint64_t bytes;
    int64_t number;
    struct span span;
    assert_int_equal(check_arg_percent(&k, "Free", 7, &percent, NULL), 0);
    assert_int_equal(percent, 7);
    assert_int_equal(check_arg_bytes(&k, "Free", 8, &bytes, NULL), 0);
    assert_int_equal(bytes, 8);
    assert_int_equal(check_arg_number(&k, "Free", -9, &number, NULL), 0);
    assert_int_equal(number, -9);
    assert_int_equal(check_arg_span(&k, "Free", span_s(1), &span, NULL), 0);
    assert_int_equal(span.ns, span_s(1).ns);
}

static unsigned canaries(const char *record, const char *before, int n)
{
    struct checks c = {0};
    unsigned have = 0;
    checks_good(record, &c);
    for (int i = 0; i < n; i++) {
        char node[64];
        snprintf(node, sizeof node, "%s%05d", before, i);
        have += check_has_canary(&c.list[0], node);
        assert_int_equal(check_has_canary(&c.list[0], node), check_has_canary(&c.list[0], node));
    }
    checks_fini(&c);
    return have;
}

static void test_canaries_are_about_their_share(void **state)
{
    for (unsigned percent = 1; percent < 100; percent += 7) {
        char record[64];
        snprintf(record, sizeof record, "Check=time Canary=%u%%", percent);
        assert_in_range(canaries(record, "n", 20000), percent * 200 - 200, percent * 200 + 200);
        assert_in_range(canaries(record, "rack.example-", 20000), percent * 200 - 200, percent * 200 + 200);
    }
    assert_int_equal(canaries("Check=time", "n", 1000), 1000);
    assert_int_equal(canaries("Check=time Canary=100%", "n", 1000), 1000);
}

/* Who they are is in records of agents and in operators' heads: it does not change with a release. */
static void test_canaries_are_the_same_ones_always(void **state)
{
    struct checks c = {0};
    CLEANUP_TEXT struct text t = {0};
    checks_good("Check=time Canary=25%\nCheck=zombies Canary=25%\nCheck=x Probe=time Canary=50%\n", &c);
    for (size_t i = 0; i < c.n; i++) {
        for (int n = 1; n <= 16; n++) {
            char node[16];
            snprintf(node, sizeof node, "lx%02d", n);
            if (check_has_canary(&c.list[i], node))
                text_printf(&t, "%d ", n);
        }
        text_add(&t, i < 2 ? "| " : "");
    }
    assert_string_equal(t.s, "6 12 13 15 16 | 4 8 11 14 16 | 5 6 7 10 11 12 14 ");
    checks_fini(&c);
}

static void test_a_larger_share_keeps_its_canaries(void **state)
{
    struct checks c = {0};
    checks_good("Check=time Canary=10%", &c);
    for (int n = 0; n < 1000; n++) {
        char node[16];
        snprintf(node, sizeof node, "n%d", n);
        c.list[0].canary_percent = 10;
        bool before = check_has_canary(&c.list[0], node);
        c.list[0].canary_percent = 30;
        assert_true(!before || check_has_canary(&c.list[0], node));
    }
    checks_fini(&c);
}

static void test_class_and_name_choose_the_nodes_of_a_check(void **state)
{
    struct checks c = {0};
    checks_good(
        "Check=time\nCheck=a Probe=time Classes=gpu,login\nCheck=b Probe=time Nodes=n[1-20]\n"
        "Check=c Probe=time Classes=gpu Nodes=n[1-20]\nCheck=d Probe=time Nodes=n[1-400] Canary=50%\n",
        &c);
    assert_true(check_applies(&c.list[0], "default", "n1"));
    assert_true(check_applies(&c.list[1], "login", "n1"));
    assert_false(check_applies(&c.list[1], "log", "n1"));
    assert_true(check_applies(&c.list[2], "default", "n20"));
    assert_true(check_applies(&c.list[2], "default", "n9"));
    assert_false(check_applies(&c.list[2], "default", "n21"));
    assert_true(check_applies(&c.list[3], "gpu", "n1"));
    assert_false(check_applies(&c.list[3], "gpu", "m1"));
    assert_false(check_applies(&c.list[3], "cpu", "n1"));
    unsigned run = 0;
    for (int i = 1; i <= 800; i++) {
        char node[16];
        snprintf(node, sizeof node, "n%d", i);
        run += check_applies(&c.list[4], "default", node);
    }
    assert_in_range(run, 150, 250);
    checks_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_argument_that_is_not_there_is_the_fallback),
        cmocka_unit_test(test_canaries_are_about_their_share),
        cmocka_unit_test(test_canaries_are_the_same_ones_always),
        cmocka_unit_test(test_a_larger_share_keeps_its_canaries),
        cmocka_unit_test(test_class_and_name_choose_the_nodes_of_a_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
