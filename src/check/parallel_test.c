/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ROOT_LINE "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
/* As the clients of the two write them into the list of mounts. */
#define GPFS_LINE "41 22 0:51 / /gpfs/fs1 rw,relatime shared:9 - gpfs fs1 rw,context=system_u\n"
#define BEEGFS_LINE \
    "42 22 0:52 / /mnt/beegfs rw,relatime shared:9 - beegfs beegfs_nodev rw,cfgFile=/etc/beegfs/c\n"
#define MOUNTS "proc/1/mountinfo"

static void test_gpfs(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=gpfs", "unknown the list of mounts");
    trial_add(t, MOUNTS, ROOT_LINE);
    trial_expect(t, "Probe=gpfs", "unsupported nothing of GPFS is here");
    trial_expect(t, "Probe=gpfs Count=1", "fatal : 0 file systems of GPFS are mounted, of at least 1");
    trial_add(t, "usr/lpp/mmfs/bin/mmfsd", "");
    trial_add(t, "proc/7/stat", "7 (sh) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n");
    trial_expect(t, "Probe=gpfs", "fatal service mmfsd: GPFS is installed, and its mmfsd does not run");
    trial_add(t, "proc/8/stat", "8 (mmfsd) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n");
    trial_expect(t, "Probe=gpfs", "ok");
    trial_expect(t, "Probe=gpfs Count=1", "fatal : 0 file systems of GPFS are mounted, of at least 1");
    trial_add(t, MOUNTS, ROOT_LINE GPFS_LINE);
    trial_begins(t, "Probe=gpfs Count=1", "unknown /gpfs/fs1: No such file");
    trial_add(t, "gpfs/fs1/x", "");
    trial_expect(t, "Probe=gpfs Count=1", "ok");
    trial_expect(t, "Probe=gpfs Count=2", "fatal : 1 file systems of GPFS are mounted, of at least 2");
}

static void test_beegfs(void **state)
{
    struct trial *t = *state;
    trial_add(t, MOUNTS, ROOT_LINE);
    trial_expect(t, "Probe=beegfs", "unsupported nothing of BeeGFS is here");
    trial_add(t, "proc/fs/beegfs/10001-642A-node01/status", "");
    trial_expect(t, "Probe=beegfs", "ok");
    trial_expect(t, "Probe=beegfs Count=1", "fatal : 0 file systems of BeeGFS are mounted, of at least 1");
    trial_add(t, MOUNTS, ROOT_LINE BEEGFS_LINE);
    trial_add(t, "mnt/beegfs/x", "");
    trial_expect(t, "Probe=beegfs Count=1", "ok");
}

static void comes_to(struct trial *t, const char *record, const char *facts, const char *want)
{
    assert_string_equal(trial_judge(t, record, facts), want);
}

static void test_parallel_file_system_that_does_not_answer(void **state)
{
    struct trial *t = *state;
    comes_to(t, "Probe=gpfs Count=2", "process 8\nmount 3 /gpfs/fs1\nfailed 116 /gpfs/fs 2\n",
             "fatal mount /gpfs/fs 2: /gpfs/fs 2 does not answer: Stale file handle");
    comes_to(t, "Probe=beegfs", "client c\nmount 1001 /mnt/beegfs\n",
             "warn mount /mnt/beegfs: /mnt/beegfs took 1001 ms to answer, of at most 1000");
    comes_to(t, "Probe=beegfs Slow=2s", "client c\nmount 1001 /mnt/beegfs\n", "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_gpfs),
        IN_TRIAL(test_beegfs),
        IN_TRIAL(test_parallel_file_system_that_does_not_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
