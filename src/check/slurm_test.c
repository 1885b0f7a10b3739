/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

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
        IN_TRIAL(test_slurm_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
