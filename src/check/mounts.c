/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * A line of mountinfo is
 *
 *   36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *
 * with any number of words before the dash. Where something is mounted over a mount, the last line counts.
 *
 * Several checks want the list in the same moment and one each second, so that of /proc is kept as it was
 * read. When something is mounted or unmounted the kernel says so (POLLPRI). That a file system became
 * read-only after an error it does not say, so for those who ask about that it is kept for a short while.
 */

enum { PATH = 4, OPTIONS = 5, LEAST = 6 }; /* words from the first */
enum { TYPE = 2, SOURCE = 3, SUPER = 4 };  /* from the dash */

static bool mounts_octal(const char *p)
{
    return p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' && p[3] >= '0' &&
           p[3] <= '7';
}

static void mounts_unescape(char *out, size_t size, const char *word, size_t len)
{
    size_t n = 0;
    for (const char *p = word; p < word + len && n < size - 1; p++) {
        bool coded = word + len - p >= 4 && mounts_octal(p);
        char c = coded ? (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0')) : *p;
        p += coded ? 3 : 0;
        if (c)
            out[n++] = c;
    }
    out[n] = '\0';
}

bool mounted_parse(const char *line, struct mounted *m)
{
    *m = (struct mounted){.path = ""};
    size_t word = 0, after = 0; /* words after the dash, which is the first */
    for (const char *p = line + strspn(line, " "); *p; word++) {
        size_t len = strcspn(p, " ");
        after += after > 0 || (word >= LEAST && len == 1 && *p == '-');
        if (word == PATH)
            mounts_unescape(m->path, sizeof m->path, p, len);
        else if (word == OPTIONS)
            mounts_unescape(m->options, sizeof m->options, p, len);
        else if (after == TYPE)
            mounts_unescape(m->type, sizeof m->type, p, len);
        else if (after == SOURCE)
            mounts_unescape(m->source, sizeof m->source, p, len);
        else if (after == SUPER)
            mounts_unescape(m->super, sizeof m->super, p, len);
        p += len;
        p += strspn(p, " ");
    }
    return m->path[0] == '/' && *m->type && *m->source;
}

struct reading {
    mounted_fn *fn;
    void *arg;
    size_t n;
};

static bool on_line(const char *line, void *arg)
{
    struct reading *r = arg;
    struct mounted m;
    if (!mounted_parse(line, &m))
        return true;
    r->n++;
    return r->fn(&m, r->arg);
}

static struct {
    pid_t pid; /* whose fd is: a child has inherited the list and not the descriptor */
    int fd;    /* -1 for none */
    struct stat root;
    struct mono at;
    bool whole; /* lines has all */
    struct text lines;
} kept = {.fd = -1};

enum { KEPT_MS = 30000, STATES_KEPT_MS = 100, KEPT_BYTES_MAX = 64 << 10 };

static bool keep_line(const char *line, void *arg)
{
    text_add(&kept.lines, line);
    text_add_char(&kept.lines, '\n');
    kept.whole = kept.lines.len <= KEPT_BYTES_MAX;
    return kept.whole;
}

/* The descriptor is of this process and of this root's list. */
static bool is_open(const struct stat *root)
{
    return kept.fd >= 0 && kept.pid == getpid() && kept.root.st_dev == root->st_dev &&
           kept.root.st_ino == root->st_ino;
}

static bool is_current(bool states)
{
    assert(kept.fd >= 0 && kept.pid == getpid() && "the list is this process's own");
    struct pollfd p = {.fd = kept.fd, .events = POLLPRI};
    int64_t for_ms = states ? STATES_KEPT_MS : KEPT_MS;
    return poll(&p, 1, 0) == 0 && mono_sub(mono_now(), kept.at).ns < span_ms(for_ms).ns;
}

static void mounts_forget(void)
{
    if (kept.fd >= 0 && kept.pid == getpid())
        close(kept.fd);
    kept.fd = -1;
    text_fini(&kept.lines);
}

/* The list of the first process, because ours may be that of a sandbox; else ours. */
static const char *const places[] = {"proc/1/mountinfo", "proc/self/mountinfo"};

static int open_list(int root, const char *path)
{
    struct statfs fs;
    int fd = openat(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void open_kept(int root, const struct stat *st)
{
    mounts_forget();
    for (size_t i = 0; i < sizeof places / sizeof *places && kept.fd < 0; i++)
        kept.fd = open_list(root, places[i]);
    kept.pid = getpid();
    kept.root = *st;
    kept.at = (struct mono){INT64_MIN / 2};
}

/* Whether the whole list could be read and is not too long. */
static bool read_kept(void)
{
    char bytes[SYS_LINE_BYTES_MAX];
    struct sys_lines lines = {.len = 0};
    ssize_t n = 0;
    text_clear(&kept.lines);
    kept.at = mono_now();
    kept.whole = true;
    for (off_t at = 0; kept.whole && (n = pread(kept.fd, bytes, sizeof bytes, at)) > 0; at += n)
        sys_lines_feed(&lines, bytes, (size_t)n, keep_line, NULL);
    kept.whole &= n == 0;
    return kept.whole;
}

/* Changes during the reading are announced afterwards. */
static bool mounts_keep(int root, bool states)
{
    struct stat st;
    if (fstat(root, &st) < 0)
        return false;
    if (!is_open(&st))
        open_kept(root, &st);
    return kept.fd >= 0 && (is_current(states) ? kept.whole : read_kept());
}

static int list_each(int root, bool states, sys_line_fn *fn, void *arg)
{
    if (mounts_keep(root, states)) {
        bool more = kept.lines.s != NULL;
        for (char *line = kept.lines.s, *end; more && (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            more = fn(line, arg);
            *end = '\n';
        }
        return 0;
    }
    int r = sys_each_line(root, places[0], fn, arg);
    return r < 0 ? sys_each_line(root, places[1], fn, arg) : r;
}

int mounts_each(int root, mounted_fn *fn, void *arg)
{
    struct reading reading = {.fn = fn, .arg = arg};
    int r = list_each(root, true, on_line, &reading);
    if (r < 0)
        return r == -ENOENT ? -ENODATA : r;
    return reading.n > 0 ? 0 : -EINVAL; /* there is always a root */
}

struct search {
    const char *path;
    size_t best;
    bool any;
    struct mounted *found;
};

static bool mounts_below(const char *path, const char *dir, size_t n)
{
    return n == 1 || (strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

/* Most lines are of other places, and are not parsed. */
static bool mounts_nearer(const char *line, void *arg)
{
    struct search *s = arg;
    struct mounted m;
    char path[sizeof m.path];
    const char *p = line + strspn(line, " ");
    for (int word = 0; word < PATH; word++) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    mounts_unescape(path, sizeof path, p, strcspn(p, " "));
    size_t len = strlen(path);
    s->any |= path[0] == '/';
    if (len > 0 && len >= s->best && mounts_below(s->path, path, len) && mounted_parse(line, &m)) {
        s->best = len;
        *s->found = m;
    }
    return true;
}

int mounts_find(int root, const char *path, bool states, struct mounted *m)
{
    struct search s = {.path = path, .found = m};
    int r = list_each(root, states, mounts_nearer, &s);
    if (r < 0)
        return r == -ENOENT ? -ENODATA : r;
    if (s.best > 0)
        return 0;
    return s.any ? -ENOENT : -EINVAL;
}

static bool mounts_among(const char *type, const char *const *types, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

static const char *const disk_types[] = {"bcachefs", "btrfs",    "ext2", "ext3", "ext4", "f2fs",
                                         "jfs",      "reiserfs", "vfat", "xfs",  "zfs"};

bool type_disk(const char *type)
{
    return mounts_among(type, disk_types, sizeof disk_types / sizeof *disk_types);
}

bool options_have(const char *options, const char *word, size_t len)
{
    for (const char *p = options; *p;) {
        size_t n = strcspn(p, ",");
        if (n == len && strncmp(p, word, n) == 0)
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}
