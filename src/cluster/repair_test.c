/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct repair *repair(struct world *w)
{
    return member_repair(cluster_find(w->c, "lx01"));
}

static const char *step(struct world *w)
{
    return repair(w) ? step_name(repair(w)->step) : "none";
}

static const struct attempt_record *last_attempt(struct world *w)
{
    const struct repair *r = member_repairs(cluster_find(w->c, "lx01"));
    return &r->attempts[r->n_attempts - 1];
}

/* lx01 is isolated for two faults: repair 1.5. */
static void isolate(struct world *w)
{
    world_tell(
        w, COMMAND_FINDINGS, "lx01",
        quoted(
            "{'boot':'b1','open':[{'id':null,'group':'gpu 0','severity':'fatal','act':'reset','recurs':0,"
            "'observe':false,'findings':[{'check':'kernel.gpu','result':'fatal','device':'gpu 0','code':"
            "'xid.79','text':'off the bus'}]},{'id':null,'group':'','severity':'warn','act':'watch','recurs':"
            "0,'observe':false,'findings':[{'check':'scratch','result':'warn','device':'','code':'','text':"
            "''}]}],'isolate':{'problem':'node_problem','why':'xid.79','deadline_s':60}}"),
        "1.5");
    assert_string_equal(step(w), "isolate");
}

#define MOVE(from, to, more) "{'id':'1.5','from':'" from "','to':'" to "','why':'because'" more "}"

static const char *move(struct world *w, const char *set)
{
    return world_tell(w, COMMAND_REPAIR, "lx01", quoted(set), "1.6");
}

static const char *operate(struct world *w, const char *claim)
{
    return world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted("{'id':'1.5','step':'remedy','run':'node:fix it','operation_of':'fix','boot':'b1',"
               "'deadline_s':30}"),
        claim);
}

static const char *effect(struct world *w, const char *done)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{'key':'effect/operate.lx01','done':%s}", done);
    return world_tell(w, COMMAND_EFFECT, "", quoted(t.s), NULL);
}

static const char *hand(struct world *w, const char *transition)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{'transition':'%s'}", transition);
    return world_say(w, COMMAND_TRANSITION, "ann", "lx01", quoted(t.s), "new cable");
}

/* A remedy was chosen and is begun, when begun is true. */
static void remedy(struct world *w, bool begun)
{
    isolate(w);
    move(w, MOVE("isolate", "remedy", ",'remedy':'fix'"));
    operate(w, "1.7");
    if (begun)
        effect(w, "{'state':'begun','at':'1','id':'1.7'}");
}

/* --- steps ------------------------------------------------------------------------------------ */

static void test_a_step(void **state)
{
    struct world *w = *state;
    isolate(w);
    w->at = 2000;
    assert_string_equal(
        move(w, MOVE("isolate", "remedy",
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
    assert_non_null(strstr(move(w, MOVE("isolate", "remedy", ",'remedy':'fix'")), "is at remedy"));
    assert_int_equal(world_rc(), -EBUSY);
    move(w, "{'id':'1.4','from':'remedy','to':'queue','why':'x'}");
    assert_int_equal(world_rc(), -EBUSY);
    move(w, "{'id':null,'from':'none','to':'isolate','why':'x'}");
    assert_int_equal(world_rc(), -EBUSY);
    world_tell(w, COMMAND_REPAIR, "lx02", quoted(MOVE("isolate", "queue", "")), "1.6");
    assert_int_equal(world_rc(), -EBUSY);
}

/* Only what had a cause that it shared leaves the queue by itself, and only while nobody has taken it. */
static void test_who_waits_for_a_person(void **state)
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
        move(w, "{'id':'1.5','from':'queue','to':'provision','why':'x'}");
        assert_int_equal(world_rc(), i == 1 ? 0 : -EBUSY);
    }
}

/* A person's word closes what is open, and is remembered until the next step. */
static void test_a_person_answers_for_what_is_open(void **state)
{
    struct world *w = *state;
    isolate(w);
    move(w, MOVE("isolate", "queue", ""));
    const char *said = world_say(w, COMMAND_TRANSITION, "ann", "lx01",
                                 quoted("{'transition':'human_intervention','answers':true}"), "new cable");
    assert_non_null(
        strstr(said, "lx01: queue -> provision: new cable; closed 1.5.1 by that word; closed 1.5.2"));
    assert_int_not_equal(repair(w)->answer.at.ns, 0);
    const struct ailment *a = member_ailment(cluster_find(w->c, "lx01"));
    assert_int_equal(a->n_open, 0);
    assert_int_equal(a->n_past, 2);
    world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted("{'id':'1.5','step':'provision','run':'forget:7:xid.79','operation_of':'resolve','boot':"
               "'b1','deadline_s':30}"),
        "1.7");
    assert_int_equal(world_rc(), 0);
    assert_int_equal(repair(w)->n_attempts, 0);
    move(w, MOVE("provision", "isolate", ""));
    assert_int_equal(repair(w)->answer.at.ns, 0);
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
    move(w, MOVE("isolate", "queue", ""));
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
    assert_string_equal(step(w), "queue");
    assert_int_equal(repair(w)->answer.n, 1);
    assert_string_equal(repair(w)->answer.of[0].device, "gpu 0");
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
    assert_string_equal(step(w), "queue");
    assert_null(cluster_effect_value(w->c, "effect/operate.lx01")); /* it is told anew what to forget */
    assert_int_equal(repair(w)->answer.n, 2);
    said = answer_for(w, "{'fault':'xid.48'}");
    assert_non_null(strstr(said, "queue -> provision: a reset; closed 1.5.1 by that word"));
    assert_int_equal(repair(w)->answer.n, 3);
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
    hand(w, "human_intervention");
    assert_string_equal(step(w), "provision");
    assert_int_equal(repair(w)->answer.n, 1);
    move(w, MOVE("provision", "isolate", ""));
    assert_int_equal(repair(w)->answer.at.ns, 0);
}

/* Its agent was not heard, or the clock was set: what was looked at before that word is no better for it. */
static void test_a_word_stands_for_a_node_that_is_not_back_in_time(void **state)
{
    struct world *w = *state;
    queue_gpus(w);
    answer_for(w, "{'fault':'xid.79'},{'fault':'xid.48'}");
    assert_string_equal(step(w), "provision");
    struct wall at = repair(w)->answer.at;
    move(w, MOVE("provision", "queue", ""));
    assert_string_equal(step(w), "queue");
    assert_int_equal(repair(w)->answer.at.ns, at.ns);
    assert_int_equal(repair(w)->answer.n, 3);
    hand(w, "manual_drain");
    assert_int_equal(repair(w)->answer.n, 3);
    hand(w, "quarantine");
    assert_int_equal(repair(w)->answer.at.ns, 0);
}

/* What came back since it was answered for is not covered by that word any more. */
static void test_what_came_back_is_not_answered_for(void **state)
{
    struct world *w = *state;
    queue_gpus(w);
    answer_for(w, "{'fault':'xid.79','device':'gpu 1'}");
    world_tell(w, COMMAND_FINDINGS, "lx01",
               quoted("{'boot':'b1','open':[" OPENS("gpu 1", FOUND("xid.79", "gpu 1", "lost")) "]}"), "1.11");
    answer_for(w, "{'fault':'xid.48'}");
    assert_int_equal(repair(w)->answer.n, 1);
    assert_string_equal(repair(w)->answer.of[0].fault, "xid.48");
}

/* A record of before says only that somebody answered. */
static void test_an_answer_of_an_older_record(void **state)
{
    struct world *w = *state;
    assert_int_equal(
        cluster_put(
            w->c, "repair/lx01",
            quoted("{'id':'1.5','step':'provision','began':'1','since':'7','deadline':'0','boot':'',"
                   "'instance':'0','problem':'manual','why':'','remedy':'','operation':'','approval':'none',"
                   "'approver':null,'examined':'not','inconclusive':0,'manual':false,'taken_by':null,"
                   "'attempts':[],'notes':[],'answered':true}"),
            NULL),
        0);
    assert_int_equal(repair(w)->answer.at.ns, 7);
    assert_int_equal(repair(w)->answer.n, 0);
}

/* Every move that the table does not give to the watch is refused. */
static void test_only_the_moves_of_the_table(void **state)
{
    struct world *w = *state;
    for (int from = 0; from < STEPS; from++) {
        for (int to = 0; to < STEPS; to++) {
            CLEANUP_TEXT struct text record = {0}, set = {0};
            text_printf(
                &record,
                "{'id':'1.5','step':'%s','began':'1','since':'1','deadline':'0','boot':'','instance':'0',"
                "'problem':'manual','why':'','remedy':'','operation':'','approval':'none','approver':null,"
                "'examined':'not','inconclusive':0,'manual':false,'taken_by':null,'attempts':[],'notes':[],"
                "'shared':true}",
                step_name((enum step)from));
            text_printf(&set, "{'id':%s,'from':'%s','to':'%s','why':'x','remedy':'fix'}",
                        from ? "'1.5'" : "null", step_name((enum step)from), step_name((enum step)to));
            assert_int_equal(cluster_put(w->c, "repair/lx01", from ? quoted(record.s) : NULL, NULL), 0);
            move(w, set.s);
            assert_int_equal(world_rc(), step_may_alone((enum step)from, (enum step)to) ? 0 : -EINVAL);
            cluster_put(w->c, "claim/1.6", NULL, NULL);
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
    assert_int_equal(repair(w)->instance, 10);
    assert_string_equal(world_state(w, "lx01"), "provisioning");
    assert_string_equal(move(w, MOVE("provision", "none", "")),
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
    remedy(w, true);
    effect(w, "{'state':'done','text':'exit 0'}");
    move(w, MOVE("remedy", "provision",
                 ",'attempt':{'remedy':'fix','fault':'xid.79','done':true,'text':'exit 0',"
                 "'verdict':'?'}"));
    assert_string_equal(world_record(w, "effect/operate.lx01"), "none");
    move(w, MOVE("provision", "none", ""));
    assert_null(repair(w));
    const struct repair *r = member_repairs(cluster_find(w->c, "lx01"));
    assert_int_equal(r->n_attempts, 1);
    assert_string_equal(r->attempts[0].fault, "xid.79");
    assert_true(r->attempts[0].done);
    assert_string_equal(r->attempts[0].boot, "b1");
    assert_int_equal(r->attempts[0].verdict, '?');
    world_tell(w, COMMAND_FINDINGS, "lx01",
               quoted("{'boot':'b1','isolate':{'problem':'node_problem','why':'again'}}"), "2.1");
    assert_int_equal(repair(w)->n_attempts, 1);
    assert_string_equal(repair(w)->id, "2.1");
    assert_int_equal(repair(w)->deadline.ns, 0);
}

static void test_attempts_are_bounded(void **state)
{
    struct world *w = *state;
    isolate(w);
    move(w, MOVE("isolate", "remedy", ",'remedy':'fix'"));
    for (int i = 0; i < 40; i++) {
        CLEANUP_TEXT struct text t = {0};
        text_printf(&t,
                    MOVE("remedy", "remedy",
                         ",'remedy':'fix','attempt':{'remedy':'fix','fault':'f%d','done':false,'text':'',"
                         "'verdict':'-'}"),
                    i);
        move(w, t.s);
        assert_int_equal(world_rc(), 0);
    }
    assert_int_equal(repair(w)->n_attempts, ATTEMPTS_KEPT_MAX);
    assert_string_equal(last_attempt(w)->fault, "f39");
    assert_string_equal(repair(w)->attempts[0].fault, "f8");
}

static void test_another_machine_inherits_nothing(void **state)
{
    struct world *w = *state;
    remedy(w, true);
    effect(w, "{'state':'done','text':'fixed','id':'1.7'}");
    move(w, MOVE("remedy", "examine", ""));
    move(w, MOVE("examine", "replace", ",'remedy':'new','examined':'fail','inconclusive':2"));
    world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted(
            "{'id':'1.5','step':'replace','run':'replace','operation_of':'new','boot':'b1','deadline_s':30}"),
        "1.8");
    effect(w, "{'state':'begun','at':'1','id':'1.8'}");
    effect(w, "{'state':'done','text':'replaced','id':'1.8'}");
    const char *said = move(w, MOVE("replace", "provision", ",'renewed':true"));
    assert_non_null(strstr(said, "closed 1.5.1: replaced"));
    assert_string_equal(step(w), "provision");
    assert_null(member_ailment(cluster_find(w->c, "lx01")));
    assert_int_equal(repair(w)->n_attempts, 1); /* how often it was replaced is of the name */
    assert_string_equal(last_attempt(w)->remedy, "new");
    assert_int_equal(repair(w)->n_notes, 0);
    assert_int_equal(repair(w)->examined, EXAMINED_NOT);
    assert_int_equal(repair(w)->inconclusive, 0);
}

static void test_only_what_is_replaced_is_another_machine(void **state)
{
    struct world *w = *state;
    isolate(w);
    assert_non_null(strstr(move(w, MOVE("isolate", "provision", ",'renewed':true")), "is not replaced"));
    assert_string_equal(step(w), "isolate");
    move(w, MOVE("isolate", "replace", ",'remedy':'new'"));
    move(w, MOVE("replace", "provision", ",'renewed':false"));
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
    isolate(w);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        move(w, bad[i]);
        assert_int_equal(world_rc(), -EINVAL);
    }
    assert_string_equal(step(w), "isolate");
}

/* --- operations ------------------------------------------------------------------------------- */

static void test_an_operation(void **state)
{
    struct world *w = *state;
    isolate(w);
    move(w, MOVE("isolate", "remedy", ",'remedy':'fix','instance':'beef'"));
    w->at = 3000;
    const char *said = operate(w, "1.7");
    assert_non_null(
        strstr(said, quoted("effect/operate.lx01 = {'id':'1.7','run':'node:fix it','of':'fix','boot':'b1',"
                            "'instance':'beef','deadline':'30000003000','done':null}\n")));
    assert_non_null(strstr(said, "lx01: fix: a command on the node\n"));
    assert_string_equal(repair(w)->operation, "1.7");
    assert_string_equal(last_attempt(w)->remedy, "fix");
    assert_string_equal(last_attempt(w)->fault, "xid.79,scratch");
    assert_int_equal(last_attempt(w)->ended.ns, 0);
    assert_string_equal(operate(w, "1.8"), "an operation on node \"lx01\" stands already");
    effect(w, "{'state':'begun','at':'1'}");
    operate(w, "1.8");
    assert_int_equal(world_rc(), -EBUSY);
    effect(w, "{'state':'done','text':''}"); /* it goes with its step */
    operate(w, "1.8");
    assert_int_equal(world_rc(), -EBUSY);
}

static void test_brakes_of_an_operation(void **state)
{
    struct world *w = *state;
    isolate(w);
    assert_non_null(strstr(operate(w, "1.7"), "is at isolate"));
    move(w, MOVE("isolate", "remedy", ",'remedy':'fix','approval':true"));
    assert_string_equal(operate(w, "1.7"), "fix on node \"lx01\" is not approved");
    world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", NULL, NULL);
    world_ask(w, COMMAND_SWITCH, "root", "", quoted("{'name':'stop','on':true}"), "cooling");
    assert_string_equal(operate(w, "1.7"), "all remedies are stopped by root: cooling");
    assert_int_equal(world_rc(), -EBUSY);
    world_ask(w, COMMAND_SWITCH, "root", "", quoted("{'name':'stop','on':false}"), NULL);
    world_configure(w, "lx[02-06]", NULL);
    assert_string_equal(operate(w, "1.7"), "node \"lx01\" is in no configuration file");
    world_configure(w, "lx[01-06]", NULL);
    world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted("{'id':'1.5','step':'remedy','run':'node:x','operation_of':'fix','boot':'b2','deadline_s':1}"),
        "1.7");
    assert_int_equal(world_rc(), -EBUSY); /* it has booted since */
    world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted("{'id':'1.5','step':'remedy','run':'node:x','operation_of':'cut','boot':'b1','deadline_s':1}"),
        "1.7");
    assert_int_equal(world_rc(), -EBUSY); /* another remedy */
    world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted("{'id':'1.5','step':'remedy','run':'check:x','operation_of':'x','boot':'b1','deadline_s':1}"),
        "1.7");
    assert_int_equal(world_rc(), -EINVAL);
    operate(w, "1.7");
    assert_int_equal(world_rc(), 0);
}

/* A journal is searched by these ids. */
static void test_what_follows_has_the_id_of_its_repair(void **state)
{
    struct world *w = *state;
    isolate(w);
    assert_string_equal(world_about(), "1.5.1 1.5.2 1.5");
    move(w, MOVE("isolate", "remedy", ",'remedy':'fix'"));
    assert_string_equal(world_about(), "1.5");
    operate(w, "1.7");
    assert_string_equal(world_about(), "1.5 1.7");
    effect(w, "{'state':'begun','at':'1','id':'1.7'}");
    assert_string_equal(world_about(), "1.7 1.5");
}

static void test_what_slurm_is_told_has_the_id_of_its_claim(void **state)
{
    struct world *w = *state;
    world_tell(w, COMMAND_EFFECT, "",
               quoted("{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'drained','at':'7',"
                      "'reservation':false}}"),
               NULL);
    assert_string_equal(world_about(), "1.5");
    world_tell(w, COMMAND_EFFECT, "", quoted("{'key':'effect/slurm.lx01','done':null}"), NULL);
    assert_string_equal(world_about(), "1.5");
}

static void test_an_examination(void **state)
{
    struct world *w = *state;
    isolate(w);
    move(w, MOVE("isolate", "examine", ""));
    const char *set =
        "{'id':'1.5','step':'examine','run':'check:nccl','operation_of':'nccl','boot':'b1','deadline_s'"
        ":30}";
    world_tell(w, COMMAND_OPERATE, "lx01", quoted(set), "1.7");
    assert_int_equal(world_rc(), 0);
    assert_int_equal(repair(w)->n_attempts, 0); /* it is no remedy */
    effect(w, "{'state':'begun','at':'1'}");
    assert_string_equal(
        effect(w, "{'state':'done','text':'{}'}"),
        quoted("effect/operate.lx01 = {'id':'1.7','run':'check:nccl','of':'nccl','boot':'b1','instance':"
               "'0','deadline':'30000001000','done':{'state':'done','text':'{}'}}\nlx01: nccl: done\n"));
    move(w, MOVE("examine", "examine", "")); /* the next one */
    assert_string_equal(world_record(w, "effect/operate.lx01"), "none");
    world_tell(w, COMMAND_OPERATE, "lx01", quoted(set), "1.8");
    assert_int_equal(world_rc(), 0);
}

/* What is begun is not forgotten: only its end, or a person, lets the step go. */
static void test_what_is_begun_holds_the_step(void **state)
{
    struct world *w = *state;
    remedy(w, true);
    assert_string_equal(move(w, MOVE("remedy", "queue", "")),
                        "what is done to node \"lx01\" has begun, and its end is not known yet");
    assert_int_equal(world_rc(), -EBUSY);
    hand(w, "manual_drain");
    assert_int_equal(world_rc(), -EBUSY);
    effect(w, "{'state':'failed','text':'exit 3'}");
    move(w, MOVE("remedy", "queue", ""));
    assert_string_equal(step(w), "queue");
    assert_string_equal(repair(w)->operation, "");
    assert_string_equal(last_attempt(w)->text, "exit 3");
    assert_int_equal(last_attempt(w)->verdict, '-');
}

static void test_a_person_ends_what_is_begun(void **state)
{
    struct world *w = *state;
    remedy(w, true);
    w->at = 5000;
    assert_non_null(strstr(hand(w, "quarantine"), "lx01: remedy -> quarantine: new cable\n"));
    assert_string_equal(world_record(w, "effect/operate.lx01"), "none");
    assert_string_equal(last_attempt(w)->text, "given up when it had begun: what came of it is not known");
    assert_int_equal(last_attempt(w)->verdict, '0');
    assert_int_equal(last_attempt(w)->ended.ns, 5000);
    assert_string_equal(effect(w, "{'state':'done','text':''}"), "nothing");
}

static void test_what_is_not_begun_goes(void **state)
{
    struct world *w = *state;
    remedy(w, false);
    move(w, MOVE("remedy", "queue", ""));
    assert_string_equal(world_record(w, "effect/operate.lx01"), "none");
    assert_string_equal(last_attempt(w)->text, "not begun");
    assert_int_equal(last_attempt(w)->verdict, '0');
}

/* --- results ---------------------------------------------------------------------------------- */

static void test_results_of_operations(void **state)
{
    struct world *w = *state;
    remedy(w, false);
    assert_string_equal(effect(w, "{'state':'done','text':''}"), "nothing");            /* nobody began it */
    assert_string_equal(effect(w, "{'state':'begun','at':'1','id':'1.3'}"), "nothing"); /* one before */
    assert_string_equal(effect(w, "null"), "nothing");
    assert_non_null(strstr(effect(w, "{'state':'begun','at':'1','id':'1.7'}"), "lx01: fix: begun\n"));
    assert_string_equal(effect(w, "{'state':'begun','at':'2','id':'1.7'}"), "nothing");
    assert_string_equal(effect(w, "null"), "nothing");
    effect(w, "{'state':'away','text':''}");
    assert_int_equal(world_rc(), -EINVAL);
    effect(w, "{'state':'done'}");
    assert_int_equal(world_rc(), -EINVAL);
    assert_non_null(
        strstr(effect(w, "{'state':'unknown','text':'cut off'}"), "lx01: fix: unknown: cut off\n"));
    assert_string_equal(effect(w, "{'state':'done','text':''}"), "nothing"); /* it has ended */
}

static void test_an_operation_can_be_refused(void **state)
{
    struct world *w = *state;
    remedy(w, false);
    assert_non_null(
        strstr(effect(w, "{'state':'refused','text':'work runs'}"), "lx01: fix: refused: work runs\n"));
    move(w, MOVE("remedy", "remedy", ",'remedy':'fix'"));
    assert_int_equal(last_attempt(w)->verdict, '0');
    assert_string_equal(last_attempt(w)->boot, ""); /* nothing was done on it */
    assert_string_equal(last_attempt(w)->text, "work runs");
}

static void test_slurm(void **state)
{
    struct world *w = *state;
    const char *drained =
        "{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'drained','at':'7','reservation'"
        ":false}}";
    assert_string_equal(
        world_tell(w, COMMAND_EFFECT, "", quoted("{'key':'effect/slurm.lx01','done':null}"), NULL),
        "nothing");
    assert_string_equal(
        world_tell(w, COMMAND_EFFECT, "", quoted(drained), NULL),
        quoted("effect/slurm.lx01 = {'id':'1000','claim':'1.5','state':'drained','at':'7','reservation':"
               "false}\nlx01: Slurm: drained\n"));
    w->at = 2000;
    assert_string_equal(world_tell(w, COMMAND_EFFECT, "", quoted(drained), NULL), "nothing");
    assert_string_equal(cluster_effect_value(w->c, "effect/slurm.lx01"),
                        world_record(w, "effect/slurm.lx01"));
    world_tell(
        w, COMMAND_EFFECT, "",
        quoted(
            "{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'gone','at':'7','reservation':false}}"),
        NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_tell(w, COMMAND_EFFECT, "", quoted("{'key':'effect/slurm.lx[1]','done':null}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_tell(
        w, COMMAND_EFFECT, "",
        quoted(
            "{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'reserved','at':'7','reservation':true,"
            "'slurmctld':'2026-11-21T20:00:00'}}"),
        NULL);
    assert_int_equal(world_rc(), 0);
    assert_non_null(strstr(
        world_tell(w, COMMAND_EFFECT, "",
                   quoted("{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'reserved','at':'7',"
                          "'reservation':false,'refused':true}}"),
                   NULL),
        "lx01: Slurm: reserved for Fettle, its reservation deleted by a person\n"));
    assert_non_null(strstr(
        world_tell(w, COMMAND_EFFECT, "",
                   quoted("{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'undraining','at':'7',"
                          "'reservation':false,'log':'47:11','lost':{'reason':'fan, Di','how':'fail'}}}"),
                   NULL),
        "lx01: Slurm: Fettle's drain is being taken back; Fettle's write undid somebody's of that moment, "
        "which is "
        "to be put back: fan, Di\n"));
    assert_non_null(strstr(
        world_tell(w, COMMAND_EFFECT, "",
                   quoted("{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'undraining','at':'7',"
                          "'reservation':false,'log':'47:11'}}"),
                   NULL),
        "lx01: Slurm: Fettle's drain is being taken back; somebody holds it again, after a write of Fettle's "
        "undid "
        "this: fan, Di\n"));
    assert_string_equal(
        world_tell(w, COMMAND_EFFECT, "", quoted("{'key':'effect/slurm.lx01','done':null}"), NULL),
        "effect/slurm.lx01 = gone\nlx01: Slurm: Fettle's drain is taken back\n");
    assert_null(cluster_effect_value(w->c, "effect/slurm.lx01"));
}

#define TAKEN                                                                                               \
    "{'by':'ann','source':'Slurm','effect':{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'overr" \
    "idden','at':'7','reservation':false}}}"

/* In one commit with what Slurm's driver notes, and once. */
static void test_an_override_in_slurm(void **state)
{
    struct world *w = *state;
    isolate(w);
    assert_string_equal(
        world_tell(w, COMMAND_OVERRIDE, "lx01", quoted(TAKEN), NULL),
        quoted(
            "effect/slurm.lx01 = {'id':'1000','claim':'1.5','state':'overridden','at':'7','reservation':"
            "false}\noverride/lx01 = {'by':'ann','source':'Slurm','why':'','at':'1000','spent_s':0,'of':[{"
            "'group':'gpu 0','fault':'xid.79','severity':'fatal'}]}\nlx01: ann took it back in Slurm: it is "
            "in service by that word, in spite of xid.79 gpu 0 (fatal)\n"));
    assert_string_equal(world_tell(w, COMMAND_OVERRIDE, "lx01", quoted(TAKEN), NULL), "nothing");
    const struct override *o = member_override(cluster_find(w->c, "lx01"));
    assert_true(override_covers(o, "gpu 0", RESULT_FATAL));
    assert_false(override_covers(o, "gpu 0", RESULT_LOST));
    assert_false(override_covers(o, "gpu 1", RESULT_DEGRADED));
    world_tell(w, COMMAND_OVERRIDE, "lx02", quoted(TAKEN), NULL);
    assert_int_equal(world_rc(), -EINVAL);
}

static const char * override(struct world *w, enum command_kind kind, const char *set)
{
    return world_ask(w, kind, "ann", "lx01", quoted(set), "a demo");
}

/* That it was proposed before the person spoke makes no difference. */
static void test_an_isolation_comes_after_the_override_that_covers_it(void **state)
{
    struct world *w = *state;
    override(w, COMMAND_OVERRIDE, "{}");
    world_tell(
        w, COMMAND_FINDINGS, "lx01",
        quoted("{'boot':'b1','open':[{'id':null,'group':'','severity':'warn','act':'watch','recurs':0,"
               "'observe':false,'findings':[{'check':'home','result':'warn','device':'','code':'','text':"
               "''}]}],'isolate':{'problem':'node_problem','why':'xid.79','deadline_s':60}}"),
        "1.6");
    assert_null(member_repair(cluster_find(w->c, "lx01")));
    assert_non_null(member_override(cluster_find(w->c, "lx01")));
}

static void test_an_override_ends(void **state)
{
    struct world *w = *state;
    override(w, COMMAND_OVERRIDE_END, "{}");
    assert_int_equal(world_rc(), -EBUSY);
    override(w, COMMAND_OVERRIDE, "{}");
    assert_string_equal(override(w, COMMAND_OVERRIDE_AGE, "{'at':'1000','spent_s':9}"),
                        quoted("override/lx01 = {'by':'ann','source':'command','why':'a demo','at':'1000',"
                               "'spent_s':9,'of':[]}\nlx01: the override by ann has stood for 9s\n"));
    assert_string_equal(override(w, COMMAND_OVERRIDE_AGE, "{'at':'1000','spent_s':8}"), "nothing");
    assert_string_equal(override(w, COMMAND_OVERRIDE_END, "{'at':'999'}"), "nothing");
    assert_string_equal(override(w, COMMAND_OVERRIDE_END, "{'at':'1000'}"),
                        "override/lx01 = gone\nlx01: the override by ann ends: a demo\n");
    override(w, COMMAND_OVERRIDE, "{}");
    isolate(w);
    assert_null(member_override(cluster_find(w->c, "lx01")));
    override(w, COMMAND_OVERRIDE, "{}");
    assert_non_null(strstr(hand(w, "manual_drain"), "; the override by ann ends: it is drained by hand\n"));
    override(w, COMMAND_OVERRIDE, "{}"); /* a person wants it out by now */
    assert_int_equal(world_rc(), -EBUSY);
    assert_int_equal(cluster_put(w->c, "override/lx01", "{\"by\":\"ann\"}", NULL), -EILSEQ);
}

/* --- people ----------------------------------------------------------------------------------- */

static void test_manual_drain(void **state)
{
    struct world *w = *state;
    const char *said = hand(w, "manual_drain");
    assert_non_null(strstr(said, "lx01: isolate: new cable (claim 7.1)\n"));
    assert_string_equal(world_claims(w, "lx01"), "7.1 repair by ann: [manual] new cable");
    assert_string_equal(repair(w)->problem, "manual");
    assert_true(repair(w)->manual);
    assert_string_equal(repair(w)->notes[0].text, "new cable");
    assert_string_equal(hand(w, "manual_drain"), "nothing");
    move(w, "{'id':'7.1','from':'isolate','to':'provision','why':'nothing is open'}");
    assert_int_equal(world_rc(), -EBUSY); /* to the work queue, and nowhere else */
    move(w, "{'id':'7.1','from':'isolate','to':'queue','why':'drained'}");
    assert_string_equal(world_state(w, "lx01"), "work_queue");
    assert_non_null(strstr(hand(w, "manual_drain"), "it waits for a person already"));
    hand(w, "human_intervention");
    assert_string_equal(world_state(w, "lx01"), "provisioning");
    assert_false(repair(w)->manual);
    world_configure(w, "lx[02-06]", NULL);
    cluster_put(w->c, "repair/lx01", NULL, NULL);
    hand(w, "manual_drain");
    assert_int_equal(world_rc(), -ENOENT);
}

/* From each step in which Fettle does something. */
static void test_manual_drain_in_a_repair(void **state)
{
    static const struct {
        const char *way, *to;
    } ways[] = {{"examine", "isolate"}, {"remedy", "queue"}, {"replace", "queue"}, {"provision", "isolate"}};
    struct world *w = *state;
    isolate(w);
    hand(w, "manual_drain");
    assert_string_equal(step(w), "isolate");
    assert_true(repair(w)->manual);
    assert_int_equal(repair(w)->deadline.ns, 60000001000); /* its work still ends in time */
    assert_string_equal(repair(w)->problem, "node_problem");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        world_destroy(w);
        *state = w = world_create();
        isolate(w);
        text_printf(&t, "{'id':'1.5','from':'isolate','to':'%s','why':'x','remedy':'fix'}", ways[i].way);
        move(w, t.s);
        assert_string_equal(step(w), ways[i].way);
        world_say(w, COMMAND_TRANSITION, "ann", "lx01",
                  quoted("{'transition':'manual_drain','deadline_s':60}"), "new cable");
        assert_string_equal(step(w), ways[i].to);
        assert_true(repair(w)->manual);
        bool queued = strcmp(ways[i].to, "queue") == 0; /* there is nothing to drain any more */
        assert_int_equal(repair(w)->deadline.ns, queued ? 0 : repair(w)->since.ns + span_s(60).ns);
    }
}

static void test_human_intervention(void **state)
{
    struct world *w = *state;
    assert_string_equal(
        hand(w, "human_intervention"),
        "human_intervention is for nodes that wait for a person: node \"lx01\" is in step none: there is no "
        "repair");
    isolate(w);
    assert_non_null(strstr(hand(w, "human_intervention"), "is in step isolate"));
    move(w, MOVE("isolate", "queue", ""));
    assert_non_null(strstr(hand(w, "human_intervention"), "lx01: queue -> provision: new cable\n"));
    assert_string_equal(repair(w)->notes[0].by, "ann");
    assert_string_equal(repair(w)->boot, "");
    world_say(w, COMMAND_TRANSITION, "ann", "lx01", quoted("{'transition':'quarantine'}"), "smoke");
    assert_string_equal(world_state(w, "lx01"), "quarantined");
    assert_string_equal(hand(w, "quarantine"), "nothing");
    hand(w, "retire");
    assert_string_equal(world_state(w, "lx01"), "retired");
    assert_string_equal(world_claims(w, "lx01"), "1.5 repair by fettled: [node_problem] xid.79");
    hand(w, "quarantine");
    assert_int_equal(world_rc(), -EBUSY);
    hand(w, "human_intervention");
    assert_string_equal(step(w), "provision");
}

static void test_bad_transitions(void **state)
{
    struct world *w = *state;
    isolate(w);
    hand(w, "retire");
    assert_int_equal(world_rc(), -EBUSY);
    world_say(w, COMMAND_TRANSITION, "ann", "lx01", quoted("{'transition':'quarantine'}"), "two\nlines");
    assert_int_equal(world_rc(), -EINVAL);
    world_say(w, COMMAND_TRANSITION, "ann", "lx01", quoted("{'transition':'quarantine'}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_say(w, COMMAND_TRANSITION, "ann", "lx99", quoted("{'transition':'quarantine'}"), "x");
    assert_int_equal(world_rc(), -ENOENT);
    world_configure(w, "lx[02-06]", NULL); /* the node goes, and people can still say so */
    hand(w, "quarantine");
    assert_string_equal(step(w), "quarantine");
}

static void test_names_of_transitions(void **state)
{
    enum by_hand h;
    struct err e;
    for (int i = 0; i < BY_HANDS; i++) {
        assert_int_equal(by_hand_parse(by_hand_name((enum by_hand)i), &h, &e), 0);
        assert_int_equal(h, i);
    }
    assert_int_equal(by_hand_parse("resume", &h, &e), -EINVAL);
    assert_string_equal(e.msg, "\"resume\" is no transition: human_intervention, manual_drain, quarantine, "
                               "retire, maintenance, restart, maintenance_over");
}

/* A person interfered: what was tried before counts for nobody. */
static void test_interference_is_not_judged(void **state)
{
    struct world *w = *state;
    remedy(w, true);
    effect(w, "{'state':'done','text':''}");
    move(w, MOVE("remedy", "provision", ""));
    assert_int_equal(last_attempt(w)->verdict, '?');
    hand(w, "manual_drain");
    assert_int_equal(last_attempt(w)->verdict, '0');
}

static void test_tickets(void **state)
{
    struct world *w = *state;
    assert_non_null(strstr(world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL),
                           "is in step none"));
    isolate(w);
    world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL);
    assert_int_equal(world_rc(), -EBUSY); /* not in the queue */
    assert_non_null(
        strstr(world_ask(w, COMMAND_TICKET, "ann", "lx01", NULL, "smells"), "lx01: noted: smells\n"));
    move(w, MOVE("isolate", "queue", ""));
    assert_non_null(
        strstr(world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL), "lx01: taken\n"));
    assert_string_equal(world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL),
                        "nothing");
    assert_string_equal(world_ask(w, COMMAND_TICKET, "bob", "lx01", quoted("{'take':true}"), NULL),
                        "node \"lx01\" was taken by ann");
    assert_string_equal(repair(w)->taken_by, "ann");
    world_ask(w, COMMAND_TICKET, "bob", "lx01", quoted("{'take':false}"), "she is ill");
    assert_null(repair(w)->taken_by);
    assert_int_equal(repair(w)->n_notes, 2);
    world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{}"), NULL);
    assert_int_equal(world_rc(), -EINVAL);
    for (int i = 0; i < 20; i++)
        world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{}"), i == 19 ? "the last" : "x");
    assert_int_equal(repair(w)->n_notes, NOTES_KEPT_MAX);
    assert_string_equal(repair(w)->notes[15].text, "the last");
    world_ask(w, COMMAND_TICKET, "ann", "lx01", quoted("{'take':true}"), NULL);
    hand(w, "human_intervention");
    assert_null(repair(w)->taken_by);
}

static void test_approval(void **state)
{
    struct world *w = *state;
    isolate(w);
    assert_non_null(strstr(world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", NULL, NULL),
                           "no remedy waits for approval"));
    move(w, MOVE("isolate", "remedy", ",'remedy':'fix'"));
    assert_non_null(
        strstr(world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", NULL, NULL), "nobody's approval"));
    move(w, MOVE("remedy", "remedy", ",'remedy':'fix','approval':true,'deadline_s':600"));
    struct wall asked = repair(w)->since;
    w->at += span_s(86400).ns;
    world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", quoted("{'remedy':'cut'}"), NULL);
    assert_int_equal(world_rc(), -EBUSY); /* another one than she saw */
    assert_non_null(
        strstr(world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", quoted("{'remedy':'fix'}"), "go ahead"),
               "lx01: fix approved: go ahead\n"));
    assert_string_equal(repair(w)->approver, "ann: go ahead");
    assert_int_equal(repair(w)->approval, APPROVAL_GIVEN);
    assert_int_equal(repair(w)->deadline.ns - repair(w)->since.ns, span_s(600).ns); /* from now on */
    assert_int_equal(repair(w)->since.ns - asked.ns, span_s(86400).ns);
    assert_string_equal(world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", NULL, NULL), "nothing");
    move(w, MOVE("remedy", "remedy", ",'remedy':'cut','approval':true")); /* the next one needs its own */
    assert_int_equal(repair(w)->approval, APPROVAL_WANTED);
    assert_null(repair(w)->approver);
    assert_non_null(strstr(world_ask(w, COMMAND_REPAIR_REFUSE, "ann", "lx01", NULL, "too old"),
                           "lx01: cut refused: too old\n"));
    assert_string_equal(step(w), "queue");
    assert_string_equal(repair(w)->why, "ann refused cut: too old");
    assert_int_equal(repair(w)->approval, APPROVAL_REFUSED);
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

/* A repair is not ended by what ends a drain. */
static void test_a_repair_claim_is_not_released(void **state)
{
    struct world *w = *state;
    isolate(w);
    assert_non_null(strstr(world_do(w, COMMAND_UNDRAIN, "root", "lx01", NULL, "1.5"), "human_intervention"));
    assert_int_equal(world_rc(), -EACCES);
    assert_non_null(strstr(world_do(w, COMMAND_UP, "root", "lx01", NULL, "1.5"), "`fettle repair`"));
    assert_string_equal(world_do(w, COMMAND_UNDRAIN, "fettled", "lx01", NULL, NULL), "nothing");
    move(w, MOVE("isolate", "provision", ""));
    assert_non_null(strstr(world_do(w, COMMAND_UP, "root", "lx01", NULL, NULL), "is provisioning"));
    assert_int_equal(world_rc(), -EBUSY);
}

/* A person drains, and takes the drain back, in the middle: nothing changes for the repair. */
static void test_a_drain_beside_a_repair(void **state)
{
    struct world *w = *state;
    isolate(w);
    world_do(w, COMMAND_DRAINED, "fettled", "lx01", NULL, NULL);
    world_do(w, COMMAND_DRAIN, "ann", "lx01", "mine", "1.6");
    assert_string_equal(world_state(w, "lx01"), "drained");
    CLEANUP_FREE char *before = mem_dup(world_record(w, "repair/lx01"));
    world_do(w, COMMAND_UNDRAIN, "ann", "lx01", NULL, NULL);
    assert_string_equal(world_record(w, "repair/lx01"), before);
    assert_string_equal(world_claims(w, "lx01"), "1.5 repair by fettled: [node_problem] xid.79 (drained)");
}

#define REPAIR(from, to)                                                                                     \
    "{'id':'1.5','step':'isolate','began':'1','since':'1','deadline':'0','boot':'','instance':'0','problem'" \
    ":'',"                                                                                                   \
    "'why':'','remedy':'','operation':'','approval':'none','approver':null,'examined':'not','inconclusive':" \
    "0,"                                                                                                     \
    "'manual':false,'taken_by':null,'attempts':[],'notes':[]}",                                              \
        from, to

static void test_damaged_records_are_refused(void **state)
{
    static const struct {
        const char *record, *from, *to, *why;
    } bad[] = {
        {REPAIR("'isolate'", "'asleep'"),
         "record repair/lx01: \"asleep\" is no step that this version knows"},
        {REPAIR("'id':'1.5'", "'id':''"), "a repair without id"},
        {REPAIR("'none'", "'maybe'"), "approval: \"maybe\" is none that this version knows"},
        {REPAIR("'not'", "'half'"), "examined: \"half\" is nothing that this version knows"},
        {REPAIR("'instance':'0'", "'instance':'0x1'"), "instance: \"0x1\" is no number in hex"},
        {REPAIR("'attempts':[]", "'attempts':[7]"), "attempt 1: no object"},
        {REPAIR("'notes':[]", "'notes':[{'at':'1','by':'a'}]"), "note 1: \"text\" is missing"},
        {REPAIR("'notes':[]", "'notes':{}"), "\"notes\" is no array of at most 16"},
        {REPAIR("'manual':false", "'manual':0"), "manual"},
        {REPAIR("'why':''", "'why':7"), "why"},
        {REPAIR("'boot':''", "'boot':'a b'"), "\"a b\" is no boot id"},
        {REPAIR("'deadline':'0'", "'deadline':'-1'"), "deadline"},
        {REPAIR("{'id'", "{'more':1,'id'"), "more"},
    };
    struct world *w = *state;
    uint64_t before = cluster_digest(w->c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        struct err e = {0};
        const char *at = strstr(bad[i].record, bad[i].from);
        text_add_bytes(&t, bad[i].record, (size_t)(at - bad[i].record));
        text_printf(&t, "%s%s", bad[i].to, at + strlen(bad[i].from));
        assert_int_equal(cluster_put(w->c, "repair/lx01", quoted(t.s), &e), -EILSEQ);
        if (!strstr(e.msg, bad[i].why))
            fail_msg("%s", e.msg);
        assert_true(cluster_digest(w->c) == before);
    }
    assert_int_equal(cluster_put(w->c, "repair/lx01", quoted(bad[0].record), NULL), 0);
    assert_int_equal(cluster_put(w->c, "effect/operate.lx01", "{\"id\":\"1\"}", NULL), -EILSEQ);
    assert_int_equal(cluster_put(w->c, "effect/slurm.lx01", "{\"id\":\"1\"}", NULL), -EILSEQ);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

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
    isolate(w);
    assert_string_equal(cluster_claim(w->c, "1.5")->reason, "[node_problem] xid.79");
    assert_string_equal(cluster_claim(w->c, "1.5")->words, "xid.79");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_step),
        TEST(test_the_words_of_a_claim_are_without_the_problem),
        TEST(test_only_the_moves_of_the_table),
        TEST(test_who_waits_for_a_person),
        TEST(test_a_person_answers_for_what_is_open),
        TEST(test_a_person_answers_for_single_findings),
        TEST(test_a_word_on_single_findings_stands_on_the_way_back),
        TEST(test_a_word_stands_for_a_node_that_is_not_back_in_time),
        TEST(test_what_came_back_is_not_answered_for),
        TEST(test_an_answer_of_an_older_record),
        TEST(test_a_repair_begins_and_ends),
        TEST(test_a_node_that_was_never_heard_is_not_admitted),
        TEST(test_attempts_are_remembered),
        TEST(test_attempts_are_bounded),
        TEST(test_another_machine_inherits_nothing),
        TEST(test_only_what_is_replaced_is_another_machine),
        TEST(test_bad_moves),
        TEST(test_an_operation),
        TEST(test_brakes_of_an_operation),
        TEST(test_what_follows_has_the_id_of_its_repair),
        TEST(test_what_slurm_is_told_has_the_id_of_its_claim),
        TEST(test_an_examination),
        TEST(test_what_is_begun_holds_the_step),
        TEST(test_a_person_ends_what_is_begun),
        TEST(test_what_is_not_begun_goes),
        TEST(test_results_of_operations),
        TEST(test_an_operation_can_be_refused),
        TEST(test_slurm),
        TEST(test_an_override_in_slurm),
        TEST(test_an_isolation_comes_after_the_override_that_covers_it),
        TEST(test_an_override_ends),
        TEST(test_manual_drain),
        TEST(test_manual_drain_in_a_repair),
        TEST(test_human_intervention),
        TEST(test_bad_transitions),
        TEST(test_names_of_transitions),
        TEST(test_interference_is_not_judged),
        TEST(test_tickets),
        TEST(test_approval),
        TEST(test_switches),
        TEST(test_a_repair_claim_is_not_released),
        TEST(test_a_drain_beside_a_repair),
        TEST(test_damaged_records_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
