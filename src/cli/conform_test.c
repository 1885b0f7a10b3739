/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about conformance and placement: what is asked, and how the answer reads.
 */
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *line, const char *answer, const char *asked, const char *printed)
{
    char sent[4096];
    struct run r = run_with(line, 200, answer, sent);
    assert_string_equal(r.error, "");
    assert_int_equal(r.status, 0);
    if (!strstr(sent, asked))
        fail_msg("asked: %s", sent);
    assert_string_equal(r.out, printed);
}

static void groups_are_a_table_with_those_alone_at_its_end(void **state)
{
    static const char answer[] =
        "{\"groups\":[{\"class\":\"gpu\",\"cohort\":\"fp_0123456789ab\",\"fingerprint\":\"01\",\"count\":58,"
        "\"nodes\":\"lx[01-58]\",\"standing\":\"baseline\",\"version\":3}],"
        "\"alone\":[{\"node\":\"lx59\",\"class\":\"gpu\",\"why\":\"never reported\"},"
        "{\"node\":\"ix1\",\"class\":\"default\",\"why\":\"\"},{\"node\":\"lx60\",\"class\":\"gpu\",\"why\":"
        "\"\"}]}";
    expect("conform groups --class gpu", answer, "GET /v1/conform/groups?class=gpu ",
           "CLASS    COHORT           COUNT  STANDING  BASELINE  NODES\n"
           "gpu      fp_0123456789ab     58  baseline         3  lx[01-58]\n"
           "gpu      -                    2  alone            -  lx[59-60]\n"
           "default  -                    1  alone            -  ix1\n");
}

static const char difference[] =
    "{\"node\":\"lx07\",\"class\":\"gpu\",\"conformance\":\"drifted\",\"why\":\"kernel.release is another\","
    "\"fingerprint\":\"ab\",\"cohort\":\"fp_ab\",\"seen_since\":\"2026-11-20T10:00:00.000Z\",\"verified_s\":"
    "5,"
    "\"against\":{\"baseline\":3,\"node\":null,\"fingerprint\":\"cd\"},\"severity\":\"major\",\"different\":"
    "1,"
    "\"unknown\":1,\"drift\":{\"state\":\"open\",\"since\":\"2026-11-20T10:00:01.000Z\"},\"flaps\":false,"
    "\"suggestion\":null,\"differences\":[{\"component\":\"kernel.release\",\"kind\":\"different\","
    "\"severity\":\"major\",\"expected\":{\"state\":\"value\",\"value\":\"6.1.0-13\"},"
    "\"actual\":{\"state\":\"value\",\"value\":\"6.1.0-14\"},\"since\":\"2026-11-20T10:00:00.000Z\","
    "\"also\":\"lx08\",\"also_count\":1},{\"component\":\"gpu.0000:3b:00.0.vbios\",\"kind\":\"unknown\","
    "\"severity\":\"major\",\"expected\":{\"state\":\"absent\",\"value\":\"\"},"
    "\"actual\":{\"state\":\"unknown\",\"value\":\"timed "
    "out\"},\"since\":null,\"also\":\"\",\"also_count\":0}]}";

static void a_difference_says_what_was_expected_what_is_and_since_when(void **state)
{
    expect(
        "conform diff lx07", difference, "GET /v1/conform/diff/lx07 ",
        "Node            lx07\n"
        "Class           gpu\n"
        "Against         baseline 3\n"
        "Conformance     drifted\n"
        "Why             kernel.release is another\n"
        "Cohort          fp_ab\n"
        "As it is since  2026-11-20T10:00:00.000Z\n"
        "Drift           open since 2026-11-20T10:00:01.000Z\n"
        "\n"
        "COMPONENT               SEVERITY  EXPECTED  ACTUAL                SINCE                     ALSO\n"
        "kernel.release          major     6.1.0-13  6.1.0-14              2026-11-20T10:00:00.000Z  lx08\n"
        "gpu.0000:3b:00.0.vbios  unknown   (absent)  (unknown: timed out)  -\n");
}

static const char long_difference[] =
    "{\"node\":\"lx07\",\"against\":{\"baseline\":3,\"node\":null},\"differences\":[{\"component\":"
    "\"kernel.cmdline\",\"kind\":\"different\",\"severity\":\"major\",\"expected\":{\"state\":\"value\","
    "\"value\":\"BOOT_IMAGE=/vmlinuz-6.1 ro quiet\"},\"actual\":{\"state\":\"value\",\"value\":"
    "\"BOOT_IMAGE=/vmlinuz-6.\\u00e9 ro quiet mitigations=off\"},\"since\":null,\"also\":\"\"},"
    "{\"component\":\"os.version\",\"kind\":\"different\",\"severity\":\"major\",\"expected\":{\"state\":"
    "\"value\",\"value\":\"12\"},\"actual\":{\"state\":\"absent\",\"value\":\"\"},\"since\":null,"
    "\"also\":\"\"}]}";

/* A table that is wider than a terminal cannot be read; characters stay whole. */
static void long_values_are_cut_in_the_table_and_stand_under_it(void **state)
{
    expect("conform diff lx07", long_difference, "GET /v1/conform/diff/lx07 ",
           "Node            lx07\n"
           "Against         baseline 3\n"
           "\n"
           "COMPONENT       SEVERITY  EXPECTED                    ACTUAL                     SINCE  ALSO\n"
           "kernel.cmdline  major     BOOT_IMAGE=/vmlinuz-6.1...  BOOT_IMAGE=/vmlinuz-6....  -\n"
           "os.version      major     12                          (absent)                   -\n"
           "\n"
           "kernel.cmdline\n"
           "  expected  BOOT_IMAGE=/vmlinuz-6.1 ro quiet\n"
           "  actual    BOOT_IMAGE=/vmlinuz-6.\u00e9 ro quiet mitigations=off\n");
}

static void what_is_the_same_says_how_much_it_counts(void **state)
{
    expect(
        "conform diff lx07 --all",
        "{\"node\":\"lx07\",\"differences\":[{\"component\":\"kernel.cmdline\",\"kind\":\"same\","
        "\"severity\":\"major\",\"expected\":{\"state\":\"value\",\"value\":\"ro quiet mitigations=auto "
        "hash=1\"},"
        "\"actual\":{\"state\":\"value\",\"value\":\"ro quiet mitigations=auto hash=1\"},\"since\":null,"
        "\"also\":null}]}",
        "GET /v1/conform/diff/lx07?all=yes ",
        "Node            lx07\n\n"
        "COMPONENT       SEVERITY      EXPECTED                    ACTUAL                      SINCE  ALSO\n"
        "kernel.cmdline  same (major)  ro quiet mitigations=au...  ro quiet mitigations=au...  -\n");
}

static void what_could_not_be_read_says_its_reason_once(void **state)
{
    char sent[4096];
    struct run r = run_with(
        "conform diff lx07", 200,
        "{\"node\":\"lx07\",\"differences\":[{\"component\":\"package.a\",\"kind\":\"unknown\",\"severity\":"
        "\"minor\","
        "\"expected\":{\"state\":\"value\",\"value\":\"1\"},\"actual\":{\"state\":\"unknown\",\"value\":"
        "\"/var/lib/dpkg/status: Is a directory\"}},{\"component\":\"package.b\",\"kind\":\"unknown\","
        "\"severity\":\"minor\",\"expected\":{\"state\":\"value\",\"value\":\"2\"},\"actual\":{\"state\":"
        "\"unknown\","
        "\"value\":\"/var/lib/dpkg/status: Is a directory\"}}]}",
        sent);
    assert_non_null(strstr(r.out, "package.b  unknown   2         (unknown: /var/lib/dpkg..."));
    assert_non_null(strstr(r.out, "\npackage.a\n  expected  1\n"
                                  "  actual    (unknown: /var/lib/dpkg/status: Is a directory)\n"));
    assert_null(strstr(r.out, "\npackage.b\n"));
}

static void of_two_nodes_each_has_its_column(void **state)
{
    char sent[4096];
    struct run r = run_with("conform diff lx07 lx08", 200, long_difference, sent);
    assert_non_null(strstr(r.out, "COMPONENT       SEVERITY  lx07 "));
    assert_non_null(strstr(r.out, "os.version      major     (absent)                   12 "));
    assert_non_null(strstr(r.out, "\n  lx08      BOOT_IMAGE=/vmlinuz-6.1 ro quiet\n"));
}

static void without_a_baseline_one_is_suggested(void **state)
{
    expect("conform why-not lx07",
           "{\"node\":\"lx07\",\"conformance\":\"unknown\",\"suggestion\":{\"node\":\"lx01\",\"share\":58,"
           "\"of\":64}}",
           "GET /v1/conform/diff/lx07 ",
           "Node            lx07\nConformance     unknown\n"
           "Suggestion      fettle baseline accept lx01; like it are 58 of 64\n");
}

static void what_waits_for_approval_is_told_how(void **state)
{
    expect("conform why-not lx07",
           "{\"node\":\"lx07\",\"conformance\":\"conformant\",\"drift\":{\"state\":\"remedied\",\"since\":"
           "\"A\"}}",
           "GET /v1/conform/diff/lx07 ",
           "Node            lx07\nConformance     conformant\n"
           "Drift           remedied; out of service until: fettle conform approve lx07\n");
}

static void that_nothing_differs_is_said(void **state)
{
    expect("conform diff lx07 lx08",
           "{\"node\":\"lx07\",\"fingerprint\":\"ab\",\"against\":{\"baseline\":null,\"node\":\"lx08\"},"
           "\"differences\":[]}",
           "GET /v1/conform/diff/lx07?with=lx08 ",
           "Node            lx07\nAgainst         node lx08\nDifferences     none\n");
    expect("conform diff lx07",
           "{\"node\":\"lx07\",\"fingerprint\":\"ab\",\"against\":{\"baseline\":null,\"node\":\"lx08\"},"
           "\"differences\":[]}",
           "GET /v1/conform/diff/lx07 ",
           "Node            lx07\nAgainst         the rolling update to what is on lx08\nDifferences     "
           "none\n");
    expect("conform diff lx07", "{\"node\":\"lx07\",\"against\":null,\"differences\":[]}",
           "GET /v1/conform/diff/lx07 ", "Node            lx07\n");
    expect("conform diff lx07",
           "{\"node\":\"lx07\",\"fingerprint\":null,\"against\":{\"baseline\":1,\"node\":null},"
           "\"differences\":[]}",
           "GET /v1/conform/diff/lx07 ",
           "Node            lx07\nAgainst         baseline 1\nDifferences     not known\n");
}

static void a_recheck_says_how_many_were_told(void **state)
{
    static const struct {
        const char *line, *answer, *printed;
        int status;
    } cases[] = {
        {"conform recheck lx01", "{\"told\":1}", "1 node was told to read its fingerprint anew\n", 0},
        {"conform recheck lx[01-03]", "{\"told\":3}", "3 nodes were told to read their fingerprints anew\n",
         0},
        {"conform recheck lx[01-03]", "{\"told\":2}",
         "2 of 3 nodes were told to read their fingerprints anew; the others are not heard\n", 0},
        {"conform recheck lx[01-03]", "{\"told\":0}",
         "no node was told to read its fingerprint anew, for none of them is heard\n", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sent[4096];
        struct run r = run_with(cases[i].line, 200, cases[i].answer, sent);
        assert_string_equal(r.out, cases[i].printed);
        assert_int_equal(r.status, cases[i].status);
    }
}

static void classes_are_listed_and_an_alarm_is_seen(void **state)
{
    expect(
        "class list",
        "{\"classes\":[{\"name\":\"gpu\",\"nodes\":\"lx[01-08]\",\"count\":8,\"conformant\":3,\"drifted\":5,"
        "\"unknown\":0,\"baseline\":2,\"rollout\":true,\"alarm\":true}]}",
        "GET /v1/classes ",
        "CLASS  BASELINE  NODES  CONFORMANT  DRIFTED  UNKNOWN  ROLLOUT  LIST\n"
        "gpu           2      8           3        5        0  yes      lx[01-08]\n"
        "gpu: more than MaxDriftShare of it drift at once; none of them is taken down or rebooted\n");
}

static void why_not_leaves_the_table_out(void **state)
{
    char sent[4096];
    struct run r = run_with("conform why-not lx07", 200, difference, sent);
    assert_non_null(strstr(r.out, "Why             kernel.release is another\n"));
    assert_null(strstr(r.out, "COMPONENT"));
}

static void differences_are_records(void **state)
{
    expect("conform diff lx07 -o component,kind,expected,actual --where kind=unknown", difference,
           "GET /v1/conform/diff/lx07 ",
           "COMPONENT               KIND     EXPECTED  ACTUAL\n"
           "gpu.0000:3b:00.0.vbios  unknown  (absent)  (unknown: timed out)\n");
    expect("conform diff lx07 -o json,component,actual --sort component --limit 1", difference,
           "GET /v1/conform/diff/lx07 ",
           "[\n {\"Component\":\"gpu.0000:3b:00.0.vbios\",\"Actual\":\"(unknown: timed out)\"}\n]\n");
}

static void another_node_and_everything_can_be_asked_for(void **state)
{
    char sent[4096];
    struct run r = run_with("conform diff lx07 lx08 --all --json", 200, difference, sent);
    assert_non_null(strstr(sent, "GET /v1/conform/diff/lx07?with=lx08&all=yes "));
    assert_string_equal(r.out + strlen(r.out) - 3, "]}\n");
}

static void history_names_what_changed_and_how_much_more(void **state)
{
    expect("conform history lx07",
           "{\"node\":\"lx07\",\"history\":[{\"at\":\"2026-11-20T10:00:00.000Z\","
           "\"fingerprint\":\"0123456789abcdef\",\"named\":[\"kernel.release\",\"os.version\"],\"count\":5},"
           "{\"at\":\"2026-11-19T10:00:00.000Z\",\"fingerprint\":\"ff23456789abcdef\",\"named\":[],\"count\":"
           "0}]}",
           "GET /v1/conform/history/lx07 ",
           "SINCE                     FINGERPRINT        CHANGED\n"
           "2026-11-20T10:00:00.000Z  list_0123456789ab  kernel.release, os.version, 3 more\n"
           "2026-11-19T10:00:00.000Z  list_ff23456789ab\n");
}

static void approval_says_what_still_holds(void **state)
{
    expect(
        "conform approve lx07 -r checked by hand",
        "{\"revision\":7,\"changed\":\"lx07\",\"held\":[{\"id\":\"1.1\",\"kind\":\"drain\",\"owner\":\"ann\","
        "\"reason\":\"new memory\",\"nodes\":\"lx07\"}]}",
        "{\"nodes\":\"lx07\",\"reason\":\"checked by hand\"}",
        "lx07: approved\nlx07: held: drain by ann: new memory\n");
}

static void a_baseline_is_accepted_and_compared(void **state)
{
    expect("baseline accept lx01", "{\"revision\":7,\"changed\":\"lx01\",\"version\":4,\"held\":[]}",
           "{\"node\":\"lx01\"}", "lx01: is the baseline of its class, version 4\n");
    expect("baseline accept lx01", "{\"revision\":7,\"changed\":\"\",\"version\":4,\"held\":[]}",
           "{\"node\":\"lx01\"}", "lx01: is as the baseline of its class already, version 4\n");
    expect("baseline revert gpu", "{\"revision\":8,\"changed\":\"\",\"version\":5,\"held\":[]}",
           "{\"class\":\"gpu\"", "gpu: the baseline is version 5, which equals the one before\n");
    expect("baseline revert gpu --baseline 2", "{\"revision\":8,\"changed\":\"\",\"version\":5,\"held\":[]}",
           "{\"class\":\"gpu\",\"version\":2}", "gpu: the baseline is version 5, which equals version 2\n");
    expect("baseline show gpu --baseline 2",
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
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"baseline rollout start gpu",
         "to what? --to NODE that shows the new state, or --to VERSION of the baseline"},
        {"baseline rollout start gpu --to lx01", "which nodes are updated? --nodes NODES"},
        {"baseline rollout start gpu --to lx01 --nodes lx[01-08]", "until when? --deadline 24h"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run r = run(cases[i].line, "/nowhere");
        assert_int_equal(r.status, 2);
        assert_string_equal(r.error, cases[i].error);
    }
    expect("baseline rollout start gpu --to lx01 --nodes lx[01-08] --deadline 24h",
           "{\"revision\":8,\"changed\":\"lx[01-08]\",\"held\":[]}",
           "{\"class\":\"gpu\",\"to\":\"lx01\",\"nodes\":\"lx[01-08]\",\"deadline\":\"24h\"}",
           "lx[01-08]: a rolling update has begun\n");
    expect("baseline rollout start gpu --to 2 --nodes lx01 --deadline 1h",
           "{\"revision\":8,\"changed\":\"lx01\",\"held\":[]}",
           "{\"class\":\"gpu\",\"version\":2,\"nodes\":\"lx01\"", "lx01: a rolling update has begun\n");
    expect("baseline rollout show gpu",
           "{\"class\":\"gpu\",\"version\":2,\"rollout\":{\"fingerprint\":\"cd\",\"node\":\"lx01\","
           "\"nodes\":\"lx[01-08]\",\"by\":\"root\",\"at\":\"A\",\"deadline\":\"D\",\"note\":\"new kernel\","
           "\"progress\":{\"to\":3,\"baseline\":4,\"neither\":1,\"unknown\":0}}}",
           "GET /v1/baselines/gpu ",
           "To              lx01\nNodes           lx[01-08]\nBegun by        root\nAt              A\n"
           "Deadline        D\nNote            new kernel\nFingerprint     cd\nUpdated         3\nAs before  "
           "     4\nNeither         1\n"
           "Unknown         0\n");
}

static void a_placement_shows_groups_and_who_was_passed_over(void **state)
{
    expect(
        "place -N 64 --policy ml --require-conformance --nodes lx[01-99]",
        "{\"policy\":\"ml\",\"count\":64,\"nodes\":\"lx[01-64]\",\"f9\":0.984,\"score\":0.446,"
        "\"terms\":[{\"name\":\"sameness\",\"fitness\":0.984,\"weight\":0.250},{\"name\":\"topology\","
        "\"fitness\":1.000,\"weight\":0.150},{\"name\":\"soundness\",\"fitness\":0.500,\"weight\":0.100}],"
        "\"groups\":[{\"cohort\":"
        "\"fp_ab\","
        "\"count\":63,\"nodes\":\"lx[01-63]\"},{\"cohort\":null,\"count\":1,\"nodes\":\"lx64\"}],"
        "\"topology_groups\":2,\"passed\":{\"busy\":3,\"drifted\":1}}",
        "GET /v1/place?count=64&policy=ml&nodes=lx%5B01-99%5D&require=yes ",
        "Nodes           lx[01-64]\nCount           64\nPolicy          ml\n"
        "Score           0.446 = sameness 0.984 * 0.250 + topology 1.000 * 0.150 + soundness 0.500 * 0.100\n"
        "Cohort          63 of fp_ab: lx[01-63]\nCohort          1 of no cohort: lx64\n"
        "Topology groups 2\nPassed over     3 busy, 1 drifted\n");
    struct run r = run("place", "/nowhere");
    assert_string_equal(r.error, "how many nodes? -N NUMBER");
    r = run("place -N 0", "/nowhere");
    assert_int_equal(r.status, 2);
}

static void a_placement_that_cannot_be_had_has_its_own_status(void **state)
{
    char sent[4096];
    struct run r = run_with(
        "place -N 64 --require-conformance", 409,
        "{\"error\":{\"code\":\"conformance_mismatch\",\"message\":\"no cohort has 64 nodes that fit\"}}",
        sent);
    assert_int_equal(r.status, 3);
    assert_string_equal(r.error, "no cohort has 64 nodes that fit");
}

static void slurm_gets_text_that_it_takes(void **state)
{
    expect("slurm features lx[01-03]",
           "{\"nodes\":[{\"nodes\":\"lx[01-02]\",\"features\":[\"fp_ab\",\"conformant\"],\"weight\":1},"
           "{\"nodes\":\"lx03\",\"features\":[\"fp_cd\",\"drifted\"],\"weight\":900}]}",
           "GET /v1/slurm/features?nodes=lx%5B01-03%5D ",
           "NodeName=lx[01-02] AvailableFeatures=fp_ab,conformant ActiveFeatures=fp_ab,conformant Weight=1\n"
           "NodeName=lx03 AvailableFeatures=fp_cd,drifted ActiveFeatures=fp_cd,drifted Weight=900\n");
    expect("slurm constraint -N 64", "{\"constraint\":\"[fp_ab|fp_cd]\",\"count\":64}",
           "GET /v1/slurm/constraint?count=64 ", "[fp_ab|fp_cd]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_a_table_with_those_alone_at_its_end),
        cmocka_unit_test(a_difference_says_what_was_expected_what_is_and_since_when),
        cmocka_unit_test(why_not_leaves_the_table_out),
        cmocka_unit_test(long_values_are_cut_in_the_table_and_stand_under_it),
        cmocka_unit_test(what_is_the_same_says_how_much_it_counts),
        cmocka_unit_test(what_could_not_be_read_says_its_reason_once),
        cmocka_unit_test(of_two_nodes_each_has_its_column),
        cmocka_unit_test(without_a_baseline_one_is_suggested),
        cmocka_unit_test(what_waits_for_approval_is_told_how),
        cmocka_unit_test(that_nothing_differs_is_said),
        cmocka_unit_test(a_recheck_says_how_many_were_told),
        cmocka_unit_test(classes_are_listed_and_an_alarm_is_seen),
        cmocka_unit_test(differences_are_records),
        cmocka_unit_test(another_node_and_everything_can_be_asked_for),
        cmocka_unit_test(history_names_what_changed_and_how_much_more),
        cmocka_unit_test(approval_says_what_still_holds),
        cmocka_unit_test(a_baseline_is_accepted_and_compared),
        cmocka_unit_test(a_rolling_update_needs_its_three_options),
        cmocka_unit_test(a_placement_shows_groups_and_who_was_passed_over),
        cmocka_unit_test(a_placement_that_cannot_be_had_has_its_own_status),
        cmocka_unit_test(slurm_gets_text_that_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
