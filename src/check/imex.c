/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * nvidia.imex   "nodes N" that stand in the configuration of nvidia-imex, and where there are some "process
 * PID" (0: none runs) and "channels N": the files through which programs share memory
 *
 * IMEX lets GPUs of several nodes share memory over their NVLink fabric. Some sites write the nodes of a job
 * into its configuration, and start it for that job: while nobody stands there, nothing has to run.
 */

static const char path[] = "etc/nvidia-imex/nodes_config.cfg";

static bool count_node(const char *line, void *arg)
{
    uint64_t *n = arg;
    line += strspn(line, " \t");
    *n += *line != '\0' && *line != '#';
    return true;
}

static uint64_t count_channels(int root)
{
    CLEANUP_FD int dir = sys_open_dir(root, "dev/nvidia-caps-imex-channels");
    struct sys_names names = {0};
    if (dir >= 0)
        sys_names_read(&names, dir);
    uint64_t n = names.n;
    sys_names_fini(&names);
    return n;
}

void gather_NVIDIA_IMEX(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    uint64_t nodes = 0;
    if (root < 0)
        return;
    int r = sys_each_line(root, path, count_node, &nodes);
    if (r < 0) {
        fact_cannot(root, out, path, r);
        return;
    }
    fact_add(out, "nodes", "%" PRIu64, nodes);
    if (nodes == 0)
        return;
    fact_process(l, root, "nvidia-imex", out);
    fact_add(out, "channels", "%" PRIu64, count_channels(root));
}

void judge_NVIDIA_IMEX(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t nodes, n;
    if (!fact_u64(facts, "nodes", &nodes)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the configuration of nvidia-imex is not understood");
        return;
    }
    if (fact_u64(facts, "process", &n) && n == 0)
        verdict_add(v, RESULT_WARN, "imex", "",
                    "no nvidia-imex runs, and %" PRIu64 " nodes stand in its configuration", nodes);
    if (fact_u64(facts, "channels", &n) && n == 0)
        verdict_add(v, RESULT_WARN, "imex", "", "there is no channel in /dev/nvidia-caps-imex-channels");
}
