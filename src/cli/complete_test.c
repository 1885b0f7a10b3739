/* SPDX-License-Identifier: Apache-2.0
 *
 * What completes words that only the controller knows.
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
    assert_string_equal(r.out, printed);
    if (!strstr(sent, asked))
        fail_msg("%s asked: %s", line, sent);
}

static const char nodes[] =
    "{\"nodes\":[{\"Name\":\"lx01\",\"State\":\"IDLE\"},{\"Name\":\"lx02\",\"State\":\"DOWN\"},"
    "{\"Name\":\"mx01\",\"State\":\"IDLE\"},{\"Name\":\"lx$(reboot)\",\"State\":\"IDLE\"}]}";

static void nodes_are_completed_where_one_may_stand(void **state)
{
    static const char *const lines[] = {
        "complete -- node drain lx",           "complete -- queue take mx01 lx",
        "complete -- check run scratch lx",    "complete -- power status lx",
        "complete -- token create --nodes lx", "complete -- incident list lx",
        "complete -- -C /x conform diff lx",   "complete -- node list mx01 lx"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect(lines[i], nodes, "GET /v1/nodes?",
               "lx01\tIDLE\nlx02\tDOWN\n"); /* and no name that a shell might run */
}

static void checks_remedies_classes_and_claims_are_completed(void **state)
{
    expect("complete -- check run scr",
           "{\"checks\":[{\"check\":\"scratch\",\"what\":\"mounts\"},{\"check\":\"fs\"}]}", "GET /v1/checks ",
           "scratch\tmounts\n");
    expect("complete -- approve n1 --remedy re",
           "{\"remedies\":[{\"remedy\":\"reboot\",\"because\":\"often\"}]}", "GET /v1/remedies ",
           "reboot\toften\n");
    expect("complete -- baseline show g", "{\"classes\":[{\"name\":\"gpu\",\"nodes\":\"n[1-9]\"}]}",
           "GET /v1/classes ", "gpu\tn[1-9]\n");
    expect("complete -- node undrain n1 --claim _", "{\"node\":{},\"claims\":[]}", "GET /v1/nodes/n1 ", "");
    expect("complete -- node undrain n1 --claim 1",
           "{\"node\":{},\"claims\":[{\"id\":\"1.7\",\"kind\":\"drain\"}]}", "GET /v1/nodes/n1 ",
           "1.7\tdrain\n");
}

static void without_a_controller_there_are_no_names_and_no_complaint(void **state)
{
    struct run r = run("complete -- node drain lx", "/nowhere");
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_completed_where_one_may_stand),
        cmocka_unit_test(checks_remedies_classes_and_claims_are_completed),
        cmocka_unit_test(without_a_controller_there_are_no_names_and_no_complaint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
