/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/contacts.h"

#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVERY_S = 600, SOON_S = 10, LINE_BYTES_MAX = 8 << 20 };

struct contact {
    int64_t at_s;
    const char *name; /* the member's, which lives as long as the cluster */
};

struct contacts {
    uv_loop_t *loop;
    struct cluster *cluster;
    struct watch *watch;
    char *path;
    uv_work_t work;
    bool writing, complained;
    struct mono due, written;
    /* The thread's while it writes: */
    size_t n;
    struct contact *all;
    struct err why;
};

/* SECONDS NODES */
static void take_line(struct contacts *c, char *line)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    uint64_t at_s = 0;
    char *space = strchr(line, ' ');
    line[strcspn(line, "\n")] = '\0';
    if (space)
        *space = '\0';
    if (!space || text_parse_u64(line, 1, INT64_MAX / 1000000000, &at_s, NULL) < 0 ||
        hostlist_parse(space + 1, &nodes, NULL) < 0) {
        log_warn("%s: a line that cannot be read was passed over", c->path);
        return;
    }
    for (size_t i = 0; i < nodes.n; i++) {
        struct member *m = cluster_find(c->cluster, nodes.names[i]);
        if (m)
            watch_remember(c->watch, m, (struct wall){(int64_t)at_s * 1000000000});
    }
}

static void read_all(struct contacts *c)
{
    FILE *f = fopen(c->path, "re");
    CLEANUP_FREE char *line = NULL;
    size_t size = 0;
    if (!f && errno != ENOENT)
        log_warn("%s: %s; when nodes were last heard is not known", c->path, strerror(errno));
    while (f && getline(&line, &size, f) > 0 && size <= LINE_BYTES_MAX)
        take_line(c, line);
    if (f)
        fclose(f);
}

struct contacts *contacts_open(uv_loop_t *loop, const char *dir, struct cluster *cluster, struct watch *w)
{
    struct contacts *c = mem_alloc(sizeof *c);
    struct text path = {0};
    text_printf(&path, "%s/last-heard", dir);
    *c = (struct contacts){.loop = loop, .cluster = cluster, .watch = w, .path = text_take(&path)};
    c->work.data = c;
    c->written = mono_now();
    c->due = mono_add(c->written, span_s(EVERY_S));
    read_all(c);
    return c;
}

static void gather(struct contacts *c)
{
    size_t n = cluster_count(c->cluster);
    c->n = 0;
    c->all = mem_alloc((n + 1) * sizeof *c->all);
    for (uint32_t id = 0; id < n; id++) {
        const struct member *m = cluster_by_id(c->cluster, id);
        int64_t at_s = watch_contact(c->watch, m).ns / 1000000000;
        if (at_s > 0)
            c->all[c->n++] = (struct contact){at_s, m->name};
    }
}

static int compare(const void *a, const void *b)
{
    const struct contact *x = a, *y = b;
    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

static void add_lines(struct contacts *c, struct text *t)
{
    CLEANUP_FREE const char **names = mem_alloc((c->n + 1) * sizeof *names);
    qsort(c->all, c->n, sizeof *c->all, compare);
    for (size_t i = 0, from = 0; i < c->n; i++) {
        names[i - from] = c->all[i].name;
        if (i + 1 < c->n && c->all[i + 1].at_s == c->all[i].at_s)
            continue;
        CLEANUP_FREE char *folded = hostlist_fold(names, i + 1 - from);
        text_printf(t, "%" PRId64 " %s\n", c->all[i].at_s, folded);
        from = i + 1;
    }
}

/* In the thread. As a whole or not at all; nothing is lost that cannot be done without, so it is not synced.
 */
static void write_all(struct contacts *c)
{
    CLEANUP_TEXT struct text t = {0}, new = {0};
    add_lines(c, &t);
    text_printf(&new, "%s.new", c->path);
    c->why = (struct err){0};
    int fd = open(new.s, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n = fd < 0 ? -1 : t.len ? write(fd, t.s, t.len) : 0;
    bool whole = n >= 0 && (size_t)n == t.len;
    int code = n < 0 ? errno : ENOSPC;
    if (fd >= 0)
        close(fd);
    if (whole && rename(new.s, c->path) == 0)
        return;
    err_set(&c->why, -code, "%s: %s", new.s, strerror(whole ? errno : code));
    if (fd >= 0)
        unlink(new.s);
}

static void on_work(uv_work_t *work)
{
    write_all(work->data);
}

static void written(struct contacts *c)
{
    free(STEAL(c->all));
    if (c->why.code && !c->complained)
        log_warn("when nodes were last heard is not kept: %s", c->why.msg);
    c->complained = c->why.code != 0;
    c->writing = false;
}

static void on_written(uv_work_t *work, int status)
{
    written(work->data);
}

void contacts_soon(struct contacts *c, struct mono now)
{
    struct mono soon = mono_add(c->written, span_s(SOON_S));
    if (soon.ns < now.ns)
        soon = now;
    if (soon.ns < c->due.ns)
        c->due = soon;
}

void contacts_turn(struct contacts *c, struct mono now)
{
    if (c->writing || now.ns < c->due.ns)
        return;
    c->writing = true;
    c->written = now;
    c->due = mono_add(now, span_s(EVERY_S));
    gather(c);
    uv_queue_work(c->loop, &c->work, on_work, on_written);
}

void contacts_close(struct contacts *c)
{
    if (!c)
        return;
    while (c->writing)
        uv_run(c->loop, UV_RUN_ONCE);
    gather(c);
    write_all(c);
    written(c);
    free(c->path);
    free(c);
}
