/* SPDX-License-Identifier: Apache-2.0 */
/* What the journal says for programs of each command: fields, as entry.h has them. */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_fields(const char *expected)
{
    assert_int_equal(world_rc(), 0);
    assert_string_equal(world_fields(), quoted(expected));
}

static void tell(struct world *w, enum command_kind kind, const char *set, const char *claim)
{
    world_tell(w, kind, "lx01", quoted(set), claim);
}

static void say(struct world *w, enum command_kind kind, const char *set)
{
    world_say(w, kind, "ann", "lx01", quoted(set), "because");
}

#define FOUND "{'check':'scratch','result':'fatal','device':'','code':'','text':'isolated: '}"
#define OPENS                                                                                               \
    "'open':[{'id':null,'group':'','severity':'fatal','act':'reset','recurs':0,'observe':false,'findings':" \
    "[" FOUND "]}]"
#define MOVE(from, to, more) "{'id':'1.5','from':'" from "','to':'" to "','why':'because'" more "}"

static void isolate(struct world *w)
{
    tell(w, COMMAND_FINDINGS, "{'boot':'b1'," OPENS ",'isolate':{'problem':'node_problem','why':'scratch'}}",
         "1.5");
}

static void queue(struct world *w)
{
    isolate(w);
    tell(w, COMMAND_REPAIR, MOVE("isolate", "queue", ""), "1.6");
}

static void remedy(struct world *w)
{
    isolate(w);
    tell(w, COMMAND_REPAIR, MOVE("isolate", "remedy", ",'remedy':'fix','cost':72000"), "1.6");
}

static void operate(struct world *w)
{
    tell(w, COMMAND_OPERATE,
         "{'id':'1.5','step':'remedy','run':'node:fix it','operation_of':'fix','boot':'b1','deadline_s':30}",
         "1.7");
}

static void test_findings(void **state)
{
    struct world *w = *state;
    tell(w, COMMAND_FINDINGS, "{'boot':'b1'," OPENS "}", "1.4");
    check_fields("'incidents':['1.4.1']");
    tell(w, COMMAND_FINDINGS, "{'boot':'b1','close':[{'id':'1.4.1','how':'gone'}]}", "1.5");
    check_fields("'incidents':['1.4.1']");
}

static void test_an_isolation(void **state)
{
    struct world *w = *state;
    isolate(w);
    check_fields("'claims':['1.5'],'incidents':['1.5.1'],'repairs':['1.5'],'from':'none','to':'isolate',"
                 "'trigger':'fatal'");
}

static void test_a_remedy_with_its_expected_cost(void **state)
{
    struct world *w = *state;
    remedy(w);
    check_fields(
        "'repairs':['1.5'],'from':'isolate','to':'remedy','trigger':'drained','remedy':'fix','cost':72000");
}

static void test_an_operation_and_its_outcome(void **state)
{
    struct world *w = *state;
    remedy(w);
    operate(w);
    check_fields("'repairs':['1.5'],'operations':['1.7'],'remedy':'fix'");
    world_tell(w, COMMAND_EFFECT, "",
               quoted("{'key':'effect/operate.lx01','done':{'state':'begun','at':'1','id':'1.7'}}"), NULL);
    check_fields("'repairs':['1.5'],'operations':['1.7'],'remedy':'fix','outcome':'begun'");
    world_tell(w, COMMAND_EFFECT, "",
               quoted("{'key':'effect/operate.lx01','done':{'state':'failed','text':'done','id':'1.7'}}"),
               NULL);
    check_fields("'repairs':['1.5'],'operations':['1.7'],'remedy':'fix','outcome':'failed'");
}

static void test_an_examination(void **state)
{
    struct world *w = *state;
    isolate(w);
    tell(w, COMMAND_REPAIR, MOVE("isolate", "examine", ""), "1.6");
    check_fields("'repairs':['1.5'],'from':'isolate','to':'examine','trigger':'drained'");
    tell(w, COMMAND_OPERATE,
         "{'id':'1.5','step':'examine','run':'check:nccl','operation_of':'nccl','boot':'b1','deadline_s':3}",
         "1.7");
    check_fields("'repairs':['1.5'],'operations':['1.7']"); /* a check is no remedy */
    tell(w, COMMAND_REPAIR, MOVE("examine", "examine", ",'examined':'inconclusive','inconclusive':1"), "1.8");
    check_fields("'repairs':['1.5'],'from':'examine','to':'examine','trigger':'inconclusive','outcome':'"
                 "inconclusive'");
    tell(w, COMMAND_REPAIR, MOVE("examine", "provision", ",'examined':'pass','inconclusive':0"), "1.9");
    check_fields("'repairs':['1.5'],'from':'examine','to':'provision','trigger':'passed','outcome':'pass'");
    tell(w, COMMAND_REPAIR, MOVE("provision", "none", ""), "1.9");
    check_fields("'claims':['1.5'],'repairs':['1.5'],'from':'provision','to':'none','trigger':'passed',"
                 "'outcome':'back'");
}

static void test_a_new_node(void **state)
{
    struct world *w = *state;
    static const char *const begins = "{'id':null,'from':'none','to':'provision','why':'it came up'}";
    world_configure(w, "lx[01-08] CPUs=2", NULL);
    world_tell(w, COMMAND_REPAIR, "lx07", quoted(begins), "1.5");
    check_fields("'claims':['1.5'],'repairs':['1.5'],'from':'none','to':'provision','trigger':'booted'");
    world_tell(w, COMMAND_REPAIR, "lx07", quoted(MOVE("provision", "none", ",'boot':'b1'")), "1.6");
    check_fields("'claims':['1.5'],'repairs':['1.5'],'from':'provision','to':'none','trigger':'passed',"
                 "'outcome':'first'");
    world_tell(w, COMMAND_REPAIR, "lx08", quoted(begins), "1.5");
    world_tell(w, COMMAND_REPAIR, "lx08", quoted(MOVE("provision", "none", "")), "1.6");
    check_fields("'claims':['1.5'],'repairs':['1.5'],'from':'provision','to':'none','trigger':'passed',"
                 "'outcome':'unheard'");
}

/* The reason of the isolation is a field, and so is that of the moves that Fettle makes for a person. */
static void test_events(void **state)
{
    struct world *w = *state;
    tell(w, COMMAND_FINDINGS,
         "{'boot':'b1'," OPENS ",'isolate':{'problem':'node_problem','why':'scratch','event':'lost'}}",
         "1.5");
    check_fields("'claims':['1.5'],'incidents':['1.5.1'],'repairs':['1.5'],'from':'none','to':'isolate',"
                 "'trigger':'lost'");
    tell(w, COMMAND_REPAIR, MOVE("isolate", "queue", ",'event':'deadline'"), "1.6");
    check_fields("'repairs':['1.5'],'from':'isolate','to':'queue','trigger':'deadline'");
    say(w, COMMAND_TRANSITION, "{'transition':'human_intervention','yields':true}");
    check_fields("'repairs':['1.5'],'from':'queue','to':'provision','trigger':'yielded'");
    say(w, COMMAND_TRANSITION, "{'transition':'quarantine'}");
    say(w, COMMAND_TRANSITION, "{'transition':'human_intervention','yields':true}");
    assert_int_equal(world_rc(), -EBUSY); /* a person set it aside meanwhile */
}

static void test_a_remedy_in_service(void **state)
{
    struct world *w = *state;
    tell(w, COMMAND_REPAIR, "{'id':null,'from':'none','to':'tend','why':'x','remedy':'fix','cost':5}", "1.5");
    check_fields("'repairs':['1.5'],'from':'none','to':'tend','trigger':'degraded','remedy':'fix','cost':5");
    tell(w, COMMAND_REPAIR, MOVE("tend", "none", ""), "1.6");
    check_fields("'repairs':['1.5'],'from':'tend','to':'none','trigger':'checked'"); /* never out */
    tell(w, COMMAND_REPAIR, "{'id':null,'from':'none','to':'tend','why':'x','remedy':'fix'}", "1.7");
    tell(w, COMMAND_FINDINGS, "{'boot':'b1'," OPENS ",'isolate':{'problem':'node_problem','why':'x'}}",
         "1.8");
    check_fields("'claims':['1.8'],'incidents':['1.8.1'],'repairs':['1.8'],'from':'tend','to':'isolate',"
                 "'trigger':'fatal'");
}

static void test_entries_of_people(void **state)
{
    struct world *w = *state;
    queue(w);
    say(w, COMMAND_TICKET, "{'take':true}");
    check_fields("'repairs':['1.5']");
    say(w, COMMAND_TRANSITION, "{'transition':'human_intervention','answers':true}");
    check_fields(
        "'incidents':['1.5.1'],'repairs':['1.5'],'from':'queue','to':'provision','trigger':'repaired'");
    say(w, COMMAND_TRANSITION, "{'transition':'quarantine'}");
    check_fields("'repairs':['1.5'],'from':'provision','to':'quarantine','trigger':'quarantine'");
    say(w, COMMAND_TRANSITION, "{'transition':'retire'}");
    check_fields("'repairs':['1.5'],'from':'quarantine','to':'retired','trigger':'retire'");
    say(w, COMMAND_TRANSITION, "{'transition':'maintenance'}");
    check_fields("");
    world_say(w, COMMAND_TRANSITION, "ann", "lx02", quoted("{'transition':'manual_drain'}"), "because");
    check_fields("'claims':['7.1'],'repairs':['7.1'],'from':'none','to':'isolate','trigger':'manual_drain'");
}

static void test_an_answer_to_single_findings(void **state)
{
    struct world *w = *state;
    queue(w);
    say(w, COMMAND_ANSWER, "{'findings':[{'fault':'scratch'}]}");
    check_fields(
        "'incidents':['1.5.1'],'repairs':['1.5'],'from':'queue','to':'provision','trigger':'repaired'");
}

static void test_a_remedy_that_needs_approval(void **state)
{
    struct world *w = *state;
    isolate(w);
    tell(w, COMMAND_REPAIR, MOVE("isolate", "remedy", ",'remedy':'fix','approval':true"), "1.6");
    say(w, COMMAND_REPAIR_APPROVE, "{}");
    check_fields("'repairs':['1.5'],'remedy':'fix'");
    tell(w, COMMAND_REPAIR, MOVE("remedy", "remedy", ",'remedy':'fix','approval':true"), "1.6");
    say(w, COMMAND_REPAIR_REFUSE, "{}");
    check_fields("'repairs':['1.5'],'from':'remedy','to':'queue','trigger':'refused','remedy':'fix'");
}

static void test_outcomes_of_a_remedy(void **state)
{
    struct world *w = *state;
    static const char *const verdicts[][2] = {
        {"true", "helped"}, {"false", "failed"}, {"null", "not_judged"}};
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        CLEANUP_TEXT struct text set = {0}, expected = {0};
        w->at = (int64_t)(i + 1) * 1000;
        tell(w, COMMAND_REPAIR, "{'id':null,'from':'none','to':'tend','why':'x','remedy':'fix'}", "1.5");
        tell(w, COMMAND_OPERATE,
             "{'id':'1.5','step':'tend','run':'node:fix','operation_of':'fix','boot':'b1','deadline_s':3}",
             "1.6");
        tell(w, COMMAND_REPAIR,
             MOVE("tend", "none",
                  ",'attempt':{'remedy':'fix','fault':'scratch','done':true,'text':'','verdict':'?'}"),
             "1.7");
        text_printf(&set, "{'remedy':'fix','at':'%lld','faults':['scratch'],'class':'default','helped':%s}",
                    (long long)w->at, verdicts[i][0]);
        text_printf(&expected, "'remedy':'fix','outcome':'%s'", verdicts[i][1]);
        tell(w, COMMAND_OUTCOME, set.s, NULL);
        check_fields(expected.s);
    }
}

#define INSTANCE(was, is, examine)                                                                       \
    "{'was':'serial " was "','is':'serial " is "','act':true,'boot':'b2','instance':'1','deadline_s':0," \
    "'keep':[],'examine':" examine "}"

static void test_another_machine(void **state)
{
    struct world *w = *state;
    tell(w, COMMAND_MACHINE, "{'machines':{'lx01':{'machine':'serial N01'}}}", NULL);
    check_fields("");
    tell(w, COMMAND_FINDINGS, "{'boot':'b1'," OPENS "}", "1.4");
    tell(w, COMMAND_INSTANCE, INSTANCE("N01", "N02", "false"), "1.5");
    check_fields("'claims':['1.5'],'incidents':['1.4.1'],'repairs':['1.5'],'from':'none','to':'provision',"
                 "'trigger':'machine'");
    tell(w, COMMAND_INSTANCE, INSTANCE("N02", "N03", "true"), "1.6");
    check_fields("'repairs':['1.5'],'from':'provision','to':'examine','trigger':'machine'");
    say(w, COMMAND_TRANSITION, "{'transition':'quarantine'}");
    tell(w, COMMAND_INSTANCE, INSTANCE("N03", "N04", "true"), "1.7");
    check_fields("'repairs':['1.5']"); /* it stays where a person put it */
}

static void test_claims_and_power(void **state)
{
    struct world *w = *state;
    world_do(w, COMMAND_DRAIN, "root", "lx[01-02]", "x", "1.1");
    check_fields("'claims':['1.1']");
    world_do(w, COMMAND_DRAIN, "root", "lx[01-02]", "y", "1.2");
    world_do(w, COMMAND_DRAINED, "fettled", "lx01", NULL, NULL);
    check_fields("'claims':['1.1','1.2']");
    world_do(w, COMMAND_UNDRAIN, "root", "lx01", NULL, NULL);
    check_fields("'claims':['1.1','1.2']");
    say(w, COMMAND_POWER, "{'do':'cycle','force':false}");
    check_fields("'operations':['7.1']");
    world_tell(w, COMMAND_EFFECT, "",
               quoted("{'key':'effect/power.lx01','done':{'state':'refused','text':'done','id':'7.1'}}"),
               NULL);
    check_fields("'operations':['7.1'],'outcome':'refused'");
}

static void test_a_trial(void **state)
{
    struct world *w = *state;
    tell(w, COMMAND_TRIAL_BEGIN, "{'check':'disk','deadline_s':60}", "1.1");
    check_fields("'claims':['1.1']");
    tell(w, COMMAND_TRIAL_END, "{'claim':'1.1','check':'disk','why':'over','results':{'lx01':'ok'}}", NULL);
    check_fields("'claims':['1.1']");
}

/* As doc/spec/mqtt.md has them. */
static void test_published_kinds_are_those_of_the_document(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    for (int k = 0; k < COMMANDS; k++)
        if (command_is_published((enum command_kind)k))
            text_printf(&t, "%s%s", t.len ? " " : "", command_name((enum command_kind)k));
    assert_string_equal(t.s, "node.maintenance node.instance health.findings health.shared repair.step "
                             "remedy.outcome repair.operate repair.transition queue.answer queue.ticket "
                             "repair.approve repair.refuse switch.set");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_findings),
        TEST(test_an_isolation),
        TEST(test_a_remedy_with_its_expected_cost),
        TEST(test_an_operation_and_its_outcome),
        TEST(test_an_examination),
        TEST(test_a_new_node),
        TEST(test_a_remedy_in_service),
        TEST(test_events),
        TEST(test_entries_of_people),
        TEST(test_an_answer_to_single_findings),
        TEST(test_a_remedy_that_needs_approval),
        TEST(test_outcomes_of_a_remedy),
        TEST(test_another_machine),
        TEST(test_claims_and_power),
        TEST(test_a_trial),
        cmocka_unit_test(test_published_kinds_are_those_of_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
