/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"

#include "base/text.h"
#include "probe/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The number of a line "KEY:   24684084 kB"; false for another key or no such number. */
static bool memory_kilobytes(const char *line, const char *key, uint64_t *out)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0 || line[n] != ':')
        return false;
    const char *number = line + n + 1;
    number += strspn(number, " \t");
    char digits[24];
    size_t len = strspn(number, "0123456789");
    if (len >= sizeof digits || strcmp(number + len, " kB") != 0)
        return false;
    memcpy(digits, number, len);
    digits[len] = '\0';
    /* So that real and virtual memory can be added up. */
    return text_parse_u64(digits, 0, INT64_MAX / 2, out, NULL) == 0;
}

bool memory_info_line(const char *line, void *info)
{
    struct memory_info *m = info;
    if (!m->has_total && memory_kilobytes(line, "MemTotal", &m->total_kb))
        m->has_total = true;
    else if (!m->has_swap && memory_kilobytes(line, "SwapTotal", &m->swap_kb))
        m->has_swap = true;
    return !m->has_total || !m->has_swap;
}

struct room {
    bool has_all, has_free;
    uint64_t all_kb, free_kb;
};

static bool room_line(const char *line, void *room)
{
    struct room *r = room;
    if (!r->has_all && memory_kilobytes(line, "MemTotal", &r->all_kb))
        r->has_all = true;
    else if (!r->has_free && memory_kilobytes(line, "MemAvailable", &r->free_kb))
        r->has_free = true;
    return !r->has_all || !r->has_free;
}

int probe_memory_free(const char *root, uint64_t *free_mb, uint64_t *all_mb, struct err *e)
{
    struct room m = {0};
    CLEANUP_FD int at = sys_open_root(root, e);
    if (at < 0)
        return at;
    int r = sys_each_line(at, "proc/meminfo", room_line, &m);
    if (r < 0 || !m.has_all || !m.has_free)
        return err_set(e, r < 0 ? r : -ENODATA, "/proc/meminfo does not say how much memory is free");
    *free_mb = m.free_kb / 1024;
    *all_mb = m.all_kb / 1024;
    return 0;
}

void memory_read(int root, json_t *into)
{
    struct memory_info m = {0};
    if (sys_each_line(root, "proc/meminfo", memory_info_line, &m) < 0 || !m.has_total)
        return;
    json_object_set_new(into, "RealMemory", json_integer((json_int_t)(m.total_kb / 1024)));
    if (m.has_swap)
        json_object_set_new(into, "VirtualMemory",
                            json_integer((json_int_t)((m.total_kb + m.swap_kb) / 1024)));
}
