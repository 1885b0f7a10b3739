/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * agent   "memory KIB" that the process that looks has in memory, "files N MOST" that it has open, of as many
 * as it may have
 */

/* Newer kernels say it as the size of the directory, others are counted, to 4,096. */
static int count_files(int root, uint64_t *n)
{
    struct sys_names names = {0};
    struct stat st;
    CLEANUP_FD int dir = sys_open_dir(root, "proc/self/fd");
    int r = dir < 0 ? dir : sys_names_read(&names, dir);
    *n = names.n;
    sys_names_fini(&names);
    if (r == 0 && fstat(dir, &st) == 0 && st.st_size > (off_t)*n && st.st_blocks == 0)
        *n = (uint64_t)st.st_size;
    return r;
}

/* "SIZE RESIDENT SHARED ...", in pages. */
static int resident_kib(int root, uint64_t *kib)
{
    char text[SYS_TEXT_BYTES_MAX];
    struct words w;
    uint64_t pages;
    int r = sys_text(root, "proc/self/statm", text);
    if (r < 0)
        return r;
    words_of(text, &w);
    if (!word_u64(&w, 1, &pages) || pages > UINT32_MAX)
        return -EINVAL;
    *kib = pages * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024);
    return 0;
}

void gather_AGENT(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    struct rlimit most = {0};
    uint64_t kib = 0, files = 0;
    if (root < 0)
        return;
    int r = resident_kib(root, &kib);
    if (r == 0)
        r = count_files(root, &files);
    if (r < 0 || getrlimit(RLIMIT_NOFILE, &most) < 0) {
        fact_add(out, "unknown", "/proc/self: %s", strerror(r < 0 ? -r : errno));
        return;
    }
    fact_add(out, "memory", "%" PRIu64, kib);
    fact_add(out, "files", "%" PRIu64 " %" PRIu64, files, (uint64_t)most.rlim_cur);
}

void judge_AGENT(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    struct words w;
    uint64_t most, kib, files, may;
    unsigned share;
    if (!want_bytes(l, "Memory", 500 * 1000 * 1000, &most, v) || !want_percent(l, "Files", 80, &share, v))
        return;
    words_of(fact_find(facts, "files", &line) ? line.value : "", &w);
    if (!fact_u64(facts, "memory", &kib) || !word_u64(&w, 0, &files) || !word_u64(&w, 1, &may)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the agent's use of memory and files is not understood");
        return;
    }
    if (kib > most / 1024)
        verdict_add(v, RESULT_WARN, "agent", "",
                    "it has %" PRIu64 " KiB of memory, of at most %" PRIu64 " KiB", kib, most / 1024);
    if (percent_of(files, may) > share)
        verdict_add(v, RESULT_WARN, "agent", "",
                    "it has %" PRIu64 " files open, of %" PRIu64 " and at most %u %%", files, may, share);
}
