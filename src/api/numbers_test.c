/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted are the fields that commands really come to: each step here is decided by the cluster. */
#include "api/numbers.h"

#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NOW_S = 1800000000, ENTRIES_MAX = 64 };

static struct {
    struct world *world;
    struct numbers *numbers;
    size_t n;
    size_t gone;                             /* the oldest, which the journal has no more */
    struct store_entry entries[ENTRIES_MAX]; /* their revisions are 1 and so on */
} t;

static int setup(void **state)
{
    memset(&t, 0, sizeof t);
    t.world = world_create();
    t.world->at = span_s(NOW_S).ns;
    t.numbers = numbers_create();
    return 0;
}

static int teardown(void **state)
{
    for (size_t i = 0; i < t.n; i++) {
        free((char *)(uintptr_t)t.entries[i].nodes);
        free((char *)(uintptr_t)t.entries[i].fields);
    }
    numbers_destroy(t.numbers);
    world_destroy(t.world);
    return 0;
}

static uint64_t revision(void *arg)
{
    return t.n;
}

static int journal(void *arg, uint64_t after, size_t limit, store_journal_fn *fn, void *fn_arg, struct err *e)
{
    int rc = 0;
    size_t from = after > t.gone ? (size_t)after : t.gone;
    for (size_t i = from; rc == 0 && i < t.n && i < from + limit; i++)
        rc = fn(fn_arg, i + 1, &t.entries[i], e);
    return rc;
}

static void keep(enum command_kind kind, const char *node, const char *shown)
{
    if (world_rc() < 0)
        fail_msg("%s", shown);
    assert_true(t.n < ENTRIES_MAX);
    t.entries[t.n++] = (struct store_entry){.at = {t.world->at},
                                            .actor = "fettled",
                                            .what = command_name(kind),
                                            .nodes = mem_dup(node),
                                            .text = "a sentence",
                                            .fields = mem_dup(world_fields())};
}

/* With " in the place of '. */
static char *q(const char *text)
{
    char *out = mem_dup(text);
    for (char *p = out; *p; p++)
        if (*p == '\'')
            *p = '"';
    return out;
}

static void tell(enum command_kind kind, const char *node, const char *set, const char *claim)
{
    CLEANUP_FREE char *quoted = q(set);
    keep(kind, node, world_tell(t.world, kind, node, quoted, claim));
}

static void say(enum command_kind kind, const char *node, const char *set)
{
    CLEANUP_FREE char *quoted = q(set);
    keep(kind, node, world_say(t.world, kind, "ann", node, quoted, "because"));
}

#define FINDINGS(isolate)                                                                               \
    "{'boot':'b1','open':[{'id':null,'group':'','severity':'fatal','act':'reset','recurs':0,'observe':" \
    "false,'findings':[{'check':'scratch','result':'fatal','device':'','code':'','text':'isolated: "    \
    "'}]}],'isolate'"                                                                                   \
    ":" isolate "}"
#define ISOLATE "{'problem':'node_problem','why':'scratch','deadline_s':60}"
#define MOVE(id, from, to, more) "{'id':'" id "','from':'" from "','to':'" to "','why':'because'" more "}"

static void expect(uint64_t transitions, uint64_t by_itself, uint64_t queued, uint64_t by_person)
{
    const struct api_shell shell = {.revision = revision, .journal = journal};
    struct wall now = {t.world->at};
    assert_int_equal(numbers_read(t.numbers, &shell, now, NULL), 0);
    struct numbers_sum sum = numbers_of(t.numbers, now, NUMBERS_HOURS_MIN);
    assert_int_equal(sum.transitions, transitions);
    assert_int_equal(sum.by_itself, by_itself);
    assert_int_equal(sum.queued, queued);
    assert_int_equal(sum.by_person, by_person);
}

static void isolate(const char *node, const char *id)
{
    tell(COMMAND_FINDINGS, node, FINDINGS(ISOLATE), id);
}

static void test_fettle_by_itself(void **state)
{
    isolate("lx01", "1.1");
    expect(1, 0, 0, 0);
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "isolate", "examine", ""), "1.2");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "examine", "provision", ""), "1.3");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "provision", "none", ""), "1.4");
    expect(4, 1, 0, 0);
}

static void test_a_finding_that_isolates_nobody(void **state)
{
    tell(COMMAND_FINDINGS, "lx01", FINDINGS("null"), "1.1");
    expect(0, 0, 0, 0);
}

static void test_a_new_node_was_not_repaired(void **state)
{
    tell(COMMAND_REPAIR, "lx01", "{'id':null,'from':'none','to':'provision','why':'new'}", "1.1");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "provision", "none", ""), "1.2");
    expect(2, 0, 0, 0);
}

/* From the moment on at which a new node is in service, what it has counts like others'. */
static void test_a_node_that_was_new_is_repaired(void **state)
{
    world_configure(t.world, "lx[01-07] CPUs=2", NULL);
    tell(COMMAND_REPAIR, "lx07", "{'id':null,'from':'none','to':'provision','why':'new'}", "1.1");
    tell(COMMAND_REPAIR, "lx07", MOVE("1.1", "provision", "none", ",'boot':'b1'"), "1.2");
    expect(2, 0, 0, 0);
    isolate("lx07", "1.3");
    tell(COMMAND_REPAIR, "lx07", MOVE("1.3", "isolate", "provision", ""), "1.4");
    tell(COMMAND_REPAIR, "lx07", MOVE("1.3", "provision", "none", ""), "1.5");
    expect(5, 1, 0, 0);
}

static void test_another_machine_was_not_repaired(void **state)
{
    tell(COMMAND_MACHINE, "lx[01-03]",
         "{'machines':{'lx01':{'machine':'serial N01'},'lx02':{'machine':'serial "
         "N02'},'lx03':{'machine':'serial N03'}}}",
         NULL);
#define INSTANCE(was, act, examine)                                                                      \
    "{'was':'serial " was "','is':'serial N09','act':" act ",'boot':'b2','instance':'1','deadline_s':0," \
    "'keep':[],'examine':" examine "}"
    tell(COMMAND_INSTANCE, "lx01", INSTANCE("N01", "true", "false"), "1.1");
    expect(1, 0, 0, 0);
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "provision", "none", ""), "1.2");
    expect(2, 0, 0, 0);
    tell(COMMAND_INSTANCE, "lx02", INSTANCE("N02", "false", "false"), "1.3");
    expect(2, 0, 0, 0);
    tell(COMMAND_INSTANCE, "lx03", INSTANCE("N03", "true", "true"), "1.4");
    expect(3, 0, 0, 0);
}

static void test_a_maintenance_event_was_no_illness(void **state)
{
    say(COMMAND_TRANSITION, "lx01", "{'transition':'maintenance'}");
    expect(0, 0, 0, 0);
    tell(COMMAND_REPAIR, "lx01", "{'id':null,'from':'none','to':'isolate','why':'maintenance: fan'}", "1.1");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "isolate", "replace", ",'remedy':'swap'"), "1.2");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "replace", "provision", ",'renewed':true"), "1.3");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "provision", "none", ""), "1.4");
    expect(4, 0, 0, 0);
}

static void test_a_person_had_a_part_in_it(void **state)
{
    isolate("lx01", "1.1");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "isolate", "queue", ""), "1.2");
    expect(2, 0, 1, 0);
    say(COMMAND_TRANSITION, "lx01", "{'transition':'human_intervention'}");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "provision", "none", ""), "1.3");
    expect(4, 0, 1, 1);
}

static void test_a_remedy_that_is_refused(void **state)
{
    isolate("lx01", "1.1");
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "isolate", "remedy", ",'remedy':'fix','approval':true"), "1.2");
    say(COMMAND_REPAIR_REFUSE, "lx01", "{}");
    expect(3, 0, 1, 0);
}

static void test_moves_by_hand(void **state)
{
    say(COMMAND_TRANSITION, "lx01", "{'transition':'manual_drain'}");
    tell(COMMAND_REPAIR, "lx01", MOVE("7.1", "isolate", "queue", ""), "1.2");
    expect(2, 0, 1, 0);
    say(COMMAND_TRANSITION, "lx01", "{'transition':'retire'}");
    expect(3, 0, 1, 1);
    isolate("lx02", "1.3");
    say(COMMAND_TRANSITION, "lx02", "{'transition':'quarantine'}");
    expect(5, 0, 1, 2);
    isolate("lx03", "1.4");
    tell(COMMAND_REPAIR, "lx03", MOVE("1.4", "isolate", "remedy", ",'remedy':'fix'"), "1.5");
    say(COMMAND_TRANSITION, "lx03", "{'transition':'manual_drain'}");
    expect(8, 0, 2, 2);
}

/* As a fettled of before left it: a sentence is not read. */
static void test_an_entry_without_fields_is_not_counted(void **state)
{
    isolate("lx01", "1.1");
    expect(1, 0, 0, 0);
    tell(COMMAND_REPAIR, "lx01", MOVE("1.1", "isolate", "queue", ""), "1.2");
    free((char *)(uintptr_t)t.entries[1].fields);
    t.entries[1].fields = NULL;
    t.entries[1].text = "isolate -> queue: because";
    expect(1, 0, 0, 0);
}

static void test_fields_that_are_none_are_told(void **state)
{
    const struct api_shell shell = {.revision = revision, .journal = journal};
    struct err e = {0};
    isolate("lx01", "1.1");
    free((char *)(uintptr_t)t.entries[0].fields);
    t.entries[0].fields = mem_dup("\"to\":7");
    assert_int_equal(numbers_read(t.numbers, &shell, (struct wall){t.world->at}, &e), -EILSEQ);
    assert_string_equal(e.msg, "revision 1: fields of a journal entry: \"from\" is missing");
}

static void test_the_oldest_entries_are_gone(void **state)
{
    int64_t now = t.world->at;
    t.world->at = now - span_s(20 * 86400).ns;
    isolate("lx01", "1.1");
    t.world->at = now - span_s(10 * 86400).ns;
    isolate("lx02", "1.2");
    t.world->at = now;
    isolate("lx03", "1.3");
    t.gone = 2;
    expect(1, 0, 0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_fettle_by_itself),
        TEST(test_a_finding_that_isolates_nobody),
        TEST(test_a_new_node_was_not_repaired),
        TEST(test_a_node_that_was_new_is_repaired),
        TEST(test_another_machine_was_not_repaired),
        TEST(test_a_maintenance_event_was_no_illness),
        TEST(test_a_person_had_a_part_in_it),
        TEST(test_a_remedy_that_is_refused),
        TEST(test_moves_by_hand),
        TEST(test_an_entry_without_fields_is_not_counted),
        TEST(test_fields_that_are_none_are_told),
        TEST(test_the_oldest_entries_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
