/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/*
 * fs.space   "bytes FREE TOTAL", "inodes FREE TOTAL": free to everybody, of what everybody may have, as df
 *            counts. File systems without a fixed number of inodes have no second line. "unsupported" for an
 *            image that is read-only and full by its nature (squashfs, ISO 9660): nothing can fill it.
 * fs.write   "written MS", or "failed ERRNO STEP: WHY"
 */

static const char *path_of(const struct look *l)
{
    const char *path = check_arg(l->check, "Path");
    return path ? path : "/";
}

void gather_FS_SPACE(const struct look *l, struct text *out)
{
    CLEANUP_TEXT struct text path = {0};
    struct statvfs s;
    text_printf(&path, "%s%s", l->root, path_of(l));
    if (statvfs(path.s, &s) < 0) {
        bool absent = errno == ENOENT || errno == ENOTDIR;
        fact_add(out, absent ? "unsupported" : "unknown", "%s: %s", path_of(l), strerror(errno));
        return;
    }
    if (s.f_bfree == 0 && s.f_flag & ST_RDONLY) {
        fact_add(out, "unsupported", "the file system of %s is read-only and has no space to lose",
                 path_of(l));
        return;
    }
    uint64_t used = s.f_blocks - s.f_bfree;
    fact_add(out, "bytes", "%" PRIu64 " %" PRIu64, (uint64_t)s.f_bavail * s.f_frsize,
             ((uint64_t)s.f_bavail + used) * s.f_frsize);
    if (s.f_files > 0)
        fact_add(out, "inodes", "%" PRIu64 " %" PRIu64, (uint64_t)s.f_favail, (uint64_t)s.f_files);
}

/* "10%" is of the total, "500MB" is bytes. */
static bool want_least(const struct look *l, const char *key, unsigned fallback_percent, uint64_t total,
                       uint64_t *least, struct verdict *v)
{
    const char *given = check_arg(l->check, key);
    if (given && *given && given[strlen(given) - 1] != '%')
        return want_bytes(l, key, 0, least, v);
    unsigned percent;
    if (!want_percent(l, key, fallback_percent, &percent, v))
        return false;
    *least = (uint64_t)((unsigned __int128)total * percent / 100);
    return true;
}

static bool fact_pair(const char *facts, const char *key, uint64_t *a, uint64_t *b)
{
    struct fact_line line;
    struct words w;
    if (!fact_find(facts, key, &line))
        return false;
    words_of(line.value, &w);
    return word_u64(&w, 0, a) && word_u64(&w, 1, b);
}

static void judge_inodes(struct look *l, const char *facts, const char *device, struct verdict *v)
{
    uint64_t left, total;
    unsigned least;
    if (!want_percent(l, "Inodes", 5, &least, v) || !fact_pair(facts, "inodes", &left, &total) || total == 0)
        return;
    unsigned percent = percent_of(left, total);
    if (percent < least)
        verdict_add(v, RESULT_FATAL, device, "", "%u %% of %" PRIu64 " inodes are free, of at least %u %%",
                    percent, total, least);
}

/* Free= is the least that a node needs; Warn= is worth a look. */
void judge_FS_SPACE(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t left, total, least, warn;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    snprintf(device, sizeof device, "fs %s", path_of(l));
    if (!fact_pair(facts, "bytes", &left, &total)) {
        verdict_cannot(v, RESULT_UNKNOWN, "the space of %s is not understood", path_of(l));
        return;
    }
    /* proc, sysfs and their like have no blocks. */
    if (total == 0) {
        verdict_cannot(v, RESULT_UNSUPPORTED, "the file system of %s counts no space", path_of(l));
        return;
    }
    if (!want_least(l, "Free", 10, total, &least, v) || !want_least(l, "Warn", 15, total, &warn, v))
        return;
    bool bad = left < least;
    if (bad || left < warn)
        verdict_add(v, bad ? RESULT_FATAL : RESULT_WARN, device, "",
                    "%" PRIu64 " MB (%u %%) of %" PRIu64 " MB are free, of at least %" PRIu64 " MB",
                    left / 1000000, percent_of(left, total), total / 1000000, (bad ? least : warn) / 1000000);
    judge_inodes(l, facts, device, v);
}

/* --- fs.write ------------------------------------------------------------------------------- */

enum { WRITTEN_BYTES = 4096 };

/* The step that failed; NULL when all worked. errno has the reason. */
static const char *write_and_read(int fd)
{
    char bytes[WRITTEN_BYTES], back[WRITTEN_BYTES];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    errno = EIO; /* for a file that is shorter than it should be */
    if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
        return "write";
    if (fsync(fd) < 0)
        return "fsync";
    errno = EIO;
    if (pread(fd, back, sizeof back, 0) != (ssize_t)sizeof back)
        return "read";
    return memcmp(bytes, back, sizeof back) == 0 ? NULL : "the data read back differ from the data written";
}

/* The file has no name as soon as it exists, so that nothing is left when this is killed. */
void gather_FS_WRITE(const struct look *l, struct text *out)
{
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s%s/.fettle-write.%s.%d", l->root, path_of(l), host, (int)getpid());
    struct mono began = mono_now();
    const char *step = "create";
    CLEANUP_FD int fd = open(path.s, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        step = unlink(path.s) < 0 ? "remove" : write_and_read(fd);
    int why = errno;
    if (step && fd < 0 && (why == ENOENT || why == ENOTDIR))
        fact_add(out, "unsupported", "%s: %s", path_of(l), strerror(why));
    else if (step)
        fact_add(out, "failed", "%d %s: %s", why, step, strerror(why));
    else
        fact_add(out, "written", "%" PRId64, span_to_ms(mono_sub(mono_now(), began)));
}

void judge_FS_WRITE(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line failed;
    struct span slow;
    uint64_t ms, code;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    snprintf(device, sizeof device, "fs %s", path_of(l));
    if (!want_span(l, "Slow", span_s(1), &slow, v))
        return;
    if (fact_find(facts, "failed", &failed)) {
        struct words w;
        words_of(failed.value, &w);
        bool known = word_u64(&w, 0, &code);
        const char *what = failed.value + strcspn(failed.value, " ");
        /* That root may not write on a server is the site's will; a full one has a check of its own. */
        if (!known || code == EACCES || code == EPERM || code == ENOSPC || code == EDQUOT)
            verdict_cannot(v, RESULT_UNKNOWN, "cannot try on %s:%s", path_of(l), what);
        else
            verdict_add(v, RESULT_FATAL, device, "", "a small file on %s:%s", path_of(l), what);
    } else if (!fact_u64(facts, "written", &ms)) {
        verdict_cannot(v, RESULT_UNKNOWN, "it is not known whether %s was written", path_of(l));
    } else if (ms > (uint64_t)span_to_ms(slow)) {
        verdict_add(v, RESULT_WARN, device, "", "a small file on %s took %" PRIu64 " ms, of at most %" PRId64,
                    path_of(l), ms, span_to_ms(slow));
    }
}
