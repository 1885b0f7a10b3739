/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/sys.h"

#include "base/text.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sys_cleanup_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

int sys_open_dir(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* It only leads to others, and is opened many times a second. */
int sys_open_root(const char *root, struct err *e)
{
    int fd = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? err_set(e, -errno, "%s: %s", *root ? root : "/", strerror(errno)) : fd;
}

/* Without O_NONBLOCK the opening of a pipe would wait for its writer. */
static int open_file(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Reads until the end or until size bytes are there; with line, no further than to where a line has ended. */
static int read_up_to(int fd, char *out, size_t size, bool line)
{
    size_t have = 0;
    while (have < size && !(line && memchr(out, '\n', have))) {
        ssize_t n = read(fd, out + have, size - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return -errno;
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    return (int)have;
}

/* Ends s at the first newline or NUL of its n bytes, blanks out control bytes and trims. When the
 * bytes were cut, what is left of a character that the cut went through goes as well. */
static void sys_clean(char *s, size_t n, bool cut)
{
    size_t len = 0;
    while (len < n && s[len] != '\n' && s[len] != '\0') {
        unsigned char c = (unsigned char)s[len];
        if (c < 0x20 || c == 0x7f)
            s[len] = ' ';
        len++;
    }
    if (cut && len == n) {
        while (len > 0 && ((unsigned char)s[len - 1] & 0xc0) == 0x80)
            len--;
        if (len > 0 && (unsigned char)s[len - 1] >= 0xc0)
            len--;
    }
    while (len > 0 && s[len - 1] == ' ')
        len--;
    size_t lead = 0;
    while (lead < len && s[lead] == ' ')
        lead++;
    memmove(s, s + lead, len - lead);
    s[len - lead] = '\0';
}

int sys_text(int at, const char *path, char out[static SYS_TEXT_BYTES_MAX])
{
    CLEANUP_FD int fd = open_file(at, path);
    if (fd < 0)
        return fd;
    int n = read_up_to(fd, out, SYS_TEXT_BYTES_MAX - 1, true);
    if (n < 0)
        return n;
    sys_clean(out, (size_t)n, n == SYS_TEXT_BYTES_MAX - 1);
    return 0;
}

int sys_u64(int at, const char *path, uint64_t *out)
{
    char text[SYS_TEXT_BYTES_MAX];
    int r = sys_text(at, path, text);
    return r < 0 ? r : text_parse_u64(text, 0, UINT64_MAX, out, NULL);
}

static int read_text(int at, const char *path, char *out, size_t size, bool line)
{
    assert(size > 0 && "there is room for the zero at the end");
    CLEANUP_FD int fd = open_file(at, path);
    if (fd < 0)
        return fd;
    int n = read_up_to(fd, out, size, line);
    if (n < 0)
        return n;
    if ((size_t)n == size)
        return -E2BIG;
    out[n] = '\0';
    return 0;
}

int sys_read(int at, const char *path, char *out, size_t size)
{
    return read_text(at, path, out, size, false);
}

int sys_line(int at, const char *path, char *out, size_t size)
{
    return read_text(at, path, out, size, true);
}

int sys_link(int at, const char *path, char out[static SYS_TEXT_BYTES_MAX])
{
    char target[SYS_LINE_BYTES_MAX];
    ssize_t n = readlinkat(at, path, target, sizeof target - 1);
    if (n < 0)
        return -errno;
    target[n] = '\0';
    const char *slash = strrchr(target, '/');
    const char *last = slash ? slash + 1 : target;
    size_t len = strnlen(last, SYS_TEXT_BYTES_MAX - 1);
    memcpy(out, last, len);
    sys_clean(out, len, last[len] != '\0');
    return 0;
}

bool sys_lines_feed(struct sys_lines *l, const char *bytes, size_t n, sys_line_fn *fn, void *arg)
{
    assert(l->len < sizeof l->line);
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (l->len < sizeof l->line - 1)
                l->line[l->len++] = bytes[i] ? bytes[i] : ' ';
            continue;
        }
        l->line[l->len] = '\0';
        l->len = 0;
        if (!fn(l->line, arg))
            return false;
    }
    return true;
}

int sys_each_line(int at, const char *path, sys_line_fn *fn, void *arg)
{
    CLEANUP_FD int fd = open_file(at, path);
    if (fd < 0)
        return fd;
    struct sys_lines lines = {.len = 0};
    char bytes[SYS_LINE_BYTES_MAX];
    for (size_t total = 0; total < SYS_STREAM_BYTES_MAX;) {
        int n = read_up_to(fd, bytes, sizeof bytes, false);
        if (n < 0)
            return n;
        if (n == 0) {
            if (lines.len > 0)
                sys_lines_feed(&lines, "\n", 1, fn, arg);
            break;
        }
        total += (size_t)n;
        if (!sys_lines_feed(&lines, bytes, (size_t)n, fn, arg))
            break;
    }
    return 0;
}

void sys_names_fini(struct sys_names *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->names[i]);
    free(s->names);
    *s = (struct sys_names){0};
}

void sys_names_add(struct sys_names *s, const char *name)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        s->names = mem_grow(s->names, s->cap * sizeof s->names[0]);
    }
    s->names[s->n++] = mem_dup(name);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void sys_names_sort(struct sys_names *s)
{
    if (s->n < 2)
        return;
    qsort(s->names, s->n, sizeof s->names[0], by_bytes);
    size_t kept = 1;
    for (size_t i = 1; i < s->n; i++) {
        if (strcmp(s->names[i], s->names[kept - 1]) == 0)
            free(s->names[i]);
        else
            s->names[kept++] = s->names[i];
    }
    s->n = kept;
}

int sys_names_read(struct sys_names *s, int dir)
{
    int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0)
        return -errno;
    DIR *d = fdopendir(own);
    if (!d) {
        int r = -errno;
        close(own);
        return r;
    }
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(d)) && s->n < SYS_ENTRIES_MAX;)
        if (entry->d_name[0] != '.')
            sys_names_add(s, entry->d_name);
    int r = -errno;
    closedir(d);
    return r;
}

/* The floor knows how to make JSON of any bytes; jansson reads that back. */
json_t *sys_string(const char *s)
{
    CLEANUP_TEXT struct text t = {0};
    text_add_json(&t, s);
    return json_loadb(t.s, t.len, JSON_DECODE_ANY, NULL);
}

void sys_put_text(json_t *object, const char *key, int at, const char *path)
{
    char text[SYS_TEXT_BYTES_MAX];
    if (sys_text(at, path, text) == 0 && *text)
        json_object_set_new(object, key, sys_string(text));
}

void sys_put_link(json_t *object, const char *key, int at, const char *path)
{
    char text[SYS_TEXT_BYTES_MAX];
    if (sys_link(at, path, text) == 0 && *text)
        json_object_set_new(object, key, sys_string(text));
}

bool sys_mounted(int root)
{
    return faccessat(root, "sys/class", F_OK, 0) == 0;
}

void sys_put_devices(json_t *object, const char *key, int root, const char *path, sys_device_fn *fn)
{
    CLEANUP_FD int dir = sys_open_dir(root, path);
    if (dir < 0 && (dir != -ENOENT || !sys_mounted(root)))
        return;
    struct sys_names names = {0};
    if (dir >= 0 && sys_names_read(&names, dir) < 0) {
        sys_names_fini(&names);
        return;
    }
    sys_names_sort(&names);

    json_t *devices = json_array();
    for (size_t i = 0; i < names.n && json_array_size(devices) < SYS_DEVICES_MAX; i++) {
        CLEANUP_FD int device = sys_open_dir(dir, names.names[i]);
        if (device >= 0)
            json_array_append_new(devices, fn(device, names.names[i]));
    }
    sys_names_fini(&names);
    json_object_set_new(object, key, devices);
}
