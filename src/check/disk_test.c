/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add_disk(struct trial *t, const char *size, const char *ro, const char *stat)
{
    trial_add(t, "sys/block/sda/size", size);
    trial_add(t, "sys/block/sda/ro", ro);
    trial_add(t, "sys/block/sda/stat", stat);
}

#define IDLE "  10 0 80 5  20 0 160 9  0 14 14 0 0 0 0 0 0\n"
#define BUSY "  10 0 80 5  20 0 160 9  3 14 14 0 0 0 0 0 0\n"

static void test_disk(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=disk", "unsupported");
    trial_add(t, "sys/block/loop0/size", "0\n");
    trial_expect(t, "Probe=disk", "unsupported there is no disk");
    trial_expect(t, "Probe=disk Count=2", "fatal : 0 disks, of at least 2");
    trial_add(t, "sys/devices/disk/state", "running\n");
    trial_add(t, "sys/block/sda/device@", "../../devices/disk");
    add_disk(t, "1000\n", "0\n", IDLE);
    trial_expect(t, "Probe=disk Count=1", "ok");
    add_disk(t, "1000\n", "1\n", IDLE);
    trial_expect(t, "Probe=disk", "fatal disk sda: it is read-only, which it was not before");
    add_disk(t, "0\n", "0\n", IDLE);
    trial_expect(t, "Probe=disk", "fatal disk sda: its size is 0");
    trial_add(t, "sys/devices/disk/state", "offline\n");
    trial_expect(t, "Probe=disk", "fatal disk sda: its state is offline");
    add_disk(t, "many\n", "0\n", IDLE);
    trial_expect(t, "Probe=disk", "unknown sda is not understood");
    trial_add(t, "sys/block/sda/removable", "1\n");
    trial_expect(t, "Probe=disk", "unsupported there is no disk");
}

static void test_disk_that_does_not_answer(void **state)
{
    struct trial *t = *state;
    trial_add(t, "sys/devices/disk/model", "x\n");
    trial_add(t, "sys/block/sda/device@", "../../devices/disk");
    add_disk(t, "1000\n", "0\n", BUSY);
    for (int i = 0; i < 3; i++)
        trial_expect(t, "Probe=disk", "ok");
    trial_expect(t, "Probe=disk", "degraded disk sda: 3 requests wait and none was done in 3 looks");
    add_disk(t, "1000\n", "0\n", "  11 0 80 5  20 0 160 9  3 14 14 0 0 0 0 0 0\n");
    trial_expect(t, "Probe=disk", "ok");
}

static void test_nvme(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=nvme", "unsupported");
    trial_expect(t, "Probe=nvme Count=1", "fatal : 0 NVMe controllers are live, of at least 1");
    trial_add(t, "sys/class/nvme/nvme0/state", "live\n");
    trial_add(t, "sys/class/nvme/nvme1/state", "live\n");
    trial_expect(t, "Probe=nvme Count=2", "ok");
    trial_add(t, "sys/class/nvme/nvme1/state", "resetting\n");
    trial_begins(t, "Probe=nvme", "warn nvme nvme1: its state is resetting");
    trial_begins(t, "Probe=nvme", "warn");
    trial_begins(t, "Probe=nvme",
                 "degraded nvme nvme1: its state is resetting, not live, in 3 looks in a row");
    trial_add(t, "sys/class/nvme/nvme1/state", "dead\n");
    trial_expect(t, "Probe=nvme", "fatal nvme nvme1: its state is dead");
    trial_add(t, "sys/class/nvme/nvme1/state", "\n");
    trial_expect(t, "Probe=nvme", "unknown the state of nvme1");
}

static void add_path(struct trial *t, const char *disk, const char *state)
{
    char path[128];
    snprintf(path, sizeof path, "sys/block/dm-0/slaves/%s/device/state", disk);
    trial_add(t, path, state);
}

static void test_multipath(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=multipath", "unsupported");
    trial_add(t, "sys/block/dm-1/dm/uuid", "LVM-abc\n");
    trial_expect(t, "Probe=multipath", "unsupported there is no multipath device");
    trial_add(t, "sys/block/dm-0/dm/uuid", "mpath-3600508b4\n");
    trial_expect(t, "Probe=multipath", "unknown the paths of dm-0: No such file or directory");
    trial_add(t, "sys/block/dm-0/dm/name", "mpatha\n");
    trial_add(t, "sys/block/dm-0/slaves/", "");
    trial_expect(t, "Probe=multipath", "fatal multipath mpatha: none of its paths works");
    add_path(t, "sda", "running\n");
    add_path(t, "sdb", "running\n");
    add_path(t, "sdc", "running\n");
    trial_expect(t, "Probe=multipath", "ok");
    add_path(t, "sdb", "transport-offline\n");
    trial_expect(t, "Probe=multipath",
                 "warn multipath mpatha: 2 of its paths work, of 3; one that does not is sdb");
    trial_expect(t, "Probe=multipath Paths=2", "ok");
    trial_remove(t, "sys/block/dm-0/slaves/sdb/device/state");
    trial_remove(t, "sys/block/dm-0/slaves/sdb/device");
    trial_remove(t, "sys/block/dm-0/slaves/sdb");
    trial_expect(t, "Probe=multipath", "warn multipath mpatha: 2 of its paths work, of 3"); /* removed */
    trial_expect(t, "Probe=multipath Paths=4", "warn multipath mpatha: 2 of its paths work, of 4");
    add_path(t, "sda", "offline\n");
    add_path(t, "sdc", "blocked\n");
    trial_expect(t, "Probe=multipath Paths=4", "fatal multipath mpatha: none of its paths works");
}

static void test_suspended(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=dm.suspended", "unsupported there is no /sys/block");
    trial_add(t, "sys/block/sda/size", "5\n");
    trial_expect(t, "Probe=dm.suspended", "unsupported there is no device of the device mapper");
    trial_add(t, "sys/block/dm-0/dm/name", "vg0-scratch\n");
    trial_add(t, "sys/block/dm-0/dm/suspended", "0\n");
    trial_add(t, "sys/block/dm-1/dm/suspended", "1\n");
    trial_expect(t, "Probe=dm.suspended", "ok");
    trial_expect(t, "Probe=dm.suspended", "ok"); /* somebody changes it */
    trial_add(t, "sys/block/dm-1/dm/suspended", "0\n");
    trial_expect(t, "Probe=dm.suspended", "ok");
    trial_add(t, "sys/block/dm-0/dm/suspended", "1\n");
    trial_expect(t, "Probe=dm.suspended", "ok");
    trial_expect(t, "Probe=dm.suspended", "ok");
    trial_expect(
        t, "Probe=dm.suspended",
        "degraded dm vg0-scratch: it is suspended, and all that is read or written there waits, in 3 "
        "looks in a row");
    trial_begins(t, "Probe=dm.suspended Looks=4 Severity=warn", "warn dm vg0-scratch");
    trial_add(t, "sys/block/dm-0/dm/suspended", "0\n");
    trial_expect(t, "Probe=dm.suspended Looks=1", "ok");
    trial_add(t, "sys/block/dm-1/dm/suspended", "rubbish\n");
    trial_expect(t, "Probe=dm.suspended", "unknown whether dm-1 is suspended: Invalid argument");
}

static void test_raid(void **state)
{
    struct trial *t = *state;
    trial_add(t, "sys/block/sda/size", "5\n");
    trial_expect(t, "Probe=raid", "unsupported there is no array of disks");
    trial_add(t, "sys/block/md0/md/level", "raid1\n");
    trial_add(t, "sys/block/md0/md/array_state", "clean\n");
    trial_add(t, "sys/block/md0/md/degraded", "0\n");
    trial_add(t, "sys/block/md0/md/sync_action", "idle\n");
    trial_expect(t, "Probe=raid", "ok");
    trial_add(t, "sys/block/md0/md/degraded", "1\n");
    trial_expect(t, "Probe=raid",
                 "degraded array md0: 1 disks are missing of an array of raid1 (clean, idle)");
    trial_add(t, "sys/block/md0/md/degraded", "?\n");
    trial_expect(t, "Probe=raid", "unknown the array md0 is not understood");
    trial_remove(t, "sys/block/md0/md/degraded");
    trial_add(t, "sys/block/md0/md/level", "raid0\n");
    trial_expect(t, "Probe=raid", "ok");
    trial_add(t, "sys/block/md0/md/array_state", "broken\n");
    trial_expect(t, "Probe=raid", "fatal array md0: its state is broken (raid0)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_disk),      IN_TRIAL(test_disk_that_does_not_answer),
        IN_TRIAL(test_nvme),      IN_TRIAL(test_multipath),
        IN_TRIAL(test_suspended), IN_TRIAL(test_raid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
