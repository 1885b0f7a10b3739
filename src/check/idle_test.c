/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* What should not be there while no work runs. */

#define WORK "run/fettle/work/job"

static void test_work(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 100 kB\n");
    trial_add(t, WORK, "");
    trial_expect(t, "Probe=memory.idle Looks=1", "ok work runs");
    trial_remove(t, WORK);
    trial_begins(t, "Probe=memory.idle Looks=1", "degraded");
    trial_add(t, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/", "");
    trial_expect(t, "Probe=memory.idle Looks=1", "ok work runs");
    trial_remove(t, "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7");
    trial_remove(t, "run/fettle/work");
    trial_add(t, "run/fettle/work", ""); /* nobody can tell */
    trial_begins(t, "Probe=memory.idle Looks=1", "unknown the work that runs: ");
}

/* --- memory.idle ---------------------------------------------------------------------------- */

static void memory_is(struct trial *t, unsigned available, unsigned pages, const char *want)
{
    char text[128];
    snprintf(text, sizeof text, "MemTotal: 1000 kB\nMemAvailable: %u kB\nHugetlb: %u kB\n", available, pages);
    trial_add(t, "proc/meminfo", text);
    trial_expect(t, "Probe=memory.idle", want);
}

static void test_memory(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=memory.idle", "unsupported there is no /proc/meminfo");
    memory_is(t, 800, 0, "ok");
    memory_is(t, 500, 300, "ok"); /* pages that the site set aside */
    memory_is(t, 789, 0, "ok");
    memory_is(t, 789, 0, "ok");
    memory_is(t, 789, 0,
              "degraded memory: 21 % are in use while no work runs, of at most 20 %, in 3 looks in a row");
    memory_is(t, 800, 0, "ok");
    memory_is(t, 789, 0, "ok"); /* the row begins anew */
    memory_is(t, 5000, 0, "ok");
    trial_expect(t, "Probe=memory.idle Used=0 Looks=1", "ok");
}

/* --- orphans -------------------------------------------------------------------------------- */

static void add_process(struct trial *t, unsigned pid, const char *name, char state, unsigned user)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "proc/%u/stat", pid);
    snprintf(text, sizeof text, "%u (%s) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u 0\n", pid, name, state,
             pid * 100);
    trial_add(t, path, text);
    snprintf(path, sizeof path, "proc/%u/status", pid);
    snprintf(text, sizeof text, "Name:\t%s\nUid:\t%u\t0\t0\t0\n", name, user);
    trial_add(t, path, text);
}

static void end_process(struct trial *t, unsigned pid)
{
    char path[64];
    static const char *const files[] = {"/stat", "/status", ""};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "proc/%u%s", pid, files[i]);
        trial_remove(t, path);
    }
}

static void test_orphans(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=orphans", "unknown /proc");
    add_process(t, 1, "init", 'S', 0);
    add_process(t, 70, "exporter", 'S', 65534);
    add_process(t, 71, "dynamic", 'S', 61184);
    add_process(t, 72, "daemon", 'S', 999);
    add_process(t, 500, "python train.py", 'R', 1001);
    add_process(t, 501, "gone", 'Z', 1001);
    trial_expect(t, "Probe=orphans", "ok");
    trial_expect(
        t, "Probe=orphans",
        "warn : 1 processes of users are there while no work runs, in 2 looks in a row and more; one is "
        "500 python of user 1001");
    trial_expect(t, "Probe=orphans Users=1001", "ok");
    add_process(t, 600, "bash", 'S', 200000);
    trial_expect(t, "Probe=orphans Users=1001", "ok");
    trial_begins(t, "Probe=orphans Users=1001", "warn : 1 processes of users");
    trial_add(t, WORK, "");
    trial_expect(t, "Probe=orphans", "ok work runs");
    trial_remove(t, WORK);
    end_process(t, 500);
    add_process(t, 600, "bash", 'S', 1000); /* the same process */
    trial_begins(t, "Probe=orphans Looks=1", "warn : 1 processes of users");
    end_process(t, 600);
    trial_expect(t, "Probe=orphans Looks=1", "ok");
}

static void test_users_that_may(void **state)
{
    struct trial *t = *state;
    add_process(t, 500, "agent", 'S', 1001);
    add_process(t, 501, "agent", 'S', 1002);
    trial_expect(
        t, "Probe=orphans Looks=1 Users=monitor",
        "warn : 2 processes of users are there while no work runs, in 1 looks in a row and more; one is "
        "500 agent of user 1001"); /* what is bad is said whoever may */
    trial_add(t, "etc/passwd",
              "root:x:0:0::/:/bin/sh\nmonitors:x:1009:1::/:\nmonitor:x:1001:1::/:/bin/"
              "sh\nbroken\nhalf:x:y:1::/:\n");
    trial_begins(t, "Probe=orphans Looks=1 Users=monitor", "warn : 1 processes of users");
    trial_expect(t, "Probe=orphans Looks=1 Users=monitor,1002", "ok");
    trial_expect(t, "Probe=orphans Looks=1 Users=,1002,,monitor", "ok");
    trial_expect(t, "Probe=orphans Looks=1 Users=monitor,1002,half",
                 "unknown /etc/passwd has no user \"half\"");
    trial_expect(t, "Probe=orphans Looks=1 Users=monitor,1002,broken",
                 "unknown /etc/passwd has no user \"broken\"");
}

/* However many there are, they are counted and some are named. */
static void test_many_orphans(void **state)
{
    struct trial *t = *state;
    for (unsigned pid = 1000; pid < 1300; pid++)
        add_process(t, pid, "lost", 'S', 1001);
    trial_begins(t, "Probe=orphans Looks=1", "warn : 300 processes of users");
}

/* --- amd.idle ------------------------------------------------------------------------------- */

#define VRAM "sys/bus/pci/drivers/amdgpu/0000:c1:00.0/mem_info_vram_used"

static void test_amd(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=amd.idle", "unsupported there is no /sys/bus/pci/drivers/amdgpu");
    trial_add(t, VRAM, "1073741824\n");
    trial_expect(t, "Probe=amd.idle Looks=1", "ok");
    trial_add(t, VRAM, "1073741825\n");
    trial_expect(t, "Probe=amd.idle", "ok");
    trial_expect(t, "Probe=amd.idle", "ok");
    trial_expect(
        t, "Probe=amd.idle",
        "warn gpu 0000:c1:00: 1073 MB of its memory are in use and no process has them, of at most 1073 "
        "MB, in 3 looks in a row");
    trial_expect(t, "Probe=amd.idle Memory=2GiB", "ok");
    trial_add(t, "sys/class/kfd/kfd/proc/4711/pasid", "32769\n");
    trial_expect(t, "Probe=amd.idle", "ok");
    trial_expect(
        t, "Probe=amd.idle Looks=2",
        "degraded gpu: 1 processes compute on AMD GPUs while no work runs, in 2 looks in a row; one is "
        "4711");
    trial_add(t, WORK, "");
    trial_expect(t, "Probe=amd.idle Looks=1", "ok work runs");
}

/* --- slurm.cgroup --------------------------------------------------------------------------- */

#define SCOPE "sys/fs/cgroup/system.slice/lx01_slurmstepd.scope/"

static void test_slurm_cgroup(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=slurm.cgroup", "unsupported Slurm keeps no cgroups of version 2 here");
    trial_add(t, SCOPE "system/cgroup.events", "populated 1\nfrozen 0\n");
    trial_expect(t, "Probe=slurm.cgroup Looks=1", "ok");
    trial_add(t, SCOPE "job_7/cgroup.events", "populated 1\nfrozen 0\n");
    trial_add(t, SCOPE "job_8/cgroup.events", "populated 0\nfrozen 0\n");
    for (int i = 0; i < 4; i++)
        trial_expect(t, "Probe=slurm.cgroup", "ok");
    trial_expect(t, "Probe=slurm.cgroup",
                 "warn cgroup job_8: it is left and has no process, in 5 looks in a row");
    trial_add(t, SCOPE "job_8/cgroup.events", "populated 1\nfrozen 0\n");
    trial_expect(t, "Probe=slurm.cgroup Looks=1", "ok");
    trial_add(t, SCOPE "job_9/", ""); /* just removed */
    trial_expect(t, "Probe=slurm.cgroup", "ok");
    trial_add(t, SCOPE "job_9/cgroup.events", "nothing\n");
    trial_expect(t, "Probe=slurm.cgroup", "unknown cgroup.events of job_9: not understood");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_work),           IN_TRIAL(test_memory),       IN_TRIAL(test_orphans),
        IN_TRIAL(test_users_that_may), IN_TRIAL(test_many_orphans), IN_TRIAL(test_amd),
        IN_TRIAL(test_slurm_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
