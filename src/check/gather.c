/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"
#include "probe/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>

int look_root(const struct look *l, struct text *out)
{
    struct err e = {0};
    int root = sys_open_root(l->root, &e);
    if (root < 0)
        fact_add(out, "unknown", "%s", e.msg);
    return root;
}

void fact_cannot(int root, struct text *out, const char *path, int r)
{
    bool absent = r == -ENOENT || r == -ENOTDIR || r == -ENXIO;
    if (absent && strncmp(path, "sys/", 4) == 0 && !sys_mounted(root))
        fact_add(out, "unknown", "/sys is not mounted");
    else if (absent)
        fact_add(out, "unsupported", "there is no /%s", path);
    else
        fact_add(out, "unknown", "/%s: %s", path, strerror(-r));
}

int fact_file_u64(struct text *out, const char *key, int at, const char *path)
{
    uint64_t n;
    int r = sys_u64(at, path, &n);
    if (r == 0)
        fact_add(out, key, "%" PRIu64, n);
    return r;
}

int each_entry(int root, const char *path, entry_fn *fn, struct text *out)
{
    CLEANUP_FD int dir = sys_open_dir(root, path);
    if (dir < 0)
        return dir;
    struct sys_names names = {0};
    int r = sys_names_read(&names, dir);
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        CLEANUP_FD int entry = sys_open_dir(dir, names.names[i]);
        if (entry >= 0)
            fn(entry, names.names[i], out);
    }
    sys_names_fini(&names);
    return r;
}

void gather_each(const struct look *l, const char *path, entry_fn *fn, const char *without, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    bool counted = check_arg(l->check, "Count");
    int r = each_entry(root, path, fn, out);
    if (r < 0 && !(r == -ENOENT && counted && sys_mounted(root)))
        fact_cannot(root, out, path, r);
    else if (out->len == 0)
        fact_add(out, counted ? "none" : "unsupported", "%s", without);
}

void fact_work(const struct look *l, struct text *out)
{
    json_t *work = NULL;
    struct err e = {0};
    if (probe_work(l->root, &work, &e) < 0)
        fact_add(out, "unknown", "the work that runs: %s", e.msg);
    else
        fact_add(out, "work", "%zu", json_array_size(work));
    json_decref(work);
}

uint64_t bytes_little(const uint8_t *bytes, size_t n)
{
    uint64_t number = 0;
    while (n-- > 0)
        number = number << 8 | bytes[n];
    return number;
}

int device_control(const struct look *l, int fd, unsigned long request, void *what)
{
    if (l->calls && l->calls->control)
        return l->calls->control(l->calls->arg, fd, request, what);
    int r = ioctl(fd, request, what);
    return r < 0 ? -errno : r;
}
