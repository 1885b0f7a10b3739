/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about nodes: what is asked, and how the answer reads.
 */
#include "base/text.h"
#include "cli/run_test.h"
#include "lib/stub_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char HELD[] =
    "{\"revision\":9,\"changed\":\"\",\"held\":[{\"id\":\"c3\",\"kind\":\"drain\",\"owner\":\"ada\","
    "\"reason\":\"a \\u001b[31mtest\",\"since\":\"T1\",\"nodes\":\"lx01\"}]}";
static const char PARTLY[] =
    "{\"revision\":9,\"changed\":\"lx01\",\"held\":[{\"id\":\"c3\",\"kind\":\"drain\",\"owner\":\"ada\","
    "\"reason\":\"a test\",\"since\":\"T1\",\"nodes\":\"lx01\"}]}";

static void undrain_says_which_holds_remain(void **state)
{
    char sent[4096];
    struct run r = run_with("node undrain lx01", 200, PARTLY, sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "lx01: drain removed\nlx01: held: drain by ada since T1, claim c3: a test\n");
    r = run_with("node undrain lx01", 200, HELD, sent);
    assert_int_equal(r.status, 3);
    assert_string_equal(r.out, "nothing of yours was there to remove\n"
                               "lx01: held: drain by ada since T1, claim c3: a \\x1b[31mtest\n");
    r = run_with("node up lx01 --claim c3", 200, "{\"changed\":\"lx01\",\"held\":[]}", sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "lx01: down removed\n");
    assert_string_equal(strstr(sent, "\r\n\r\n") + 4, "{\"nodes\":\"lx01\",\"claim\":\"c3\"}");
    assert_int_equal(run_with("node drain lx01 -r x", 200, HELD, sent).status, 0);
    assert_int_equal(run_with("node undrain --json lx01", 200, HELD, sent).status, 3);
}

static void settings_are_sent_by_their_names(void **state)
{
    char sent[4096];
    struct run r = run_with("node set lx01 cpus=64 OS=Linux.6.1 partition= --unset speed,TMPDISK", 200,
                            "{\"changed\":\"lx01\",\"held\":[]}", sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "lx01: set\n");
    assert_string_equal(
        strstr(sent, "\r\n\r\n") + 4,
        "{\"nodes\":\"lx01\",\"set\":{\"CPUs\":\"64\",\"OS\":\"Linux.6.1\",\"Partition\":\"\","
        "\"Speed\":null,\"TmpDisk\":null}}");
}

static void a_list_asks_for_the_fields_that_it_shows(void **state)
{
    char sent[4096];
    struct run r = run_with(
        "node list lx[1-2] -o name,state --sort -cpus Silent>1 -H", 200,
        "{\"revision\":1,\"nodes\":[{\"Name\":\"lx1\",\"State\":\"IDLE\",\"CPUs\":1,\"Silent\":2}]}", sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "lx1  IDLE\n");
    assert_non_null(
        strstr(sent, "GET /v1/nodes?nodes=lx%5B1-2%5D&fields=Name%2CState%2CCPUs%2CSilent HTTP/1.1"));
}

static void a_node_is_shown_whole(void **state)
{
    static const char body[] = "{\"node\":{\"Name\":\"lx01\",\"State\":\"DRAINED\",\"RealMemory\":4096,"
                               "\"Silent\":192,\"Why\":\"\",\"Partition\":[1,3]},"
                               "\"specification\":{\"CPUs\":\"64\"},\"edited\":{},\"inventory\":{\"nics\":[{"
                               "\"name\":\"eth0\",\"speed\":25000},"
                               "{\"name\":\"ib0\"}],\"dmi\":{\"vendor\":\"A\\u001bcme\"}},\"claims\":[{"
                               "\"id\":\"c3\",\"kind\":\"drain\",\"owner\":\"ada\","
                               "\"reason\":\"a test\",\"since\":\"T1\",\"nodes\":\"lx01\"}]}";
    char sent[4096];
    struct run r = run_with("node show lx01", 200, body, sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "Name             lx01\n"
                               "State            DRAINED\n"
                               "RealMemory       4096 MiB\n"
                               "Silent           3m12s\n"
                               "Partition        1,3\n"
                               "Held\n"
                               "  drain by ada since T1, claim c3: a test\n"
                               "Specification\n"
                               "  CPUs            64\n"
                               "Inventory\n"
                               "  nics\n"
                               "    -\n"
                               "      name            eth0\n"
                               "      speed           25000\n"
                               "    -\n"
                               "      name            ib0\n"
                               "  dmi\n"
                               "    vendor          A\\x1bcme\n");
}

static void test_fields_that_cannot_be_set_are_refused_by_name(void **state)
{
    static const struct run_wrong cases[] = {
        {"node set lx1 Stat=x", "unknown field \"Stat\"; the nearest known is \"State\""},
        {"node set lx1 =x", "unknown field \"\"; \"-o help\" lists them"},
        {"node set lx1 CPUs=1 cpus=2", "the field CPUs is set twice"},
        {"node set lx1 --unset Name", "the field Name is not set but observed"},
        {"node set lx1 --unset CPUs,", "unknown field \"\"; \"-o help\" lists them"},
        {"node drain lx1", "why? \"fettle node drain\" needs --reason"},
        {"node down lx1 -r _", "why? \"fettle node down\" needs --reason"},
        {"node claims", "usage: fettle node claims NODE"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
}

static void test_claims_are_a_table(void **state)
{
    run_expect(
        "node claims lx1",
        "{\"node\":{\"Name\":\"lx1\"},\"claims\":[{\"id\":\"7.1\",\"kind\":\"drain\",\"owner\":\"ann\","
        "\"since\":\"T\",\"reason\":\"bad fan\"}]}",
        "GET /v1/nodes/lx1 ",
        "CLAIM  KIND   OWNER  SINCE  REASON\n"
        "7.1    drain  ann    T      bad fan\n");
}

static void test_several_nodes_are_shown_one_after_the_other(void **state)
{
    CLEANUP_FREE char *one =
        stub_json(200, "{\"node\":{\"Name\":\"lx1\"},\"inventory_at\":\"T\",\"inventory\":{\"a\":1}}");
    CLEANUP_FREE char *two = stub_json(200, "{\"node\":{\"Name\":\"lx2\",\"Added\":\"later\"}}");
    const struct stub_answer answers[] = {{.bytes = one}, {.bytes = two}};
    struct stub *stub = stub_start(answers, 2);
    struct run r = run("node show lx[1-2]", stub_path(stub));
    stub_stop(stub);
    assert_string_equal(r.out, "Name             lx1\n"
                               "Inventory, as of T\n"
                               "  a               1\n"
                               "\n"
                               "Name             lx2\n"
                               "Added            later\n");
}

static void test_nothing_that_changed_is_said_so(void **state)
{
    static const char nothing[] = "{\"changed\":\"\",\"held\":[]}";
    run_expect("node set lx1 CPUs=4", nothing, "/v1/nodes/set ", "nothing had to change\n");
    run_expect("node forget lx1 --force", "{\"changed\":\"lx1\"}", "\"force\":true", "lx1: forgotten\n");
    run_expect_status("node up lx1", nothing, "/v1/nodes/up ", "nothing of yours was there to remove\n", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undrain_says_which_holds_remain),
        cmocka_unit_test(settings_are_sent_by_their_names),
        cmocka_unit_test(a_list_asks_for_the_fields_that_it_shows),
        cmocka_unit_test(a_node_is_shown_whole),
        cmocka_unit_test(test_fields_that_cannot_be_set_are_refused_by_name),
        cmocka_unit_test(test_claims_are_a_table),
        cmocka_unit_test(test_several_nodes_are_shown_one_after_the_other),
        cmocka_unit_test(test_nothing_that_changed_is_said_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
