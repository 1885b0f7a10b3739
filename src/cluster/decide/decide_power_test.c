/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/decide/decide.h"
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char OFF[] = "{'do':'off','force':false}";

static const char *power(struct world *w, const char *set, const char *why)
{
    return world_say(w, COMMAND_POWER, "ann", "lx01", quoted(set), why);
}

static const char *effect(struct world *w, const char *done)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{'key':'effect/power.lx01','done':%s}", done);
    return world_tell(w, COMMAND_EFFECT, "", quoted(t.s), NULL);
}

static bool stands(const struct world *w)
{
    return power_stands(w->c, cluster_find(w->c, "lx01"));
}

static void test_it_is_an_effect(void **state)
{
    struct world *w = *state;
    w->at = 3000;
    assert_string_equal(
        power(w, OFF, "a \"bad\" fan"),
        quoted("effect/power.lx01 = {'id':'7.1','run':'power.off','by':'ann','why':'a \\\"bad\\\" fan',"
               "'force':false,'deadline':'300000003000','done':null}\n"
               "lx01: power off: a 'bad' fan\n"));
    assert_string_equal(world_about(), "7.1");
    assert_true(stands(w));
}

static void test_its_end_is_in_the_journal(void **state)
{
    struct world *w = *state;
    power(w, "{'do':'cycle','force':true}", "hung");
    assert_non_null(
        strstr(effect(w, "{'state':'begun','id':'7.1','at':'1'}"), "lx01: power.cycle by ann: begun\n"));
    assert_true(stands(w));
    const char *said = effect(w, "{'state':'failed','id':'7.1','text':'the fan wall says no'}");
    assert_non_null(strstr(said, "lx01: power.cycle by ann: failed: the fan wall says no\n"));
    assert_string_equal(world_about(), "7.1");
    assert_false(stands(w));
    assert_string_equal(effect(w, "{'state':'done','id':'7.1','text':'on'}"), "nothing"); /* late */
}

static void test_with_force_it_says_so(void **state)
{
    struct world *w = *state;
    assert_non_null(strstr(power(w, "{'do':'reset','force':true}", "hung"),
                           "lx01: power reset, whatever runs on it: hung\n"));
}

static void test_one_at_a_time(void **state)
{
    struct world *w = *state;
    power(w, OFF, "a fan");
    assert_string_equal(power(w, OFF, "a fan"), "a power command for node \"lx01\" is under way");
    assert_int_equal(world_rc(), -EBUSY);
    effect(w, "{'state':'begun','id':'7.1','at':'1'}");
    power(w, OFF, "a fan");
    assert_int_equal(world_rc(), -EBUSY);
    effect(w, "{'state':'done','id':'7.1','text':'off'}");
    power(w, "{'do':'on','force':false}", "it is back");
    assert_int_equal(world_rc(), 0);
}

static void test_a_begun_operation_is_not_disturbed(void **state)
{
    struct world *w = *state;
    static const char key[] = "effect/operate.lx01";
    cluster_put(w->c, key,
                quoted("{'id':'1.7','run':'reboot','of':'x','boot':'','instance':'1','deadline':'9',"
                       "'done':{'state':'begun','at':'5'}}"),
                NULL);
    assert_string_equal(power(w, OFF, "a fan"), "an operation on node \"lx01\" is under way");
    assert_int_equal(world_rc(), -EBUSY);
}

static void test_the_switch_stops_it(void **state)
{
    struct world *w = *state;
    world_ask(w, COMMAND_SWITCH, "root", "", quoted("{'name':'stop','on':true}"), "cooling");
    assert_string_equal(power(w, OFF, "a fan"), "everything is stopped: root: cooling");
    assert_int_equal(world_rc(), -EBUSY);
}

static void test_wrong_power_commands_are_refused(void **state)
{
    static const char *const sets[] = {"{'do':'explode','force':false}", "{'do':'status','force':false}",
                                       "{'force':true}"};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        power(w, sets[i], "a fan");
        assert_int_equal(world_rc(), -EINVAL);
    }
    power(w, OFF, "");
    assert_int_equal(world_rc(), -EINVAL);
    power(w, OFF, NULL);
    assert_int_equal(world_rc(), -EINVAL);
    world_say(w, COMMAND_POWER, "ann", "nobody", quoted(OFF), "a fan");
    assert_int_equal(world_rc(), -ENOENT);
    assert_false(stands(w));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_it_is_an_effect),
        TEST(test_its_end_is_in_the_journal),
        TEST(test_with_force_it_says_so),
        TEST(test_one_at_a_time),
        TEST(test_a_begun_operation_is_not_disturbed),
        TEST(test_the_switch_stops_it),
        TEST(test_wrong_power_commands_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
