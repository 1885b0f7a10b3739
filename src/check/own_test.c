/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_agent(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=agent", "unknown /proc/self: No such file");
    trial_add(t, "proc/self/statm", "500000 120000 900 1 0 9999 0\n");
    trial_begins(t, "Probe=agent", "unknown /proc/self: No such file");
    trial_add(t, "proc/self/fd/0", "");
    trial_expect(t, "Probe=agent", "ok");
    trial_expect(t, "Probe=agent Memory=400MB",
                 "warn agent: it has 480000 KiB of memory, of at most 390625 KiB");
    trial_add(t, "proc/self/statm", "500000\n");
    trial_begins(t, "Probe=agent", "unknown /proc/self: Invalid");
    assert_string_equal(trial_judge(t, "Probe=agent", "memory 900\nfiles 820 1024\n"), "ok");
    assert_string_equal(trial_judge(t, "Probe=agent", "memory 900\nfiles 840 1024\n"),
                        "warn agent: it has 840 files open, of 1024 and at most 80 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
