/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/normal.h"
#include "survey/part.h"

#include "conform/pattern.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A line of mountinfo is
 *
 *   36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *
 * with any number of words before the dash. Blanks in paths stand as \040. Where one mount covers another,
 * the last line counts. Mounts of an automounter come and go, so only its own mount counts, as "autofs".
 */

struct mount {
    char *path, *root, *type, *source;
    const char *options, *super; /* options of the mount and of the file system: within the line */
    char *line;
};
struct mounts {
    size_t n, cap;
    struct mount *list;
    bool too_many;
};
enum { MOUNTS_MAX = 2048 };

static void mount_fini(struct mounts *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->list[i].path);
        free(m->list[i].root);
        free(m->list[i].type);
        free(m->list[i].source);
        free(m->list[i].line);
    }
    free(m->list);
}

static bool mount_octal(const char *p)
{
    return p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' && p[3] >= '0' &&
           p[3] <= '7' && strncmp(p, "\\000", 4) != 0;
}

static char *mount_unescape(const char *word)
{
    struct text t = {0};
    for (const char *p = word; *p; p++) {
        if (mount_octal(p)) {
            text_add_char(&t, (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0')));
            p += 3;
        } else {
            text_add_char(&t, *p);
        }
    }
    return text_take(&t);
}

/* The line's words into `words`; their number, or 0 when there are too many. */
static size_t mount_split(char *line, char **words, size_t max)
{
    size_t n = 0;
    for (char *rest = line, *word; (word = strsep(&rest, " "));) {
        if (!*word)
            continue;
        if (n == max)
            return 0;
        words[n++] = word;
    }
    return n;
}

static void mount_add(struct mounts *m, struct mount one)
{
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->list = mem_grow(m->list, m->cap * sizeof *m->list);
    }
    m->list[m->n++] = one;
}

static void take_line(struct mounts *m, const char *text, size_t len)
{
    enum { WORDS_MAX = 64, ROOT = 3, PATH = 4, OPTIONS = 5, LEAST = 6 };
    char *words[WORDS_MAX];
    char *line = mem_dup_len(text, len);
    size_t n = mount_split(line, words, WORDS_MAX), dash = LEAST;
    while (dash < n && strcmp(words[dash], "-") != 0)
        dash++;
    if (dash + 2 >= n || words[PATH][0] != '/') {
        free(line);
        return;
    }
    mount_add(m, (struct mount){.path = mount_unescape(words[PATH]),
                                .root = mount_unescape(words[ROOT]),
                                .type = mount_unescape(words[dash + 1]),
                                .source = mount_unescape(words[dash + 2]),
                                .options = words[OPTIONS],
                                .super = dash + 3 < n ? words[dash + 3] : "",
                                .line = line});
}

static void mount_parse(struct mounts *m, const char *text)
{
    for (const char *p = text; *p;) {
        m->too_many = m->n == MOUNTS_MAX;
        if (m->too_many)
            return;
        size_t len = strcspn(p, "\n");
        take_line(m, p, len);
        p += len + (p[len] == '\n');
    }
}

/* --- which count ---------------------------------------------------------------------------------------- */

static bool mount_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    if (n == 1)
        return true;
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool is_autofs(const struct mount *m)
{
    return strcmp(m->type, "autofs") == 0;
}

/* Mounted by an automounter: at the place that it keeps, or below. Its own mount is not, unless it is in
 * turn below another one's. */
static bool mount_automatic(const struct mounts *m, const struct mount *one)
{
    for (size_t i = 0; i < m->n; i++) {
        bool same = strcmp(one->path, m->list[i].path) == 0;
        if (is_autofs(&m->list[i]) && mount_below(one->path, m->list[i].path) && !(same && is_autofs(one)))
            return true;
    }
    return false;
}

static bool mount_overmounted(const struct mounts *m, size_t one)
{
    for (size_t i = one + 1; i < m->n; i++)
        if (strcmp(m->list[i].path, m->list[one].path) == 0 && !mount_automatic(m, &m->list[i]))
            return true;
    return false;
}

/* Mounts of users without privileges. */
static bool of_user(const struct mount *m)
{
    static const char key[] = "user_id=";
    if (strncmp(m->type, "fuse", 4) != 0)
        return false;
    const char *user = strstr(m->super, key);
    return user && strncmp(user + sizeof key - 1, "0", 1) != 0;
}

/* The source says something when it is a server; a local device's name does not. */
static bool from_server(const char *source)
{
    return strstr(source, ":/") || strchr(source, '@') || strncmp(source, "//", 2) == 0;
}

static void mount_describe(const struct mount *m, const char *node, struct text *out)
{
    text_add(out, m->type);
    if (is_autofs(m))
        return;
    if (!node) {
        text_printf(out, " %s %s %s %s", m->options, m->super, m->source, m->root);
        return;
    }
    text_add_char(out, ' ');
    normal_options(m->options, node, out);
    text_add_char(out, ' ');
    normal_options(m->super, node, out);
    if (from_server(m->source)) {
        text_add(out, " from ");
        normal_source(m->source, node, out);
    }
    if (strcmp(m->root, "/") != 0) {
        text_add(out, " root ");
        normal_source(m->root, node, out);
    }
}

int mounts_parse(const char *text, const char *node, mount_fn *fn, void *arg)
{
    struct mounts m = {0};
    mount_parse(&m, text);
    int r = m.too_many ? -E2BIG : m.n == 0 ? -EINVAL : 0;
    for (size_t i = 0; r == 0 && i < m.n; i++) {
        const struct mount *one = &m.list[i];
        CLEANUP_TEXT struct text value = {0};
        if (normal_left_out(one->path, one->type) || of_user(one) || mount_automatic(&m, one) ||
            mount_overmounted(&m, i))
            continue;
        mount_describe(one, node, &value);
        fn(arg, one->path, value.s);
    }
    mount_fini(&m);
    return r;
}

bool mounts_remote(const char *text, const char *path)
{
    static const char *const local[] = {"ext*",    "xfs",      "btrfs", "zfs",    "tmpfs",    "ramfs",
                                        "overlay", "squashfs", "erofs", "vfat",   "devtmpfs", "proc",
                                        "sysfs",   "rootfs",   "f2fs",  "iso9660"};
    struct mounts m = {0};
    bool remote = false;
    size_t longest = 0;
    mount_parse(&m, text);
    for (size_t i = 0; i < m.n; i++) {
        size_t len = strlen(m.list[i].path);
        if (len < longest || !mount_below(path, m.list[i].path))
            continue;
        longest = len;
        remote = true;
        for (size_t j = 0; remote && j < sizeof local / sizeof *local; j++)
            remote = !pattern_matches(local[j], m.list[i].type);
    }
    mount_fini(&m);
    return remote;
}

static void note_mount(void *notes, const char *path, const char *value)
{
    notes_value(notes, value, "mount.%s", path);
}

const char *mounts_path(int root)
{
    static const char machine[] = "proc/1/mountinfo", own[] = "proc/self/mountinfo";
    CLEANUP_FD int fd = openat(root, machine, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 ? machine : own;
}

void mount_read(const struct reading *r, struct notes *n)
{
    CLEANUP_TEXT struct text text = {0};
    const char *path = mounts_path(r->root);
    char name[64];
    snprintf(name, sizeof name, "/%s", path);
    int failed = notes_read(r->root, path, MOUNTS_BYTES_MAX, &text);
    if (failed) {
        notes_lost(n, failed, name, "mount");
        return;
    }
    failed = mounts_parse(text.s, r->node, note_mount, n);
    if (failed == -E2BIG)
        notes_unknown(n, "there are more than 2,047 mounts", "mount.*");
    else if (failed) {
        CLEANUP_TEXT struct text why = {0};
        text_printf(&why, "%s has no line that is understood", name);
        notes_unknown(n, why.s, "mount.*");
    }
}
