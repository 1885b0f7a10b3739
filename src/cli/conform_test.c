/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about conformance: what is asked, and how the answer reads.
 */
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void groups_are_a_table_with_those_alone_at_its_end(void **state)
{
    static const char answer[] =
        "{\"groups\":[{\"class\":\"gpu\",\"cohort\":\"fp_0123456789ab\",\"fingerprint\":\"01\",\"count\":58,"
        "\"nodes\":\"lx[01-58]\",\"standing\":\"baseline\",\"version\":3}],"
        "\"alone\":[{\"node\":\"lx59\",\"class\":\"gpu\",\"why\":\"never reported\"},"
        "{\"node\":\"ix1\",\"class\":\"default\",\"why\":\"\"},{\"node\":\"lx60\",\"class\":\"gpu\",\"why\":"
        "\"\"}]}";
    run_expect("conform groups --class gpu", answer, "GET /v1/conform/groups?class=gpu ",
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

static void a_difference_says_the_expected_and_actual_value_and_since_when(void **state)
{
    run_expect(
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
    run_expect(
        "conform diff lx07", long_difference, "GET /v1/conform/diff/lx07 ",
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

static void equal_components_say_how_much_they_count(void **state)
{
    run_expect(
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

static void unread_components_say_their_reason_once(void **state)
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

static void each_of_two_nodes_has_its_column(void **state)
{
    char sent[4096];
    struct run r = run_with("conform diff lx07 lx08", 200, long_difference, sent);
    assert_non_null(strstr(r.out, "COMPONENT       SEVERITY  lx07 "));
    assert_non_null(strstr(r.out, "os.version      major     (absent)                   12 "));
    assert_non_null(strstr(r.out, "\n  lx08      BOOT_IMAGE=/vmlinuz-6.1 ro quiet\n"));
}

static void without_a_baseline_one_is_suggested(void **state)
{
    run_expect(
        "conform why-not lx07",
        "{\"node\":\"lx07\",\"conformance\":\"unknown\",\"suggestion\":{\"node\":\"lx01\",\"share\":58,"
        "\"of\":64}}",
        "GET /v1/conform/diff/lx07 ",
        "Node            lx07\nConformance     unknown\n"
        "Suggestion      fettle baseline accept lx01; like it are 58 of 64\n");
}

static void a_drift_that_waits_for_approval_says_how(void **state)
{
    run_expect(
        "conform why-not lx07",
        "{\"node\":\"lx07\",\"conformance\":\"conformant\",\"drift\":{\"state\":\"remedied\",\"since\":"
        "\"A\"}}",
        "GET /v1/conform/diff/lx07 ",
        "Node            lx07\nConformance     conformant\n"
        "Drift           remedied; out of service until: fettle conform approve lx07\n");
}

static void that_nothing_differs_is_said(void **state)
{
    run_expect("conform diff lx07 lx08",
               "{\"node\":\"lx07\",\"fingerprint\":\"ab\",\"against\":{\"baseline\":null,\"node\":\"lx08\"},"
               "\"differences\":[]}",
               "GET /v1/conform/diff/lx07?with=lx08 ",
               "Node            lx07\nAgainst         node lx08\nDifferences     none\n");
    run_expect("conform diff lx07",
               "{\"node\":\"lx07\",\"fingerprint\":\"ab\",\"against\":{\"baseline\":null,\"node\":\"lx08\"},"
               "\"differences\":[]}",
               "GET /v1/conform/diff/lx07 ",
               "Node            lx07\nAgainst         the rolling update to what is on lx08\nDifferences     "
               "none\n");
    run_expect("conform diff lx07", "{\"node\":\"lx07\",\"against\":null,\"differences\":[]}",
               "GET /v1/conform/diff/lx07 ", "Node            lx07\n");
    run_expect("conform diff lx07",
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

static void why_not_leaves_the_table_out(void **state)
{
    char sent[4096];
    struct run r = run_with("conform why-not lx07", 200, difference, sent);
    assert_non_null(strstr(r.out, "Why             kernel.release is another\n"));
    assert_null(strstr(r.out, "COMPONENT"));
}

static void differences_are_records(void **state)
{
    run_expect("conform diff lx07 -o component,kind,expected,actual --where kind=unknown", difference,
               "GET /v1/conform/diff/lx07 ",
               "COMPONENT               KIND     EXPECTED  ACTUAL\n"
               "gpu.0000:3b:00.0.vbios  unknown  (absent)  (unknown: timed out)\n");
    run_expect("conform diff lx07 -o json,component,actual --sort component --limit 1", difference,
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

static void history_names_changed_components_and_counts_the_rest(void **state)
{
    run_expect(
        "conform history lx07",
        "{\"node\":\"lx07\",\"history\":[{\"at\":\"2026-11-20T10:00:00.000Z\","
        "\"fingerprint\":\"0123456789abcdef\",\"named\":[\"kernel.release\",\"os.version\"],\"count\":5},"
        "{\"at\":\"2026-11-19T10:00:00.000Z\",\"fingerprint\":\"ff23456789abcdef\",\"named\":[],\"count\":"
        "0}]}",
        "GET /v1/conform/history/lx07 ",
        "SINCE                     FINGERPRINT        CHANGED\n"
        "2026-11-20T10:00:00.000Z  list_0123456789ab  kernel.release, os.version, 3 more\n"
        "2026-11-19T10:00:00.000Z  list_ff23456789ab\n");
}

static void approval_says_which_holds_remain(void **state)
{
    run_expect(
        "conform approve lx07 -r checked by hand",
        "{\"revision\":7,\"changed\":\"lx07\",\"held\":[{\"id\":\"1.1\",\"kind\":\"drain\",\"owner\":\"ann\","
        "\"reason\":\"new memory\",\"nodes\":\"lx07\"}]}",
        "{\"nodes\":\"lx07\",\"reason\":\"checked by hand\"}",
        "lx07: approved\nlx07: held: drain by ann: new memory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_a_table_with_those_alone_at_its_end),
        cmocka_unit_test(a_difference_says_the_expected_and_actual_value_and_since_when),
        cmocka_unit_test(why_not_leaves_the_table_out),
        cmocka_unit_test(long_values_are_cut_in_the_table_and_stand_under_it),
        cmocka_unit_test(equal_components_say_how_much_they_count),
        cmocka_unit_test(unread_components_say_their_reason_once),
        cmocka_unit_test(each_of_two_nodes_has_its_column),
        cmocka_unit_test(without_a_baseline_one_is_suggested),
        cmocka_unit_test(a_drift_that_waits_for_approval_says_how),
        cmocka_unit_test(that_nothing_differs_is_said),
        cmocka_unit_test(a_recheck_says_how_many_were_told),
        cmocka_unit_test(differences_are_records),
        cmocka_unit_test(another_node_and_everything_can_be_asked_for),
        cmocka_unit_test(history_names_changed_components_and_counts_the_rest),
        cmocka_unit_test(approval_says_which_holds_remain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
