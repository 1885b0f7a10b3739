/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * disk        "disk NAME SECTORS RO STATE DONE WAITING" of each that has a device and no removable medium:
 *             the state that the bus says or "-", requests done since the boot, requests on the way
 * nvme        "nvme NAME STATE"
 * raid        "array NAME LEVEL STATE MISSING ACTION"
 * multipath   "map NAME WORKING ALL LOST" of each device with several paths: how many work, of how many, and
 *             the name of one that does not or "-"
 * dm.suspended
 *             "dm NAME SUSPENDED" of each device of the device mapper: 1 or 0
 *
 * The kernel answers all of it without asking the device.
 */

/* reads, their merges, sectors, ms, writes, ..., requests on the way */
static bool read_requests(int dir, uint64_t *done, uint64_t *waiting)
{
    char text[512];
    struct words w;
    uint64_t reads, writes;
    if (sys_read(dir, "stat", text, sizeof text) < 0)
        return false;
    text[strcspn(text, "\n")] = '\0';
    words_of(text, &w);
    if (!word_u64(&w, 0, &reads) || !word_u64(&w, 4, &writes) || !word_u64(&w, 8, waiting))
        return false;
    *done = reads + writes;
    return true;
}

static void add_disk(int dir, const char *name, struct text *out)
{
    char device[SYS_TEXT_BYTES_MAX], state[SYS_TEXT_BYTES_MAX] = "";
    uint64_t removable = 0, size, ro, done, waiting;
    sys_u64(dir, "removable", &removable);
    if (removable || sys_link(dir, "device", device) < 0)
        return;
    if (sys_u64(dir, "size", &size) < 0 || sys_u64(dir, "ro", &ro) < 0 ||
        !read_requests(dir, &done, &waiting)) {
        fact_add(out, "unknown", "%s is not understood", name);
        return;
    }
    sys_text(dir, "device/state", state);
    state[strcspn(state, " ")] = '\0';
    fact_add(out, "disk", "%s %" PRIu64 " %" PRIu64 " %s %" PRIu64 " %" PRIu64, name, size, ro,
             *state ? state : "-", done, waiting);
}

void gather_DISK(const struct look *l, struct text *out)
{
    gather_each(l, "sys/block", add_disk, "there is no disk", out);
}

static void judge_count(struct look *l, size_t n, const char *what, struct verdict *v)
{
    int64_t least;
    if (want_number(l, "Count", 0, &least, v) && (int64_t)n < least)
        verdict_add(v, RESULT_FATAL, "", "", "%zu %s, of at least %" PRId64, n, what, least);
}

/* Requests that wait, look after look, while none is done, wait for a disk that does not answer. */
static void judge_requests(struct look *l, const char *device, const struct words *w, struct verdict *v)
{
    uint64_t done, waiting;
    if (!word_u64(w, 4, &done) || !word_u64(w, 5, &waiting))
        return;
    int64_t *before = memory_number(l->memory, device);
    int64_t now = (int64_t)(done % INT64_MAX) + 1; /* 0: not known */
    int64_t looks = in_a_row(l, "waiting", device, waiting > 0 && *before == now);
    *before = now;
    if (looks >= 3)
        verdict_add(v, RESULT_DEGRADED, device, "",
                    "%" PRIu64 " requests wait and none was done in %" PRId64 " looks", waiting, looks);
}

static void judge_disk(struct look *l, const struct words *w, struct verdict *v)
{
    char device[FINDING_DEVICE_BYTES_MAX + 1], name[128];
    uint64_t size = 0, ro = 0;
    snprintf(device, sizeof device, "disk %s", w->w[0]);
    word_u64(w, 1, &size);
    word_u64(w, 2, &ro);
    if (strcmp(w->w[3], "offline") == 0 || strcmp(w->w[3], "transport-offline") == 0 ||
        strcmp(w->w[3], "dead") == 0)
        verdict_add(v, RESULT_FATAL, device, "", "its state is %s", w->w[3]);
    else if (size == 0)
        verdict_add(v, RESULT_FATAL, device, "", "its size is 0");
    snprintf(name, sizeof name, "written %s", device);
    int64_t *written = memory_number(l->memory, name);
    if (ro && *written)
        verdict_add(v, RESULT_FATAL, device, "", "it is read-only, which it was not before");
    if (!ro)
        *written = 1;
    judge_requests(l, device, w, v);
}

void judge_DISK(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    size_t n = 0;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        if (strcmp(line.key, "disk") != 0)
            continue;
        words_of(line.value, &w);
        judge_disk(l, &w, v);
        n++;
    }
    judge_count(l, n, "disks", v);
}

/* --- nvme ----------------------------------------------------------------------------------- */

static void add_nvme(int dir, const char *name, struct text *out)
{
    char state[SYS_TEXT_BYTES_MAX];
    int r = sys_text(dir, "state", state);
    if (r < 0 || !*state)
        fact_add(out, "unknown", "the state of %s", name);
    else
        fact_add(out, "nvme", "%s %s", name, state);
}

void gather_NVME(const struct look *l, struct text *out)
{
    gather_each(l, "sys/class/nvme", add_nvme, "there is no NVMe controller", out);
}

/* A reset now and then is soon over. */
void judge_NVME(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    size_t n = 0;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        if (strcmp(line.key, "nvme") != 0)
            continue;
        words_of(line.value, &w);
        snprintf(device, sizeof device, "nvme %s", w.w[0]);
        bool live = strcmp(w.w[1], "live") == 0, dead = strcmp(w.w[1], "dead") == 0;
        int64_t looks = in_a_row(l, "not live", device, !live);
        n += live;
        if (dead)
            verdict_add(v, RESULT_FATAL, device, "", "its state is dead");
        else if (looks > 0)
            verdict_add(v, looks >= 3 ? RESULT_DEGRADED : RESULT_WARN, device, "",
                        "its state is %s, not live, in %" PRId64 " looks in a row", w.w[1], looks);
    }
    judge_count(l, n, "NVMe controllers are live", v);
}

/* --- raid ----------------------------------------------------------------------------------- */

static void add_array(int dir, const char *name, struct text *out)
{
    char level[SYS_TEXT_BYTES_MAX], state[SYS_TEXT_BYTES_MAX], action[SYS_TEXT_BYTES_MAX] = "";
    uint64_t missing = 0;
    if (strncmp(name, "md", 2) != 0 || sys_text(dir, "md/level", level) == -ENOENT)
        return;
    int r = sys_u64(dir, "md/degraded", &missing); /* raid0 has none */
    if (sys_text(dir, "md/array_state", state) < 0 || (r < 0 && r != -ENOENT)) {
        fact_add(out, "unknown", "the array %s is not understood", name);
        return;
    }
    sys_text(dir, "md/sync_action", action);
    fact_add(out, "array", "%s %s %s %" PRIu64 " %s", name, *level ? level : "-", *state ? state : "-",
             missing, *action ? action : "-");
}

void gather_RAID(const struct look *l, struct text *out)
{
    gather_each(l, "sys/block", add_array, "there is no array of disks", out);
}

void judge_RAID(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t missing;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        if (strcmp(line.key, "array") != 0)
            continue;
        words_of(line.value, &w);
        snprintf(device, sizeof device, "array %s", w.w[0]);
        if (strcmp(w.w[2], "broken") == 0)
            verdict_add(v, RESULT_FATAL, device, "", "its state is broken (%s)", w.w[1]);
        else if (word_u64(&w, 3, &missing) && missing > 0)
            verdict_add(v, RESULT_DEGRADED, device, "",
                        "%" PRIu64 " disks are missing of an array of %s (%s, %s)", missing, w.w[1], w.w[2],
                        w.w[4]);
    }
}

/* --- multipath ------------------------------------------------------------------------------ */

/* A path that the kernel has given up says so; one that dm alone avoids is still running. */
static bool disk_works(int slaves, const char *disk)
{
    char path[SYS_TEXT_BYTES_MAX + 16], state[SYS_TEXT_BYTES_MAX];
    snprintf(path, sizeof path, "%.120s/device/state", disk);
    return sys_text(slaves, path, state) < 0 || strcmp(state, "running") == 0 || strcmp(state, "live") == 0;
}

static void add_map(int dir, const char *name, struct text *out)
{
    char uuid[SYS_TEXT_BYTES_MAX], map[SYS_TEXT_BYTES_MAX];
    const char *lost = "-";
    struct sys_names names = {0};
    uint64_t working = 0;
    if (sys_text(dir, "dm/uuid", uuid) < 0 || strncmp(uuid, "mpath-", 6) != 0)
        return;
    if (sys_text(dir, "dm/name", map) < 0 || !*map)
        snprintf(map, sizeof map, "%s", name);
    CLEANUP_FD int slaves = sys_open_dir(dir, "slaves");
    if (slaves < 0) {
        fact_add(out, "unknown", "the paths of %s: %s", map, strerror(-slaves));
        return;
    }
    sys_names_read(&names, slaves);
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        bool good = disk_works(slaves, names.names[i]);
        working += good;
        lost = good ? lost : names.names[i];
    }
    fact_add(out, "map", "%s %" PRIu64 " %zu %s", map, working, names.n, lost);
    sys_names_fini(&names);
}

void gather_MULTIPATH(const struct look *l, struct text *out)
{
    gather_each(l, "sys/block", add_map, "there is no multipath device", out);
}

/* A path that is gone altogether is missed by the number that there was. */
static void judge_map(struct look *l, const struct words *w, int64_t want, struct verdict *v)
{
    uint64_t working, all;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    if (!word_u64(w, 1, &working) || !word_u64(w, 2, &all))
        return;
    snprintf(device, sizeof device, "multipath %.50s", w->w[0]);
    int64_t *had = memory_number(l->memory, device);
    if (all > (uint64_t)*had && all <= INT64_MAX)
        *had = (int64_t)all;
    int64_t should = want > 0 ? want : *had;
    bool named = strcmp(w->w[3], "-") != 0;
    if (working == 0)
        verdict_add(v, RESULT_FATAL, device, "", "none of its paths works");
    else if (working < (uint64_t)should)
        verdict_add(v, RESULT_WARN, device, "", "%" PRIu64 " of its paths work, of %" PRId64 "%s%s", working,
                    should, named ? "; one that does not is " : "", named ? w->w[3] : "");
}

void judge_MULTIPATH(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    int64_t want;
    if (!want_number(l, "Paths", 0, &want, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (strcmp(line.key, "map") == 0)
            judge_map(l, &w, want, v);
    }
}

/* --- dm.suspended --------------------------------------------------------------------------- */

static void add_dm(int dir, const char *name, struct text *out)
{
    char map[SYS_TEXT_BYTES_MAX];
    uint64_t suspended;
    int r = sys_u64(dir, "dm/suspended", &suspended);
    if (r == -ENOENT || r == -ENOTDIR)
        return;
    if (sys_text(dir, "dm/name", map) < 0 || !*map)
        snprintf(map, sizeof map, "%s", name);
    if (r < 0)
        fact_add(out, "unknown", "whether %s is suspended: %s", map, strerror(-r));
    else
        fact_add(out, "dm", "%s %d", map, suspended != 0);
}

void gather_DM_SUSPENDED(const struct look *l, struct text *out)
{
    gather_each(l, "sys/block", add_dm, "there is no device of the device mapper", out);
}

/* A device is suspended for a moment while it is changed. One that stays suspended was left in the middle
 * of a change. */
void judge_DM_SUSPENDED(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    int64_t limit;
    if (!want_number(l, "Looks", 3, &limit, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        bool suspended = strcmp(line.key, "dm") == 0 && strcmp(w.w[1], "1") == 0;
        snprintf(device, sizeof device, "dm %.59s", w.w[0]);
        int64_t looks = in_a_row(l, "suspended", w.w[0], suspended);
        if (looks >= limit)
            verdict_add(v, RESULT_DEGRADED, device, "",
                        "it is suspended, and all that is read or written there waits, in %" PRId64
                        " looks in a row",
                        looks);
    }
}
