/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_an_operation(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    lx01_move(w, MOVE("isolate", "remedy", ",'remedy':'fix','instance':'beef'"));
    w->at = 3000;
    const char *said = lx01_operate(w, "1.7");
    assert_non_null(
        strstr(said, quoted("effect/operate.lx01 = {'id':'1.7','run':'node:fix it','of':'fix','boot':'b1',"
                            "'instance':'beef','deadline':'30000003000','done':null}\n")));
    assert_non_null(strstr(said, "lx01: fix: a command on the node\n"));
    assert_string_equal(lx01_repair(w)->operation, "1.7");
    assert_string_equal(lx01_attempt(w)->remedy, "fix");
    assert_string_equal(lx01_attempt(w)->fault, "xid.79,scratch");
    assert_int_equal(lx01_attempt(w)->ended.ns, 0);
    assert_string_equal(lx01_operate(w, "1.8"), "an operation on node \"lx01\" stands already");
    lx01_effect(w, "{'state':'begun','at':'1'}");
    lx01_operate(w, "1.8");
    assert_int_equal(world_rc(), -EBUSY);
    lx01_effect(w, "{'state':'done','text':''}"); /* it goes with its step */
    lx01_operate(w, "1.8");
    assert_int_equal(world_rc(), -EBUSY);
}

/* The next check carries what those before it came to, for a successor; the next step begins with nothing. */
static void test_runs_of_an_examination_are_recorded(void **state)
{
    static const char WISH[] =
        "{'id':'1.5','step':'%s','run':'%s','operation_of':'disk','boot':'b1','deadline_s':30,"
        "'ran':[{'check':'memory','result':'ok'},{'check':'pair','result':'unknown'}]}";
    struct world *w = *state;
    CLEANUP_TEXT struct text wish = {0}, other = {0};
    lx01_isolate(w);
    text_printf(&other, WISH, "isolate", "work:end");
    assert_non_null(
        strstr(world_tell(w, COMMAND_OPERATE, "lx01", quoted(other.s), "1.7"), "ran in step isolate"));
    lx01_move(w, MOVE("isolate", "examine", ""));
    text_printf(&wish, WISH, "examine", "check:disk");
    world_tell(w, COMMAND_OPERATE, "lx01", quoted(wish.s), "1.7");
    assert_int_equal(world_rc(), 0);
    assert_int_equal(lx01_repair(w)->n_ran, 2);
    assert_int_equal(repair_ran(lx01_repair(w), "pair")->result, RESULT_UNKNOWN);
    assert_null(repair_ran(lx01_repair(w), "disk"));
    assert_non_null(strstr(world_record(w, "repair/lx01"),
                           "\"ran\":[{\"check\":\"memory\",\"result\":\"ok\"},"
                           "{\"check\":\"pair\",\"result\":\"unknown\"}]"));
    struct cluster *again = world_reload(w, "lx[01-06] CPUs=2", 3, true);
    assert_true(cluster_digest(again) == cluster_digest(w->c));
    cluster_destroy(again);
    lx01_move(w, MOVE("examine", "examine", ",'examined':'inconclusive','inconclusive':1"));
    assert_int_equal(lx01_repair(w)->n_ran, 0);
    assert_null(strstr(world_record(w, "repair/lx01"), "\"ran\""));
}

static void test_brakes_of_an_operation(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    assert_non_null(strstr(lx01_operate(w, "1.7"), "is at isolate"));
    lx01_move(w, MOVE("isolate", "remedy", ",'remedy':'fix','approval':true"));
    assert_string_equal(lx01_operate(w, "1.7"), "fix on node \"lx01\" is not approved");
    world_ask(w, COMMAND_REPAIR_APPROVE, "ann", "lx01", NULL, NULL);
    world_ask(w, COMMAND_SWITCH, "root", "", quoted("{'name':'stop','on':true}"), "cooling");
    assert_string_equal(lx01_operate(w, "1.7"), "all remedies are stopped by root: cooling");
    assert_int_equal(world_rc(), -EBUSY);
    world_ask(w, COMMAND_SWITCH, "root", "", quoted("{'name':'stop','on':false}"), NULL);
    world_configure(w, "lx[02-06]", NULL);
    assert_string_equal(lx01_operate(w, "1.7"), "node \"lx01\" is in no configuration file");
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
    lx01_operate(w, "1.7");
    assert_int_equal(world_rc(), 0);
}

/* A journal is searched by these ids. */
static void test_entries_that_follow_have_the_id_of_their_repair(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    assert_string_equal(world_about(), "1.5.1 1.5.2 1.5");
    lx01_move(w, MOVE("isolate", "remedy", ",'remedy':'fix'"));
    assert_string_equal(world_about(), "1.5");
    lx01_operate(w, "1.7");
    assert_string_equal(world_about(), "1.5 1.7");
    lx01_effect(w, "{'state':'begun','at':'1','id':'1.7'}");
    assert_string_equal(world_about(), "1.7 1.5");
}

static void test_an_examination(void **state)
{
    struct world *w = *state;
    lx01_isolate(w);
    lx01_move(w, MOVE("isolate", "examine", ""));
    const char *set =
        "{'id':'1.5','step':'examine','run':'check:nccl','operation_of':'nccl','boot':'b1','deadline_s'"
        ":30}";
    world_tell(w, COMMAND_OPERATE, "lx01", quoted(set), "1.7");
    assert_int_equal(world_rc(), 0);
    assert_int_equal(lx01_repair(w)->n_attempts, 0); /* it is no remedy */
    lx01_effect(w, "{'state':'begun','at':'1'}");
    assert_string_equal(
        lx01_effect(w, "{'state':'done','text':'{}'}"),
        quoted("effect/operate.lx01 = {'id':'1.7','run':'check:nccl','of':'nccl','boot':'b1','instance':"
               "'0','deadline':'30000001000','done':{'state':'done','text':'{}'}}\nlx01: nccl: done\n"));
    lx01_move(w, MOVE("examine", "examine", "")); /* the next one */
    assert_string_equal(world_record(w, "effect/operate.lx01"), "none");
    world_tell(w, COMMAND_OPERATE, "lx01", quoted(set), "1.8");
    assert_int_equal(world_rc(), 0);
}

/* What is begun is not forgotten: only its end, or a person, lets the step go. */
static void test_a_begun_operation_holds_the_step(void **state)
{
    struct world *w = *state;
    lx01_remedy(w, true);
    assert_string_equal(lx01_move(w, MOVE("remedy", "queue", "")),
                        "an operation on node \"lx01\" has begun, and its end is not known yet");
    assert_int_equal(world_rc(), -EBUSY);
    lx01_hand(w, "manual_drain");
    assert_int_equal(world_rc(), -EBUSY);
    lx01_effect(w, "{'state':'failed','text':'exit 3'}");
    lx01_move(w, MOVE("remedy", "queue", ""));
    assert_string_equal(lx01_step(w), "queue");
    assert_string_equal(lx01_repair(w)->operation, "");
    assert_string_equal(lx01_attempt(w)->text, "exit 3");
    assert_int_equal(lx01_attempt(w)->verdict, '-');
}

static void test_a_person_ends_a_begun_operation(void **state)
{
    struct world *w = *state;
    lx01_remedy(w, true);
    w->at = 5000;
    assert_non_null(strstr(lx01_hand(w, "quarantine"), "lx01: remedy -> quarantine: new cable\n"));
    assert_string_equal(world_record(w, "effect/operate.lx01"), "none");
    assert_string_equal(lx01_attempt(w)->text, "given up when it had begun: its outcome is not known");
    assert_int_equal(lx01_attempt(w)->verdict, '0');
    assert_int_equal(lx01_attempt(w)->ended.ns, 5000);
    assert_string_equal(lx01_effect(w, "{'state':'done','text':''}"), "nothing");
}

static void test_an_operation_that_has_not_begun_goes(void **state)
{
    struct world *w = *state;
    lx01_remedy(w, false);
    lx01_move(w, MOVE("remedy", "queue", ""));
    assert_string_equal(world_record(w, "effect/operate.lx01"), "none");
    assert_string_equal(lx01_attempt(w)->text, "not begun");
    assert_int_equal(lx01_attempt(w)->verdict, '0');
}

static void test_results_of_operations(void **state)
{
    struct world *w = *state;
    lx01_remedy(w, false);
    assert_string_equal(lx01_effect(w, "{'state':'done','text':''}"), "nothing"); /* nobody began it */
    assert_string_equal(lx01_effect(w, "{'state':'begun','at':'1','id':'1.3'}"), "nothing"); /* one before */
    assert_string_equal(lx01_effect(w, "null"), "nothing");
    assert_non_null(strstr(lx01_effect(w, "{'state':'begun','at':'1','id':'1.7'}"), "lx01: fix: begun\n"));
    assert_string_equal(lx01_effect(w, "{'state':'begun','at':'2','id':'1.7'}"), "nothing");
    assert_string_equal(lx01_effect(w, "null"), "nothing");
    lx01_effect(w, "{'state':'away','text':''}");
    assert_int_equal(world_rc(), -EINVAL);
    lx01_effect(w, "{'state':'done'}");
    assert_int_equal(world_rc(), -EINVAL);
    assert_non_null(
        strstr(lx01_effect(w, "{'state':'unknown','text':'cut off'}"), "lx01: fix: unknown: cut off\n"));
    assert_string_equal(lx01_effect(w, "{'state':'done','text':''}"), "nothing"); /* it has ended */
}

static void test_an_operation_can_be_refused(void **state)
{
    struct world *w = *state;
    lx01_remedy(w, false);
    assert_non_null(
        strstr(lx01_effect(w, "{'state':'refused','text':'work runs'}"), "lx01: fix: refused: work runs\n"));
    lx01_move(w, MOVE("remedy", "remedy", ",'remedy':'fix'"));
    assert_int_equal(lx01_attempt(w)->verdict, '0');
    assert_string_equal(lx01_attempt(w)->boot, ""); /* nothing was done on it */
    assert_string_equal(lx01_attempt(w)->text, "work runs");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_operation),
        TEST(test_runs_of_an_examination_are_recorded),
        TEST(test_brakes_of_an_operation),
        TEST(test_entries_that_follow_have_the_id_of_their_repair),
        TEST(test_an_examination),
        TEST(test_a_begun_operation_holds_the_step),
        TEST(test_a_person_ends_a_begun_operation),
        TEST(test_an_operation_that_has_not_begun_goes),
        TEST(test_results_of_operations),
        TEST(test_an_operation_can_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
