/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal: which pages are asked for, and what is printed of them.
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
#include <unistd.h>

#include <cmocka.h>

static void the_journal_is_read_in_pages(void **state)
{
    CLEANUP_FREE char *one = stub_json(
        200, "{\"entries\":[{\"at\":\"T1\",\"what\":\"node.drain\",\"actor\":\"root\",\"nodes\":\"lx1\","
             "\"text\":\"bad\",\"revision\":3},{\"at\":\"T2\",\"what\":\"config.reload\",\"revision\":5}],"
             "\"gone\":\"older ones are in DIR\"}");
    CLEANUP_FREE char *end = stub_json(200, "{\"entries\":[]}");
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = end}};
    struct stub *stub = stub_start(answers, 2);
    char got[512];
    assert_int_equal(run_printed("journal --after 2", stub_path(stub), got, sizeof got).status, 0);
    assert_string_equal(got, "older ones are in DIR\nT1  node.drain lx1 by root: bad\nT2  config.reload\n");
    stub_join(stub);
    assert_non_null(strstr(stub_request(stub, 0), "/v1/journal?after=2&limit=1000 "));
    assert_non_null(strstr(stub_request(stub, 1), "/v1/journal?after=5&limit=1000 "));
    stub_stop(stub);
}

#define ENTRY(n) \
    "{\"at\":\"T" n "\",\"what\":\"node.up\",\"actor\":\"ann\",\"nodes\":\"lx1\",\"revision\":" n "}"

/* The newest pages come first and are printed last; what is more than was asked for is left out. */
static void the_journal_is_searched_from_its_end(void **state)
{
    CLEANUP_FREE char *one =
        stub_json(200, "{\"entries\":[" ENTRY("8") "," ENTRY("9") "],\"revision\":9,\"before\":7}");
    CLEANUP_FREE char *none = stub_json(200, "{\"entries\":[],\"revision\":10,\"before\":5}");
    CLEANUP_FREE char *two =
        stub_json(200, "{\"entries\":[" ENTRY("3") "," ENTRY("4") "],\"revision\":11,\"before\":3}");
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = none}, {.bytes = two}};
    struct stub *stub = stub_start(answers, 3);
    char got[512];
    assert_int_equal(
        run_printed("journal lx[1-2] lx3 --tail 3 --what node --by ann --since 2026-01-01T00:00:00Z "
                    "--until 2026-01-01T00:00:07Z",
                    stub_path(stub), got, sizeof got)
            .status,
        0);
    assert_string_equal(got, "T4  node.up lx1 by ann\nT8  node.up lx1 by ann\nT9  node.up lx1 by ann\n");
    stub_join(stub);
#define ASKED "&nodes=lx%5B1-3%5D&what=node&by=ann&since=1767225600&until=1767225607"
    assert_non_null(strstr(stub_request(stub, 0), "/v1/journal?tail=3" ASKED " "));
    assert_non_null(strstr(stub_request(stub, 1), "/v1/journal?tail=1" ASKED "&before=7 "));
    assert_non_null(strstr(stub_request(stub, 2), "/v1/journal?tail=1" ASKED "&before=5 "));
    stub_stop(stub);
}

/* Nobody who follows it waits for what is never said; when the controller ends, so does the tool. */
static void the_journal_is_followed(void **state)
{
    CLEANUP_FREE char *one = stub_json(200, "{\"entries\":[" ENTRY("8") "],\"revision\":9}");
    CLEANUP_FREE char *two = stub_json(200, "{\"entries\":[" ENTRY("10") "],\"revision\":12}");
    CLEANUP_FREE char *end = stub_json(503, "{\"error\":{\"code\":\"unavailable\",\"message\":\"it ends\"}}");
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = two}, {.bytes = end}};
    struct stub *stub = stub_start(answers, 3);
    char got[512];
    assert_int_not_equal(run_printed("journal -f", stub_path(stub), got, sizeof got).status, 0);
    assert_string_equal(got, "T8  node.up lx1 by ann\nT10  node.up lx1 by ann\n");
    stub_join(stub);
    assert_non_null(strstr(stub_request(stub, 0), "/v1/journal?tail=50 "));
    assert_non_null(strstr(stub_request(stub, 1), "/v1/journal?tail=1000&after=9 "));
    assert_non_null(strstr(stub_request(stub, 2), "/v1/journal?tail=1000&after=12 "));
    stub_stop(stub);
}

static void the_journal_has_fields_too(void **state)
{
    static const char journal[] = "{\"revision\":9,\"entries\":["
                                  "{\"at\":\"T1\",\"what\":\"node.drain\",\"actor\":\"root\",\"nodes\":"
                                  "\"n1\",\"text\":\"old\",\"revision\":7},"
                                  "{\"at\":\"T2\",\"what\":\"node.set\",\"actor\":\"ann\",\"nodes\":\"n2\","
                                  "\"text\":\"x\",\"revision\":8},"
                                  "{\"at\":\"T3\",\"what\":\"node.drain\",\"actor\":\"ann\",\"nodes\":\"n3\","
                                  "\"text\":\"y\",\"revision\":9,\"claims\":[\"7.1\",\"7.2\"],\"from\":"
                                  "\"isolate\",\"to\":\"remedy\",\"remedy\":\"fix\",\"cost\":72000}]}";
    run_expect("journal -o at,actor,what", journal, "GET /v1/journal?",
               "AT  ACTOR  WHAT\nT1  root   node.drain\nT2  ann    node.set\nT3  ann    node.drain\n");
    run_expect("journal --tail 2 -o nodes -H", journal, "GET /v1/journal?", "n2\nn3\n");
    run_expect("journal --where actor=ann --sort -at --limit 1 -o json,nodes,revision", journal,
               "GET /v1/journal?", "[\n {\"Nodes\":\"n3\",\"Revision\":9}\n]\n");
    run_expect("journal --where to=remedy -o json,claims,from,to,remedy,outcome,cost", journal,
               "GET /v1/journal?",
               "[\n {\"Claims\":[\"7.1\",\"7.2\"],\"From\":\"isolate\",\"To\":\"remedy\",\"Remedy\":\"fix\","
               "\"Outcome\":null,\"Cost\":72.000}\n]\n");
    struct run r = run("journal --after 5 --where actor=ann", "/nowhere");
    assert_string_equal(r.error, "--after reads on, and chooses nothing: no --where");
}

static void test_ways_to_ask_that_do_not_go_together_are_refused(void **state)
{
    static const struct run_wrong cases[] = {
        {"journal --after 1 --since 2h", "--after and since do not go together"},
        {"journal --after 1 --by ann", "--after and by do not go together"},
        {"journal --limit 1 --tail 1", "--limit and tail do not go together"},
        {"journal --limit 1 --about 7", "--limit and about do not go together"},
        {"journal -f --sort at", "--follow reads on, and chooses nothing: no --sort"},
        {"journal -f --csv", "--follow reads on, and chooses nothing: no --csv"},
        {"journal --after 1 -H", "--after reads on, and chooses nothing: no --no-header"},
        {"journal -f -o at,what", "--follow reads on, and takes -o json or -o yaml alone"},
        {"journal --after -1", "--after: \"-1\" is not a number from 0 to 9223372036854775807"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
    assert_int_equal(run("journal lx[", "/nowhere").status, 2);
}

/* A page that does not go on would be asked for without an end. */
static void test_a_journal_that_does_not_go_on_is_an_error(void **state)
{
    CLEANUP_FREE char *same = stub_json(200, "{\"entries\":[" ENTRY("2") "]}");
    CLEANUP_FREE char *back = stub_json(200, "{\"entries\":[],\"revision\":9,\"before\":7}");
    const struct stub_answer on[] = {{.bytes = same}}, search[] = {{.bytes = back}, {.bytes = back}};
    struct stub *stub = stub_start(on, 1);
    struct run r = run("journal --after 2", stub_path(stub));
    stub_stop(stub);
    assert_int_equal(r.status, 6);
    assert_string_equal(r.error, "the journal does not go on after revision 2");
    stub = stub_start(search, 2);
    r = run("journal", stub_path(stub));
    stub_stop(stub);
    assert_int_equal(r.status, 6);
    assert_string_equal(r.error, "the search does not go on before revision 7");
}

static void test_a_limit_counts_entries_and_not_pages(void **state)
{
    CLEANUP_FREE char *three =
        stub_json(200, "{\"entries\":[" ENTRY("3") "," ENTRY("4") "," ENTRY("5") "]}"); /* whole revisions */
    const struct stub_answer answers[] = {{.bytes = three}};
    struct stub *stub = stub_start(answers, 1);
    char got[512];
    struct run r = run_printed("journal --after 2 --limit 2 --json", stub_path(stub), got, sizeof got);
    stub_join(stub);
    assert_non_null(strstr(stub_request(stub, 0), "/v1/journal?after=2&limit=2 "));
    stub_stop(stub);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(got, "\"revision\":4}\n"));
    assert_null(strstr(got, "\"revision\":5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_journal_is_read_in_pages),
        cmocka_unit_test(the_journal_is_searched_from_its_end),
        cmocka_unit_test(the_journal_is_followed),
        cmocka_unit_test(the_journal_has_fields_too),
        cmocka_unit_test(test_ways_to_ask_that_do_not_go_together_are_refused),
        cmocka_unit_test(test_a_journal_that_does_not_go_on_is_an_error),
        cmocka_unit_test(test_a_limit_counts_entries_and_not_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
