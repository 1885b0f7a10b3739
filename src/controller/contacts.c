/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/contacts.h"

#include "base/log.h"
#include "base/loop.h"
#include "base/text.h"

#include <assert.h>
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

struct inventory {
    const char *name;
    char *json;
};

struct contacts {
    uv_loop_t *loop;
    struct cluster *cluster;
    struct watch *watch;
    char *path, *inventory_path;
    uv_work_t work;
    bool writing, complained;
    struct mono due, written;
    /* The thread's while it writes: */
    size_t n;
    struct contact *all;
    size_t n_inventories;
    struct inventory *inventories;
    struct err why;
};

/* NODE JSON */
static void take_inventory(struct contacts *c, char *line)
{
    char *space = strchr(line, ' ');
    CLEANUP_JSON json_t *inventory = space ? json_read(space + 1, strlen(space + 1), NULL) : NULL;
    if (!json_is_object(inventory)) {
        log_warn("%s: a line that cannot be read was passed over", c->inventory_path);
        return;
    }
    *space = '\0';
    struct member *m = cluster_find(c->cluster, line);
    if (m)
        watch_remember_report(c->watch, m, inventory);
}

/* SECONDS NODES */
static void take_contact(struct contacts *c, char *line)
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

static void read_lines(struct contacts *c, const char *path, void (*take)(struct contacts *c, char *line))
{
    FILE *f = fopen(path, "re");
    CLEANUP_FREE char *line = NULL;
    size_t size = 0;
    if (!f && errno != ENOENT)
        log_warn("%s: %s; the earlier state of nodes is not known", path, strerror(errno));
    while (f && getline(&line, &size, f) > 0 && size <= LINE_BYTES_MAX)
        take(c, line);
    if (f)
        fclose(f);
}

struct contacts *contacts_open(uv_loop_t *loop, const char *dir, struct cluster *cluster, struct watch *w)
{
    assert(loop && dir && cluster && w);
    struct contacts *c = mem_alloc(sizeof *c);
    struct text path = {0}, inventory_path = {0};
    text_printf(&path, "%s/last-heard", dir);
    text_printf(&inventory_path, "%s/last-known", dir);
    *c = (struct contacts){.loop = loop,
                           .cluster = cluster,
                           .watch = w,
                           .path = text_take(&path),
                           .inventory_path = text_take(&inventory_path)};
    c->work.data = c;
    c->written = mono_now();
    c->due = mono_add(c->written, span_s(EVERY_S));
    read_lines(c, c->path, take_contact);
    read_lines(c, c->inventory_path, take_inventory);
    return c;
}

/* A node that is heard will report again to the next controller. */
static void gather_inventory(struct contacts *c, const struct member *m, bool live_too)
{
    const char *json = watch_report(c->watch, m)->json;
    if (json && (live_too || watch_observed(c->watch, m)->beat.liveness != LIVENESS_LIVE))
        c->inventories[c->n_inventories++] = (struct inventory){m->name, mem_dup(json)};
}

static void contacts_gather(struct contacts *c, bool live_too)
{
    size_t n = cluster_count(c->cluster);
    assert(!c->all && !c->inventories && "the thread has ended");
    c->n = c->n_inventories = 0;
    c->all = mem_alloc((n + 1) * sizeof *c->all);
    c->inventories = mem_alloc((n + 1) * sizeof *c->inventories);
    for (uint32_t id = 0; id < n; id++) {
        const struct member *m = cluster_by_id(c->cluster, id);
        if (m->gone)
            continue;
        int64_t at_s = watch_contact(c->watch, m).ns / 1000000000;
        if (at_s > 0)
            c->all[c->n++] = (struct contact){at_s, m->name};
        gather_inventory(c, m, live_too);
    }
}

static int contacts_compare(const void *a, const void *b)
{
    const struct contact *x = a, *y = b;
    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

static void add_lines(struct contacts *c, struct text *t)
{
    CLEANUP_FREE const char **names = mem_alloc((c->n + 1) * sizeof *names);
    qsort(c->all, c->n, sizeof *c->all, contacts_compare);
    for (size_t i = 0, from = 0; i < c->n; i++) {
        names[i - from] = c->all[i].name;
        if (i + 1 < c->n && c->all[i + 1].at_s == c->all[i].at_s)
            continue;
        CLEANUP_FREE char *folded = hostlist_fold(names, i + 1 - from);
        text_printf(t, "%" PRId64 " %s\n", c->all[i].at_s, folded);
        from = i + 1;
    }
}

/* As a whole or not at all; nothing is lost that cannot be done without, so it is not synced. */
static void write_file(struct contacts *c, const char *path, const struct text *t)
{
    CLEANUP_TEXT struct text new = {0};
    text_printf(&new, "%s.new", path);
    int fd = open(new.s, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t done = 0;
    int code = fd < 0 ? errno : 0;
    while (!code && done < t->len) {
        ssize_t n = write(fd, t->s + done, t->len - done);
        code = n < 0 ? errno : n == 0 ? ENOSPC : 0;
        done += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    if (!code && rename(new.s, path))
        code = errno;
    if (!code)
        return;
    err_set(&c->why, -code, "%s: %s", new.s, strerror(code));
    if (fd >= 0)
        unlink(new.s);
}

/* In the thread. */
static void write_all(struct contacts *c)
{
    CLEANUP_TEXT struct text contacts = {0}, inventories = {0};
    c->why = (struct err){0};
    add_lines(c, &contacts);
    for (size_t i = 0; i < c->n_inventories; i++)
        text_printf(&inventories, "%s %s\n", c->inventories[i].name, c->inventories[i].json);
    write_file(c, c->path, &contacts);
    write_file(c, c->inventory_path, &inventories);
}

static void on_work(uv_work_t *work)
{
    write_all(work->data);
}

static void contacts_written(struct contacts *c)
{
    for (size_t i = 0; i < c->n_inventories; i++)
        free(c->inventories[i].json);
    free(STEAL(c->inventories));
    free(STEAL(c->all));
    c->n_inventories = 0;
    if (c->why.code && !c->complained)
        log_warn("the state of nodes is not kept: %s", c->why.msg);
    c->complained = c->why.code != 0;
    c->writing = false;
}

static void on_written(uv_work_t *work, int status)
{
    contacts_written(work->data);
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
    LOOP_DOES("contacts");
    if (c->writing || now.ns < c->due.ns)
        return;
    c->writing = true;
    c->written = now;
    c->due = mono_add(now, span_s(EVERY_S));
    contacts_gather(c, false);
    uv_queue_work(c->loop, &c->work, on_work, on_written);
}

void contacts_close(struct contacts *c)
{
    if (!c)
        return;
    while (c->writing)
        uv_run(c->loop, UV_RUN_ONCE);
    contacts_gather(c, true);
    write_all(c);
    contacts_written(c);
    free(c->path);
    free(c->inventory_path);
    free(c);
}
