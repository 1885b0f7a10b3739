/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about checks and incidents: what is asked, and how the answer reads.
 */
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void wrong_words_are_told_before_anybody_is_asked(void **state)
{
    static const struct run_wrong cases[] = {
        {"check run fs.space", "usage: fettle check run CHECK NODES..."},
        {"check shwo n1", "\"check\" has no \"shwo\", but: list, show, explain, run, trials"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
}

static void the_checks_of_a_node_are_a_table_with_its_incidents_under_it(void **state)
{
    run_expect(
        "check show n1",
        "{\"node\":\"n1\",\"health\":\"fatal\",\"passed\":false,\"missing\":\"kernel.log: fatal\","
        "\"checks\":[{\"check\":\"fs.space\",\"looked_s\":75,\"verdict\":{\"result\":\"ok\",\"text\":\"41 "
        "%\"}},"
        "{\"check\":\"kernel.log\",\"looked_s\":null,\"verdict\":{\"result\":\"fatal\",\"findings\":["
        "{\"result\":\"fatal\",\"device\":\"gpu 0\",\"text\":\"off the bus\"},"
        "{\"result\":\"warn\",\"device\":\"gpu 1\",\"text\":\"hot\"}]}}],"
        "\"open\":[{\"severity\":\"fatal\",\"group\":\"gpu 0\",\"since\":\"@\",\"closed\":null,\"findings\":["
        "{\"check\":\"kernel.log\",\"code\":\"xid.79\",\"text\":\"off the \\u001b[31mbus\"}]}],"
        "\"past\":[{\"severity\":\"warn\"}],"
        "\"repair\":{\"step\":\"queue\",\"what\":\"it waits for a person\"}}",
        "GET /v1/health/n1 ",
        "Node            n1\n"
        "Health          fatal\n"
        "Missing         kernel.log: fatal\n"
        "Repair          queue: it waits for a person\n"
        "CHECK       RESULT    AGO  DEVICE  WHAT\n"
        "fs.space    ok      1m15s  -       41 %\n"
        "kernel.log  fatal       -  gpu 0   off the bus\n"
        "kernel.log  warn        -  gpu 1   hot\n"
        "Open incidents\n"
        "  fatal gpu 0, since 3d04h ago\n"
        "    kernel.log xid.79: off the \\x1b[31mbus\n");
}

static void checks_are_counted_by_result(void **state)
{
    run_expect(
        "check list",
        "{\"checks\":[{\"check\":\"fs.space\",\"probe\":\"fs.space\",\"every_s\":90,\"severity\":\"warn\","
        "\"observe\":true,\"nodes\":{\"ok\":12,\"warn\":1}}]}",
        "GET /v1/checks ",
        "CHECK     PROBE     EVERY  SEVERITY  OBSERVE  NODES\n"
        "fs.space  fs.space  1m30s  warn      yes      ok 12, warn 1\n");
}

static void a_check_that_was_run_says_its_findings_on_each_node(void **state)
{
    run_expect("check run fs.space n1",
               "{\"results\":[{\"node\":\"n1\",\"verdict\":{\"result\":\"fatal\",\"text\":\"2 %\"}}]}",
               "{\"nodes\":\"n1\",\"check\":\"fs.space\"}",
               "NODE  RESULT  DEVICE  WHAT\n"
               "n1    fatal   -       2 %\n");
    run_expect_status("check run fs.space n[1-2]",
                      "{\"results\":[{\"node\":\"n1\",\"verdict\":{\"result\":\"ok\",\"text\":\"41 %\"}},"
                      "{\"node\":\"n2\",\"error\":\"no answer in time\"}]}",
                      "{\"nodes\":\"n[1-2]\",\"check\":\"fs.space\"}",
                      "NODE  RESULT  DEVICE  WHAT\n"
                      "n1    ok      -       41 %\n"
                      "n2    -       -       no answer in time\n",
                      3);
}

static void trials_are_a_table(void **state)
{
    run_expect("check trials pair n[1-2]",
               "{\"trials\":[{\"node\":\"n1\",\"check\":\"pair\",\"now\":{\"claim\":\"1.7\",\"began\":\"@\","
               "\"deadline\":\"@\"},\"last\":null},{\"node\":\"n2\",\"check\":\"pair\",\"now\":null,"
               "\"last\":{\"result\":\"warn\",\"at\":\"@\"}}]}",
               "GET /v1/trials?check=pair&nodes=n%5B1-2%5D ",
               "NODE  CHECK   RUNS  LAST    AGO\n"
               "n1    pair   3d04h  -         -\n"
               "n2    pair       -  warn  3d04h\n");
}

static void incidents_are_a_table_and_a_shared_cause_is_said(void **state)
{
    run_expect("incident list n1",
               "{\"incidents\":[{\"node\":\"n1\",\"severity\":\"fatal\",\"group\":\"gpu 0\",\"since\":\"@\","
               "\"count\":3,\"findings\":[{\"check\":\"kernel.log\",\"code\":\"xid.79\",\"text\":\"off the "
               "bus\"}]}],"
               "\"shared\":[{\"key\":\"fs.mounted mount "
               "/scratch\",\"nodes\":\"n[1-9]\",\"severity\":\"fatal\",\"why\":\"all of "
               "group 3\"}]}",
               "GET /v1/incidents?nodes=n1 ",
               "NODE    SEVERITY  DEVICE  FAULT                        FOR  COUNT  WHAT\n"
               "n1      fatal     gpu 0   xid.79                     3d04h      3  off the bus\n"
               "n[1-9]  fatal     -       fs.mounted mount /scratch      -      -  all of group 3\n"
               "where one cause is on many nodes none is taken out of service for it\n");
}

/* What Fettle would have done in the days before. */
static void incidents_of_the_past_say_what_would_follow(void **state)
{
    run_expect("incident list n1 --since 2026-11-20 --utc -o node,fault,drains,closed",
               "{\"incidents\":[{\"node\":\"n1\",\"severity\":\"fatal\",\"closed\":\"@\",\"drains\":true,"
               "\"findings\":[{\"check\":\"scratch\",\"code\":\"\"}]},{\"node\":\"n1\",\"closed\":null,"
               "\"drains\":false,\"findings\":[{\"check\":\"zombie\",\"code\":\"\"}]}],\"shared\":[]}",
               "GET /v1/incidents?nodes=n1&since=1795132800 ",
               "NODE  FAULT    DRAINS   OVER\n"
               "n1    scratch  yes     3d04h\n"
               "n1    zombie   no          -\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_words_are_told_before_anybody_is_asked),
        cmocka_unit_test(the_checks_of_a_node_are_a_table_with_its_incidents_under_it),
        cmocka_unit_test(checks_are_counted_by_result),
        cmocka_unit_test(a_check_that_was_run_says_its_findings_on_each_node),
        cmocka_unit_test(trials_are_a_table),
        cmocka_unit_test(incidents_are_a_table_and_a_shared_cause_is_said),
        cmocka_unit_test(incidents_of_the_past_say_what_would_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
