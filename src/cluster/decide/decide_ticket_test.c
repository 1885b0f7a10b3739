/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_manual_drain(void **state)
{
    struct world *w = *state;
    const char *said = lx01_hand(w, "manual_drain");
    assert_non_null(strstr(said, "lx01: isolate: new cable (claim 7.1)\n"));
    assert_string_equal(world_claims(w, "lx01"), "7.1 repair by ann: [manual] new cable");
    assert_string_equal(lx01_repair(w)->problem, "manual");
    assert_true(lx01_repair(w)->manual);
    assert_string_equal(lx01_repair(w)->notes[0].text, "new cable");
    assert_string_equal(lx01_hand(w, "manual_drain"), "nothing");
    lx01_move(w, "{'id':'7.1','from':'isolate','to':'provision','why':'nothing is open'}");
    assert_int_equal(world_rc(), -EBUSY); /* to the work queue, and nowhere else */
    lx01_move(w, "{'id':'7.1','from':'isolate','to':'queue','why':'drained'}");
    assert_string_equal(world_state(w, "lx01"), "work_queue");
    assert_non_null(strstr(lx01_hand(w, "manual_drain"), "it waits for a person already"));
    lx01_hand(w, "human_intervention");
    assert_string_equal(world_state(w, "lx01"), "provisioning");
    assert_false(lx01_repair(w)->manual);
    world_configure(w, "lx[02-06]", NULL);
    cluster_put(w->c, "repair/lx01", NULL, NULL);
    lx01_hand(w, "manual_drain");
    assert_int_equal(world_rc(), -ENOENT);
}

/* From each step in which Fettle does something. */
static void test_manual_drain_in_a_repair(void **state)
{
    static const struct {
        const char *way, *to;
    } ways[] = {{"examine", "isolate"}, {"remedy", "queue"}, {"replace", "queue"}, {"provision", "isolate"}};
    struct world *w = *state;
    lx01_isolate(w);
    lx01_hand(w, "manual_drain");
    assert_string_equal(lx01_step(w), "isolate");
    assert_true(lx01_repair(w)->manual);
    assert_int_equal(lx01_repair(w)->deadline.ns, 60000001000); /* its work still ends in time */
    assert_string_equal(lx01_repair(w)->problem, "node_problem");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        world_destroy(w);
        *state = w = world_create();
        lx01_isolate(w);
        text_printf(&t, "{'id':'1.5','from':'isolate','to':'%s','why':'x','remedy':'fix'}", ways[i].way);
        lx01_move(w, t.s);
        assert_string_equal(lx01_step(w), ways[i].way);
        world_say(w, COMMAND_TRANSITION, "ann", "lx01",
                  quoted("{'transition':'manual_drain','deadline_s':60}"), "new cable");
        assert_string_equal(lx01_step(w), ways[i].to);
        assert_true(lx01_repair(w)->manual);
        bool queued = strcmp(ways[i].to, "queue") == 0; /* there is nothing to drain any more */
        assert_int_equal(lx01_repair(w)->deadline.ns, queued ? 0 : lx01_repair(w)->since.ns + span_s(60).ns);
    }
}

static void test_human_intervention(void **state)
{
    struct world *w = *state;
    assert_string_equal(
        lx01_hand(w, "human_intervention"),
        "human_intervention is for nodes that wait for a person: node \"lx01\" is in step none: there is no "
        "repair");
    lx01_isolate(w);
    assert_non_null(strstr(lx01_hand(w, "human_intervention"), "is in step isolate"));
    lx01_move(w, MOVE("isolate", "queue", ""));
    assert_non_null(strstr(lx01_hand(w, "human_intervention"), "lx01: queue -> provision: new cable\n"));
    assert_string_equal(lx01_repair(w)->notes[0].by, "ann");
    assert_string_equal(lx01_repair(w)->boot, "");
    world_say(w, COMMAND_TRANSITION, "ann", "lx01", quoted("{'transition':'quarantine'}"), "smoke");
    assert_string_equal(world_state(w, "lx01"), "quarantined");
    assert_string_equal(lx01_hand(w, "quarantine"), "nothing");
    lx01_hand(w, "retire");
    assert_string_equal(world_state(w, "lx01"), "retired");
    assert_string_equal(world_claims(w, "lx01"), "1.5 repair by fettled: [node_problem] xid.79");
    lx01_hand(w, "quarantine");
    assert_int_equal(world_rc(), -EBUSY);
    lx01_hand(w, "human_intervention");
    assert_string_equal(lx01_step(w), "provision");
}

static void test_bad_transitions(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    lx01_hand(w, "retire");
    assert_int_equal(world_rc(), -EBUSY);
    world_say(w, COMMAND_TRANSITION, "ann", "lx01", quoted("{'transition':'quarantine'}"), "two\nlines");
    assert_int_equal(world_rc(), -EINVAL);
    world_say(w, COMMAND_TRANSITION, "ann", "lx01", quoted("{'transition':'quarantine'}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_say(w, COMMAND_TRANSITION, "ann", "lx99", quoted("{'transition':'quarantine'}"), "x");
    assert_int_equal(world_rc(), -ENOENT);
    world_configure(w, "lx[02-06]", NULL); /* the node goes, and people can still say so */
    lx01_hand(w, "quarantine");
    assert_string_equal(lx01_step(w), "quarantine");
}

static void test_tickets(void **state)
{
    struct world *w = *state;
    assert_non_null(strstr(world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL),
                           "is in step none"));
    lx01_isolate(w);
    world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL);
    assert_int_equal(world_rc(), -EBUSY); /* not in the queue */
    assert_non_null(
        strstr(world_ask(w, COMMAND_TICKET, "ann", "lx01", NULL, "smells"), "lx01: noted: smells\n"));
    lx01_move(w, MOVE("isolate", "queue", ""));
    assert_non_null(
        strstr(world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL), "lx01: taken\n"));
    assert_string_equal(world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL),
                        "nothing");
    assert_string_equal(world_ask(w, COMMAND_TICKET, "bob", "lx01", quoted("{'take':true}"), NULL),
                        "node \"lx01\" was taken by ann");
    assert_string_equal(lx01_repair(w)->taken_by, "ann");
    world_ask(w, COMMAND_TICKET, "bob", "lx01", quoted("{'take':false}"), "she is ill");
    assert_null(lx01_repair(w)->taken_by);
    assert_int_equal(lx01_repair(w)->n_notes, 2);
    world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
    for (int i = 0; i < 20; i++)
        world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{}"), i == 19 ? "the last" : "x");
    assert_int_equal(lx01_repair(w)->n_notes, NOTES_KEPT_MAX);
    assert_string_equal(lx01_repair(w)->notes[15].text, "the last");
    world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL);
    lx01_hand(w, "human_intervention");
    assert_null(lx01_repair(w)->taken_by);
}

static void test_approval(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    assert_non_null(strstr(world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", NULL, NULL),
                           "no remedy waits for approval"));
    lx01_move(w, MOVE("isolate", "remedy", ",'remedy':'fix'"));
    assert_non_null(
        strstr(world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", NULL, NULL), "nobody's approval"));
    lx01_move(w, MOVE("remedy", "remedy", ",'remedy':'fix','approval':true,'deadline_s':600"));
    struct wall asked = lx01_repair(w)->since;
    w->at += span_s(86400).ns;
    world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", quoted("{'remedy':'cut'}"), NULL);
    assert_int_equal(world_rc(), -EBUSY); /* another one than she saw */
    assert_non_null(
        strstr(world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", quoted("{'remedy':'fix'}"), "go ahead"),
               "lx01: fix approved: go ahead\n"));
    assert_string_equal(lx01_repair(w)->approver, "ann: go ahead");
    assert_int_equal(lx01_repair(w)->approval, APPROVAL_GIVEN);
    assert_int_equal(lx01_repair(w)->deadline.ns - lx01_repair(w)->since.ns,
                     span_s(600).ns); /* from now on */
    assert_int_equal(lx01_repair(w)->since.ns - asked.ns, span_s(86400).ns);
    assert_string_equal(world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", NULL, NULL), "nothing");
    lx01_move(w,
              MOVE("remedy", "remedy", ",'remedy':'cut','approval':true")); /* the next one needs its own */
    assert_int_equal(lx01_repair(w)->approval, APPROVAL_WANTED);
    assert_null(lx01_repair(w)->approver);
    assert_non_null(strstr(world_ask(w, COMMAND_REPAIR_REFUSE, "ann", "lx01", NULL, "too old"),
                           "lx01: cut refused: too old\n"));
    assert_string_equal(lx01_step(w), "queue");
    assert_string_equal(lx01_repair(w)->why, "ann refused cut: too old");
    assert_int_equal(lx01_repair(w)->approval, APPROVAL_REFUSED);
}

static void test_switches(void **state)
{
    struct world *w = *state;
    assert_null(cluster_switch(w->c, "stop"));
    assert_string_equal(
        world_ask(w, COMMAND_SWITCH, "root", "", quoted("{'name':'stop','on':true}"), "cooling"),
        quoted("switch/stop = {'on':true,'by':'root','at':'1000','why':'cooling'}\n: stop on: cooling\n"));
    assert_string_equal(world_ask(w, COMMAND_SWITCH, "bob", "", quoted("{'name':'stop','on':true}"), "too"),
                        "nothing");
    assert_string_equal(cluster_switch(w->c, "stop"), "root: cooling");
    assert_null(cluster_switch(w->c, "latch"));
    assert_string_equal(world_ask(w, COMMAND_SWITCH, "bob", "", quoted("{'name':'stop','on':false}"), NULL),
                        "switch/stop = gone\n: stop off\n");
    world_ask(w, COMMAND_SWITCH, "bob", "", quoted("{'name':'stop','on':true}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_ask(w, COMMAND_SWITCH, "bob", "", quoted("{'name':'go','on':true}"), "x");
    assert_int_equal(world_rc(), -EINVAL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_manual_drain),
        TEST(test_manual_drain_in_a_repair),
        TEST(test_human_intervention),
        TEST(test_bad_transitions),
        TEST(test_tickets),
        TEST(test_approval),
        TEST(test_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
