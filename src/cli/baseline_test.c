/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about classes, baselines and rolling updates: what is asked, and how the answer reads.
 */
#include "base/text.h"
#include "cli/run_test.h"
#include "lib/stub_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
               "{\"class\":\"gpu\"", "gpu: the baseline is version 5, which equals the one before\n");
    run_expect(
        "baseline revert gpu --baseline 2", "{\"revision\":8,\"changed\":\"\",\"version\":5,\"held\":[]}",
        "{\"class\":\"gpu\",\"version\":2}", "gpu: the baseline is version 5, which equals version 2\n");
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

static const char one[] = "{\"version\":1,\"components\":{\"kernel\":\"6.1\",\"os\":\"12\",\"gone\":\"g\"}}";
static const char two[] = "{\"version\":2,\"components\":{\"kernel\":\"6.2\",\"os\":\"12\",\"new\":\"n\"}}";

/* Both versions are asked for, and compared here. */
static struct run run_diff(const char *line, char asked[static 2][512])
{
    CLEANUP_FREE char *first = stub_json(200, one);
    CLEANUP_FREE char *second = stub_json(200, two);
    const struct stub_answer answers[] = {{.bytes = first}, {.bytes = second}};
    struct stub *stub = stub_start(answers, 2);
    struct run r = run(line, stub_path(stub));
    stub_join(stub);
    for (size_t i = 0; i < 2; i++)
        snprintf(asked[i], 512, "%s", i < stub_requests(stub) ? stub_request(stub, i) : "");
    stub_stop(stub);
    return r;
}

static void test_two_versions_are_compared_both_ways(void **state)
{
    char asked[2][512];
    struct run r = run_diff("baseline diff gpu 1 2", asked);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(asked[0], "GET /v1/baselines/gpu?version=1 "));
    assert_non_null(strstr(asked[1], "GET /v1/baselines/gpu?version=2 "));
    assert_string_equal(r.out, "COMPONENT  VERSION 1  VERSION 2\n"
                               "kernel     6.1        6.2\n"
                               "gone       g          (absent)\n"
                               "new        (absent)   n\n");
    r = run_diff("baseline diff gpu 1 2 -o csv", asked);
    assert_string_equal(r.out,
                        "Component,From,To\r\nkernel,6.1,6.2\r\ngone,g,(absent)\r\nnew,(absent),n\r\n");
    r = run_diff("baseline diff gpu 1 2 --json", asked);
    assert_non_null(
        strstr(r.out, "{\"differences\":[{\"component\":\"kernel\",\"from\":\"6.1\",\"to\":\"6.2\"},"));
}

static void test_a_version_is_a_number_from_one(void **state)
{
    static const struct run_wrong cases[] = {
        {"baseline diff gpu 0 1", "the version of a baseline: \"0\" is not a number from 1 to 4294967295"},
        {"baseline show gpu --baseline 4294967296",
         "the version of a baseline: \"4294967296\" is not a number from 1 to 4294967295"},
        {"baseline revert gpu --baseline two",
         "the version of a baseline: \"two\" is not a number from 1 to 4294967295"},
        {"baseline rollout start gpu --to 0 --nodes lx1 --deadline 1h",
         "the version of a baseline: \"0\" is not a number from 1 to 4294967295"},
        {"baseline diff gpu 1", "usage: fettle baseline diff CLASS VERSION VERSION"},
        {"baseline history gpu cpu", "\"cpu\" is too much for \"fettle baseline history\""},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
}

static void test_the_history_is_a_table_of_versions(void **state)
{
    run_expect(
        "baseline history gpu",
        "{\"history\":[{\"version\":2,\"at\":\"T2\",\"by\":\"ann\",\"node\":\"lx1\",\"note\":\"new kernel\"},"
        "{\"version\":1,\"at\":\"T1\",\"by\":\"root\",\"node\":\"lx2\",\"note\":\"\"}]}",
        "GET /v1/baselines/gpu ",
        "VERSION  AT  BY    NODE  NOTE\n"
        "      2  T2  ann   lx1   new kernel\n"
        "      1  T1  root  lx2\n");
}

static void test_a_rolling_update_ends_one_way_or_the_other(void **state)
{
    static const char done[] = "{\"revision\":8,\"changed\":\"lx[1-2]\",\"held\":[]}";
    run_expect("baseline rollout accept gpu", done, "POST /v1/rollouts/accept ",
               "lx[1-2]: the rolling update is over; the new state is the baseline\n");
    run_expect("baseline rollout revert gpu", done, "POST /v1/rollouts/revert ",
               "lx[1-2]: the rolling update is over; the baseline stays\n");
    run_expect("baseline rollout show gpu", "{\"class\":\"gpu\",\"rollout\":null}", "GET /v1/baselines/gpu ",
               "no rolling update is under way\n");
    run_expect("baseline rollout show gpu --json", "{\"class\":\"gpu\",\"rollout\":{\"node\":\"lx1\"}}",
               "GET /v1/baselines/gpu ", "{\"node\":\"lx1\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_listed_and_an_alarm_is_seen),
        cmocka_unit_test(a_baseline_is_accepted_and_compared),
        cmocka_unit_test(a_rolling_update_needs_its_three_options),
        cmocka_unit_test(test_two_versions_are_compared_both_ways),
        cmocka_unit_test(test_a_version_is_a_number_from_one),
        cmocka_unit_test(test_the_history_is_a_table_of_versions),
        cmocka_unit_test(test_a_rolling_update_ends_one_way_or_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
