/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * nfs      "nfs SENT RECEIVED CONNECTS PATH" for each mount, of all its connections together
 * fuse     "fuse CONNECTION WAITING THRESHOLD"
 * lustre   "import NAME STATE"
 *
 * The kernel's own counts: nobody here asks a server anything.
 */

/* --- nfs ------------------------------------------------------------------------------------ */

struct mount {
    struct text *out;
    char path[400];
    bool nfs, any;
    uint64_t sent, received, connects;
};

static void put_mount(struct mount *m)
{
    if (m->nfs)
        fact_add(m->out, "nfs", "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s", m->sent, m->received, m->connects,
                 m->path);
    m->nfs = false;
}

/* "device SERVER:/EXPORT mounted on PATH with fstype nfs4 statvers=1.1" */
static void begin_mount(struct mount *m, const char *line)
{
    static const char on[] = " mounted on ", with[] = " with fstype ";
    put_mount(m);
    const char *path = strstr(line, on), *type = NULL;
    m->any = true;
    for (const char *p = path; p && (p = strstr(p, with)); p++)
        type = p;
    if (!path || !type ||
        (strncmp(type + sizeof with - 1, "nfs ", 4) != 0 && strncmp(type + sizeof with - 1, "nfs4 ", 5) != 0))
        return;
    path += sizeof on - 1;
    snprintf(m->path, sizeof m->path, "%.*s", type > path ? (int)(type - path) : 0, path);
    m->nfs = true;
    m->sent = m->received = m->connects = 0;
}

/* "xprt: tcp PORT BINDS CONNECTS CONNECT-TIME IDLE SENDS RECEIVES ..."; udp lacks the connections. */
static void take_connection(struct mount *m, const char *line)
{
    struct words w;
    uint64_t connects, sent, received;
    words_of(line, &w);
    bool udp = strcmp(w.w[1], "udp") == 0;
    size_t at = udp ? 4 : 7;
    connects = 0;
    if (!word_u64(&w, at, &sent) || !word_u64(&w, at + 1, &received) || (!udp && !word_u64(&w, 4, &connects)))
        return;
    m->sent += sent;
    m->received += received;
    m->connects += connects;
}

static bool on_line(const char *line, void *arg)
{
    struct mount *m = arg;
    const char *word = line + strspn(line, " \t");
    if (strncmp(line, "device ", 7) == 0) {
        begin_mount(m, line);
    } else if (m->nfs && strncmp(word, "xprt:", 5) == 0) {
        char blanks[SYS_LINE_BYTES_MAX];
        snprintf(blanks, sizeof blanks, "%s", word);
        for (char *p = blanks; (p = strchr(p, '\t'));)
            *p = ' ';
        take_connection(m, blanks);
    }
    return true;
}

void gather_NFS(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    struct mount m = {.out = out};
    int r = sys_each_line(root, "proc/1/mountstats", on_line, &m);
    if (r < 0)
        r = sys_each_line(root, "proc/self/mountstats", on_line, &m);
    put_mount(&m);
    if (r < 0 || !m.any)
        fact_add(out, "unknown", "mountstats: %s", strerror(r < 0 ? -r : EINVAL));
    else if (out->len == 0)
        fact_add(out, "unsupported", "no NFS is mounted");
}

/* A client asks a server that does not answer again and again, or connects again: it sends, and nothing
 * comes back. One look may fall between a question and its answer. */
void judge_NFS(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    int64_t limit;
    if (!want_number(l, "Looks", 2, &limit, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t sent, received, connects;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        const char *path = strchr(line.value, '/');
        if (strcmp(line.key, "nfs") != 0 || !path || !word_u64(&w, 0, &sent) || !word_u64(&w, 1, &received) ||
            !word_u64(&w, 2, &connects))
            continue;
        uint64_t asked = look_grown(l, "sent", path, sent) + look_grown(l, "connects", path, connects);
        uint64_t answered = look_grown(l, "received", path, received);
        int64_t looks = in_a_row(l, "silent", path, asked > 0 && answered == 0);
        snprintf(device, sizeof device, "mount %s", path);
        if (looks >= limit)
            verdict_add(v, RESULT_DEGRADED, device, "",
                        "its server was asked %" PRIu64 " times and did not answer, in %" PRId64
                        " looks in a row",
                        asked, looks);
    }
}

/* --- fuse ----------------------------------------------------------------------------------- */

static void add_connection(int dir, const char *name, struct text *out)
{
    uint64_t waiting, threshold;
    if (sys_u64(dir, "waiting", &waiting) == 0 && sys_u64(dir, "congestion_threshold", &threshold) == 0)
        fact_add(out, "fuse", "%s %" PRIu64 " %" PRIu64, name, waiting, threshold);
}

void gather_FUSE(const struct look *l, struct text *out)
{
    static const char path[] = "sys/fs/fuse/connections";
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = each_entry(root, path, add_connection, out);
    if (r < 0)
        fact_cannot(root, out, path, r);
    else if (out->len == 0)
        fact_add(out, "unsupported", "no file system of a program (FUSE) is mounted");
}

void judge_FUSE(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    unsigned most;
    if (!want_percent(l, "Warn", 90, &most, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        uint64_t waiting, threshold;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        if (!word_u64(&w, 1, &waiting) || !word_u64(&w, 2, &threshold) || threshold == 0)
            continue;
        snprintf(device, sizeof device, "fuse %s", w.w[0]);
        if (percent_of(waiting, threshold) > most)
            verdict_add(v, RESULT_WARN, device, "", "%" PRIu64 " requests wait, of a threshold of %" PRIu64,
                        waiting, threshold);
    }
}

/* --- lustre --------------------------------------------------------------------------------- */

/* "scratch-OST0000_UUID FULL" */
static void add_import(int dir, const char *name, struct text *out)
{
    char text[SYS_TEXT_BYTES_MAX];
    struct words w;
    if (sys_text(dir, "ost_server_uuid", text) < 0 && sys_text(dir, "mds_server_uuid", text) < 0)
        return;
    words_of(text, &w);
    if (w.n < 2)
        fact_add(out, "unknown", "the state of %s", name);
    else
        fact_add(out, "import", "%s %s", w.w[0], w.w[1]);
}

void gather_LUSTRE(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int osc = each_entry(root, "proc/fs/lustre/osc", add_import, out);
    int mdc = each_entry(root, "proc/fs/lustre/mdc", add_import, out);
    if (osc < 0 && mdc < 0)
        fact_cannot(root, out, "proc/fs/lustre/osc", osc);
    else if (out->len == 0)
        fact_add(out, "unsupported", "no Lustre is mounted");
}

/* IDLE: the client gave up a connection that was not used. */
void judge_LUSTRE(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    int64_t limit;
    if (!want_number(l, "Looks", 2, &limit, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        if (strcmp(line.key, "import") != 0)
            continue;
        words_of(line.value, &w);
        bool whole = strcmp(w.w[1], "FULL") == 0 || strcmp(w.w[1], "IDLE") == 0;
        snprintf(device, sizeof device, "lustre %s", w.w[0]);
        int64_t looks = in_a_row(l, "not full", device, !whole);
        if (looks >= limit)
            verdict_add(v, RESULT_DEGRADED, device, "",
                        "its state is %s, not FULL, in %" PRId64 " looks in a row", w.w[1], looks);
    }
}
