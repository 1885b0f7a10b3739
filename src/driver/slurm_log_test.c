/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_log.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REASON(r) "[2026-11-22T16:00:00.001] update_node: node c1 reason set to: " r "\n"
#define STATE(s) "[2026-11-22T16:00:00.001] update_node: node c1 state set to " s "\n"
#define THEIRS REASON("mine, Ann") STATE("DRAINED")
#define OURS REASON("fettle:a1:1.1 [node_problem] x") STATE("DRAINED")

static void lost_is(const char *log, bool is_undrain, const char *restored, const char *reason)
{
    struct slurm_lost lost;
    bool is = slurm_log_lost(log, "c1", "a1", is_undrain, restored, &lost);
    assert_string_equal(is ? lost.reason : "nothing", reason);
}

static void test_what_an_undrain_undid(void **state)
{
    (void)state;
    lost_is("", true, NULL, "nothing");
    lost_is(STATE("IDLE"), true, NULL, "nothing");
    lost_is(THEIRS STATE("IDLE"), true, NULL, "mine, Ann");
    lost_is(REASON("mine, Ann") STATE("IDLE"), true, NULL, "mine, Ann"); /* she took our drain over */
    lost_is(STATE("IDLE") THEIRS, true, NULL, "nothing");                /* it stands */
    lost_is(THEIRS STATE("IDLE") STATE("IDLE"), true, NULL, "nothing");  /* she took it back herself */
    lost_is(REASON("fan") STATE("FAIL") STATE("IDLE"), true, NULL, "fan");
    lost_is(REASON("fan") STATE("FAILING") STATE("MIXED"), true, NULL,
            "nothing"); /* it stands while work runs */
    lost_is(REASON("fan") STATE("DOWN") STATE("DOWN"), true, NULL, "nothing");
    lost_is(THEIRS REASON("Not responding") STATE("DOWN"), true, NULL, "mine, Ann");
    lost_is("x update_node: node c10 reason set to: a\nx update_node: node c10 state set to IDLE\n", true,
            NULL, "nothing");
    lost_is(THEIRS "cut off", true, NULL, "nothing");
}

static void test_what_a_drain_undid(void **state)
{
    (void)state;
    struct slurm_lost lost;
    lost_is(OURS, false, NULL, "nothing");
    lost_is(THEIRS OURS, false, NULL, "mine, Ann");
    lost_is(OURS THEIRS, false, NULL, "nothing");
    lost_is(THEIRS STATE("IDLE") OURS, false, NULL, "nothing"); /* she took it back before */
    assert_true(slurm_log_lost(REASON("fan") STATE("FAILED") OURS, "c1", "a1", false, NULL, &lost));
    assert_true(lost.is_fail);
}

static void test_what_putting_back_undid(void **state)
{
    (void)state;
    lost_is(THEIRS STATE("IDLE") THEIRS, false, "mine, Ann", "nothing");
    lost_is(THEIRS STATE("IDLE") REASON("Bob's") STATE("DRAINED") THEIRS, false, "mine, Ann", "Bob's");
    lost_is(THEIRS STATE("IDLE") THEIRS REASON("Bob's") STATE("DRAINED"), false, "mine, Ann", "nothing");
}

static void test_where_it_lies(void **state)
{
    (void)state;
    char path[SLURM_LOG_PATH_BYTES];
    slurm_read_log_path("X = 1\nSlurmctldLogFile        = /var/log/slurm.log\nY = 2\n", path);
    assert_string_equal(path, "/var/log/slurm.log");
    slurm_read_log_path("X = 1\nSlurmctldLogFile        = (null)\n", path);
    assert_string_equal(path, "");
    slurm_read_log_path("", path);
    assert_string_equal(path, "");
    struct slurm_log log = {.fd = -1, .path = "/"};
    assert_false(slurm_log_mark(&log));
    assert_null(slurm_log_since(&log));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_an_undrain_undid),
        cmocka_unit_test(test_what_a_drain_undid),
        cmocka_unit_test(test_what_putting_back_undid),
        cmocka_unit_test(test_where_it_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
