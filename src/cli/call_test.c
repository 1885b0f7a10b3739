/* SPDX-License-Identifier: Apache-2.0
 *
 * How the words of a call are read, what the exit status says, and how the output leaves the tool.
 */
#include "cli/command.h"
#include "cli/run_test.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void wrong_words_are_usage_errors(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"nod list", "unknown command \"nod\"; the nearest known is \"node\""},
        {"size", "unknown command \"size\"; \"fettle help\" lists them"},
        {"statsu", "unknown command \"statsu\"; the nearest known is \"status\""},
        {"node", "\"node\" needs one of: list, show, claims, drain, undrain, down, up, set, forget"},
        {"node lst",
         "\"node\" has no \"lst\", but: list, show, claims, drain, undrain, down, up, set, forget"},
        {"node list --sotr x", "unknown option \"--sotr\"; the nearest known is \"--sort\""},
        {"node list -x", "unknown option \"-x\""},
        {"node list --sort", "--sort needs its FIELDS"},
        {"node list --sort name --sort state", "--sort is given twice"},
        {"node list -o name -ostate", "--output is given twice"},
        {"node list --json=1", "--json takes no value"},
        {"node list --json --csv", "--json, --csv and --fold exclude each other"},
        {"node list -o stat", "unknown field \"stat\"; the nearest known is \"State\""},
        {"node list lx[1-", NULL},
        {"node list --reason x", "\"fettle node list\" has no option --reason"},
        {"status now", "\"now\" is too much for \"fettle status\""},
        {"node show", "usage: fettle node show NODES..."},
        {"node drain lx1", "why? \"fettle node drain\" needs --reason"},
        {"node drain lx1 --reason _", "why? \"fettle node drain\" needs --reason"},
        {"node drain -r broken lx1",
         "which nodes? name them before --reason, which takes the words after it"},
        {"node set lx1", "what to set? FIELD=VALUE, or --unset FIELD"},
        {"node set lx1 State=DOWN", "the field State is not set but observed"},
        {"node set lx1 CPUs=4 --unset cpus", "the field CPUs is set twice"},
        {"node set CPUs=4", "which nodes?"},
        {"status --timeout soon", NULL},
        {"status --timeout 0", "--timeout: \"0\" is too short or too long to wait"},
        {"-C ctl:1 status", "controller address \"ctl:1\" is neither a path nor https://HOST:PORT"},
        {"journal --limit 0", "--limit: \"0\" is not a number from 1 to 9223372036854775807"},
        {"journal --after 3 lx1", "--after and nodes do not go together"},
        {"journal --limit 3 -f", "--limit and follow do not go together"},
        {"journal --since nonsense",
         "--since: \"nonsense\" is no time: 2h (ago), 14:30 (today), 2026-11-23 or "
         "\"2026-11-23 14:30\""},
        {"journal --until 1960-01-01", "--until: \"1960-01-01\" is before 1970"},
        {"journal --tail 0", "--tail: \"0\" is not a number from 1 to 9223372036854775807"},
        {"node drain lx1 --reason caf\xe9", "\"caf\xe9\" is not UTF-8"},
        {"cert create ada", "which role? --role reader, or --role admin"},
        {"cert create a/b --role admin", "\"a/b\" cannot be the name of a certificate"},
        {"help node lst",
         "\"node\" has no \"lst\", but: list, show, claims, drain, undrain, down, up, set, forget"},
        {"help tokn", "unknown command \"tokn\"; the nearest known is \"token\""},
        {"node claims lx1 lx2", "\"lx2\" is too much for \"fettle node claims\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run r = run(cases[i].line, NULL);
        if (r.status != 2 || (cases[i].error && strcmp(r.error, cases[i].error) != 0))
            fail_msg("%s: %d, %s", cases[i].line, r.status, r.error);
        assert_true(strlen(r.error) > 0);
    }
}

/* Every code of err.tbl is seen as its exit status. */
static void exit_statuses_tell_errors_apart(void **state)
{
    static const struct {
        int http;
        const char *code;
        int exit;
    } cases[] = {{400, "invalid", 2},         {404, "not_found", 4},    {403, "forbidden", 5},
                 {401, "unauthenticated", 5}, {409, "conflict", 3},     {409, "exists", 3},
                 {507, "no_space", 7},        {500, "damaged", 7},      {503, "unavailable", 6},
                 {504, "outcome_unknown", 8}, {500, "anything_else", 7}};
    char sent[4096];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[128];
        snprintf(body, sizeof body, "{\"error\":{\"code\":\"%s\",\"message\":\"a sentence\"}}",
                 cases[i].code);
        struct run r = run_with("status", cases[i].http, body, sent);
        assert_int_equal(r.status, cases[i].exit);
        assert_string_equal(r.error, "a sentence");
    }
    assert_int_equal(run("status", "/nonexistent/socket").status, 6);
    assert_int_equal(run_with("status", 200, "nonsense", sent).status, 6);
}

static const char DRAINED[] = "{\"revision\":9,\"changed\":\"lx[01-02]\",\"claim\":\"c9\",\"held\":["
                              "{\"id\":\"c9\",\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"bad "
                              "disk\",\"since\":\"T2\",\"nodes\":\"lx[01-02]\"},"
                              "{\"id\":\"c3\",\"kind\":\"drain\",\"owner\":\"ada\",\"reason\":\"a "
                              "test\",\"since\":\"T1\",\"nodes\":\"lx01\"}]}";

static void a_reason_may_be_several_words(void **state)
{
    static const char *const lines[] = {
        "node drain lx01 lx02 -r bad disk", "node drain lx[01-02] --reason bad disk",
        "node drain lx02,lx01 --reason=bad_disk", "node drain -r bad_disk lx01 lx02",
        "node drain lx01 lx02 -r bad disk --timeout 5s"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char sent[4096];
        struct run r = run_with(lines[i], 200, DRAINED, sent);
        assert_int_equal(r.status, 0);
        assert_string_equal(strstr(sent, "\r\n\r\n") + 4,
                            "{\"nodes\":\"lx[01-02]\",\"reason\":\"bad disk\"}");
        assert_string_equal(r.out, "lx[01-02]: drained by claim c9\n"
                                   "lx01: held: drain by ada since T1, claim c3: a test\n");
    }
}

static void output_that_fails_is_an_error(void **state)
{
    struct call c = {0};
    struct err e = {0};
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    text_add(&c.out, "something");
    assert_int_equal(call_flush(&c, full, &e), -ENOSPC);
    assert_string_equal(e.msg, "cannot write the output: No space left on device");
    close(full);
    text_add(&c.out, "something");
    assert_int_equal(call_flush(&c, full, &e), -EIO); /* it is closed */
    call_fini(&c);
}

static void a_reader_that_has_enough_is_no_error(void **state)
{
    struct call c = {0};
    struct err e = {0};
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    text_add(&c.out, "something");
    assert_int_equal(call_flush(&c, ends[1], &e), 141);
    assert_int_equal(c.out.len, 0);
    assert_string_equal(e.msg, "");
    close(ends[1]);
    call_fini(&c);
}

static void test_options_are_read_in_every_form(void **state)
{
    char sent[4096];
    static const char list[] = "{\"nodes\":[{\"Name\":\"n1\"}]}";
    static const char *const lines[] = {"node list -Honame", "node list -H -o name", "node list -Ho name",
                                        "node list --no-header --output=name", "node list -o name -H --"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_string_equal(run_with(lines[i], 200, list, sent).out, "n1\n");
    run_with("node show -- --json", 200, "{}", sent); /* behind -- nothing is an option */
    assert_non_null(strstr(sent, "GET /v1/nodes/--json "));
}

static void test_a_wait_has_two_ends(void **state)
{
    static const struct run_wrong cases[] = {
        {"status --timeout 0s", "--timeout: \"0s\" is too short or too long to wait"},
        {"status --timeout 25d", "--timeout: \"25d\" is too short or too long to wait"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
    char sent[4096];
    assert_int_equal(run_with("status --timeout 24d", 200, "{}", sent).status, 0);
    assert_int_equal(run_with("status --timeout 1s", 200, "{}", sent).status, 0);
}

static void test_quiet_prints_nothing_and_the_status_stays(void **state)
{
    struct call c = {.value[OPTION_QUIET] = ""};
    struct err e = {0};
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    text_add(&c.out, "something");
    assert_int_equal(call_flush(&c, ends[1], &e), 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    call_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_words_are_usage_errors),
        cmocka_unit_test(exit_statuses_tell_errors_apart),
        cmocka_unit_test(a_reason_may_be_several_words),
        cmocka_unit_test(output_that_fails_is_an_error),
        cmocka_unit_test(a_reader_that_has_enough_is_no_error),
        cmocka_unit_test(test_options_are_read_in_every_form),
        cmocka_unit_test(test_a_wait_has_two_ends),
        cmocka_unit_test(test_quiet_prints_nothing_and_the_status_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
