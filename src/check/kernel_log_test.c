/* SPDX-License-Identifier: Apache-2.0 */
#include "check/kernel_log.h"

#include "probe/tree_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char XID_79[] = "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.";
static const char XID_79_OTHER[] = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.";
static const char XID_95[] = "NVRM: Xid (PCI:0000:3b:00): 95, pid=1, Uncontained";
static const char SOFT[] = "nfs: server a not responding, timed out";
static const char NFS_BAD[] = "nfs: server nfs01 not responding, still trying";
static const char NFS_GOOD[] = "nfs: server nfs01 OK";
static const char HUNG[] = "INFO: task x:1 blocked for more than 120 seconds.";

struct world {
    struct meanings *meanings;
    struct kernel_log *log;
    struct checks checks;
    struct memory *memory;
    struct verdict v;
};

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    w->meanings = meanings_read(NULL, NULL);
    w->log = kernel_log_create(w->meanings);
    w->memory = memory_create();
    static const char conf[] = "Check=kernel.log\nCheck=short Probe=kernel.log Keep=30s\n";
    struct err e = {0};
    assert_int_equal(checks_parse("checks.conf", conf, sizeof conf - 1, &w->checks, &e), 0);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    kernel_log_destroy(w->log);
    meanings_destroy(w->meanings);
    checks_fini(&w->checks);
    memory_destroy(w->memory);
    free(w);
    return 0;
}

static struct mono at(int64_t s)
{
    return (struct mono){s * 1000000000};
}

/* The kernel says a line, s seconds after its boot. */
static bool say(struct world *w, int64_t s, const char *line)
{
    struct kmsg r = {.at_us = (uint64_t)s * 1000000, .from_kernel = true};
    snprintf(r.text, sizeof r.text, "%s", line);
    return kernel_log_take(w->log, at(s), &r);
}

/* What check says at s: "code result" of all findings, by commas. */
static void expect_of(struct world *w, const char *check, int64_t s, const char *said)
{
    CLEANUP_TEXT struct text facts = {0}, got = {0};
    struct look l = {.check = checks_find(&w->checks, check), .root = "", .now = at(s), .memory = w->memory};
    text_add(&facts, "");
    text_add(&got, "");
    kernel_log_facts(w->log, at(s), &facts);
    look_judge(&l, facts.s, &w->v);
    for (size_t i = 0; i < w->v.n; i++)
        text_printf(&got, "%s%s %s", i ? ", " : "", w->v.findings[i].code,
                    result_name(w->v.findings[i].result));
    assert_string_equal(got.s, said);
}

static void expect(struct world *w, int64_t s, const char *said)
{
    expect_of(w, "kernel.log", s, said);
}

static void nothing_said_is_ok(void **state)
{
    struct world *w = *state;
    expect(w, 1, "");
    assert_int_equal(w->v.result, RESULT_OK);
    assert_false(say(w, 1, "Linux version 6.1"));
    expect(w, 1, "");
}

static void a_line_becomes_a_finding(void **state)
{
    struct world *w = *state;
    assert_true(say(w, 5, XID_79));
    expect(w, 6, "xid.79 lost");
    assert_string_equal(w->v.findings[0].device, "gpu 0000:9b:00");
    assert_non_null(strstr(w->v.findings[0].text, "the GPU has fallen off the bus: NVRM: Xid"));
    assert_int_equal(w->v.result, RESULT_LOST);
    assert_true(say(w, 7, XID_79));
    expect(w, 8, "xid.79 lost");
    assert_non_null(strstr(w->v.findings[0].text, "2 times: "));
}

static void a_users_line_is_none(void **state)
{
    struct world *w = *state;
    struct kmsg r = {.at_us = 1, .facility = 1, .from_kernel = false};
    memcpy(r.text, XID_79, sizeof XID_79);
    assert_false(kernel_log_take(w->log, at(1), &r));
    expect(w, 1, "");
}

static void a_fault_that_only_a_remedy_ends_stays(void **state)
{
    struct world *w = *state;
    say(w, 5, XID_79);
    say(w, 5, SOFT);
    expect(w, 5 + 600, "xid.79 lost, nfs.timeout warn");
    expect(w, 5 + 601, "xid.79 lost");
    expect_of(w, "short", 35, "xid.79 lost, nfs.timeout warn");
    expect_of(w, "short", 36, "xid.79 lost");
    expect(w, 30 * 86400, "xid.79 lost");
}

static void a_line_that_is_said_again_lives_on(void **state)
{
    struct world *w = *state;
    say(w, 5, SOFT);
    say(w, 500, SOFT);
    expect(w, 1100, "nfs.timeout warn");
    expect(w, 1101, "");
}

static void a_remedy_ends_faults_that_it_may_help_and_no_others(void **state)
{
    struct world *w = *state;
    say(w, 5, XID_79);
    say(w, 5, XID_95);
    assert_false(kernel_log_forget(w->log, "", UINT64_MAX));
    assert_false(kernel_log_forget(w->log, "xid.7 xid.799 fs.space", UINT64_MAX));
    assert_true(kernel_log_forget(w->log, "xid.48 xid.79", UINT64_MAX));
    expect(w, 6, "xid.95 fatal");
    assert_true(kernel_log_forget(w->log, "xid.95 xid.79", UINT64_MAX));
    expect(w, 6, "");
    assert_false(kernel_log_forget(w->log, "xid.95", UINT64_MAX));
}

static void a_fault_put_right_on_one_device_stands_on_another(void **state)
{
    struct world *w = *state;
    say(w, 5, XID_79);
    say(w, 5, XID_79_OTHER);
    assert_false(kernel_log_forget(w->log, "xid.79@gpu_0000:9b xid.7@gpu_0000:9b:00 xid.79@", UINT64_MAX));
    assert_true(kernel_log_forget(w->log, "xid.48 xid.79@gpu_0000:9b:00", UINT64_MAX));
    expect(w, 6, "xid.79 lost");
    assert_string_equal(w->v.findings[0].device, "gpu 0000:3b:00");
    assert_true(kernel_log_forget(w->log, "xid.79", UINT64_MAX));
}

static void a_closing_line_ends_a_finding_at_once(void **state)
{
    struct world *w = *state;
    say(w, 5, NFS_BAD);
    expect(w, 6, "nfs.server warn");
    assert_false(say(w, 7, "nfs: server other OK"));
    assert_true(say(w, 7, NFS_GOOD));
    expect(w, 7, "");
    assert_false(say(w, 8, NFS_GOOD));
}

/* An outage is a warning for ten minutes, and over after an hour, because who unmounts hears of no end. */
static void an_outage_counts_when_it_lasts(void **state)
{
    struct world *w = *state;
    say(w, 100, NFS_BAD);
    expect(w, 699, "nfs.server warn");
    expect(w, 700, "nfs.server degraded");
    say(w, 800, NFS_BAD);
    expect(w, 801, "nfs.server degraded");
    expect(w, 800 + 3600, "nfs.server degraded");
    expect(w, 800 + 3601, "");
    say(w, 9000, NFS_BAD); /* another one */
    expect(w, 9001, "nfs.server warn");
}

static void a_gpu_that_asks_for_nothing_any_more_is_well(void **state)
{
    struct world *w = *state;
    say(w, 1,
        "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset "
        "Required)");
    expect(w, 2, "xid.154 fatal");
    say(w, 3,
        "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to "
        "0x0 (None)");
    expect(w, 4, "");
}

static void a_line_said_often_is_worse(void **state)
{
    struct world *w = *state;
    say(w, 1, HUNG);
    say(w, 2, HUNG);
    expect(w, 3, "kernel.hung_task warn");
    say(w, 601, HUNG);
    expect(w, 602, "kernel.hung_task fatal"); /* three within ten minutes */
    say(w, 603, HUNG);                        /* the last three are not, and one more makes it no milder */
    expect(w, 604, "kernel.hung_task fatal");
    expect(w, 1201, "kernel.hung_task fatal");
    expect(w, 1202, "kernel.hung_task warn");
}

/* An error of a disk is several lines at once, and one error. */
static void lines_of_one_event_count_once(void **state)
{
    static const char line[] = "I/O error, dev sda, sector 7";
    struct world *w = *state;
    struct kmsg r = {.from_kernel = true};
    memcpy(r.text, line, sizeof line);
    for (int i = 0; i < 50; i++) {
        r.at_us = 1000000 + (uint64_t)i * 100000; /* ten a second, for five seconds */
        kernel_log_take(w->log, at(10), &r);
    }
    expect(w, 10, "disk.error warn");
    assert_int_equal(w->v.findings[0].count, 5);
    for (int i = 0; i < 24; i++)
        say(w, 10 + 4 * i, line);
    expect(w, 110, "disk.error warn");
    assert_int_equal(w->v.findings[0].count, 29);
}

/* --- whose work it was -------------------------------------------------------------------------- */

static void add_process(struct tree *t, const char *pid, const char *gpu)
{
    char path[64];
    snprintf(path, sizeof path, "proc/%s/cgroup", pid);
    tree_add(t, path, "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
    snprintf(path, sizeof path, "proc/%s/fd/3@", pid);
    tree_add(t, path, gpu);
}

static void add_job(struct tree *t)
{
    CLEANUP_TEXT struct text users = {0};
    add_process(t, "70", "/dev/nvidia0");
    add_process(t, "71", "/dev/nvidia1");
    add_process(t, "72", "/dev/nvidiactl");
    tree_add(t, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/cgroup.procs", "");
    tree_add(t, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/cgroup.procs",
             "70\n71\n72\n");
    text_printf(&users, "root:x:4711:0::/:/bin/sh\nann:x:%u:100::/home/ann:/bin/sh\n", (unsigned)getuid());
    tree_add(t, "etc/passwd", users.s);
}

static const char XID_31[] = "NVRM: Xid (PCI:0000:9b:00): 31, pid=70, name=train, Ch 00000008, MMU Fault";
static const char XID_31_OTHER[] =
    "NVRM: Xid (PCI:0000:3b:00): 31, pid=71, name=train, Ch 00000008, MMU Fault";

static void a_finding_names_the_work_and_its_user(void **state)
{
    struct tree *t = NULL;
    struct world *w = *state;
    tree_setup((void **)&t);
    add_job(t);
    kernel_log_root(w->log, t->root);
    say(w, 1, XID_31);
    expect(w, 2, "xid.31 info");
    const struct finding *f = &w->v.findings[0];
    assert_string_equal(f->work, "slurm.7");
    assert_string_equal(f->user, "ann");
    assert_int_equal(f->count, 1);
    assert_int_equal(f->others, 1); /* the job has two GPUs, and the other is well */
    assert_non_null(strstr(f->text, "under slurm.7 of ann: "));
    say(w, 3, "NVRM: Xid (PCI:0000:9b:00): 31, pid=4711, name=gone, Ch 00000008, MMU Fault");
    expect(w, 4, "xid.31 warn");
    assert_string_equal(w->v.findings[0].work, "slurm.7");
    say(w, 5, XID_31_OTHER); /* so have both now: it is the program */
    expect(w, 6, "xid.31 warn, xid.31 info");
    assert_int_equal(w->v.findings[0].others, 0);
    assert_int_equal(w->v.findings[1].others, 0);
    tree_teardown((void **)&t);
}

static void an_oops_counts_when_the_kernel_notes_it(void **state)
{
    struct tree *t = NULL;
    struct world *w = *state;
    tree_setup((void **)&t);
    kernel_log_root(w->log, t->root);
    say(w, 1, "Oops: 0002 [#1] PREEMPT SMP NOPTI");
    expect(w, 2, "kernel.oops warn"); /* whether it did cannot be read */
    tree_add(t, "proc/sys/kernel/tainted", "512\n");
    expect(w, 3, "kernel.oops warn"); /* it warned, of something else */
    assert_non_null(strstr(w->v.findings[0].text, "a warning until /proc/sys/kernel/tainted shows it"));
    tree_add(t, "proc/sys/kernel/tainted", "640\n");
    expect(w, 4, "kernel.oops fatal");
    assert_null(strstr(w->v.findings[0].text, "a warning until"));
    tree_teardown((void **)&t);
}

static void a_process_with_the_name_of_a_kernel_thread_is_none(void **state)
{
    static const char blocked[] = "INFO: task jbd2/sda1-8:%u blocked for more than 120 seconds.";
    char line[128];
    struct tree *t = NULL;
    struct world *w = *state;
    tree_setup((void **)&t);
    add_job(t);
    tree_add(t, "proc/70/status", "Name:\tjbd2/sda1-8\nPid:\t70\nPPid:\t1\n");
    tree_add(t, "proc/99/status", "Name:\tjbd2/sda1-8\nPid:\t99\nPPid:\t2\n");
    kernel_log_root(w->log, t->root);
    snprintf(line, sizeof line, blocked, 70);
    say(w, 1, line);
    expect(w, 2, "kernel.hung_task warn");
    assert_string_equal(w->v.findings[0].work, "slurm.7");
    snprintf(line, sizeof line, blocked, 4711); /* it is gone, and proves nothing */
    say(w, 3, line);
    expect(w, 4, "kernel.hung_task warn");
    snprintf(line, sizeof line, blocked, 99);
    say(w, 5, line);
    expect(w, 6, "kernel.hung_task warn, disk.hung degraded");
    tree_teardown((void **)&t);
}

static void a_process_that_is_gone_is_nobodys(void **state)
{
    struct tree *t = NULL;
    struct world *w = *state;
    tree_setup((void **)&t);
    kernel_log_root(w->log, t->root);
    say(w, 1, XID_31);
    expect(w, 2, "xid.31 info");
    assert_string_equal(w->v.findings[0].work, "");
    assert_string_equal(w->v.findings[0].user, "");
    assert_int_equal(w->v.findings[0].others, 0);
    tree_teardown((void **)&t);
}

static void a_milder_line_does_not_lower_a_lasting_fault(void **state)
{
    struct world *w = *state;
    say(w, 1, "NVRM: Xid (PCI:0000:9b:00): 149, X Fatal XC0 i0 Link 01 (0x00400000 0x0)");
    say(w, 2, "NVRM: Xid (PCI:0000:9b:00): 149, X Nonfatal XC0 i0 Link 01 (0x00400000 0x0)");
    expect(w, 5000, "xid.149.4 fatal");
}

static void a_gap_is_a_finding(void **state)
{
    struct world *w = *state;
    assert_false(kernel_log_lose(w->log, at(1), 0));
    expect(w, 1, "");
    assert_true(kernel_log_lose(w->log, at(1), 17));
    expect(w, 2, "kernel.gap warn");
    assert_string_equal(w->v.findings[0].text,
                        "17 lines of the kernel's log were overwritten before they were read");
    expect(w, 700, "");
}

/* A line of this boot that is read late is as old as the kernel says; none is of the future. */
static void a_record_counts_from_its_own_time(void **state)
{
    struct world *w = *state;
    struct kmsg r = {.at_us = 10000000, .from_kernel = true};
    memcpy(r.text, SOFT, sizeof SOFT);
    kernel_log_take(w->log, at(1000), &r);
    expect(w, 1000, "");
    r.at_us = 99999000000;
    kernel_log_take(w->log, at(1000), &r);
    expect(w, 1600, "nfs.timeout warn");
    expect(w, 1601, "");
}

static void the_mildest_of_too_many_faults_go(void **state)
{
    struct world *w = *state;
    char line[64];
    say(w, 1, XID_79);
    for (int i = 0; i < 2 * KERNEL_LOG_FINDINGS_MAX; i++) {
        snprintf(line, sizeof line, "nfs: server n%d not responding, timed out", i);
        say(w, 2 + i, line);
    }
    CLEANUP_TEXT struct text said = {0};
    text_add(&said, "xid.79 lost");
    for (int i = 1; i < FINDINGS_A_CHECK_MAX; i++)
        text_add(&said, ", nfs.timeout warn");
    expect(w, 300, said.s);
    assert_int_equal(w->v.more, KERNEL_LOG_FINDINGS_MAX - FINDINGS_A_CHECK_MAX);
}

/* --- over a restart of the agent ---------------------------------------------------------------- */

static void faults_outlive_the_agent(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text saved = {0};
    struct kmsg_cursor then = {.boot = "boot-1", .next = 77}, now;
    say(w, 5, XID_79);
    say(w, 5, NFS_BAD);
    kernel_log_save(w->log, at(6), &then, &saved);
    kernel_log_forget(w->log, "xid.79 nfs.server", UINT64_MAX);
    kernel_log_load(w->log, saved.s, "boot-1", &now);
    assert_string_equal(now.boot, "boot-1");
    assert_int_equal(now.next, 77);
    expect(w, 700, "xid.79 lost, nfs.server degraded");
    say(w, 701, NFS_GOOD);
    expect(w, 702, "xid.79 lost");
    kernel_log_load(w->log, saved.s, "boot-2", &now);
    assert_string_equal(now.boot, "");
    expect(w, 703, "");
}

/* It wrote no sequence numbers. */
static void a_text_saved_by_an_older_agent_is_read(void **state)
{
    struct world *w = *state;
    struct kmsg_cursor now;
    kernel_log_load(w->log, "cursor 7 b\nfinding 1000000000 1000000000 1 lost lost 0 0 xid.79|gpu|gone\n",
                    "b", &now);
    expect(w, 2, "xid.79 lost");
    assert_true(kernel_log_forget(w->log, "xid.79", 1));
}

static void a_later_line_is_not_forgotten(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text saved = {0};
    struct kmsg_cursor then = {.boot = "b", .next = 9}, now;
    struct kmsg r = {.from_kernel = true, .seq = 8, .at_us = 1000000};
    snprintf(r.text, sizeof r.text, "%s", XID_79);
    kernel_log_take(w->log, at(1), &r);
    kernel_log_save(w->log, at(2), &then, &saved);
    kernel_log_load(w->log, saved.s, "b", &now);
    assert_false(kernel_log_forget(w->log, "xid.79", 8));
    assert_true(kernel_log_forget(w->log, "xid.79", 9));
}

static void a_damaged_saved_text_is_nothing(void **state)
{
    struct world *w = *state;
    static const char *const bad[] = {
        "",
        "cursor",
        "cursor x b",
        "finding 1",
        "cursor 1 b\nfinding 1 2 3\n",
        "cursor 1 b\nfinding 1 1 1 lost lost 0 0 0 unsupported 0 0 - - xid.79|gpu\n",
        "cursor 1 b\nfinding 1 1 1 lost bad 0 0 0 unsupported 0 0 - - xid.79|gpu|text\n",
        "cursor 1 b\nfinding 1 1 1 lost lost 0 0 0 often 0 0 - - xid.79|gpu|text\n",
        "cursor 1 b\nfinding 1 1 1 lost lost 0 0 0 warn 0 0 - xid.79|gpu|text\n",
        ("cursor 1 b\nfinding 1 1 1 lost lost 0 0 0 unsupported 0 0 - - a|b|c\nfinding 1 1 1 lost lost 0 0 "
         "0 unsupported 0 0 - - a|b|c\n"),
        "cursor 1 b\nother 1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct kmsg_cursor c;
        say(w, 1, XID_79);
        kernel_log_load(w->log, bad[i], "b", &c);
        assert_string_equal(c.boot, "");
        assert_int_equal(c.next, 0);
        expect(w, 2, "");
    }
}

static void a_look_by_hand_reads_all_that_is_there(void **state)
{
    struct world *w = *state;
    struct tree *t = NULL;
    tree_setup((void **)&t);
    tree_add(t, "dev/kmsg",
             "6,1,1000000,-;NVRM: Xid (PCI:0000:9b:00): 79, x\n"
             "12,2,1000000,-;NVRM: Xid (PCI:0000:3b:00): 79, x\n");
    CLEANUP_TEXT struct text facts = {0};
    struct look l = {.check = &w->checks.list[0], .root = t->root, .now = at(100), .memory = w->memory};
    kernel_log_gather(&l, &facts);
    look_judge(&l, facts.s, &w->v);
    assert_int_equal(w->v.n, 1);
    assert_int_equal(w->v.result, RESULT_LOST);
    text_clear(&facts);
    l.root = "/nonexistent";
    kernel_log_gather(&l, &facts);
    look_judge(&l, facts.s, &w->v);
    assert_int_equal(w->v.result, RESULT_UNSUPPORTED);
    tree_teardown((void **)&t);
}

#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(nothing_said_is_ok),
        IN_WORLD(a_line_becomes_a_finding),
        IN_WORLD(a_users_line_is_none),
        IN_WORLD(a_fault_that_only_a_remedy_ends_stays),
        IN_WORLD(a_line_that_is_said_again_lives_on),
        IN_WORLD(a_remedy_ends_faults_that_it_may_help_and_no_others),
        IN_WORLD(a_fault_put_right_on_one_device_stands_on_another),
        IN_WORLD(a_closing_line_ends_a_finding_at_once),
        IN_WORLD(an_outage_counts_when_it_lasts),
        IN_WORLD(a_gpu_that_asks_for_nothing_any_more_is_well),
        IN_WORLD(a_line_said_often_is_worse),
        IN_WORLD(a_milder_line_does_not_lower_a_lasting_fault),
        IN_WORLD(a_gap_is_a_finding),
        IN_WORLD(lines_of_one_event_count_once),
        IN_WORLD(a_finding_names_the_work_and_its_user),
        IN_WORLD(an_oops_counts_when_the_kernel_notes_it),
        IN_WORLD(a_process_with_the_name_of_a_kernel_thread_is_none),
        IN_WORLD(a_process_that_is_gone_is_nobodys),
        IN_WORLD(a_record_counts_from_its_own_time),
        IN_WORLD(the_mildest_of_too_many_faults_go),
        IN_WORLD(faults_outlive_the_agent),
        IN_WORLD(a_text_saved_by_an_older_agent_is_read),
        IN_WORLD(a_later_line_is_not_forgotten),
        IN_WORLD(a_damaged_saved_text_is_nothing),
        IN_WORLD(a_look_by_hand_reads_all_that_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
