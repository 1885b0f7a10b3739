/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about classes, baselines and rolling updates: what is asked, and how the answer reads.
 */
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void classes_are_listed_and_an_alarm_is_seen(void **state)
{
    run_expect(
        "class list",
        "{\"classes\":[{\"name\":\"gpu\",\"nodes\":\"lx[01-08]\",\"count\":8,\"conformant\":3,\"drifted\":5,"
        "\"unknown\":0,\"baseline\":2,\"rollout\":true,\"alarm\":true}]}",
        "GET /v1/classes ",
        "CLASS  BASELINE  NODES  CONFORMANT  DRIFTED  UNKNOWN  ROLLOUT  LIST\n"
        "gpu           2      8           3        5        0  yes      lx[01-08]\n"
        "gpu: more than MaxDriftShare of it drift at once; none of them is taken down or rebooted\n");
}

static void a_baseline_is_accepted_and_compared(void **state)
{
    run_expect("baseline accept lx01", "{\"revision\":7,\"changed\":\"lx01\",\"version\":4,\"held\":[]}",
               "{\"node\":\"lx01\"}", "lx01: is the baseline of its class, version 4\n");
    run_expect("baseline accept lx01", "{\"revision\":7,\"changed\":\"\",\"version\":4,\"held\":[]}",
               "{\"node\":\"lx01\"}", "lx01: is as the baseline of its class already, version 4\n");
    run_expect("baseline revert gpu", "{\"revision\":8,\"changed\":\"\",\"version\":5,\"held\":[]}",
               "{\"class\":\"gpu\"", "gpu: the baseline is version 5, which says what the one before said\n");
    run_expect("baseline revert gpu --baseline 2",
               "{\"revision\":8,\"changed\":\"\",\"version\":5,\"held\":[]}",
               "{\"class\":\"gpu\",\"version\":2}",
               "gpu: the baseline is version 5, which says what version 2 says\n");
    run_expect(
        "baseline show gpu --baseline 2",
        "{\"class\":\"gpu\",\"version\":2,\"fingerprint\":\"ab\",\"node\":\"lx01\",\"by\":\"root\","
        "\"at\":\"2026-11-20T10:00:00.000Z\",\"note\":\"\",\"components\":{\"kernel.release\":\"6.1\"},"
        "\"absent\":[\"bmc.firmware\"],\"history\":[],\"rollout\":null}",
        "GET /v1/baselines/gpu?version=2 ",
        "Class           gpu\nVersion         2\nNode            lx01\nAccepted by     root\n"
        "At              2026-11-20T10:00:00.000Z\nFingerprint     ab\n\n"
        "COMPONENT       VALUE\nkernel.release  6.1\nbmc.firmware    (absent)\n");
}

static void a_rolling_update_needs_its_three_options(void **state)
{
    static const struct run_wrong cases[] = {
        {"baseline rollout start gpu",
         "to what? --to NODE that shows the new state, or --to VERSION of the baseline"},
        {"baseline rollout start gpu --to lx01", "which nodes are updated? --nodes NODES"},
        {"baseline rollout start gpu --to lx01 --nodes lx[01-08]", "until when? --deadline 24h"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
    run_expect("baseline rollout start gpu --to lx01 --nodes lx[01-08] --deadline 24h",
               "{\"revision\":8,\"changed\":\"lx[01-08]\",\"held\":[]}",
               "{\"class\":\"gpu\",\"to\":\"lx01\",\"nodes\":\"lx[01-08]\",\"deadline\":\"24h\"}",
               "lx[01-08]: a rolling update has begun\n");
    run_expect("baseline rollout start gpu --to 2 --nodes lx01 --deadline 1h",
               "{\"revision\":8,\"changed\":\"lx01\",\"held\":[]}",
               "{\"class\":\"gpu\",\"version\":2,\"nodes\":\"lx01\"", "lx01: a rolling update has begun\n");
    run_expect(
        "baseline rollout show gpu",
        "{\"class\":\"gpu\",\"version\":2,\"rollout\":{\"fingerprint\":\"cd\",\"node\":\"lx01\","
        "\"nodes\":\"lx[01-08]\",\"by\":\"root\",\"at\":\"A\",\"deadline\":\"D\",\"note\":\"new kernel\","
        "\"progress\":{\"to\":3,\"baseline\":4,\"neither\":1,\"unknown\":0}}}",
        "GET /v1/baselines/gpu ",
        "To              lx01\nNodes           lx[01-08]\nBegun by        root\nAt              A\n"
        "Deadline        D\nNote            new kernel\nFingerprint     cd\nUpdated         3\nAs before  "
        "     4\nNeither         1\n"
        "Unknown         0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_listed_and_an_alarm_is_seen),
        cmocka_unit_test(a_baseline_is_accepted_and_compared),
        cmocka_unit_test(a_rolling_update_needs_its_three_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
