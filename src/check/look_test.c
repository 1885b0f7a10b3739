/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_facts_read_back(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct fact_line line;
    fact_add(&t, "a", "%d two", 1);
    fact_add(&t, "b", "tab\there\nand there");
    fact_add(&t, "c", "%s", "");
    const char *at = t.s;
    assert_true(fact_next(&at, &line));
    assert_string_equal(line.key, "a");
    assert_string_equal(line.value, "1 two");
    assert_true(fact_next(&at, &line));
    assert_string_equal(line.value, "tab here and there");
    assert_true(fact_next(&at, &line));
    assert_string_equal(line.key, "c");
    assert_string_equal(line.value, "");
    assert_false(fact_next(&at, &line));
}

static void test_facts_too_long_are_cut(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct fact_line line;
    for (int i = 0; i < 300; i++)
        text_add(&t, "key");
    text_add_char(&t, ' ');
    for (int i = 0; i < 1000; i++)
        text_add(&t, "value");
    const char *at = t.s;
    assert_true(fact_next(&at, &line));
    assert_int_equal(strlen(line.key), sizeof line.key - 1);
    assert_int_equal(strlen(line.value), sizeof line.value - 1);
    assert_false(fact_next(&at, &line));
}

static void test_unsupported_and_unknown_come_before_judging(void **state)
{
    assert_string_equal(trial_judge(*state, "Probe=zombies", "unsupported no such thing\nzombies 5000\n"),
                        "unsupported no such thing");
    assert_string_equal(trial_judge(*state, "Probe=zombies", "unknown not to be read\n"),
                        "unknown not to be read");
    assert_string_equal(trial_judge(*state, "Probe=zombies", ""), "unknown nothing was read");
    assert_string_equal(trial_judge(*state, "Probe=zombies", "zombies 3\n"), "ok");
}

/* A part that cannot be read hides neither what is bad nor that it is unknown. */
static void test_unknown_beside_others(void **state)
{
    assert_string_equal(trial_judge(*state, "Probe=nvme", "nvme nvme0 live\nunknown the state of nvme1\n"),
                        "unknown the state of nvme1");
    assert_string_equal(trial_judge(*state, "Probe=nvme", "nvme nvme0 dead\nunknown the state of nvme1\n"),
                        "fatal nvme nvme0: its state is dead");
}

static void test_severity_is_the_worst(void **state)
{
    assert_string_equal(trial_judge(*state, "Probe=nvme Severity=warn", "nvme nvme0 dead\n"),
                        "warn nvme nvme0: its state is dead");
}

static void test_argument_that_is_wrong(void **state)
{
    assert_string_equal(
        trial_judge(*state, "Probe=pcie.link Speed=perhaps", "link 0000:00:00.0 gpu 16 16 D0 1 1\n"),
        "unknown Speed: \"perhaps\" is neither yes nor no");
}

static void test_every_probe_has_code(void **state)
{
    for (int p = 0; p < PROBES; p++) {
        const struct probe_code *code = probe_code((enum probe)p);
        assert_non_null(code->judge);
        assert_int_equal(!code->gather, probe_row((enum probe)p)->how == PROBE_FOLLOW);
    }
}

static bool is_apart(struct trial *t, const char *record)
{
    CLEANUP_TEXT struct text line = {0};
    struct checks checks = {0};
    text_printf(&line, "Check=tried %s\n", record);
    assert_int_equal(checks_parse("trial", line.s, line.len, &checks, NULL), 0);
    struct look l = {.check = &checks.list[0], .root = t->tree->root};
    bool apart = look_apart(&l);
    checks_fini(&checks);
    return apart;
}

static void test_apart(void **state)
{
    struct trial *t = *state;
    assert_true(is_apart(t, "Probe=plugin Run=true"));
    assert_true(is_apart(t, "Probe=orphans"));
    assert_false(is_apart(t, "Probe=zombies"));
    assert_true(is_apart(t, "Probe=fs.space Path=/")); /* any disk may hang */
    assert_true(is_apart(t, "Probe=certificate Path=/etc/x.pem"));
    assert_false(is_apart(t, "Probe=fs.mounted Path=/"));
}

static void test_apart_of_many_processes(void **state)
{
    struct trial *t = *state;
    char path[32];
    for (int pid = 1; pid < 300; pid++) {
        snprintf(path, sizeof path, "proc/%d/", pid);
        trial_add(t, path, "");
    }
    assert_false(is_apart(t, "Probe=zombies"));
    assert_false(is_apart(t, "Probe=dstate"));
    for (int pid = 300; pid < 500; pid++) {
        snprintf(path, sizeof path, "proc/%d/", pid);
        trial_add(t, path, "");
    }
    assert_true(is_apart(t, "Probe=zombies"));
    assert_true(is_apart(t, "Probe=dstate"));
    assert_false(is_apart(t, "Probe=load"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts_read_back),
        cmocka_unit_test(test_facts_too_long_are_cut),
        IN_TRIAL(test_unsupported_and_unknown_come_before_judging),
        IN_TRIAL(test_unknown_beside_others),
        IN_TRIAL(test_severity_is_the_worst),
        IN_TRIAL(test_argument_that_is_wrong),
        cmocka_unit_test(test_every_probe_has_code),
        IN_TRIAL(test_apart),
        IN_TRIAL(test_apart_of_many_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
