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

static const char *window(struct world *w, const char *nodes, const char *set)
{
    return world_tell(w, COMMAND_WINDOW, nodes, quoted(set), NULL);
}

static void test_a_window_is_recorded_beside_a_persons_maintenance(void **state)
{
    struct world *w = *state;
    static const char in[] = "{'by':'Slurm','why':'reservation root_1'}",
                      over[] = "{'by':'Slurm','why':null}";
    lx01_transition(w, "maintenance", "new fan");
    w->at = 4000;
    assert_non_null(
        strstr(window(w, "lx[01-02]", in), "lx[01-02]: in maintenance: Slurm: reservation root_1\n"));
    assert_string_equal(world_record(w, "window/lx01"),
                        quoted("{'by':'Slurm','at':'4000','why':'reservation root_1'}"));
    w->at = 5000;
    assert_string_equal(window(w, "lx[01-02]", in), "nothing");
    window(w, "lx02", "{'by':'Slurm','why':'reservation fan'}");
    assert_string_equal(member_window(cluster_find(w->c, "lx02"))->why, "reservation fan");
    assert_non_null(strstr(window(w, "lx[01-02]", over), "lx[01-02]: Slurm: its maintenance is over\n"));
    assert_string_equal(world_record(w, "window/lx01"), "none");
    assert_null(member_window(lx01(w)));
    assert_string_equal(member_maintenance(lx01(w))->why, "new fan"); /* hers stays */
    assert_string_equal(window(w, "lx[01-02]", over), "nothing");
    window(w, "lx01", "{'by':'Slurm','why':'x\\u0001'}");
    assert_int_equal(world_rc(), -EINVAL);
    window(w, "lx01", in);
    lx01_transition(w, "maintenance_over", "done"); /* nor does hers end the other */
    assert_null(member_maintenance(lx01(w)));
    assert_non_null(member_window(lx01(w)));
}

static void test_one_that_is_not_listed_any_more_lies_in_no_window(void **state)
{
    struct world *w = *state;
    window(w, "lx06", "{'by':'Slurm','why':'reservation root_1'}");
    world_configure(w, "lx[01-05] CPUs=2", NULL);
    window(w, "lx06", "{'by':'Slurm','why':'reservation root_1'}");
    assert_string_equal(world_record(w, "window/lx06"), "none");
}

static void test_nodes_that_nobody_knows_are_left_out(void **state)
{
    struct world *w = *state;
    assert_string_equal(window(w, "nobody", "{'by':'Slurm','why':'x'}"), "nothing");
    assert_null(cluster_find(w->c, "nobody"));
    window(w, "lx01", "{'by':'Slurm','why':'x'}");
    window(w, "lx01", "{'by':'PBS','why':'x'}"); /* somebody else's */
    assert_string_equal(member_window(lx01(w))->by, "PBS");
}

static void test_very_many_go_in_parts(void **state)
{
    struct world *w = *state;
    world_configure(w, "n[001-201]", NULL);
    window(w, "n[001-201]", "{'by':'Slurm','why':'x'}");
    assert_int_equal(world_parts(), 3);
    assert_non_null(member_window(cluster_find(w->c, "n201")));
    window(w, "n[001-100]", "{'by':'Slurm','why':null}");
    assert_int_equal(world_parts(), 1);
    assert_null(member_window(cluster_find(w->c, "n100")));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_window_is_recorded_beside_a_persons_maintenance),
        TEST(test_one_that_is_not_listed_any_more_lies_in_no_window),
        TEST(test_nodes_that_nobody_knows_are_left_out),
        TEST(test_very_many_go_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
