/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/remains.h"

#include "agent/remains_read.h"
#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmp.h>

#include <cmocka.h>

enum { BOOT_S = 1800000000, BEFORE_S = BOOT_S - 5000 };

static const char panic[] = "Panic#1 Part1\n"
                            "<6>[    9.1] sysrq: Trigger a crash\n"
                            "<0>[    9.112233] Kernel panic - not syncing: sysrq triggered crash\n"
                            "<4>[    9.2] CPU: 0 PID: 211 Comm: sh\n";

/* --- reading ---------------------------------------------------------------------------------- */

static void a_panic_is_told_from_an_oops(void **state)
{
    static const char oops[] = "Oops#1 Part1\n<1>[   12.0] BUG: kernel NULL pointer dereference\n";
    static const char whole[] = "[    9.112233] Kernel panic - not syncing: Fatal machine check\n";
    char line[REMAINS_LINE_BYTES_MAX];
    assert_true(remains_panic(panic, sizeof panic - 1, line));
    assert_string_equal(line, "Kernel panic - not syncing: sysrq triggered crash");
    assert_false(remains_panic(oops, sizeof oops - 1, line));
    assert_string_equal(line, "");
    assert_true(remains_panic(whole, sizeof whole - 1, line)); /* as systemd-pstore puts it together */
    assert_string_equal(line, "Kernel panic - not syncing: Fatal machine check");
    assert_true(remains_panic("Panic#2 Part7\n", 14, line)); /* a part without the line */
    assert_string_equal(line, "");
}

static struct utmp entry(short type, const char *user, int64_t at_s)
{
    struct utmp u = {.ut_type = type};
    snprintf(u.ut_user, sizeof u.ut_user, "%s", user);
    u.ut_tv.tv_sec = (int32_t)at_s;
    return u;
}

static void wtmp_says_whether_it_was_shut_down(void **state)
{
    struct remains_wtmp w;
    const struct utmp shut[] = {
        entry(BOOT_TIME, "reboot", BEFORE_S), entry(USER_PROCESS, "ann", BEFORE_S + 9),
        entry(RUN_LVL, "shutdown", BOOT_S - 60), entry(BOOT_TIME, "reboot", BOOT_S + 2),
        entry(RUN_LVL, "runlevel", BOOT_S + 9)};
    const struct utmp crash[] = {entry(RUN_LVL, "shutdown", BEFORE_S - 60),
                                 entry(BOOT_TIME, "reboot", BEFORE_S), entry(BOOT_TIME, "reboot", BOOT_S)};
    remains_wtmp((const char *)shut, sizeof shut, BOOT_S, &w);
    assert_true(w.known && w.is_orderly);
    assert_int_equal(w.began_s, BEFORE_S);
    remains_wtmp((const char *)crash, sizeof crash, BOOT_S, &w);
    assert_true(w.known && !w.is_orderly);
    remains_wtmp((const char *)shut, sizeof shut, BOOT_S + 86400, &w); /* nobody noted the present boot */
    assert_false(w.known);
    remains_wtmp((const char *)crash, sizeof(struct utmp) + 7, BOOT_S, &w);
    assert_false(w.known);
}

static void the_journal_says_whether_it_was_shut_down(void **state)
{
    static const char shut[] = "{\"MESSAGE\":\"Stopped target Basic System.\",\"UNIT\":\"basic.target\"}\n"
                               "{\"MESSAGE\":\"Reached target Unmount All.\",\"UNIT\":\"umount.target\"}\n"
                               "{\"MESSAGE\":\"Stopped the journal.\"}\n";
    static const char crash[] = "{\"MESSAGE\":\"Started a job.\",\"UNIT\":\"job.service\"}\n"
                                "{\"MESSAGE\":[1,2]}\nno JSON\n";
    struct remains_journal j;
    remains_journal(shut, sizeof shut - 1, &j);
    assert_true(j.known && j.is_orderly);
    assert_string_equal(j.last, "Stopped the journal.");
    remains_journal(crash, sizeof crash - 1, &j);
    assert_true(j.known && !j.is_orderly);
    assert_string_equal(j.last, "Started a job.");
    remains_journal("", 0, &j);
    assert_false(j.known);
}

static void judged(const struct remains *r, const char *ended, const char *text)
{
    struct last_boot last;
    remains_judge(r, &last);
    assert_string_equal(ended_name(last.ended), ended);
    assert_string_equal(last.text, text);
}

static void the_surest_evidence_counts(void **state)
{
    const struct remains_journal journal = {true, false, "Started a job."};
    judged(&(struct remains){0}, "unknown", "");
    judged(&(struct remains){.journal = journal}, "unknown", "the journal ends with: Started a job.");
    judged(&(struct remains){.journal = journal, .watchdog = true}, "watchdog",
           "the journal ends with: Started a job.");
    judged(&(struct remains){.cause = remains_restart_cause(0xf6)}, "power", "");
    judged(&(struct remains){.cause = remains_restart_cause(4)}, "watchdog", "");
    judged(&(struct remains){.cause = remains_restart_cause(3)}, "outside", "");
    judged(&(struct remains){.wtmp = {true, true, 1}, .watchdog = true}, "orderly", "");
    judged(&(struct remains){.wtmp = {true, true, 1}, .panicked = true, .panic = "Kernel panic"}, "panic",
           "Kernel panic"); /* as it went down */
    judged(&(struct remains){.dump = "202611221504"}, "panic",
           "a crash dump lies in /var/crash/202611221504");
}

/* --- collecting ------------------------------------------------------------------------------- */

static void put(const char *root, const char *path, const char *bytes, size_t len, int64_t at_s)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *p = whole + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        mkdir(whole, 0755);
    }
    if (bytes) {
        FILE *f = fopen(whole, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, len, f), len);
        fclose(f);
    } else {
        assert_int_equal(mkdir(whole, 0755), 0);
    }
    const struct timespec times[2] = {{.tv_sec = at_s}, {.tv_sec = at_s}};
    assert_int_equal(utimensat(AT_FDCWD, whole, times, 0), 0);
}

static void left(const char *root, const char *ended, const char *text)
{
    CLEANUP_TEXT struct text out = {0}, expected = {0};
    struct err e;
    if (remains_collect(root, &out, &e) < 0)
        fail_msg("%s", e.msg);
    text_printf(&expected, "{\"ended\":\"%s\",\"text\":\"%s\"}", ended, text);
    assert_string_equal(out.s, expected.s);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

static int root_create(void **state)
{
    static char root[64];
    snprintf(root, sizeof root, "/tmp/fettle-remains.XXXXXX");
    assert_non_null(mkdtemp(root));
    put(root, "proc/stat", "cpu 1\nbtime 1800000000\n", 24 - 1, BOOT_S);
    *state = root;
    return 0;
}

static int root_destroy(void **state)
{
    return nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void a_record_counts_for_the_boot_that_it_is_of(void **state)
{
    const char *root = *state;
    put(root, "sys/fs/pstore/dmesg-erst-1", panic, sizeof panic - 1, BOOT_S - 3 * 86400);
    left(root, "unknown", "");
    put(root, "sys/fs/pstore/dmesg-erst-2", panic, sizeof panic - 1, BOOT_S - 600);
    left(root, "panic", "Kernel panic - not syncing: sysrq triggered crash");
}

static void a_record_that_systemd_put_away_is_found(void **state)
{
    const char *root = *state;
    put(root, "var/lib/systemd/pstore/7/001/dmesg.txt", panic, sizeof panic - 1, BOOT_S - 86400);
    left(root, "unknown", ""); /* it was put away in the boot before, or longer ago */
    put(root, "var/lib/systemd/pstore/8/001/dmesg.txt", panic, sizeof panic - 1, BOOT_S + 3);
    left(root, "panic", "Kernel panic - not syncing: sysrq triggered crash");
}

/* Two boots a few minutes apart: the panic was before the first of them. */
static void an_older_crash_is_not_told_of_a_quick_second_boot(void **state)
{
    const char *root = *state;
    put(root, "run/systemd/inaccessible", NULL, 0, BOOT_S + 1);
    put(root, "var/lib/systemd/pstore/7/001/dmesg.txt", panic, sizeof panic - 1, BOOT_S - 117);
    left(root, "unknown", "");
    put(root, "var/lib/systemd/pstore/8/001/dmesg.txt", panic, sizeof panic - 1, BOOT_S + 2);
    left(root, "panic", "Kernel panic - not syncing: sysrq triggered crash");
}

/* The clock was set forward by an hour after both had been written. */
static void a_clock_that_was_set_since_hides_no_crash(void **state)
{
    const char *root = *state;
    put(root, "run/systemd/inaccessible", NULL, 0, BOOT_S - 3600);
    put(root, "var/lib/systemd/pstore/8/001/dmesg.txt", panic, sizeof panic - 1, BOOT_S - 3598);
    left(root, "panic", "Kernel panic - not syncing: sysrq triggered crash");
}

static void a_crash_dump_and_a_watchdog_are_found(void **state)
{
    const char *root = *state;
    put(root, "sys/class/watchdog/watchdog0/bootstatus", "32\n", 3, BOOT_S);
    left(root, "watchdog", "");
    put(root, "var/crash/_usr_bin_top.crash", "x", 1, BOOT_S - 60);
    put(root, "var/crash/202701150800", NULL, 0, BOOT_S - 60);
    left(root, "panic", "a crash dump lies in /var/crash/202701150800");
}

static void an_orderly_shutdown_is_found(void **state)
{
    const char *root = *state;
    const struct utmp shut[] = {entry(BOOT_TIME, "reboot", BEFORE_S), entry(RUN_LVL, "shutdown", BOOT_S - 60),
                                entry(BOOT_TIME, "reboot", BOOT_S)};
    put(root, "var/log/wtmp", (const char *)shut, sizeof shut, BOOT_S);
    left(root, "orderly", "");
    put(root, "sys/fs/pstore/dmesg-erst-1", panic, sizeof panic - 1, BEFORE_S - 60);
    left(root, "orderly", ""); /* of the boot before that one */
}

static void this_machine_says_how_its_boot_before_ended(void **state)
{
    CLEANUP_TEXT struct text said = {0};
    struct err e = {0};
    assert_int_equal(remains_collect("", &said, &e), 0);
    CLEANUP_JSON json_t *o = json_read(said.s, said.len, &e);
    assert_true(json_is_object(o));
    assert_true(json_is_string(json_object_get(o, "ended")));
    assert_int_equal(remains_collect("/no/such/root", &said, &e), -ENOENT);
    assert_string_equal(e.msg, "/no/such/root: No such file or directory");
}

int main(void)
{
#define IN_A_ROOT(f) cmocka_unit_test_setup_teardown(f, root_create, root_destroy)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_panic_is_told_from_an_oops),
        cmocka_unit_test(wtmp_says_whether_it_was_shut_down),
        cmocka_unit_test(the_journal_says_whether_it_was_shut_down),
        cmocka_unit_test(the_surest_evidence_counts),
        IN_A_ROOT(a_record_counts_for_the_boot_that_it_is_of),
        IN_A_ROOT(a_record_that_systemd_put_away_is_found),
        IN_A_ROOT(an_older_crash_is_not_told_of_a_quick_second_boot),
        IN_A_ROOT(a_clock_that_was_set_since_hides_no_crash),
        IN_A_ROOT(a_crash_dump_and_a_watchdog_are_found),
        IN_A_ROOT(an_orderly_shutdown_is_found),
        cmocka_unit_test(this_machine_says_how_its_boot_before_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
