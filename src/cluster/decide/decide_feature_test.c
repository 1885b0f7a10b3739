/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ROSTER "s[1-4] Sensitive=yes; tenant physics; pool 4; wipes"
#define SHARED_STATE                                           \
    "{\"at\":\"1\",\"authority\":\"0123456789abcdef0123456789" \
    "abcdef0123456789abcdef0123456789abcdef\"}"

static int setup(void **state)
{
    struct world *w = world_create();
    world_configure(w, ROSTER, NULL);
    *state = w;
    return 0;
}

static const char *level(struct world *w, const char *set)
{
    return world_ask(w, COMMAND_FEATURES, "fettled", "", set, NULL);
}

static const char *claim(struct world *w, const char *node)
{
    return world_ask(w, COMMAND_OWNER_CLAIM, "ann", node, quoted("{'to':'physics@ann','person':true}"), NULL);
}

static void test_a_level_goes_up_and_never_down(void **state)
{
    struct world *w = *state;
    assert_string_equal(level(w, "{\"level\":2}"), "feature/level = {\"level\":2}\n: level 2: all "
                                                   "controllers know persons who own nodes for a tenant\n");
    assert_string_equal(level(w, "{\"level\":2}"), "nothing");
    assert_string_equal(level(w, "{\"level\":1}"), "nothing");
    assert_int_equal(cluster_level(w->c), 2);
    assert_string_equal(level(w, "{\"level\":3}"), "this version knows the feature levels 1 to 2");
    assert_int_equal(world_rc(), -EINVAL);
}

static void test_a_single_controller_switches_on_at_once(void **state)
{
    struct world *w = *state;
    const char *said = claim(w, "s1");
    assert_non_null(strstr(said, "feature/level = {\"level\":2}"));
    assert_non_null(strstr(said, "s1: owned by physics@ann"));
    assert_int_equal(cluster_level(w->c), 2);
    assert_null(strstr(claim(w, "s2"), "feature/level"));
    assert_int_equal(world_rc(), 0);
}

static void test_several_controllers_agree_it_first(void **state)
{
    struct world *w = *state;
    assert_int_equal(cluster_put(w->c, "origin/0123456789abcdef", SHARED_STATE, NULL), 0);
    assert_string_equal(
        claim(w, "s1"),
        "not every controller of this state knows persons who own nodes for a tenant: feature level 1 is "
        "agreed, and this needs 2; upgrade the others (fettle-upgrade(7))");
    assert_int_equal(world_rc(), -EBUSY);
    level(w, "{\"level\":2}");
    assert_non_null(strstr(claim(w, "s1"), "s1: owned by physics@ann"));
    /* What does not need it was never refused. */
    world_ask(w, COMMAND_OWNER_CLAIM, "eve", "s2", quoted("{'to':'@eve','person':true}"), NULL);
    assert_int_equal(world_rc(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_level_goes_up_and_never_down, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_a_single_controller_switches_on_at_once, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_several_controllers_agree_it_first, setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
