/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add_nfs(struct trial *t, unsigned sent, unsigned received, unsigned connects)
{
    CLEANUP_TEXT struct text s = {0};
    text_printf(&s,
                "device rootfs mounted on / with fstype rootfs\n"
                "device srv:/home mounted on /home with fstype nfs4 statvers=1.1\n"
                "\topts:\trw,vers=4.2\n"
                "\txprt:\ttcp 0 0 %u 0 12 %u %u 0 5 0 2 0 0\n"
                "\t        NULL: 1 1 0 44 24 0 0 0 0\n",
                connects, sent, received);
    trial_add(t, "proc/1/mountstats", s.s);
}

static void test_nfs(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=nfs", "unknown mountstats");
    trial_add(t, "proc/1/mountstats", "device rootfs mounted on / with fstype rootfs\n");
    trial_expect(t, "Probe=nfs", "unsupported no NFS is mounted");
    add_nfs(t, 100, 90, 1);
    trial_expect(t, "Probe=nfs", "ok"); /* the baseline; ten may have been given up long ago */
    trial_expect(t, "Probe=nfs", "ok"); /* nobody asked */
    add_nfs(t, 101, 90, 1);
    trial_expect(t, "Probe=nfs", "ok"); /* between question and answer */
    add_nfs(t, 102, 90, 2);
    trial_expect(
        t, "Probe=nfs",
        "degraded mount /home: its server was asked 2 times and did not answer, in 2 looks in a row");
    add_nfs(t, 103, 91, 2);
    trial_expect(t, "Probe=nfs", "ok");
    trial_add(t, "proc/1/mountstats", "rubbish\n");
    trial_begins(t, "Probe=nfs", "unknown mountstats");
}

static void test_fuse(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=fuse", "unsupported");
    trial_add(t, "sys/fs/fuse/connections/42/waiting", "9\n");
    trial_add(t, "sys/fs/fuse/connections/42/congestion_threshold", "10\n");
    trial_expect(t, "Probe=fuse", "ok");
    trial_add(t, "sys/fs/fuse/connections/42/waiting", "10\n");
    trial_expect(t, "Probe=fuse", "warn fuse 42: 10 requests wait, of a threshold of 10");
}

static void test_lustre(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=lustre", "unsupported");
    trial_add(t, "proc/fs/lustre/osc/s-OST0-osc-ff/ost_server_uuid", "s-OST0_UUID\tFULL\n");
    trial_add(t, "proc/fs/lustre/mdc/s-MDT0-mdc-ff/mds_server_uuid", "s-MDT0_UUID\tIDLE\n");
    trial_expect(t, "Probe=lustre", "ok");
    trial_add(t, "proc/fs/lustre/osc/s-OST0-osc-ff/ost_server_uuid", "s-OST0_UUID\tDISCONN\n");
    trial_expect(t, "Probe=lustre", "ok");
    trial_expect(t, "Probe=lustre",
                 "degraded lustre s-OST0_UUID: its state is DISCONN, not FULL, in 2 looks in a row");
    trial_add(t, "proc/fs/lustre/osc/s-OST0-osc-ff/ost_server_uuid", "\n");
    trial_begins(t, "Probe=lustre", "unknown the state of s-OST0-osc-ff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_nfs),
        IN_TRIAL(test_fuse),
        IN_TRIAL(test_lustre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
