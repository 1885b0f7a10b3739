/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/*
 * gpfs     "process PID" (0: no mmfsd runs) where GPFS is installed
 * beegfs   "client ID" of each that the kernel's module has
 * both     "mount MS PATH" of each that is mounted: how long it took to say how much space it has, or
 *          "failed ERRNO PATH"; "none" where nothing of it is here, and the record has Count=
 *
 * To say that, a client of either asks its servers. One that is cut off from them says that it is stale, or
 * hangs.
 */

enum { MOUNTS_MAX = 64 };

struct gathering {
    const struct look *l;
    const char *type; /* the beginnings of its mounts' types */
    size_t n;
    struct text *out;
};

/* A user who may not see the place, or who mounted something over it, is no fault of the file system. */
static bool is_hidden(int why)
{
    return why == EACCES || why == EPERM || why == ENOENT || why == ENOTDIR;
}

static bool ask_mount(const struct mounted *m, void *arg)
{
    struct gathering *g = arg;
    CLEANUP_TEXT struct text path = {0};
    struct statvfs s;
    if (strncmp(m->type, g->type, strlen(g->type)) != 0)
        return true;
    text_printf(&path, "%s%s", g->l->root, m->path);
    struct mono began = mono_now();
    int why = statvfs(path.s, &s) < 0 ? errno : 0;
    if (is_hidden(why))
        fact_add(g->out, "unknown", "%s: %s", m->path, strerror(why));
    else if (why)
        fact_add(g->out, "failed", "%d %s", why, m->path);
    else
        fact_add(g->out, "mount", "%" PRId64 " %s", span_to_ms(mono_sub(mono_now(), began)), m->path);
    return ++g->n < MOUNTS_MAX;
}

static void ask_mounts(const struct look *l, int root, const char *type, const char *name, struct text *out)
{
    struct gathering g = {.l = l, .type = type, .out = out};
    int r = mounts_each(root, ask_mount, &g);
    if (r < 0)
        fact_add(out, "unknown", "the list of mounts: %s", strerror(-r));
    else if (out->len == 0)
        fact_add(out, check_arg(l->check, "Count") ? "none" : "unsupported", "nothing of %s is here", name);
}

void gather_GPFS(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    struct stat st;
    if (root < 0)
        return;
    if (fstatat(root, "usr/lpp/mmfs/bin/mmfsd", &st, 0) == 0)
        fact_process(l, root, "mmfsd", out);
    ask_mounts(l, root, "gpfs", "GPFS", out);
}

static void add_client(int dir, const char *name, struct text *out)
{
    fact_add(out, "client", "%s", name);
}

void gather_BEEGFS(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    each_entry(root, "proc/fs/beegfs", add_client, out);
    ask_mounts(l, root, "beegfs", "BeeGFS", out);
}

/* --- judging -------------------------------------------------------------------------------- */

static void judge_mount(const struct fact_line *line, int64_t slow_ms, struct verdict *v)
{
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    struct words w;
    uint64_t n;
    words_of(line->value, &w);
    const char *path = strchr(line->value, '/');
    if (!path || !word_u64(&w, 0, &n))
        return;
    snprintf(device, sizeof device, "mount %s", path);
    if (strcmp(line->key, "failed") == 0)
        verdict_add(v, RESULT_FATAL, device, "", "%s does not answer: %s", path,
                    n <= INT32_MAX ? strerror((int)n) : "an error that is none");
    else if (n > (uint64_t)slow_ms)
        verdict_add(v, RESULT_WARN, device, "", "%s took %" PRIu64 " ms to answer, of at most %" PRId64, path,
                    n, slow_ms);
}

static void parallel_judge(struct look *l, const char *facts, const char *name, struct verdict *v)
{
    struct fact_line line;
    struct span slow;
    int64_t least, n = 0;
    if (!want_span(l, "Slow", span_s(1), &slow, v) || !want_number(l, "Count", 0, &least, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        bool mounted = strcmp(line.key, "mount") == 0 || strcmp(line.key, "failed") == 0;
        n += mounted;
        if (mounted)
            judge_mount(&line, span_to_ms(slow), v);
    }
    if (n < least && !fact_find(facts, "unknown", &line))
        verdict_add(v, RESULT_FATAL, "", "",
                    "%" PRId64 " file systems of %s are mounted, of at least %" PRId64, n, name, least);
}

void judge_GPFS(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t pid;
    parallel_judge(l, facts, "GPFS", v);
    if (fact_u64(facts, "process", &pid) && pid == 0)
        verdict_add(v, RESULT_FATAL, "service mmfsd", "", "GPFS is installed, and its mmfsd does not run");
}

void judge_BEEGFS(struct look *l, const char *facts, struct verdict *v)
{
    parallel_judge(l, facts, "BeeGFS", v);
}
