/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * slurm.cgroup   "scope NAME" of each daemon that keeps cgroups of version 2,
 *                "cgroup JOB POPULATED" of its jobs
 */

static const char *const slices[] = {"sys/fs/cgroup/system.slice", "sys/fs/cgroup/unified/system.slice"};

/* "populated 1" as long as a process is in it or below it. */
static bool on_event(const char *line, void *arg)
{
    int *populated = arg;
    if (sscanf(line, "populated %1d", populated) == 1)
        return false;
    return true;
}

static void add_job(int dir, const char *name, struct text *out)
{
    int populated = -1;
    if (strncmp(name, "job_", 4) != 0)
        return;
    int r = sys_each_line(dir, "cgroup.events", on_event, &populated);
    if (r == -ENOENT || r == -ENODEV)
        return; /* it was just removed */
    if (populated < 0)
        fact_add(out, "unknown", "cgroup.events of %s: %s", name, r < 0 ? strerror(-r) : "not understood");
    else
        fact_add(out, "cgroup", "%s %d", name, populated);
}

/* "NODE_slurmstepd.scope" where several share a machine. */
static void add_scope(int dir, const char *name, struct text *out)
{
    if (fnmatch("*slurmstepd.scope", name, 0) != 0)
        return;
    fact_add(out, "scope", "%s", name);
    each_entry(dir, ".", add_job, out);
}

void gather_SLURM_CGROUP(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        int r = each_entry(root, slices[i], add_scope, out);
        if (r < 0 && r != -ENOENT && r != -ENOTDIR)
            fact_cannot(root, out, slices[i], r);
    }
    if (out->len == 0)
        fact_add(out, "unsupported", "Slurm keeps no cgroups of version 2 here");
}

/* One without a process looks like work that runs: the node never becomes idle. */
void judge_SLURM_CGROUP(struct look *l, const char *facts, struct verdict *v)
{
    int64_t limit;
    struct fact_line line;
    if (!want_number(l, "Looks", 5, &limit, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        if (strcmp(line.key, "cgroup") != 0)
            continue;
        words_of(line.value, &w);
        snprintf(device, sizeof device, "cgroup %.50s", w.w[0]);
        int64_t looks = in_a_row(l, "empty", w.w[0], strcmp(w.w[1], "0") == 0);
        if (looks >= limit)
            verdict_add(v, RESULT_WARN, device, "",
                        "it is left and has no process, in %" PRId64 " looks in a row", looks);
    }
}
