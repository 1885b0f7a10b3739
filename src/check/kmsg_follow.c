/* SPDX-License-Identifier: Apache-2.0 */
#include "check/kmsg_follow.h"

#include "base/text.h"
#include "probe/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * The device gives one record with each read, from the oldest on, and EPIPE when what came next was
 * overwritten. A pipe and a file give bytes: their records end with a newline, and lines that begin with a
 * blank belong to the record before, as in the device's own form. All three fill one buffer; what the device
 * gave is a line that is complete.
 */

enum { BUFFER_BYTES = 16384, FILLS_MAX = 256 };

enum source { SOURCE_DEVICE, SOURCE_PIPE, SOURCE_FILE };

struct kmsg_follow {
    int fd;
    enum source source;
    struct kmsg_cursor cursor;
    bool counted;  /* the cursor's number is to be held against the next record's */
    uint64_t lost; /* and not told yet */
    bool skipping; /* a line longer than the buffer */
    off_t read;    /* the size of a file */
    size_t len;
    char buffer[BUFFER_BYTES];
};

static void read_boot(int root, char boot[static KMSG_BOOT_BYTES_MAX + 1])
{
    char text[SYS_TEXT_BYTES_MAX];
    boot[0] = '\0';
    if (sys_text(root, "proc/sys/kernel/random/boot_id", text) == 0)
        snprintf(boot, KMSG_BOOT_BYTES_MAX + 1, "%.*s", KMSG_BOOT_BYTES_MAX, text);
}

/* Some containers have the null device there, which is always ready and never says anything. */
static bool is_log(const struct stat *st)
{
    enum { MAJOR_MEM = 1, MINOR_KMSG = 11 };
    return S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode) ||
           (S_ISCHR(st->st_mode) && st->st_rdev == makedev(MAJOR_MEM, MINOR_KMSG));
}

/* A pipe is opened for both, so that it does not end when its writer goes. */
static int open_log(int root, enum source *source)
{
    static const char path[] = "dev/kmsg";
    struct stat st;
    if (fstatat(root, path, &st, 0) < 0)
        return -errno;
    *source = S_ISREG(st.st_mode) ? SOURCE_FILE : S_ISFIFO(st.st_mode) ? SOURCE_PIPE : SOURCE_DEVICE;
    if (!is_log(&st))
        return -ENODEV;
    int mode = *source == SOURCE_PIPE ? O_RDWR : O_RDONLY;
    int fd = openat(root, path, mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? -errno : fd;
}

struct kmsg_follow *kmsg_open(const char *root, const struct kmsg_cursor *from, struct err *e)
{
    CLEANUP_FD int dir = sys_open_root(root, e);
    if (dir < 0)
        return NULL;
    enum source source = (enum source)0;
    int fd = open_log(dir, &source);
    if (fd < 0) {
        err_set(e, fd, "%s/dev/kmsg: %s", root, strerror(-fd));
        return NULL;
    }
    struct kmsg_follow *f = mem_alloc(sizeof *f);
    f->fd = fd;
    f->source = source;
    read_boot(dir, f->cursor.boot);
    if (from && from->boot[0] && strcmp(from->boot, f->cursor.boot) == 0) {
        f->cursor.next = from->next;
        f->counted = true;
    }
    return f;
}

void kmsg_close(struct kmsg_follow *f)
{
    if (!f)
        return;
    close(f->fd);
    free(f);
}

int kmsg_fd(const struct kmsg_follow *f)
{
    return f->source == SOURCE_FILE ? -1 : f->fd;
}

const struct kmsg_cursor *kmsg_cursor(const struct kmsg_follow *f)
{
    return &f->cursor;
}

/* A file that became shorter is another one. */
static void look_for_another(struct kmsg_follow *f)
{
    struct stat st;
    if (f->source != SOURCE_FILE || fstat(f->fd, &st) < 0 || st.st_size >= f->read)
        return;
    f->read = 0;
    f->len = 0;
    f->skipping = f->counted = false;
    lseek(f->fd, 0, SEEK_SET);
}

/* 1 when bytes came, 0 when there are none now, -errno. */
static int kmsg_follow_fill(struct kmsg_follow *f)
{
    for (;;) {
        ssize_t n = read(f->fd, f->buffer + f->len, sizeof f->buffer - f->len - 1);
        if (n > 0) {
            f->len += (size_t)n;
            f->read += n;
            return 1;
        }
        if (n == 0 || errno == EAGAIN)
            return 0;
        /* EPIPE: overwritten before it was read, as the next number shows; EINVAL: longer than any may be.
         * The device has moved on from both. */
        bool lost = f->source == SOURCE_DEVICE && (errno == EPIPE || errno == EINVAL);
        if (errno != EINTR && !lost)
            return -errno;
    }
}

static void kmsg_follow_drop(struct kmsg_follow *f, size_t n)
{
    f->len -= n;
    memmove(f->buffer, f->buffer + n, f->len);
}

/* The first line of the buffer without its end, which is put in place of the newline; NULL when it is not
 * complete. */
static char *first_line(struct kmsg_follow *f, size_t *len)
{
    char *newline = memchr(f->buffer, '\n', f->len);
    if (!newline && f->len == sizeof f->buffer - 1) {
        f->skipping = true;
        f->len = 0;
    }
    if (!newline)
        return NULL;
    *newline = '\0';
    *len = (size_t)(newline - f->buffer);
    return f->buffer;
}

/* Whether the record is news. */
static bool kmsg_follow_count(struct kmsg_follow *f, const struct kmsg *r)
{
    if (f->counted && r->seq < f->cursor.next)
        return false;
    f->lost += f->counted ? r->seq - f->cursor.next : 0;
    f->cursor.next = r->seq + 1;
    f->counted = true;
    return true;
}

/* Takes the line out of the buffer. True when it is a new record of the kernel. */
static bool take_line(struct kmsg_follow *f, const char *line, size_t len, struct kmsg *out)
{
    bool whole = !f->skipping && line[0] != ' ' && kmsg_read(line, len, out, NULL) == 0;
    f->skipping = false;
    kmsg_follow_drop(f, len + 1);
    return whole && kmsg_follow_count(f, out) && out->from_kernel;
}

static int tell_lost(struct kmsg_follow *f, uint64_t *lost, int r)
{
    *lost = f->lost;
    f->lost = 0;
    return r;
}

int kmsg_next(struct kmsg_follow *f, struct kmsg *out, uint64_t *lost, struct err *e)
{
    *lost = 0;
    look_for_another(f);
    int r = 1;
    for (int fills = 0; r > 0 && fills <= FILLS_MAX; fills++) {
        size_t len;
        for (char *line; (line = first_line(f, &len));)
            if (take_line(f, line, len, out))
                return tell_lost(f, lost, 1);
        r = fills < FILLS_MAX ? kmsg_follow_fill(f) : 0;
    }
    return r < 0 ? err_set(e, r, "the kernel's log: %s", strerror(-r)) : tell_lost(f, lost, 0);
}
