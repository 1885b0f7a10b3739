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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_journal_is_read_in_pages),
        cmocka_unit_test(the_journal_is_searched_from_its_end),
        cmocka_unit_test(the_journal_is_followed),
        cmocka_unit_test(the_journal_has_fields_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
