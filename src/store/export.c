/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry leaves the state after its line is on the disk. When the process ends between the two, the entry
 * is exported again, and its earlier line is found by its revision at the end of the file. So a line begins
 * with the revision.
 */
#include "store/export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 48, CHUNK_BYTES = 4096 };

void export_format(uint64_t revision, const struct store_entry *entry, struct text *out)
{
    char at[32];
    text_printf(out, "{\"revision\":%" PRIu64 ",\"at\":\"%s\",\"what\":", revision,
                wall_format(entry->at, at));
    text_add_json(out, entry->what);
    text_add(out, ",\"actor\":");
    text_add_json(out, entry->actor);
    text_add(out, ",\"nodes\":");
    text_add_json(out, entry->nodes);
    text_add(out, ",\"text\":");
    text_add_json(out, entry->text);
    if (entry->about && *entry->about) {
        text_add(out, ",\"about\":");
        text_add_json(out, entry->about);
    }
    if (entry->fields && *entry->fields)
        text_printf(out, ",%s", entry->fields);
    text_add(out, "}\n");
}

/* A file that is being written. */
struct file {
    char *path;
    int dir, fd;
};

static int export_failed(const struct file *f, const char *what, struct err *e)
{
    int code = errno ? errno : EIO; /* a short read sets no errno */
    return err_set(e, -code, "cannot %s %s: %s", what, f->path, strerror(code));
}

static int dir_open(const char *dir, struct file *f, struct err *e)
{
    bool made = mkdir(dir, 0700) == 0;
    f->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->dir < 0) {
        int code = errno;
        return err_set(e, -code, "cannot open directory %s, where the journal's oldest entries go: %s", dir,
                       strerror(code));
    }
    if (!made)
        return 0;
    CLEANUP_FREE char *copy = mem_dup(dir);
    int parent = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = parent < 0 || fsync(parent) ? errno : 0;
    if (parent >= 0)
        close(parent);
    return code ? err_set(e, -code, "cannot sync the directory that holds %s: %s", dir, strerror(code)) : 0;
}

static int file_open(struct file *f, const char *name, struct err *e)
{
    f->fd = openat(f->dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return f->fd < 0 || fsync(f->dir) ? export_failed(f, "make", e) : 0;
}

/* The start of the line that ends before `end`; -1 when the file cannot be read. */
static off_t line_begin(const struct file *f, off_t end)
{
    char chunk[CHUNK_BYTES];
    errno = 0;
    while (end > 0) {
        size_t n = end < CHUNK_BYTES ? (size_t)end : CHUNK_BYTES;
        if (pread(f->fd, chunk, n, end - (off_t)n) != (ssize_t)n)
            return -1;
        const char *nl = memrchr(chunk, '\n', n);
        if (nl)
            return end - (off_t)n + (nl - chunk) + 1;
        end -= (off_t)n;
    }
    return 0;
}

/* The start of the lines from revision `first` on, or of a cut-off line. */
static int end_find(const struct file *f, uint64_t first, off_t *end, struct err *e)
{
    off_t size = lseek(f->fd, 0, SEEK_END);
    off_t at = size < 0 ? -1 : line_begin(f, size); /* the start of a cut-off line, if any */
    while (at > 0) {
        char head[HEAD_BYTES + 1] = "";
        uint64_t revision = 0;
        *end = at;
        at = line_begin(f, at - 1);
        if (at < 0 || pread(f->fd, head, HEAD_BYTES, at) < 0)
            break;
        if (sscanf(head, "{\"revision\":%20" SCNu64 ",", &revision) != 1)
            return err_set(e, -EILSEQ,
                           "%s ends with a line that is none of the journal's; move the file away", f->path);
        if (revision < first)
            return 0;
    }
    *end = 0;
    return at < 0 ? export_failed(f, "read", e) : 0;
}

static int lines_write(const struct file *f, off_t end, const struct text *lines, struct err *e)
{
    if (ftruncate(f->fd, end))
        return export_failed(f, "write", e);
    for (size_t done = 0; done < lines->len;) {
        ssize_t n = pwrite(f->fd, lines->s + done, lines->len - done, end + (off_t)done);
        if (n < 0) {
            return export_failed(f, "write", e); /* the next attempt removes the partial line */
        }
        done += (size_t)n;
    }
    return fsync(f->fd) ? export_failed(f, "sync", e) : 0;
}

int export_append(const char *dir, struct wall day, uint64_t first, const struct text *lines, struct err *e)
{
    char at[32];
    CLEANUP_TEXT struct text name = {0}, path = {0};
    text_printf(&name, "journal-%.10s.jsonl", wall_format(day, at));
    text_printf(&path, "%s/%s", dir, name.s);
    struct file f = {.path = path.s, .dir = -1, .fd = -1};
    off_t end = 0;
    int r = dir_open(dir, &f, e);
    if (!r)
        r = file_open(&f, name.s, e);
    if (!r)
        r = end_find(&f, first, &end, e);
    if (!r)
        r = lines_write(&f, end, lines, e);
    if (f.fd >= 0)
        close(f.fd);
    if (f.dir >= 0)
        close(f.dir);
    return r;
}

static bool same_day(struct wall a, struct wall b)
{
    const int64_t day = span_s(86400).ns;
    return a.ns / day == b.ns / day;
}

static bool entry_stays(const struct leaving *l, uint64_t revision, const struct store_entry *entry)
{
    return entry->at.ns >= l->before.ns || (l->stays_from > 0 && revision >= l->stays_from);
}

int leaving_take(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct leaving *l = arg;
    if (l->first == 0 && !entry_stays(l, revision, entry)) {
        l->first = revision;
        l->day = entry->at;
    } else if (revision != l->last && (entry_stays(l, revision, entry) || !same_day(entry->at, l->day))) {
        l->ends = revision;
    }
    if (l->ends)
        return 0;
    l->last = revision;
    export_format(revision, entry, &l->lines);
    return 0;
}

void leaving_fini(struct leaving *l)
{
    text_fini(&l->lines);
}
