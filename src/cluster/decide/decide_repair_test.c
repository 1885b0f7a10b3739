/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_a_step(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    w->at = 2000;
    assert_string_equal(
        lx01_move(
            w, MOVE("isolate", "remedy",
                    ",'remedy':'fix','approval':true,'boot':'b2','instance':'ff','deadline_s':1,'examined':'"
                    "fail',"
                    "'inconclusive':1,'problem':'hardware_problem'")),
        quoted(
            "repair/lx01 = {'id':'1.5','step':'remedy','began':'1000','since':'2000','deadline':'1000002000',"
            "'boot':'b2','instance':'ff','problem':'hardware_problem','why':'because','remedy':'fix','"
            "operation':'',"
            "'approval':'wanted','approver':null,'examined':'fail','inconclusive':1,'manual':false,'taken_by'"
            ":"
            "null,"
            "'attempts':[],'notes':[]}\nlx01: isolate -> remedy fix: because\n"));
    assert_string_equal(world_state(w, "lx01"), "remediating");
    /* repeated, late, of another repair */
    assert_non_null(strstr(lx01_move(w, MOVE("isolate", "remedy", ",'remedy':'fix'")), "is at remedy"));
    assert_int_equal(world_rc(), -EBUSY);
    lx01_move(w, "{'id':'1.4','from':'remedy','to':'queue','why':'x'}");
    assert_int_equal(world_rc(), -EBUSY);
    lx01_move(w, "{'id':null,'from':'none','to':'isolate','why':'x'}");
    assert_int_equal(world_rc(), -EBUSY);
    world_tell(w, COMMAND_REPAIR, "lx02", quoted(MOVE("isolate", "queue", "")), "1.6");
    assert_int_equal(world_rc(), -EBUSY);
}

/* Only what had a cause that it shared leaves the queue by itself, and only while nobody has taken it. */
static void test_only_untaken_shared_causes_leave_the_queue_by_themselves(void **state)
{
    static const char *const ends[] = {"'taken_by':null", "'taken_by':null,'shared':true",
                                       "'taken_by':'ann','shared':true"};
    struct world *w = *state;
    for (int i = 0; i < 3; i++) {
        CLEANUP_TEXT struct text record = {0};
        text_printf(
            &record,
            "{'id':'1.5','step':'queue','began':'1','since':'1','deadline':'0','boot':'','instance':'0',"
            "'problem':'node_problem','why':'','remedy':'','operation':'','approval':'none','approver':"
            "null,'examined':'not','inconclusive':0,'manual':false,'attempts':[],'notes':[],%s}",
            ends[i]);
        assert_int_equal(cluster_put(w->c, "repair/lx01", quoted(record.s), NULL), 0);
        lx01_move(w, "{'id':'1.5','from':'queue','to':'provision','why':'x'}");
        assert_int_equal(world_rc(), i == 1 ? 0 : -EBUSY);
    }
}

static bool is_of_watch(enum step from, enum step_event event, enum step to)
{
    return step_may_by(from, event, to) && !step_event_is_persons(event);
}

/* Nobody released the node, or its wipe is not confirmed (decide_owner_test.c). */
static bool waits_for_a_wipe(enum step from, enum step to)
{
    return (from == STEP_NONE && to == STEP_WIPE) || (from == STEP_WIPE && to == STEP_PROVISION);
}

/* Asks for the move by each event; lx01 has this record of a repair, "" for none. */
static void try_events(struct world *w, const char *record, enum step from, enum step to)
{
    for (int event = STEP_EVENT_NONE; event < STEP_EVENTS; event++) {
        CLEANUP_TEXT struct text set = {0};
        text_printf(&set, "{'id':%s,'from':'%s','to':'%s','event':'%s','why':'x','remedy':'fix'}",
                    from ? "'1.5'" : "null", step_name(from), step_name(to),
                    step_event_name((enum step_event)event));
        assert_int_equal(cluster_put(w->c, "repair/lx01", from ? quoted(record) : NULL, NULL), 0);
        lx01_move(w, set.s);
        assert_int_equal(world_rc(), !is_of_watch(from, (enum step_event)event, to) ? -EINVAL
                                     : waits_for_a_wipe(from, to)                   ? -EBUSY
                                                                                    : 0);
        cluster_put(w->c, "claim/1.6", NULL, NULL);
    }
}

/* Every move that the table does not give to the watch is refused, and so is one by another event. */
static void test_only_the_moves_of_the_table(void **state)
{
    struct world *w = *state;
    for (int from = 0; from < STEPS; from++) {
        for (int to = 0; to < STEPS; to++) {
            CLEANUP_TEXT struct text record = {0};
            text_printf(
                &record,
                "{'id':'1.5','step':'%s','began':'1','since':'1','deadline':'0','boot':'','instance':'0',"
                "'problem':'manual','why':'','remedy':'','operation':'','approval':'none','approver':null,"
                "'examined':'not','inconclusive':0,'manual':false,'taken_by':null,'attempts':[],'notes':[],"
                "'shared':true}",
                step_name((enum step)from));
            try_events(w, record.s, (enum step)from, (enum step)to);
        }
    }
}

static void test_a_repair_begins_and_ends(void **state)
{
    struct world *w = *state;
    world_do(w, COMMAND_DRAIN, "ann", "lx01", "my own", "1.4");
    world_do(w, COMMAND_DRAINED, "fettled", "lx01", NULL, NULL);
    const char *said = world_tell(
        w, COMMAND_REPAIR, "lx01",
        quoted("{'id':null,'from':'none','to':'provision','why':'new','boot':'b1','instance':'a'}"), "1.5");
    assert_non_null(
        strstr(said, quoted("claim/1.5 = {'kind':'repair','owner':'fettled','reason':'[provision] new',"
                            "'since':'1000','nodes':'lx01','drained':'lx01'}\n")));
    assert_non_null(strstr(said, "lx01: provision: new (claim 1.5)\n"));
    assert_int_equal(lx01_repair(w)->instance, 10);
    assert_string_equal(world_state(w, "lx01"), "provisioning");
    assert_string_equal(lx01_move(w, MOVE("provision", "none", "")),
                        quoted("claim/1.5 = gone\nnode/lx01 = {'admitted':'1000','boot':'b1'}\n"
                               "repair/lx01 = gone\nlx01: back in service: because\n"));
    assert_string_equal(world_claims(w, "lx01"), "1.4 drain by ann: my own (drained)"); /* a person's stays */
    assert_string_equal(world_state(w, "lx01"), "drained");
}

/* The boot on which the node will come is not known yet: it is provisioned then (ADR 0022). */
static void test_a_node_that_was_never_heard_is_not_admitted(void **state)
{
    struct world *w = *state;
    world_configure(w, "lx[01-07] CPUs=2", NULL);
    world_tell(w, COMMAND_REPAIR, "lx07", quoted("{'id':null,'from':'none','to':'provision','why':'new'}"),
               "1.5");
    world_ask(w, COMMAND_OVERRIDE, "ann", "lx07", "{}", "mine");
    assert_string_equal(world_tell(w, COMMAND_REPAIR, "lx07",
                                   quoted("{'id':'1.5','from':'provision','to':'none','why':'taken back'}"),
                                   "1.6"),
                        quoted("claim/1.5 = gone\nrepair/lx07 = gone\n"
                               "lx07: its repair ends, and it was not heard yet: taken back\n"));
    assert_false(cluster_find(w->c, "lx07")->admitted);
    world_ask(w, COMMAND_OVERRIDE_END, "ann", "lx07", "{}", "over");
    assert_true(member_came_up(cluster_find(w->c, "lx07"), "b1"));
}

static void test_attempts_are_remembered(void **state)
{
    struct world *w = *state;
    lx01_remedy(w, true);
    lx01_effect(w, "{'state':'done','text':'exit 0'}");
    lx01_move(w, MOVE("remedy", "provision",
                      ",'attempt':{'remedy':'fix','fault':'xid.79','done':true,'text':'exit 0',"
                      "'verdict':'?'}"));
    assert_string_equal(world_record(w, "effect/operate.lx01"), "none");
    lx01_move(w, MOVE("provision", "none", ""));
    assert_null(lx01_repair(w));
    const struct repair *r = member_repairs(cluster_find(w->c, "lx01"));
    assert_int_equal(r->n_attempts, 1);
    assert_string_equal(r->attempts[0].fault, "xid.79");
    assert_true(r->attempts[0].done);
    assert_string_equal(r->attempts[0].boot, "b1");
    assert_int_equal(r->attempts[0].verdict, '?');
    world_tell(w, COMMAND_FINDINGS, "lx01",
               quoted("{'boot':'b1','isolate':{'problem':'node_problem','why':'again'}}"), "2.1");
    assert_int_equal(lx01_repair(w)->n_attempts, 1);
    assert_string_equal(lx01_repair(w)->id, "2.1");
    assert_int_equal(lx01_repair(w)->deadline.ns, 0);
}

static void test_attempts_are_bounded(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    lx01_move(w, MOVE("isolate", "remedy", ",'remedy':'fix'"));
    for (int i = 0; i < 40; i++) {
        CLEANUP_TEXT struct text t = {0};
        text_printf(&t,
                    MOVE("remedy", "remedy",
                         ",'remedy':'fix','attempt':{'remedy':'fix','fault':'f%d','done':false,'text':'',"
                         "'verdict':'-'}"),
                    i);
        lx01_move(w, t.s);
        assert_int_equal(world_rc(), 0);
    }
    assert_int_equal(lx01_repair(w)->n_attempts, ATTEMPTS_KEPT_MAX);
    assert_string_equal(lx01_attempt(w)->fault, "f39");
    assert_string_equal(lx01_repair(w)->attempts[0].fault, "f8");
}

static void test_another_machine_inherits_nothing(void **state)
{
    struct world *w = *state;
    lx01_remedy(w, true);
    lx01_effect(w, "{'state':'done','text':'fixed','id':'1.7'}");
    lx01_move(w, MOVE("remedy", "examine", ""));
    lx01_move(w, MOVE("examine", "replace", ",'remedy':'new','examined':'fail','inconclusive':2"));
    world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted(
            "{'id':'1.5','step':'replace','run':'replace','operation_of':'new','boot':'b1','deadline_s':30}"),
        "1.8");
    lx01_effect(w, "{'state':'begun','at':'1','id':'1.8'}");
    lx01_effect(w, "{'state':'done','text':'replaced','id':'1.8'}");
    const char *said = lx01_move(w, MOVE("replace", "provision", ",'renewed':true"));
    assert_non_null(strstr(said, "closed 1.5.1: replaced"));
    assert_string_equal(lx01_step(w), "provision");
    assert_null(member_ailment(cluster_find(w->c, "lx01")));
    assert_int_equal(lx01_repair(w)->n_attempts, 1); /* how often it was replaced is of the name */
    assert_string_equal(lx01_attempt(w)->remedy, "new");
    assert_int_equal(lx01_repair(w)->n_notes, 0);
    assert_int_equal(lx01_repair(w)->examined, EXAMINED_NOT);
    assert_int_equal(lx01_repair(w)->inconclusive, 0);
}

static void test_only_a_replaced_node_is_another_machine(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    assert_non_null(strstr(lx01_move(w, MOVE("isolate", "provision", ",'renewed':true")), "is not replaced"));
    assert_string_equal(lx01_step(w), "isolate");
    lx01_move(w, MOVE("isolate", "replace", ",'remedy':'new'"));
    lx01_move(w, MOVE("replace", "provision", ",'renewed':false"));
    assert_non_null(member_ailment(cluster_find(w->c, "lx01")));
}

static void test_bad_moves(void **state)
{
    static const char *const bad[] = {
        "{'id':'1.5','from':'isolate','to':'queue','why':'two\\nlines'}",
        MOVE("isolate", "remedy", ""),
        MOVE("isolate", "queue", ",'problem':'Big'"),
        MOVE("isolate", "queue", ",'boot':'b 1'"),
        MOVE("isolate", "queue", ",'machine':'\\n'"),
    };
    struct world *w = *state;
    lx01_isolate(w);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lx01_move(w, bad[i]);
        assert_int_equal(world_rc(), -EINVAL);
    }
    assert_string_equal(lx01_step(w), "isolate");
}

/* A person interfered: what was tried before counts for nobody. */
static void test_interference_is_not_judged(void **state)
{
    struct world *w = *state;
    lx01_remedy(w, true);
    lx01_effect(w, "{'state':'done','text':''}");
    lx01_move(w, MOVE("remedy", "provision", ""));
    assert_int_equal(lx01_attempt(w)->verdict, '?');
    lx01_hand(w, "manual_drain");
    assert_int_equal(lx01_attempt(w)->verdict, '0');
}

/* A commit makes room in the budgets for what takes a node out: an isolation, and no other beginning. */
static void test_an_isolation_takes_a_node_out(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    assert_true(world_takes_out());
    lx01_move(w, MOVE("isolate", "queue", ""));
    assert_false(world_takes_out());
    world_tell(w, COMMAND_REPAIR, "lx02",
               quoted("{'id':null,'from':'none','to':'isolate','why':'maintenance','problem':'maintenance',"
                      "'deadline_s':60,'boot':null}"),
               "2.1");
    assert_int_equal(world_rc(), 0);
    assert_true(world_takes_out());
    world_tell(w, COMMAND_REPAIR, "lx03",
               quoted("{'id':null,'from':'none','to':'provision','why':'new','boot':'b1','instance':'a'}"),
               "3.1");
    assert_int_equal(world_rc(), 0);
    assert_false(world_takes_out());
}

/* The claim's record has the problem of the beginning before its words. */
static void test_the_words_of_a_claim_are_without_the_problem(void **state)
{
    static const struct {
        const char *kind, *reason, *words;
    } rows[] = {
        {"repair", "[node_problem] xid.79: [gpu 0] lost", "xid.79: [gpu 0] lost"},
        {"repair", "[node_problem] ", ""},
        {"repair", "as it stands", "as it stands"},
        {"repair", "[cut", "[cut"},
        {"drain", "[node_problem] a person wrote this", "[node_problem] a person wrote this"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_TEXT struct text record = {0};
        text_printf(&record,
                    "{\"kind\":\"%s\",\"owner\":\"o\",\"reason\":\"%s\",\"since\":\"1\",\"nodes\":\"lx01\","
                    "\"drained\":\"\"}",
                    rows[i].kind, rows[i].reason);
        assert_int_equal(cluster_put(w->c, "claim/9.1", record.s, NULL), 0);
        assert_string_equal(cluster_claim(w->c, "9.1")->words, rows[i].words);
        assert_string_equal(cluster_claim(w->c, "9.1")->reason, rows[i].reason);
    }
    lx01_isolate(w);
    assert_string_equal(cluster_claim(w->c, "1.5")->reason, "[node_problem] xid.79");
    assert_string_equal(cluster_claim(w->c, "1.5")->words, "xid.79");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_words_of_a_claim_are_without_the_problem),
        TEST(test_a_step),
        TEST(test_only_the_moves_of_the_table),
        TEST(test_only_untaken_shared_causes_leave_the_queue_by_themselves),
        TEST(test_a_repair_begins_and_ends),
        TEST(test_a_node_that_was_never_heard_is_not_admitted),
        TEST(test_attempts_are_remembered),
        TEST(test_attempts_are_bounded),
        TEST(test_another_machine_inherits_nothing),
        TEST(test_only_a_replaced_node_is_another_machine),
        TEST(test_bad_moves),
        TEST(test_interference_is_not_judged),
        TEST(test_an_isolation_takes_a_node_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
