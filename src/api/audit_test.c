/* SPDX-License-Identifier: Apache-2.0
 *
 * The audit log over HTTP: what is asked of it, and in which form the answer comes.
 */
#include "api/golden_test.h"
#include "api/stage_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int open_plain(void **state)
{
    return stage_open(state, world_make, 35);
}

static int ask(struct stage *s, const char *target, struct text *t)
{
    text_clear(t);
    s->audited = (struct auditor_ask){.kind = AUDITOR_SHOW};
    return wire_ask(&s->wire, "GET", target, NULL, t);
}

static void test_questions_reach_the_auditor(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(ask(s, "/v1/audit", &t), 200);
    assert_int_equal(ask(s, "/v1/audit/checkpoint", &t), 200);
    assert_int_equal(s->audited.kind, AUDITOR_CHECKPOINT);
    assert_int_equal(ask(s, "/v1/audit/tile/1/x001/234.p/5", &t), 200);
    assert_int_equal(s->audited.kind, AUDITOR_TILE);
    assert_int_equal(s->audited.tile.level, 1);
    assert_int_equal(s->audited.tile.index, 1234);
    assert_int_equal(s->audited.tile.width, 5);
    assert_int_equal(ask(s, "/v1/audit/tile/entries/007", &t), 200);
    assert_true(s->audited.tile.entries);
    assert_int_equal(ask(s, "/v1/audit/proof?revision=4711&n=3", &t), 200);
    assert_int_equal(s->audited.kind, AUDITOR_PROOF);
    assert_int_equal(s->audited.place.revision, 4711);
    assert_int_equal(s->audited.place.n, 3);
    assert_int_equal(ask(s, "/v1/audit/consistency?old=12", &t), 200);
    assert_int_equal(s->audited.kind, AUDITOR_CONSISTENCY);
    assert_int_equal(s->audited.old, 12);
}

static void test_the_types_of_answers(void **state)
{
    static const char *const cases[][2] = {{"/v1/audit", "application/json"},
                                           {"/v1/audit/checkpoint", "text/plain; charset=utf-8"},
                                           {"/v1/audit/tile/0/000", "application/octet-stream"},
                                           {"/v1/audit/proof?revision=1", "text/plain; charset=utf-8"}};
    struct stage *s = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text request = {0}, t = {0};
        text_printf(&request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", cases[i][0]);
        int fd = wire_connect(&s->wire, request.s);
        wire_read_until(&s->wire, fd, &t, "{\"kind\"");
        assert_non_null(strstr(t.s, cases[i][1]));
        close(fd);
    }
}

static void test_wrong_questions_are_refused(void **state)
{
    static const struct {
        const char *target;
        int status;
        const char *why;
    } cases[] = {{"/v1/audit/tile/0/00", 400, "is not the path of a tile"},
                 {"/v1/audit/tile/../checkpoint", 400, "is not the path of a tile"},
                 {"/v1/audit/tile/", 404, ""},
                 {"/v1/audit/proof", 400, "which entry?"},
                 {"/v1/audit/proof?revision=0", 400, "revision"},
                 {"/v1/audit/proof?revision=1&n=x", 400, "n"},
                 {"/v1/audit/consistency", 400, "from which tree?"},
                 {"/v1/audit/consistency?old=404", 404, "it is not there"},
                 {"/v1/audit/minimum", 404, "it is not there"},
                 {"/v1/audit/checkpoint?old=1", 400, "unknown key"}};
    struct stage *s = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP_TEXT struct text t = {0};
        int status = ask(s, cases[i].target, &t);
        if (status != cases[i].status || !strstr(t.s, cases[i].why))
            fail_msg("%s: %d %s", cases[i].target, status, t.s);
    }
}

int main(void)
{
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, open_plain, stage_close)
    const struct CMUnitTest tests[] = {
        PLAIN(test_questions_reach_the_auditor),
        PLAIN(test_the_types_of_answers),
        PLAIN(test_wrong_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
