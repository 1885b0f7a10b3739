/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal over HTTP: read on from a revision, and searched from its end.
 */
#include "api/golden_test.h"
#include "api/stage_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int open_plain(void **state)
{
    return stage_open(state, world_make, 35);
}

static void test_the_journal_reads_on_or_is_searched(void **state)
{
    static const char *const targets[] = {
        "/v1/journal?since=1",
        "/v1/journal",
        "/v1/journal?after=1&limit=1",
        "/v1/journal?limit=0",
        "/v1/journal?limit=1001",
        "/v1/journal?after=-1",
        "/v1/journal?tail=2",
        "/v1/journal?tail=2&after=1&nodes=lx%5B01-03%5D&what=node&by=ann&since=5&until=9&before=7",
        "/v1/journal?tail=2&by=busy",
        "/v1/journal?tail=0",
        "/v1/journal?tail=2&nodes=lx%5B",
        "/v1/journal?tail=2&limit=2",
        "/v1/journal?by=ann",
    };
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    stage_read_all(s, targets, sizeof targets / sizeof targets[0], &t);
    golden_check("journal.txt", &t);
}

static void test_the_journal_says_what_it_has_no_more(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    s->journal_first = 3;
    stage_transcribe(s, "GET", "/v1/journal?after=1", NULL, &t);
    assert_non_null(
        strstr(t.s, "\"gone\":\"the entries before revision 3 are not kept here any more; those that were "
                    "exported are in /var/lib/fettle/journal-export\""));
    text_clear(&t);
    stage_transcribe(s, "GET", "/v1/journal?after=2", NULL, &t);
    assert_null(strstr(t.s, "gone"));
}

/* A controller that was away for longer than etcd keeps the journal. */
static void test_the_journal_says_what_is_missing(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    s->journal_first = 1;
    s->missing = (struct mirror_gap){2, 3};
    stage_transcribe(s, "GET", "/v1/journal?after=2", NULL, &t);
    assert_non_null(
        strstr(t.s, "\"gone\":\"the entries of the revisions 2 to 3 are missing at this controller"));
    text_clear(&t);
    stage_transcribe(s, "GET", "/v1/journal?after=3", NULL, &t);
    assert_null(strstr(t.s, "gone"));
    text_clear(&t);
    s->journal_first = 4; /* they are not kept any more anyway */
    stage_transcribe(s, "GET", "/v1/journal?after=2", NULL, &t);
    assert_null(strstr(t.s, "missing"));
}

/* The last page of a search says it; a page that more follow does not. */
static void test_a_search_says_it_at_its_end_alone(void **state)
{
    struct stage *s = *state;
    CLEANUP_TEXT struct text t = {0};
    s->journal_first = 3;
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/journal?tail=2", NULL, &t), 200);
    assert_non_null(strstr(t.s, "\"before\":2"));
    assert_null(strstr(t.s, "\"gone\""));
    text_clear(&t);
    assert_int_equal(wire_ask(&s->wire, "GET", "/v1/journal?tail=2&after=1", NULL, &t), 200);
    assert_null(strstr(t.s, "\"before\""));
    assert_null(strstr(t.s, "\"gone\"")); /* nothing ended here but the page */
}

static void test_the_keys_of_one_way_to_ask_do_not_go_with_the_other(void **state)
{
    static const char *const cases[][2] = {
        {"nodes=lx01", "\\\"nodes\\\" needs \\\"tail\\\""},
        {"what=node", "\\\"what\\\" needs"},
        {"by=ann", "\\\"by\\\" needs"},
        {"about=7", "\\\"about\\\" needs"},
        {"since=1", "\\\"since\\\" needs"},
        {"until=1", "\\\"until\\\" needs"},
        {"before=1", "\\\"before\\\" needs"},
        {"tail=1&limit=1", "\\\"limit\\\" and \\\"tail\\\" do not go together"},
        {"tail=1001", "tail"},
        {"tail=1&before=0", "before"},
        {"tail=1&since=x", "since"},
        {"tail=1&until=-1", "until"},
    };
    struct stage *s = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP_TEXT struct text target = {0}, t = {0};
        text_printf(&target, "/v1/journal?%s", cases[i][0]);
        if (wire_ask(&s->wire, "GET", target.s, NULL, &t) != 400 || !strstr(t.s, cases[i][1]))
            fail_msg("%s: %s", target.s, t.s);
    }
}

int main(void)
{
#define PLAIN(test) cmocka_unit_test_setup_teardown(test, open_plain, stage_close)
    const struct CMUnitTest tests[] = {
        PLAIN(test_the_journal_reads_on_or_is_searched),
        PLAIN(test_the_journal_says_what_it_has_no_more),
        PLAIN(test_the_journal_says_what_is_missing),
        PLAIN(test_a_search_says_it_at_its_end_alone),
        PLAIN(test_the_keys_of_one_way_to_ask_do_not_go_with_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
