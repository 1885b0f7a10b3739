/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_a_note_for_slurm_has_the_id_of_its_claim(void **state)
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
    lx01_isolate(w);
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_note_for_slurm_has_the_id_of_its_claim),
        TEST(test_slurm),
        TEST(test_an_override_in_slurm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
