/* SPDX-License-Identifier: Apache-2.0
 *
 * Which nodes and which times the words of a call mean.
 */
#include "base/text.h"
#include "cli/run_test.h"
#include "lib/stub_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is asked of the controller: which nodes pass, then the change. */
static struct run run_selecting(const char *line, const char *list, char asked[static 2][1024])
{
    CLEANUP_FREE char *first = stub_json(200, list);
    CLEANUP_FREE char *second = stub_json(200, "{\"revision\":7,\"changed\":\"n[1-2]\",\"held\":[]}");
    struct stub_answer answers[] = {{.bytes = first}, {.bytes = second}};
    struct stub *stub = stub_start(answers, 2);
    struct run r = run(line, stub_path(stub));
    stub_join(stub);
    for (size_t i = 0; i < 2; i++)
        snprintf(asked[i], sizeof asked[i], "%s", i < stub_requests(stub) ? stub_request(stub, i) : "");
    stub_stop(stub);
    return r;
}

static const char three[] = "{\"nodes\":[{\"Name\":\"n1\",\"State\":\"DOWN\",\"CPUs\":8},"
                            "{\"Name\":\"n2\",\"State\":\"DOWN\",\"CPUs\":8},"
                            "{\"Name\":\"n3\",\"State\":\"IDLE\",\"CPUs\":null}]}";

static void a_command_on_nodes_is_for_those_that_pass(void **state)
{
    static const struct {
        const char *line, *list, *change;
    } cases[] = {
        {"node drain --where State=DOWN --reason old", "GET /v1/nodes?fields=Name%2CState ",
         "{\"nodes\":\"n[1-2]\",\"reason\":\"old\"}"},
        {"node drain n[1-3] --where CPUs<16 --where State=DOWN --reason old", "nodes=n%5B1-3%5D",
         "{\"nodes\":\"n[1-2]\",\"reason\":\"old\"}"},
        {"repair move retire --where State=DOWN -r old", "GET /v1/nodes?", "{\"nodes\":\"n[1-2]\""},
        {"queue take --where State=DOWN", "GET /v1/nodes?", "{\"nodes\":\"n[1-2]\""},
        {"check run scratch --where State=DOWN", "GET /v1/nodes?", "{\"nodes\":\"n[1-2]\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char asked[2][1024];
        struct run r = run_selecting(cases[i].line, three, asked);
        if (r.status != 0 || !strstr(asked[0], cases[i].list) || !strstr(asked[1], cases[i].change))
            fail_msg("%s: %d %s\n%s\n%s", cases[i].line, r.status, r.error, asked[0], asked[1]);
    }
}

/* A filter that nothing passes is no command for all nodes. */
static void nothing_is_changed_when_no_node_passes(void **state)
{
    char asked[2][1024];
    struct run r = run_selecting("node drain --where State=BUSY --reason old", three, asked);
    assert_int_equal(r.status, 4);
    assert_string_equal(r.error, "no node passes --where State=BUSY");
    assert_string_equal(asked[1], "");
    r = run("node drain --where Stat=BUSY --reason old", "/nowhere");
    assert_string_equal(r.error, "unknown field \"Stat\"; the nearest known is \"State\"");
    r = run("node drain --reason old", "/nowhere");
    assert_string_equal(r.error, "which nodes? name them before --reason, which takes the words after it");
    r = run("reload --where State=BUSY", "/nowhere");
    assert_string_equal(r.error, "\"fettle reload\" has no option --where");
}

/* The same moment, said in several ways; the first of them in local time. */
static void times_are_said_as_people_do(void **state)
{
    static const struct {
        const char *said, *since;
    } times[] = {{"2026-07-01T14:30:00", "since=1782909000"},
                 {"2026-07-01T14:30", "since=1782909000"},
                 {"2026-07-01", "since=1782856800"},
                 {"2026-07-01T14:30:00 --utc", "since=1782916200"},
                 {"2026-07-01T14:30:00Z", "since=1782916200"}};
    setenv("TZ", "CEST-2", 1);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char sent[4096], line[128];
        snprintf(line, sizeof line, "journal --since %s", times[i].said);
        run_with(line, 200, "{\"entries\":[],\"revision\":1}", sent);
        if (!strstr(sent, times[i].since))
            fail_msg("%s: %.200s", times[i].said, sent);
    }
    unsetenv("TZ");
}

/* What a list of nodes does not say, no change is made on. */
static void test_a_list_with_a_node_without_a_name_changes_nothing(void **state)
{
    static const char *const lists[] = {
        "{\"nodes\":[{\"Name\":\"n1\",\"State\":\"DOWN\"},{\"State\":\"DOWN\"}]}",
        "{\"nodes\":[{\"Name\":\"n1,n2\",\"State\":\"DOWN\"}]}",
        "{\"nodes\":[{\"Name\":\"\",\"State\":\"DOWN\"}]}"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char asked[2][1024];
        struct run r = run_selecting("node drain --where State=DOWN -r x", lists[i], asked);
        assert_int_equal(r.status, 6);
        assert_string_equal(r.error, "the controller's list of nodes has one without a name");
        assert_string_equal(asked[1], "");
    }
}

static void test_forms_of_output_exclude_each_other(void **state)
{
    static const struct run_wrong cases[] = {
        {"node list --json --fold", "--json, --csv and --fold exclude each other"},
        {"node list --csv --fold", "--json, --csv and --fold exclude each other"},
        {"node undrain n1 -o wide", "\"fettle node undrain\" lists no records: -o json, or -o yaml"},
        {"node list --limit 4294967296", "--limit: \"4294967296\" is not a number from 1 to 4294967295"},
        {"incident list --since 25:00",
         "--since: \"25:00\" is no time: 2h (ago), 14:30 (today), 2026-11-23 or \"2026-11-23 14:30\""},
        {"incident list --since 2026-11-23Zx",
         "--since: \"2026-11-23Zx\" is no time: 2h (ago), 14:30 (today), 2026-11-23 or \"2026-11-23 14:30\""},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
}

static const char placed[] = "{\"nodes\":[{\"Name\":\"n1\",\"State\":\"DOWN\",\"SchedulerState\":\"\"}]}";

/* Where there is no scheduler, its column would be empty. Who names the field, or has a program read, gets
 * it. */
static void test_a_table_leaves_out_the_schedulers_empty_column(void **state)
{
    static const struct {
        const char *line;
        bool shown;
    } cases[] = {{"node list", false},
                 {"node list --fold", false},
                 {"node list -o name,schedulerstate", true},
                 {"node list --csv", true}};
    char sent[4096];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run r = run_with(cases[i].line, 200, placed, sent);
        if (r.status != 0 ||
            (strstr(r.out, "SCHEDSTATE") || strstr(r.out, "SchedulerState")) != cases[i].shown)
            fail_msg("%s: %d %s\n%s", cases[i].line, r.status, r.error, r.out);
    }
}

static void test_watch_ends_when_it_is_refused(void **state)
{
    CLEANUP_FREE char *refused =
        stub_json(403, "{\"error\":{\"code\":\"forbidden\",\"message\":\"not for ann\"}}");
    struct stub_answer answers[] = {
        {.bytes = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n", .after = STUB_CLOSE},
        {.bytes = refused, .after = STUB_CLOSE}};
    struct stub *stub = stub_start(answers, 2);
    struct run r = run("watch -o name,state", stub_path(stub));
    stub_join(stub);
    assert_int_equal(stub_requests(stub), 2);
    assert_non_null(strstr(stub_request(stub, 0), "GET /v1/events "));
    assert_non_null(strstr(stub_request(stub, 1), "GET /v1/nodes?fields=Name%2CState "));
    stub_stop(stub);
    assert_int_not_equal(r.status, 0);
    assert_string_equal(r.error, "not for ann");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_on_nodes_is_for_those_that_pass),
        cmocka_unit_test(nothing_is_changed_when_no_node_passes),
        cmocka_unit_test(times_are_said_as_people_do),
        cmocka_unit_test(test_a_list_with_a_node_without_a_name_changes_nothing),
        cmocka_unit_test(test_a_table_leaves_out_the_schedulers_empty_column),
        cmocka_unit_test(test_watch_ends_when_it_is_refused),
        cmocka_unit_test(test_forms_of_output_exclude_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
