/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct member *lx01(const struct world *w)
{
    return cluster_find(w->c, "lx01");
}

static const char *step(const struct world *w)
{
    const struct repair *r = member_repair(lx01(w));
    return step_name(r ? r->step : STEP_NONE);
}

static const char *known(struct world *w, const char *nodes, const char *set)
{
    return world_tell(w, COMMAND_MACHINE, nodes, quoted(set), NULL);
}

#define INSTANCE(was, is, act)                                                                  \
    "{'was':'serial " was "','is':'serial " is "','act':" act ",'boot':'b2','instance':'beef'," \
    "'deadline_s':60,'keep':['swap'],'examine':false}"

static const char *becomes(struct world *w, const char *set)
{
    return world_tell(w, COMMAND_INSTANCE, "lx01", quoted(set), "1.9");
}

/* lx01 is of machine AAA, isolated for a fault, with a maintenance event. */
static void isolate(struct world *w)
{
    known(w, "lx01", "{'machines':{'lx01':{'machine':'serial AAA'}}}");
    world_tell(
        w, COMMAND_FINDINGS, "lx01",
        quoted("{'boot':'b1','open':[{'id':null,'group':'gpu 0','severity':'fatal','act':'reset','recurs':0,"
               "'observe':false,'findings':[{'check':'kernel.gpu','result':'fatal','device':'gpu 0','code':"
               "'xid.79','text':'off the bus'}]}],'isolate':{'problem':'node_problem','why':'xid.79',"
               "'deadline_s':60}}"),
        "1.5");
    lx01_transition(w, "maintenance", "host retires");
    assert_string_equal(step(w), "isolate");
}

static void tries(struct world *w, const char *remedy)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set,
                "{\"id\":\"1.5\",\"from\":\"%s\",\"to\":\"remedy\",\"why\":\"w\",\"remedy\":\"%s\","
                "\"attempt\":{\"remedy\":\"%s\",\"fault\":\"xid.79\",\"done\":true,\"text\":\"\","
                "\"verdict\":\"-\"}}",
                step(w), remedy, remedy);
    world_tell(w, COMMAND_REPAIR, "lx01", set.s, "1.6");
    assert_int_equal(world_rc(), 0);
}

static void test_it_is_written_down_once(void **state)
{
    struct world *w = *state;
    w->at = 2000;
    const char *said = known(w, "lx[01-02]",
                             "{'machines':{'lx01':{'machine':'serial AAA'},'lx02':{'machine':'board BBB'}}}");
    assert_non_null(
        strstr(said, "machine/lx01 = {\"machine\":\"serial AAA\",\"since\":\"2000\",\"before\":[]}"));
    assert_non_null(strstr(said, "lx[01-02]: the identity of the machine is known"));
    assert_string_equal(known(w, "lx01", "{'machines':{'lx01':{'machine':'serial AAA'}}}"), "nothing");
    /* that it is another one is not said in this way; that the same has a surer name is */
    assert_string_equal(known(w, "lx01", "{'machines':{'lx01':{'machine':'serial CCC'}}}"), "nothing");
    assert_string_equal(known(w, "lx01", "{'machines':{'lx01':{'machine':'serial CCC','was':'serial DDD'}}}"),
                        "nothing");
    w->at = 3000;
    known(w, "lx02", "{'machines':{'lx02':{'machine':'serial CCC','was':'board BBB'}}}");
    assert_string_equal(world_record(w, "machine/lx02"),
                        quoted("{'machine':'serial CCC','since':'2000','before':[]}"));
    known(w, "lx02", "{'machines':{'lx02':{'machine':'AAA'}}}");
    assert_int_equal(world_rc(), -EINVAL);
    known(w, "lx02", "{'machines':[]}");
    assert_int_equal(world_rc(), -EINVAL);
}

static void test_another_machine_inherits_nothing(void **state)
{
    struct world *w = *state;
    isolate(w);
    tries(w, "fix");
    tries(w, "swap");
    world_say(w, COMMAND_TICKET, "ann", "lx01", "{}", "looked at it");
    w->at = 5000;
    const char *said = becomes(w, INSTANCE("AAA", "BBB", "true"));
    assert_non_null(strstr(said,
                           "another machine has its name: serial BBB, before it serial AAA; closed 1.5.1: "
                           "another machine; remedy -> provision\n"));
    assert_string_equal(step(w), "provision");
    const struct repair *r = member_repair(lx01(w));
    assert_int_equal(r->n_attempts, 1); /* how often it was replaced is of the name */
    assert_string_equal(r->attempts[0].remedy, "swap");
    assert_int_equal(r->n_notes, 0);
    assert_string_equal(r->problem, "new_instance");
    assert_string_equal(r->boot, "b2");
    assert_int_equal(r->instance, 0xbeef);
    assert_int_equal(r->deadline.ns, INT64_C(60000005000));
    assert_null(member_ailment(lx01(w)));
    assert_null(member_maintenance(lx01(w)));
    assert_string_equal(
        world_record(w, "machine/lx01"),
        quoted("{'machine':'serial BBB','since':'5000','before':[{'machine':'serial AAA','until':'5000'}]}"));
    assert_string_equal(becomes(w, INSTANCE("AAA", "BBB", "true")), "nothing");
    becomes(w, INSTANCE("AAA", "CCC", "true")); /* that was before */
    assert_int_equal(world_rc(), -EBUSY);
}

static void test_one_in_service_is_provisioned(void **state)
{
    struct world *w = *state;
    known(w, "lx01", "{'machines':{'lx01':{'machine':'serial AAA'}}}");
    w->at = 2000;
    assert_non_null(strstr(becomes(w, INSTANCE("AAA", "BBB", "true")), "; provision (claim 1.9)\n"));
    assert_string_equal(step(w), "provision");
    assert_true(member_held_by(lx01(w), CLAIM_REPAIR));
    assert_false(member_is_new(lx01(w))); /* the name was in service */
}

static void test_a_controller_that_only_observes_forgets_and_says_so(void **state)
{
    struct world *w = *state;
    known(w, "lx01", "{'machines':{'lx01':{'machine':'serial AAA'}}}");
    becomes(w, INSTANCE("AAA", "BBB", "false"));
    assert_string_equal(step(w), "none");
    isolate(w); /* as it is BBB now, nothing of AAA is written */
    becomes(w, INSTANCE("BBB", "CCC", "false"));
    assert_string_equal(step(w), "isolate");
    assert_null(member_ailment(lx01(w)));
}

static void test_steps_of_a_person_stay(void **state)
{
    static const char *const moves[] = {"manual_drain", "quarantine", "retire"};
    struct world *w = *state;
    isolate(w);
    lx01_transition(w, moves[0], "mine");
    becomes(w, INSTANCE("AAA", "BBB", "true"));
    assert_string_equal(step(w), "isolate");
    assert_true(member_repair(lx01(w))->manual);
    world_tell(w, COMMAND_REPAIR, "lx01",
               quoted("{'id':'1.5','from':'isolate','to':'queue','why':'drained by hand'}"), "1.6");
    becomes(w, INSTANCE("BBB", "CCC", "true"));
    assert_string_equal(step(w), "queue");
    lx01_transition(w, moves[1], "mine");
    assert_non_null(strstr(becomes(w, INSTANCE("CCC", "DDD", "true")), "; it stays at quarantine\n"));
    lx01_transition(w, moves[2], "mine");
    becomes(w, INSTANCE("DDD", "EEE", "true"));
    assert_string_equal(step(w), "retired");
    const struct repair *r = member_repair(lx01(w));
    assert_string_equal(r->notes[r->n_notes - 1].text,
                        "another machine has its name: serial EEE, before it serial DDD");
    assert_string_equal(r->notes[0].text, "mine");
}

/* What was known of it went with it, and so did that a remedy was to be verified. */
static void test_one_that_had_the_name_before_is_examined(void **state)
{
    struct world *w = *state;
    const char *again = "{'was':'serial AAA','is':'serial BBB','act':true,'boot':'b2','instance':'beef',"
                        "'deadline_s':60,'keep':[],'examine':true}";
    known(w, "lx01", "{'machines':{'lx01':{'machine':'serial AAA'}}}");
    assert_non_null(strstr(becomes(w, again), "; examine (claim 1.9)\n"));
    assert_string_equal(step(w), "examine");
    assert_int_equal(member_repair(lx01(w))->examined, EXAMINED_NOT);
}

static void operates(struct world *w, const char *run)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set,
                "{\"id\":\"1.5\",\"step\":\"remedy\",\"run\":\"%s\",\"operation_of\":\"fix\",\"boot\":\"b1\","
                "\"deadline_s\":60}",
                run);
    world_tell(w, COMMAND_OPERATE, "lx01", set.s, "1.7");
    assert_int_equal(world_rc(), 0);
    world_tell(w, COMMAND_EFFECT, "",
               quoted("{'key':'effect/operate.lx01','done':{'state':'begun','id':'1.7','at':'5000'}}"), NULL);
    assert_int_equal(world_rc(), 0);
}

/* A driver does to whichever machine is there what it has begun; an agent went with its machine. */
static void test_an_operation_begun_by_a_driver_is_waited_for(void **state)
{
    struct world *w = *state;
    isolate(w);
    tries(w, "fix");
    operates(w, "power.cycle");
    becomes(w, INSTANCE("AAA", "BBB", "true"));
    assert_int_equal(world_rc(), -EBUSY);
    world_tell(
        w, COMMAND_EFFECT, "",
        quoted("{'key':'effect/operate.lx01','done':{'state':'failed','id':'1.7','text':'no answer'}}"),
        NULL);
    becomes(w, INSTANCE("AAA", "BBB", "true"));
    assert_string_equal(step(w), "provision");
}

static void test_an_operation_begun_by_an_agent_is_given_up(void **state)
{
    struct world *w = *state;
    isolate(w);
    tries(w, "fix");
    operates(w, "node:fix");
    becomes(w, INSTANCE("AAA", "BBB", "true"));
    assert_string_equal(step(w), "provision");
    assert_null(cluster_effect_value(w->c, "effect/operate.lx01"));
}

static void test_a_replacement_says_which_machine_came(void **state)
{
    struct world *w = *state;
    isolate(w);
    world_tell(w, COMMAND_REPAIR, "lx01",
               quoted("{'id':'1.5','from':'isolate','to':'replace','why':'w','remedy':'swap'}"), "1.6");
    w->at = 7000;
    world_tell(
        w, COMMAND_REPAIR, "lx01",
        quoted("{'id':'1.5','from':'replace','to':'provision','why':'w','renewed':true,'machine':'BBB'}"),
        "1.7");
    assert_int_equal(world_rc(), -EINVAL);
    world_tell(
        w, COMMAND_REPAIR, "lx01",
        quoted("{'id':'1.5','from':'replace','to':'examine','why':'w','renewed':true,'machine':'serial "
               "BBB'}"),
        "1.7");
    assert_string_equal(step(w), "examine");
    assert_string_equal(
        world_record(w, "machine/lx01"),
        quoted("{'machine':'serial BBB','since':'7000','before':[{'machine':'serial AAA','until':'7000'}]}"));
}

static void test_within_a_replacement_it_is_that_replacement(void **state)
{
    struct world *w = *state;
    isolate(w);
    world_tell(w, COMMAND_REPAIR, "lx01",
               quoted("{'id':'1.5','from':'isolate','to':'replace','why':'w','remedy':'swap'}"), "1.6");
    becomes(w, INSTANCE("AAA", "BBB", "true"));
    assert_int_equal(world_rc(), -EBUSY);
    world_tell(w, COMMAND_REPAIR, "lx01",
               quoted("{'id':'1.5','from':'replace','to':'provision','why':'w','renewed':true}"), "1.7");
    assert_null(member_machine(lx01(w))); /* that it is BBB will be said */
    assert_null(member_maintenance(lx01(w)));
}

static void test_it_does_not_change_for_ever(void **state)
{
    struct world *w = *state;
    const int64_t hour = INT64_C(3600000000000);
    w->at = hour;
    known(w, "lx01", "{'machines':{'lx01':{'machine':'serial AAA'}}}");
    becomes(w, INSTANCE("AAA", "BBB", "true"));
    becomes(w, INSTANCE("BBB", "AAA", "true"));
    assert_int_equal(world_rc(), -EBUSY);
    becomes(w, INSTANCE("BBB", "CCC", "true"));
    becomes(w, INSTANCE("CCC", "DDD", "true"));
    becomes(w, INSTANCE("DDD", "EEE", "true"));
    assert_int_equal(world_rc(), 0);
    becomes(w, INSTANCE("EEE", "FFF", "true")); /* four of them within an hour */
    assert_int_equal(world_rc(), -EBUSY);
    w->at += hour - 1;
    becomes(w, INSTANCE("EEE", "AAA", "true"));
    assert_int_equal(world_rc(), -EBUSY);
    w->at++;
    becomes(w, INSTANCE("EEE", "AAA", "true"));
    assert_int_equal(world_rc(), 0);
    assert_int_equal(member_machine(lx01(w))->n_before, MACHINES_KEPT_MAX);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_it_is_written_down_once),
        TEST(test_another_machine_inherits_nothing),
        TEST(test_one_in_service_is_provisioned),
        TEST(test_a_controller_that_only_observes_forgets_and_says_so),
        TEST(test_steps_of_a_person_stay),
        TEST(test_within_a_replacement_it_is_that_replacement),
        TEST(test_it_does_not_change_for_ever),
        TEST(test_one_that_had_the_name_before_is_examined),
        TEST(test_an_operation_begun_by_a_driver_is_waited_for),
        TEST(test_an_operation_begun_by_an_agent_is_given_up),
        TEST(test_a_replacement_says_which_machine_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
