/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_log.h"

#include "base/text.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_BYTES_MAX = 1 << 20 };

void slurm_read_log_path(const char *config, char out[static SLURM_LOG_PATH_BYTES])
{
    static const char key[] = "\nSlurmctldLogFile";
    const char *at = strstr(config, key);
    at = at ? at + sizeof key - 1 : "";
    at += strspn(at, " =");
    size_t n = strcspn(at, "\n");
    bool is_path = *at == '/' && n < SLURM_LOG_PATH_BYTES;
    memcpy(out, at, is_path ? n : 0);
    out[is_path ? n : 0] = '\0';
}

static int open_log(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void slurm_log_close(struct slurm_log *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

bool slurm_log_mark(struct slurm_log *l)
{
    struct stat st;
    slurm_log_close(l);
    if (!*l->path)
        return false;
    l->fd = open_log(l->path, &st);
    if (l->fd >= 0)
        l->at = st.st_size;
    return l->fd >= 0;
}

static void add_file(int fd, off_t at, struct text *t)
{
    char part[16384];
    ssize_t n;
    while (t->len < LOG_BYTES_MAX && (n = pread(fd, part, sizeof part, at)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            text_add_char(t, part[i] ? part[i] : ' ');
        at += n;
    }
}

/* A log that was rotated since is read on under its name. */
char *slurm_log_since(const struct slurm_log *l)
{
    struct text t = {0};
    struct stat old, now;
    if (l->fd < 0 || fstat(l->fd, &old) < 0)
        return NULL;
    text_add(&t, "");
    add_file(l->fd, l->at, &t);
    int fd = open_log(l->path, &now);
    if (fd >= 0 && now.st_ino != old.st_ino)
        add_file(fd, 0, &t);
    if (fd >= 0)
        close(fd);
    return text_take(&t);
}

void slurm_log_place(const struct slurm_log *l, char out[static SLURM_LOG_PLACE_BYTES])
{
    struct stat st;
    int fd = *l->path ? open_log(l->path, &st) : -1;
    out[0] = '\0';
    if (fd < 0)
        return;
    snprintf(out, SLURM_LOG_PLACE_BYTES, "%ju:%jd", (uintmax_t)st.st_ino, (intmax_t)st.st_size);
    close(fd);
}

/* Of a log that was rotated since, all of the new file. */
char *slurm_log_from(const struct slurm_log *l, const char *place)
{
    struct text t = {0};
    struct stat st;
    uintmax_t inode;
    intmax_t at;
    int fd = sscanf(place, "%20ju:%18jd", &inode, &at) == 2 ? open_log(l->path, &st) : -1;
    if (fd < 0)
        return NULL;
    text_add(&t, "");
    add_file(fd, inode == st.st_ino && at >= 0 && at <= st.st_size ? (off_t)at : 0, &t);
    close(fd);
    return text_take(&t);
}

/* The text after "update_node: node NAME WHAT " in a line of the log; NULL for another line. */
static const char *find_words(const char *line, size_t len, const char *node, const char *what)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "update_node: node %s %s ", node, what);
    const char *at = memmem(line, len, key.s, key.len);
    return at ? at + key.len : NULL;
}

static bool slurm_log_starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The fate of the writes to a node, so far. */
struct trace {
    struct slurm_lost theirs; /* somebody's reason that stands; reason "": none */
    struct slurm_lost lost;   /* overwritten by us */
    bool is_ours;             /* the last line sets our reason: the state after it is ours too */
};

static void take_reason(struct trace *t, const char *reason, const char *owner, const char *restored)
{
    struct slurm_mark mark;
    bool is_put_back = restored && strcmp(reason, restored) == 0 && strcmp(t->lost.reason, restored) == 0;
    t->is_ours = slurm_read_mark(reason, owner, &mark) || strcmp(reason, "Not responding") == 0;
    if (is_put_back)
        t->lost = (struct slurm_lost){.reason = ""};
    if ((is_put_back || t->is_ours) && *t->theirs.reason)
        t->lost = t->theirs;
    t->theirs = (struct slurm_lost){.reason = ""};
    if (!t->is_ours)
        memcpy(t->theirs.reason, reason, strlen(reason) + 1);
}

static void take_state(struct trace *t, const char *state)
{
    bool is_undrain = slurm_log_starts(state, "IDLE") || slurm_log_starts(state, "MIXED") ||
                      slurm_log_starts(state, "ALLOCATED");
    if (is_undrain && !t->is_ours) /* a person took it back, theirs or ours */
        *t = (struct trace){.is_ours = false};
    t->is_ours = false;
    if (slurm_log_starts(state, "FAIL"))
        t->theirs.how = SLURM_LOST_FAIL;
    else if (slurm_log_starts(state, "DOWN"))
        t->theirs.how = SLURM_LOST_DOWN;
}

bool slurm_log_lost(const char *log, const char *node, const char *owner, const char *restored,
                    struct slurm_lost *out)
{
    struct trace t = {.is_ours = false};
    char copy[SLURM_LOST_BYTES];
    if (restored)
        text_line(t.lost.reason, sizeof t.lost.reason, restored);
    for (const char *line = log; *line;) {
        size_t len = strcspn(line, "\n");
        const char *reason = find_words(line, len, node, "reason set to:");
        const char *state = find_words(line, len, node, "state set to");
        const char *words = reason ? reason : state;
        if (words) {
            CLEANUP_FREE char *raw = mem_dup_len(words, len - (size_t)(words - line));
            text_line(copy, sizeof copy, raw);
        }
        if (reason)
            take_reason(&t, copy, owner, restored);
        else if (state)
            take_state(&t, copy);
        line += len + (line[len] == '\n');
    }
    *out = t.lost;
    bool is_known = restored && strcmp(t.lost.reason, restored) == 0;
    bool is_held = *t.theirs.reason && !(restored && strcmp(t.theirs.reason, restored) == 0);
    return *t.lost.reason && !is_known && !is_held;
}
