/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/remains.h"

#include "agent/remains_read.h"
#include "check/part.h"
#include "probe/keeper.h"
#include "probe/shell.h"
#include "probe/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmp.h>

/*
 * A record of pstore is of the boot before when it is younger than that boot; where the beginning of that
 * boot is unknown, when it is at most a day old.
 *
 * systemd-pstore writes its copies anew in the boot after the crash. Such a copy is of the boot before when
 * it is younger than the directory that systemd makes first: both have the time of that moment's clock,
 * which may be set later.
 */

enum {
    DAY_S = 86400,
    CLOCK_SLACK_S = 300, /* a clock that is set in the first minutes of a boot */
    WTMP_RECORDS = 256,
    ENTRIES_MAX = 64, /* looked at in a directory */
    DEPTH_MAX = 3,    /* systemd-pstore sorts what it finds into directories */
    JOURNAL_LINES = 200,
    JOURNAL_BYTES_MAX = 512 << 10,
    JOURNAL_MS = 2000,
    KILL_MS = 200
};

struct collecting {
    int root;
    int64_t boot_s;    /* when the present boot began, since 1970; 0: not known */
    int64_t since_s;   /* older records are not of the boot before */
    int64_t systemd_s; /* what systemd wrote since is of the present boot */
    struct remains r;
};

/* --- pstore ----------------------------------------------------------------------------------- */

static void read_record(struct collecting *c, int dir, const char *name)
{
    char line[REMAINS_LINE_BYTES_MAX];
    CLEANUP_FREE char *bytes = mem_alloc(SYS_FILE_BYTES_MAX);
    int n = sys_read(dir, name, bytes, SYS_FILE_BYTES_MAX);
    if (n < 0 && n != -E2BIG)
        return;
    bool is = remains_panic(bytes, strnlen(bytes, SYS_FILE_BYTES_MAX), line);
    c->r.panicked |= is;
    if (is && *line && !*c->r.panic)
        memcpy(c->r.panic, line, sizeof line);
}

static bool record_is_of_crash(const struct collecting *c, int64_t at_s)
{
    return at_s >= c->since_s;
}

static bool copy_is_of_crash(const struct collecting *c, int64_t at_s)
{
    return at_s >= c->systemd_s;
}

/* Whether what was written at this time tells of the crash before the present boot. */
typedef bool is_of_crash_fn(const struct collecting *c, int64_t at_s);

static void read_records(struct collecting *c, int at, const char *path, is_of_crash_fn *is_of_crash,
                         int depth)
{
    struct sys_names names = {0};
    CLEANUP_FD int dir = sys_open_dir(at, path);
    if (dir < 0 || sys_names_read(&names, dir) < 0) {
        sys_names_fini(&names);
        return;
    }
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n && i < ENTRIES_MAX; i++) {
        struct stat st;
        if (fstatat(dir, names.names[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            read_records(c, dir, names.names[i], is_of_crash, depth + 1);
        else if (S_ISREG(st.st_mode) && is_of_crash(c, st.st_mtime))
            read_record(c, dir, names.names[i]);
    }
    sys_names_fini(&names);
}

/* --- crash dumps ------------------------------------------------------------------------------ */

/* kdump makes a directory for each dump; everything else there belongs to programs. */
static void read_dumps(struct collecting *c)
{
    struct sys_names names = {0};
    CLEANUP_FD int dir = sys_open_dir(c->root, "var/crash");
    if (dir >= 0 && sys_names_read(&names, dir) == 0)
        sys_names_sort(&names);
    for (size_t i = 0; i < names.n && i < ENTRIES_MAX; i++) {
        struct stat st;
        bool is = fstatat(dir, names.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
                  st.st_mtime >= c->since_s && st.st_mtime <= c->boot_s + CLOCK_SLACK_S;
        if (is)
            text_line(c->r.dump, sizeof c->r.dump, names.names[i]);
    }
    sys_names_fini(&names);
}

/* --- wtmp ------------------------------------------------------------------------------------- */

static void read_wtmp(struct collecting *c)
{
    CLEANUP_FD int fd = openat(c->root, "var/log/wtmp", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    size_t one = sizeof(struct utmp), size = WTMP_RECORDS * one;
    off_t whole = st.st_size - st.st_size % (off_t)one;
    off_t from = whole > (off_t)size ? whole - (off_t)size : 0;
    CLEANUP_FREE char *bytes = mem_alloc(size);
    ssize_t n = pread(fd, bytes, size, from);
    if (n > 0)
        remains_wtmp(bytes, (size_t)n, c->boot_s, &c->r.wtmp);
}

/* --- the journal ------------------------------------------------------------------------------ */

static void become_journalctl(void *arg)
{
    static char program[] = "/usr/bin/journalctl", quiet[] = "-q", boot[] = "--boot=-1",
                json[] = "--output=json";
    static char fields[] = "--output-fields=MESSAGE,MESSAGE_ID,UNIT", pager[] = "--no-pager";
    static char lines[32];
    char *const argv[] = {program, quiet, boot, json, fields, pager, lines, NULL};
    snprintf(lines, sizeof lines, "--lines=%d", JOURNAL_LINES);
    shell_exec(program, argv);
    _exit(127);
}

static void read_journal(struct collecting *c)
{
    CLEANUP_TEXT struct text said = {0};
    int status = 0;
    const struct keeper_job job = {.work = become_journalctl,
                                   .keep = -1,
                                   .until = mono_add(mono_now(), span_ms(JOURNAL_MS)),
                                   .timeout = span_ms(KILL_MS),
                                   .bytes_max = JOURNAL_BYTES_MAX};
    if (keeper_run(&job, &said, &status, NULL) == 0 && status == 0 && said.len)
        remains_journal(said.s, said.len, &c->r.journal);
}

/* --- watchdogs and the BMC -------------------------------------------------------------------- */

/* The cause of the present boot, by the watchdog's driver (linux/watchdog.h, WDIOF_CARDRESET). */
static void read_watchdogs(struct collecting *c)
{
    enum { CARD_RESET = 0x20 };
    struct sys_names names = {0};
    CLEANUP_FD int dir = sys_open_dir(c->root, "sys/class/watchdog");
    if (dir >= 0)
        (void)sys_names_read(&names, dir);
    for (size_t i = 0; i < names.n && i < ENTRIES_MAX; i++) {
        char path[SYS_TEXT_BYTES_MAX];
        uint64_t bits;
        snprintf(path, sizeof path, "%.64s/bootstatus", names.names[i]);
        c->r.watchdog |= sys_u64(dir, path, &bits) == 0 && (bits & CARD_RESET);
    }
    sys_names_fini(&names);
}

static void ask_bmc(struct collecting *c, const char *root)
{
    enum { CHASSIS = 0x00, RESTART_CAUSE = 0x07 };
    const struct look l = {.root = root};
    CLEANUP_TEXT struct text unused = {0};
    struct bmc_reply reply = {.n = 0};
    CLEANUP_FD int fd = bmc_open(&l, &unused);
    if (fd >= 0 && bmc_ask(&l, fd, CHASSIS, 0, RESTART_CAUSE, NULL, 0, &reply) == BMC_COMPLETED &&
        reply.n > 1)
        c->r.cause = remains_restart_cause(reply.bytes[1]);
}

/* --- together --------------------------------------------------------------------------------- */

static bool boot_line(const char *line, void *arg)
{
    uint64_t seconds;
    if (strncmp(line, "btime ", 6) != 0)
        return true;
    if (text_parse_u64(line + 6, 0, INT64_MAX, &seconds, NULL) == 0)
        *(int64_t *)arg = (int64_t)seconds;
    return false;
}

/* When systemd began, by that moment's clock. */
static int64_t systemd_began(const struct collecting *c)
{
    struct stat st;
    bool is = fstatat(c->root, "run/systemd/inaccessible", &st, AT_SYMLINK_NOFOLLOW) == 0;
    return is ? st.st_mtime : c->boot_s - CLOCK_SLACK_S;
}

int remains_collect(const char *root, struct text *out, struct err *e)
{
    CLEANUP_FREE struct collecting *c = mem_alloc(sizeof *c);
    struct last_boot last;
    CLEANUP_FD int at = sys_open_root(root, e);
    if (at < 0)
        return at;
    c->root = at;
    (void)sys_each_line(at, "proc/stat", boot_line, &c->boot_s);
    read_wtmp(c);
    c->since_s = c->r.wtmp.known ? c->r.wtmp.began_s : c->boot_s - DAY_S;
    c->systemd_s = systemd_began(c);
    if (c->boot_s) {
        read_records(c, at, "sys/fs/pstore", record_is_of_crash, DEPTH_MAX);
        read_records(c, at, "var/lib/systemd/pstore", copy_is_of_crash, 0);
        read_dumps(c);
    }
    if (!*root)
        read_journal(c);
    read_watchdogs(c);
    remains_judge(&c->r, &last);
    if (last.ended == ENDED_UNKNOWN) {
        ask_bmc(c, root);
        remains_judge(&c->r, &last);
    }
    CLEANUP_JSON json_t *o = last_boot_write(&last);
    CLEANUP_FREE char *text = json_write(o);
    text_add(out, text);
    return 0;
}
