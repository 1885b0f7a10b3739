/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void devices_fini(struct devices *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->list[i].name);
        free(d->list[i].address);
    }
    free(d->list);
    *d = (struct devices){0};
}

static bool slot_line(const char *line, void *address)
{
    static const char key[] = "PCI_SLOT_NAME=";
    if (strncmp(line, key, sizeof key - 1) != 0)
        return true;
    snprintf(address, SYS_TEXT_BYTES_MAX, "%s", line + sizeof key - 1);
    return false;
}

/* The PCI function that the device is, or that it sits on (virtio does); else its name on its bus. */
static void find_address(int dir, const char *name, char out[static SYS_TEXT_BYTES_MAX])
{
    *out = '\0';
    sys_each_line(dir, "device/uevent", slot_line, out);
    if (!*out)
        sys_each_line(dir, "device/../uevent", slot_line, out);
    if (!*out && sys_link(dir, "device", out) < 0)
        snprintf(out, SYS_TEXT_BYTES_MAX, "%s", name);
}

static int by_address(const void *a, const void *b)
{
    const struct device *x = a, *y = b;
    int r = strcmp(x->address, y->address);
    return r ? r : strcmp(x->name, y->name);
}

static void take_device(struct devices *d, int class, const char *name, bool bare)
{
    char address[SYS_TEXT_BYTES_MAX];
    CLEANUP_FD int dir = sys_open_dir(class, name);
    if (dir < 0 || (!bare && faccessat(dir, "device", F_OK, 0) != 0) ||
        faccessat(dir, "device/physfn", F_OK, 0) == 0)
        return;
    find_address(dir, name, address);
    d->list[d->n++] = (struct device){.name = mem_dup(name), .address = mem_dup(address)};
}

int devices_read(int root, const char *class, bool bare, struct devices *d)
{
    CLEANUP_FD int dir = sys_open_dir(root, class);
    if (dir < 0)
        return dir == -ENOENT && sys_mounted(root) ? 0 : dir;
    struct sys_names names = {0};
    int r = sys_names_read(&names, dir);
    if (r == 0 && names.n == SYS_ENTRIES_MAX)
        r = -E2BIG;
    d->list = r == 0 ? mem_alloc((names.n + 1) * sizeof *d->list) : NULL;
    for (size_t i = 0; r == 0 && i < names.n; i++)
        take_device(d, dir, names.names[i], bare);
    sys_names_fini(&names);
    if (d->n > 1)
        qsort(d->list, d->n, sizeof *d->list, by_address);
    return r;
}

size_t devices_count(const struct devices *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += i == 0 || strcmp(d->list[i].address, d->list[i - 1].address) != 0;
    return n;
}

/* "0x15b3" without its 0x. */
static bool read_id(int dir, const char *file, char id[static SYS_TEXT_BYTES_MAX])
{
    if (sys_text(dir, file, id) < 0 || !*id)
        return false;
    if (strncmp(id, "0x", 2) == 0)
        memmove(id, id + 2, strlen(id + 2) + 1);
    return true;
}

void device_model(struct notes *n, int dir, const char *name)
{
    static const char *const files[] = {"vendor", "device", "subsystem_vendor", "subsystem_device"};
    static const char *const before[] = {"", ":", " ", ":"};
    CLEANUP_TEXT struct text t = {0};
    char id[SYS_TEXT_BYTES_MAX];
    for (size_t i = 0; i < 4 && read_id(dir, files[i], id); i++)
        text_printf(&t, "%s%s", before[i], id);
    if (t.len)
        notes_value(n, t.s, "%s", name);
    else
        notes_absent(n, "%s", name);
}

int stream_lines(int at, const char *path, size_t limit_bytes, sys_line_fn *fn, void *arg)
{
    enum { CHUNK_BYTES = 64 << 10 };
    CLEANUP_FD int fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    CLEANUP_FREE char *bytes = mem_alloc(CHUNK_BYTES);
    struct sys_lines lines = {.len = 0};
    size_t total = 0;
    for (ssize_t n; (n = read(fd, bytes, CHUNK_BYTES)) != 0;) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        total += (size_t)n;
        if (total > limit_bytes)
            return -EFBIG;
        if (!sys_lines_feed(&lines, bytes, (size_t)n, fn, arg))
            return 0;
    }
    if (lines.len > 0)
        sys_lines_feed(&lines, "\n", 1, fn, arg);
    return 0;
}
