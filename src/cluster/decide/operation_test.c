/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/decide/decide.h"
#include "cluster/repair_fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define OPERATION(run, done) \
    "{'id':'1.7','run':'" run "','of':'fix','boot':'b1','instance':'0','deadline':'9','done':" done "}"
#define BEGUN "{'state':'begun','at':'1'}"
#define DONE "{'state':'done','text':''}"
#define POWER(done) \
    "{'id':'1','run':'power.off','by':'ann','why':'x','force':false,'deadline':'9','done':" done "}"

static void test_an_operation_is_under_way_between_its_beginning_and_its_end(void **state)
{
    static const struct {
        const char *record;
        bool begun, outside;
    } rows[] = {{NULL, false, false},
                {OPERATION("node:fix", "null"), false, false},
                {OPERATION("node:fix", BEGUN), true, false},
                {OPERATION("reboot", BEGUN), true, false},
                {OPERATION("power.cycle", "null"), false, false},
                {OPERATION("power.cycle", BEGUN), true, true},
                {OPERATION("script:fix", BEGUN), true, true},
                {OPERATION("power.cycle", DONE), false, false}};
    struct world *w = *state;
    lx01_remedy(w, false); /* an operation that belongs to a repair */
    const struct member *m = cluster_find(w->c, "lx01");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            cluster_put(w->c, "effect/operate.lx01", rows[i].record ? quoted(rows[i].record) : NULL, NULL),
            0);
        assert_int_equal(operation_begun(w->c, m), rows[i].begun);
        assert_int_equal(operation_begun_outside(w->c, m), rows[i].outside);
        assert_false(power_stands(w->c, m));
    }
}

static void test_a_power_command_stands_until_it_has_ended(void **state)
{
    static const struct {
        const char *record;
        bool stands;
    } rows[] = {{NULL, false}, {POWER("null"), true}, {POWER(BEGUN), true}, {POWER(DONE), false}};
    struct world *w = *state;
    const struct member *m = cluster_find(w->c, "lx01");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            cluster_put(w->c, "effect/power.lx01", rows[i].record ? quoted(rows[i].record) : NULL, NULL), 0);
        assert_int_equal(power_stands(w->c, m), rows[i].stands);
        assert_false(operation_begun(w->c, m));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_operation_is_under_way_between_its_beginning_and_its_end),
        TEST(test_a_power_command_stands_until_it_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
