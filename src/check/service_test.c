/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add_process(struct trial *t, unsigned pid, const char *name, char state)
{
    char path[32], stat[128];
    snprintf(path, sizeof path, "proc/%u/stat", pid);
    snprintf(stat, sizeof stat, "%u (%s) %c 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n", pid, name, state);
    trial_add(t, path, stat);
}

static void test_command(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=service Name=slurmd", "unknown /proc");
    add_process(t, 1, "init", 'S');
    trial_add(t, "usr/sbin/slurmd", "x");
    trial_add(t, "usr/sbin/slurm", "x");
    trial_expect(t, "Probe=service Name=slurmd", "fatal service slurmd: no process slurmd runs");
    add_process(t, 20, "slurmd", 'S');
    trial_expect(t, "Probe=service Name=slurmd", "ok");
    trial_expect(t, "Probe=service Name=x Command=slurm", "fatal service x: no process slurm runs");
    add_process(t, 20, "slurmd", 'Z');
    trial_expect(t, "Probe=service Name=slurmd", "fatal service slurmd: no process slurmd runs");
    add_process(t, 30, "slurmd", 'S'); /* restarted */
    trial_expect(t, "Probe=service Name=slurmd", "ok");
    add_process(t, 30, "bash", 'S'); /* its number is another's now */
    trial_expect(t, "Probe=service Name=slurmd", "fatal service slurmd: no process slurmd runs");
    add_process(t, 40, "nvidia-persiste", 'S'); /* the kernel keeps 15 bytes */
    trial_expect(t, "Probe=service Command=nvidia-persistenced", "ok");
}

static void test_socket(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=service Socket=/run/m.2", "unknown /proc/net/unix");
    trial_add(t, "proc/net/unix",
              "Num       RefCount Protocol Flags    Type St Inode Path\n"
              "0000000000000000: 00000003 00000000 00000000 0001 03 18000 /run/m.2\n"
              "0000000000000000: 00000002 00000000 00010000 0001 01 18001 /run/m.22\n");
    trial_expect(t, "Probe=service Name=munge Socket=/run/m.2",
                 "fatal service munge: nobody listens on /run/m.2");
    trial_expect(t, "Probe=service Name=munge Socket=/run/m.22", "ok");
}

static void test_port(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=service Port=6818", "unknown /proc/net/tcp");
    trial_add(t, "proc/net/tcp",
              "  sl  local_address rem_address   st tx_queue\n"
              "   0: 0100007F:1AA2 0100007F:9999 01 00000000:00000000\n"
              "   1: 00000000:0016 00000000:0000 0A 00000000:00000000\n");
    trial_expect(t, "Probe=service Port=22", "ok");
    trial_expect(t, "Probe=service Port=6818", "fatal service tried: nobody listens on port 6818");
    trial_add(t, "proc/net/tcp6",
              "   0: 00000000000000000000000000000000:1AA2 00000000000000000000000000000000:0000 0A "
              "00000000:00000000\n");
    trial_expect(t, "Probe=service Port=6818", "ok");
}

static void test_unit(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=service Unit=chrony", "unsupported no systemd runs here");
    trial_add(t, "run/systemd/units/invocation:sshd.service@", "0123456789abcdef");
    trial_add(t, "lib/systemd/system/chrony.service", "[Unit]");
    trial_expect(t, "Probe=service Unit=sshd", "ok");
    trial_expect(t, "Probe=service Unit=sshd.service", "ok");
    trial_expect(t, "Probe=service Unit=chrony", "fatal service tried: the unit chrony is not active");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_command),
        IN_TRIAL(test_socket),
        IN_TRIAL(test_port),
        IN_TRIAL(test_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
