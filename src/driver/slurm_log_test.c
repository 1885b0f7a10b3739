/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_log.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define REASON(r) "[2026-11-22T16:00:00.001] update_node: node c1 reason set to: " r "\n"
#define STATE(s) "[2026-11-22T16:00:00.001] update_node: node c1 state set to " s "\n"
#define THEIRS REASON("mine, Ann") STATE("DRAINED")
#define OURS REASON("x [node_problem] [fettle:a1:1.1:be75]") STATE("DRAINED")
#define UNDRAIN REASON("taken back [fettle:a1:undrain:8063]") STATE("IDLE")
#define RETURN REASON("Not responding") STATE("DOWN")

static void lost_is(const char *log, const char *restored, const char *reason)
{
    struct slurm_lost lost;
    bool is = slurm_log_lost(log, "c1", "a1", restored, &lost);
    assert_string_equal(is ? lost.reason : "nothing", reason);
}

static void test_a_hold_that_an_undrain_undid(void **state)
{
    (void)state;
    lost_is("", NULL, "nothing");
    lost_is(UNDRAIN, NULL, "nothing");
    lost_is(THEIRS UNDRAIN, NULL, "mine, Ann");
    lost_is(REASON("mine, Ann") UNDRAIN, NULL, "mine, Ann"); /* she took our drain over */
    lost_is(THEIRS RETURN, NULL, "mine, Ann");
    lost_is(UNDRAIN THEIRS, NULL, "nothing");               /* it stands */
    lost_is(THEIRS STATE("IDLE"), NULL, "nothing");         /* she took it back herself */
    lost_is(THEIRS STATE("IDLE") UNDRAIN, NULL, "nothing"); /* before ours */
    lost_is(THEIRS UNDRAIN STATE("IDLE"), NULL, "nothing"); /* and after */
    lost_is(THEIRS UNDRAIN REASON("Bob's") STATE("DRAINED"), NULL,
            "nothing"); /* his stands: nothing over it */
    lost_is("x update_node: node c10 reason set to: a\nx update_node: node c10 state set to IDLE\n", NULL,
            "nothing");
    lost_is(THEIRS "cut off", NULL, "nothing");
}

static void test_a_hold_that_a_drain_undid(void **state)
{
    (void)state;
    lost_is(OURS, NULL, "nothing");
    lost_is(THEIRS OURS, NULL, "mine, Ann");
    lost_is(OURS THEIRS, NULL, "nothing");
    lost_is(THEIRS STATE("IDLE") OURS, NULL, "nothing"); /* she took it back before */
    lost_is(REASON("another Fettle's [fettle:b2:1.1:25a0]") STATE("DRAINED") OURS, NULL,
            "another Fettle's [fettle:b2:1.1:25a0]");
}

static enum slurm_lost_how how(const char *log)
{
    struct slurm_lost lost;
    assert_true(slurm_log_lost(log, "c1", "a1", NULL, &lost));
    return lost.how;
}

static void test_how_it_is_put_back(void **state)
{
    (void)state;
    assert_int_equal(how(THEIRS UNDRAIN), SLURM_LOST_DRAIN);
    assert_int_equal(how(REASON("fan") STATE("FAIL*") UNDRAIN), SLURM_LOST_FAIL);
    assert_int_equal(how(REASON("fan") STATE("FAILING") REASON("x [fettle:a1:undrain:1707]") STATE("MIXED")),
                     SLURM_LOST_FAIL);
    assert_int_equal(how(REASON("fan") STATE("DOWN") REASON("x [fettle:a1:undrain:1707]") STATE("DOWN")),
                     SLURM_LOST_DOWN);
}

static void test_a_hold_that_putting_back_undid(void **state)
{
    (void)state;
    lost_is(THEIRS UNDRAIN THEIRS, "mine, Ann", "nothing");
    lost_is(THEIRS UNDRAIN REASON("Bob's") STATE("DRAINED") THEIRS, "mine, Ann", "Bob's");
    lost_is(REASON("Bob's") STATE("DRAINED") THEIRS, "mine, Ann", "Bob's"); /* read from behind the loss */
    lost_is(THEIRS UNDRAIN THEIRS REASON("Bob's") STATE("DRAINED"), "mine, Ann", "nothing");
    lost_is("", "mine, Ann", "nothing"); /* nobody put it back yet */
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
    slurm_log_place(&log, path);
    assert_string_equal(path, "");
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "ae");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void from_is(const struct slurm_log *l, const char *place, const char *text)
{
    CLEANUP_FREE char *log = slurm_log_from(l, place);
    assert_string_equal(log, text);
}

static void test_a_place_outlives_the_process(void **state)
{
    (void)state;
    char dir[] = "/tmp/slurm-log-XXXXXX", place[SLURM_LOG_PLACE_BYTES];
    assert_non_null(mkdtemp(dir));
    CLEANUP_TEXT struct text moved = {0};
    struct slurm_log l = {.fd = -1};
    snprintf(l.path, sizeof l.path, "%s/log", dir);
    text_printf(&moved, "%s.1", l.path);
    append(l.path, "before\n");
    slurm_log_place(&l, place);
    append(l.path, "then\n");
    from_is(&l, place, "then\n");
    assert_int_equal(rename(l.path, moved.s), 0); /* rotated */
    append(l.path, "and anew\n");
    from_is(&l, place, "and anew\n");
    assert_null(slurm_log_from(&l, "nonsense"));
    unlink(l.path);
    unlink(moved.s);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hold_that_an_undrain_undid),
        cmocka_unit_test(test_a_hold_that_a_drain_undid),
        cmocka_unit_test(test_how_it_is_put_back),
        cmocka_unit_test(test_a_hold_that_putting_back_undid),
        cmocka_unit_test(test_where_it_lies),
        cmocka_unit_test(test_a_place_outlives_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
