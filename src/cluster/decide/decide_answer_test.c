/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A person's word closes what is open, and is remembered until the next step. */
static void test_a_person_answers_for_open_findings(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    lx01_move(w, MOVE("isolate", "queue", ""));
    const char *said = world_say(w, COMMAND_TRANSITION, "ann", "lx01",
                                 quoted("{'transition':'human_intervention','answers':true}"), "new cable");
    assert_non_null(
        strstr(said, "lx01: queue -> provision: new cable; closed 1.5.1 by that word; closed 1.5.2"));
    assert_int_not_equal(lx01_repair(w)->answer.at.ns, 0);
    const struct ailment *a = member_ailment(cluster_find(w->c, "lx01"));
    assert_int_equal(a->n_open, 0);
    assert_int_equal(a->n_past, 2);
    world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted("{'id':'1.5','step':'provision','run':'forget:7:xid.79','operation_of':'resolve','boot':"
               "'b1','deadline_s':30}"),
        "1.7");
    assert_int_equal(world_rc(), 0);
    assert_int_equal(lx01_repair(w)->n_attempts, 0);
    lx01_move(w, MOVE("provision", "isolate", ""));
    assert_int_equal(lx01_repair(w)->answer.at.ns, 0);
    assert_null(cluster_effect_value(w->c, "effect/operate.lx01"));
}

#define FOUND(fault, device, result)                                                        \
    "{'check':'kernel.gpu','result':'" result "','device':'" device "','code':'" fault "'," \
    "'text':''}"
#define OPENS(device, findings)                                                             \
    "{'id':null,'group':'" device "','severity':'lost','act':'reset','recurs':0,'observe':" \
    "false,'findings':[" findings "]}"

/* lx01 waits in the queue for two GPUs, one of which has two faults. */
static void queue_gpus(struct world *w)
{
    world_tell(
        w, COMMAND_FINDINGS, "lx01",
        quoted("{'boot':'b1','open':[" OPENS(
            "gpu 0", FOUND("xid.79", "gpu 0", "lost") "," FOUND(
                         "xid.48", "gpu 0",
                         "fatal")) "," OPENS("gpu 1", FOUND("xid.79", "gpu 1",
                                                            "lost")) "],'isolate':{'problem':'node_problem','"
                                                                     "why':'xid.79','deadline_s':"
                                                                     "60}}"),
        "1.5");
    lx01_move(w, MOVE("isolate", "queue", ""));
}

static const char *answer_for(struct world *w, const char *findings)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{'deadline_s':30,'findings':[%s]}", findings);
    return world_say(w, COMMAND_ANSWER, "ann", "lx01", quoted(t.s), "a reset");
}

/* What is named is closed, and the rest keeps the node where it is. */
static void test_a_person_answers_for_single_findings(void **state)
{
    struct world *w = *state;
    queue_gpus(w);
    const struct member *m = cluster_find(w->c, "lx01");
    assert_non_null(strstr(answer_for(w, "{'fault':'xid.48','device':'gpu 1'}"),
                           "no finding \"xid.48 gpu 1\" is open on node \"lx01\"; open are: xid.79 gpu 0, "
                           "xid.48 gpu 0, xid.79 gpu 1"));
    assert_int_equal(world_rc(), -ENOENT);
    const char *said = answer_for(w, "{'fault':'xid.79','device':'gpu 0'}");
    assert_non_null(strstr(said,
                           "it stays in the queue for xid.48 gpu 0, xid.79 gpu 1: a reset; closed xid.79 "
                           "gpu 0 of 1.5.1 by that word"));
    assert_string_equal(lx01_step(w), "queue");
    assert_int_equal(lx01_repair(w)->answer.n, 1);
    assert_string_equal(lx01_repair(w)->answer.of[0].device, "gpu 0");
    const struct ailment *a = member_ailment(m);
    assert_int_equal(a->n_open, 2);
    assert_string_equal(a->open[0].findings[0].f.code, "xid.48");
    assert_int_equal(a->open[0].severity, RESULT_FATAL); /* of what is left */
    assert_string_equal(a->past[0].id, "7.1.1");
    assert_int_equal(a->past[0].severity, RESULT_LOST);
    assert_int_equal(a->past[0].n, 1);
    world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted("{'id':'1.5','step':'queue','run':'forget:7:xid.79@gpu_0','operation_of':'resolve','boot':"
               "'b1','deadline_s':30}"),
        "1.10");
    assert_int_equal(world_rc(), 0);
    answer_for(w, "{'fault':'xid.79'}"); /* on whichever device */
    assert_string_equal(lx01_step(w), "queue");
    assert_null(cluster_effect_value(w->c, "effect/operate.lx01")); /* it is told anew what to forget */
    assert_int_equal(lx01_repair(w)->answer.n, 2);
    said = answer_for(w, "{'fault':'xid.48'}");
    assert_non_null(strstr(said, "queue -> provision: a reset; closed 1.5.1 by that word"));
    assert_int_equal(lx01_repair(w)->answer.n, 3);
    assert_int_equal(member_ailment(m)->n_open, 0);
    answer_for(w, "{'fault':'xid.48'}");
    assert_int_equal(world_rc(), -EBUSY);
}

/* Nobody has to say it again when the node comes back for another reason. */
static void test_a_word_on_single_findings_stands_on_the_way_back(void **state)
{
    struct world *w = *state;
    queue_gpus(w);
    answer_for(w, "{'fault':'xid.79','device':'gpu 1'}");
    lx01_hand(w, "human_intervention");
    assert_string_equal(lx01_step(w), "provision");
    assert_int_equal(lx01_repair(w)->answer.n, 1);
    lx01_move(w, MOVE("provision", "isolate", ""));
    assert_int_equal(lx01_repair(w)->answer.at.ns, 0);
}

/* Its agent was not heard, or the clock was set: what was looked at before that word is no better for it. */
static void test_a_word_stands_for_a_node_that_is_not_back_in_time(void **state)
{
    struct world *w = *state;
    queue_gpus(w);
    answer_for(w, "{'fault':'xid.79'},{'fault':'xid.48'}");
    assert_string_equal(lx01_step(w), "provision");
    struct wall at = lx01_repair(w)->answer.at;
    lx01_move(w, MOVE("provision", "queue", ""));
    assert_string_equal(lx01_step(w), "queue");
    assert_int_equal(lx01_repair(w)->answer.at.ns, at.ns);
    assert_int_equal(lx01_repair(w)->answer.n, 3);
    lx01_hand(w, "manual_drain");
    assert_int_equal(lx01_repair(w)->answer.n, 3);
    lx01_hand(w, "quarantine");
    assert_int_equal(lx01_repair(w)->answer.at.ns, 0);
}

/* What came back since it was answered for is not covered by that word any more. */
static void test_a_fault_that_came_back_is_not_answered_for(void **state)
{
    struct world *w = *state;
    queue_gpus(w);
    answer_for(w, "{'fault':'xid.79','device':'gpu 1'}");
    world_tell(w, COMMAND_FINDINGS, "lx01",
               quoted("{'boot':'b1','open':[" OPENS("gpu 1", FOUND("xid.79", "gpu 1", "lost")) "]}"), "1.11");
    answer_for(w, "{'fault':'xid.48'}");
    assert_int_equal(lx01_repair(w)->answer.n, 1);
    assert_string_equal(lx01_repair(w)->answer.of[0].fault, "xid.48");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_person_answers_for_open_findings),
        TEST(test_a_person_answers_for_single_findings),
        TEST(test_a_word_on_single_findings_stands_on_the_way_back),
        TEST(test_a_word_stands_for_a_node_that_is_not_back_in_time),
        TEST(test_a_fault_that_came_back_is_not_answered_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
