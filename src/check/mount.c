/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * fs.mounted   "type TYPE", "source SOURCE", "options LIST", "super LIST" of what is mounted there, or
 *              "absent PATH"
 * fs.readonly  "mount RO SUPER PATH" for each file system on a disk, or for Path: whether the mount and
 * whether the file system is read-only
 *
 * The list of mounts is read; the mount itself is never touched.
 */

static void fact_mount(const struct mounted *m, struct text *out)
{
    fact_add(out, "type", "%s", m->type);
    fact_add(out, "source", "%s", m->source);
    fact_add(out, "options", "%s", m->options);
    fact_add(out, "super", "%s", m->super);
}

void gather_FS_MOUNTED(const struct look *l, struct text *out)
{
    const char *path = check_arg(l->check, "Path");
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    struct mounted m;
    if (!path) {
        fact_add(out, "unknown", "the record has no Path");
        return;
    }
    int r = mounts_find(root, path, check_arg(l->check, "Options"), &m);
    if (r < 0 && r != -ENOENT)
        fact_add(out, "unknown", "the list of mounts: %s", strerror(-r));
    else if (r < 0 || strcmp(m.path, path) != 0)
        fact_add(out, "absent", "%s", path);
    else
        fact_mount(&m, out);
}

static void judge_is(const struct look *l, const char *key, const char *is, const char *device,
                     struct verdict *v)
{
    const char *want = check_arg(l->check, key);
    if (want && strcmp(want, is) != 0)
        verdict_add(v, RESULT_FATAL, device, "", "%s is \"%s\", not \"%s\"", key, is, want);
}

static void judge_options(const struct look *l, const char *options, const char *super, const char *device,
                          struct verdict *v)
{
    const char *want = check_arg(l->check, "Options");
    for (const char *p = want ? want : ""; *p;) {
        size_t n = strcspn(p, ",");
        /* Read-only of either is read-only. */
        bool both = n == 2 && strncmp(p, "rw", n) == 0;
        bool first = options_have(options, p, n), second = options_have(super, p, n);
        if (n > 0 && (both ? !first || !second : !first && !second))
            verdict_add(v, RESULT_FATAL, device, "", "it has no option %.*s; it has %s and %s", (int)n, p,
                        options, super);
        p += n + (p[n] == ',');
    }
}

void judge_FS_MOUNTED(struct look *l, const char *facts, struct verdict *v)
{
    const char *path = check_arg(l->check, "Path");
    struct fact_line absent, type, source, options, super;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    snprintf(device, sizeof device, "mount %s", path ? path : "");
    if (fact_find(facts, "absent", &absent)) {
        verdict_add(v, RESULT_FATAL, device, "", "nothing is mounted at %s", absent.value);
        return;
    }
    if (!fact_find(facts, "type", &type) || !fact_find(facts, "source", &source) ||
        !fact_find(facts, "options", &options) || !fact_find(facts, "super", &super)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the mount of %s is not understood", path ? path : "");
        return;
    }
    /* An automounter keeps the place, and mounts on the first access. */
    if (strcmp(type.value, "autofs") == 0)
        return;
    judge_is(l, "Type", type.value, device, v);
    judge_is(l, "Source", source.value, device, v);
    judge_options(l, options.value, super.value, device, v);
}

/* --- fs.readonly ---------------------------------------------------------------------------- */

enum { MOUNTS_MAX = 256 };

struct gathering {
    struct text *out;
    size_t n;
};

static void fact_readonly(const struct mounted *m, struct text *out)
{
    fact_add(out, "mount", "%d %d %s", options_have(m->options, "ro", 2), options_have(m->super, "ro", 2),
             m->path);
}

static bool add_disk(const struct mounted *m, void *arg)
{
    struct gathering *g = arg;
    if (!type_disk(m->type))
        return true;
    fact_readonly(m, g->out);
    return ++g->n < MOUNTS_MAX;
}

void gather_FS_READONLY(const struct look *l, struct text *out)
{
    const char *path = check_arg(l->check, "Path");
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    struct gathering g = {.out = out};
    struct mounted m;
    int r = path ? mounts_find(root, path, true, &m) : mounts_each(root, add_disk, &g);
    if (r < 0)
        fact_add(out, "unknown", "the list of mounts: %s", strerror(-r));
    else if (path && strcmp(m.path, path) != 0)
        fact_add(out, "unsupported", "nothing is mounted at %s", path);
    else if (path)
        fact_readonly(&m, out);
    else if (g.n == 0)
        fact_add(out, "unsupported", "no file system lies on a disk");
}

/* Many mounts are read-only on purpose. A fault is a file system that was writable before, or one that is
 * read-only while its mount is not: the kernel does that after errors. */
void judge_FS_READONLY(struct look *l, const char *facts, struct verdict *v)
{
    bool named = check_arg(l->check, "Path");
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        const char *flags = line.value, *path = flags + strnlen(flags, 4);
        if (strcmp(line.key, "mount") != 0 || *path != '/')
            continue;
        bool mount = flags[0] == '1', super = flags[2] == '1';
        char device[FINDING_DEVICE_BYTES_MAX + 1], name[300];
        snprintf(device, sizeof device, "mount %s", path);
        snprintf(name, sizeof name, "written %.250s", path);
        int64_t *written = memory_number(l->memory, name);
        if (super && (!mount || *written || named))
            verdict_add(v, RESULT_FATAL, device, "", "the file system of %s is read-only%s", path,
                        *written ? ", which it was not before"
                        : !mount ? ", its mount is not"
                                 : "");
        else if (mount && named)
            verdict_add(v, RESULT_FATAL, device, "", "%s is mounted read-only", path);
        if (!super)
            *written = 1;
    }
}
