/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_log.h"

#include "base/text.h"

#include <fcntl.h>
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
    l->fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (l->fd >= 0 && fstat(l->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        l->at = st.st_size;
        return true;
    }
    slurm_log_close(l);
    return false;
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

/* One that was rotated since goes on under its name. */
char *slurm_log_since(const struct slurm_log *l)
{
    struct text t = {0};
    struct stat old, now;
    if (l->fd < 0 || fstat(l->fd, &old) < 0)
        return NULL;
    text_add(&t, "");
    add_file(l->fd, l->at, &t);
    int fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &now) == 0 && S_ISREG(now.st_mode) && now.st_ino != old.st_ino)
        add_file(fd, 0, &t);
    if (fd >= 0)
        close(fd);
    return text_take(&t);
}

/* What stands behind "update_node: node NAME WHAT " in a line of the log; NULL: it is another line. */
static const char *find_words(const char *line, size_t len, const char *node, const char *what)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "update_node: node %s %s ", node, what);
    const char *at = memmem(line, len, key.s, key.len);
    return at ? at + key.len : NULL;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What became of somebody's write, so far. */
struct trace {
    struct slurm_lost theirs; /* reason "": none is there */
    bool is_over;             /* a reason of ours came behind it */
    unsigned undrains;        /* as often the drain was taken back since */
    bool was_restored;        /* their reason that was put back was seen */
};

static void take_reason(struct trace *t, const char *reason, const char *owner, const char *restored)
{
    char claim[SLURM_CLAIM_BYTES];
    bool is_put_back = restored && strcmp(reason, restored) == 0 && t->was_restored;
    t->was_restored |= restored && strcmp(reason, restored) == 0;
    if (is_put_back && strcmp(t->theirs.reason, reason) == 0) {
        t->theirs.reason[0] = '\0';
    } else if (is_put_back || slurm_read_claim(reason, owner, claim) ||
               strcmp(reason, "Not responding") == 0) {
        t->is_over = true;
    } else {
        *t = (struct trace){.was_restored = t->was_restored};
        snprintf(t->theirs.reason, sizeof t->theirs.reason, "%s", reason);
    }
}

static void take_state(struct trace *t, const char *state)
{
    if (!*t->theirs.reason)
        return;
    if (starts(state, "FAIL"))
        t->theirs.is_fail = true;
    else if (starts(state, "IDLE")) /* which takes FAIL away, too */
        t->undrains++;
    else if ((starts(state, "MIXED") || starts(state, "ALLOCATED")) && !t->theirs.is_fail)
        t->undrains++;
}

bool slurm_log_lost(const char *log, const char *node, const char *owner, bool is_undrain,
                    const char *restored, struct slurm_lost *out)
{
    struct trace t = {0};
    for (const char *line = log; *line;) {
        size_t len = strcspn(line, "\n");
        const char *reason = find_words(line, len, node, "reason set to:");
        const char *state = find_words(line, len, node, "state set to");
        const char *words = reason ? reason : state;
        char copy[SLURM_LOST_BYTES] = "";
        if (words)
            snprintf(copy, sizeof copy, "%.*s", (int)(len - (size_t)(words - line)), words);
        if (reason)
            take_reason(&t, copy, owner, restored);
        else if (state)
            take_state(&t, copy);
        line += len + (line[len] == '\n');
    }
    *out = t.theirs;
    if (!*t.theirs.reason || t.undrains > (is_undrain ? 1 : 0))
        return false;
    return t.is_over || t.undrains == 1;
}
