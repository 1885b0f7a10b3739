/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_records_are_read_strictly(void **state)
{
    static const char *const bad[] = {
        "{'id':'1','run':'power.off','by':'ann','why':'x','force':false,'deadline':'9'}",
        "{'id':'','run':'power.off','by':'ann','why':'x','force':false,'deadline':'9','done':null}",
        "{'id':'1','run':'power.off','by':'ann','why':'x','force':1,'deadline':'9','done':null}",
        "{'id':'1','run':'power.off','why':'x','force':false,'deadline':'9','done':null}",
        ("{'id':'1','run':'power.off','by':'ann','why':'x','force':false,'deadline':'9','done':{'state':'"
         "gone'"
         "}}")};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cluster_put(w->c, "effect/power.lx01", quoted(bad[i]), NULL), -EILSEQ);
}

#define POWER(id, run, force, done) \
    "{'id':'" id "','run':'" run "','by':'ann','why':'x','force':" force ",'deadline':'9','done':" done "}"
#define OPERATE(id, boot, instance, done)                                                                    \
    "{'id':'" id "','run':'node:fix','of':'fix','boot':'" boot "','instance':'" instance "','deadline':'9'," \
    "'done':" done "}"
#define SLURM(claim, state, more) \
    "{'id':'1','claim':'" claim "','state':'" state "','at':'7','reservation':false" more "}"

static void test_operations_for_drivers_are_read(void **state)
{
    static const char *const good[][2] = {
        {"effect/power.lx01", POWER("1", "power.off", "false", "null")},
        {"effect/power.lx01", POWER("1", "power.off", "true", "{'state':'begun','at':'7','id':'1'}")},
        {"effect/operate.lx01", OPERATE("1.7", "", "ffffffffffffffff", "null")},
        {"effect/operate.lx01", OPERATE("1.7", "b1", "0", "{'state':'done','text':''}")},
        {"effect/operate.lx01", OPERATE("1.7", "b1", "0", "{'state':'refused','text':'','code':'work'}")},
        {"effect/slurm.lx01", SLURM("", "foreign", "")}, /* a claim that Fettle does not have */
        {"effect/slurm.lx01",
         SLURM("7.1", "reserved", ",'refused':true,'reboot':true,'slurmctld':'2026','log':'4:1'")},
        {"effect/slurm.lx01", SLURM("7.1", "drained", ",'lost':{'reason':'fan','how':'fail'}")},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        world_takes(w, good[i][0], quoted(good[i][1]));
}

static void test_damaged_records_are_refused(void **state)
{
    static const char *const bad[][3] = {
        {"effect/operate.lx01", OPERATE("", "b1", "0", "null"), "\"id\" is empty"},
        {"effect/operate.lx01", OPERATE("1", "b 1", "0", "null"), "is no boot id"},
        {"effect/operate.lx01", OPERATE("1", "b1", "x", "null"), "is no number in hex"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "7"), "\"done\" is neither null nor an object"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "{}"), "\"state\" is missing"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "{'state':'away','text':''}"),
         "\"away\" is no state of an operation that this version knows"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "{'state':'none','text':''}"), "is no state"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "{'state':'done','at':'7'}"), "at"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "{'state':'begun','text':''}"), "text"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "{'state':'done','text':'','code':'work'}"), "code"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "{'state':'refused','text':'','code':7}"), "code"},
        {"effect/operate.lx01", OPERATE("1", "b1", "0", "{'state':'done','text':'','id':''}"),
         "\"id\" is empty"},
        {"effect/power.lx01", POWER("1", "power.off", "1", "null"), "force"},
        {"effect/power.lx01", POWER("1", "a\\nb", "true", "null"), "run: a control character"},
        {"effect/slurm.lx01", SLURM("7.1", "asleep", ""),
         "\"asleep\" is nothing in Slurm that this version knows"},
        {"effect/slurm.lx01", SLURM("7.1", "drained", ",'refused':1"), "refused"},
        {"effect/slurm.lx01", SLURM("7.1", "drained", ",'lost':{'reason':'fan'}"), "\"how\" is missing"},
        {"effect/slurm.lx01", SLURM("7.1", "drained", ",'lost':{'reason':'fan','how':'','more':1}"), "more"},
        {"effect/slurm.lx01", SLURM("7.1", "drained", ",'more':1"), "more"},
        {"effect/slurm.lx01", SLURM("7.1", "drained", ",'slurmctld':'a\\nb'"),
         "slurmctld: a control character"},
        {"effect/slurm.lx01", SLURM("7.1", "drained", ",'log':7"), "log"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        world_refuses(w, bad[i][0], quoted(bad[i][1]), bad[i][2]);
}

/* An id has 47 bytes at most. */
static void test_an_id_has_a_limit(void **state)
{
    struct world *w = *state;
    char id[CLAIM_ID_BYTES_MAX + 2];
    for (size_t n = CLAIM_ID_BYTES_MAX; n <= CLAIM_ID_BYTES_MAX + 1; n++) {
        CLEANUP_TEXT struct text t = {0};
        memset(id, '1', n);
        id[n] = '\0';
        text_printf(&t, POWER("%s", "power.off", "true", "null"), id);
        if (n == CLAIM_ID_BYTES_MAX)
            world_takes(w, "effect/power.lx01", quoted(t.s));
        else
            world_refuses(w, "effect/power.lx01", quoted(t.s), "id: 48 bytes; it has 47 at most");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_records_are_read_strictly),
        TEST(test_operations_for_drivers_are_read),
        TEST(test_damaged_records_are_refused),
        TEST(test_an_id_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
