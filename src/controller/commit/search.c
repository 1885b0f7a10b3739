/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop has few threads, and commits need one. So one search runs at a time, and the others wait. The
 * store's lock is held only for the cheap part of each entry, the comparison of words and times. Host lists
 * are parsed when the lock is released.
 */
#include "controller/commit/search.h"

#include "base/table.h"
#include "controller/commit/committer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { SLICE_ENTRIES = 500, SEARCH_MS = 250, BYTES_MAX = 1 << 20, WAITING_MAX = 64 };

/* The wall clock may have been set back, so a search goes on for this long beyond its end. */
static const int64_t slack_ns = INT64_C(3600) * 1000000000;

struct name {
    char *name;
    UT_hash_handle hh;
};

struct search {
    struct journal_ask ask; /* its strings are the copies below */
    struct {
        char *nodes, *what, *by, *about;
    } own;
    struct name *names;
    uint64_t before;
    struct journal_found found;
    size_t cap, bytes;
    size_t slice; /* entries from this index on are of this slice, and their nodes were not compared yet */
    struct {
        uint64_t revision;
        uint64_t entries; /* of it, so far: they come from the last to the first */
        size_t from;      /* the index of the first that was found */
    } part;
    bool any, over; /* this slice had entries; entries before it cannot match */
    struct err why;
    journal_found_fn *fn;
    void *arg;
    struct search *prev, *next;
};

struct searches {
    uv_loop_t *loop;
    struct committer *committer;
    uv_work_t work;
    struct search *running, *waiting;
    size_t n_waiting;
};

/* --- one search ------------------------------------------------------------------------------ */

static void entry_fini(struct journal_entry *e)
{
    free(e->actor);
    free(e->what);
    free(e->nodes);
    free(e->text);
    free(e->about);
    free(e->fields);
}

static void search_destroy(struct search *s)
{
    for (size_t i = 0; i < s->found.n; i++)
        entry_fini(&s->found.entries[i]);
    free(s->found.entries);
    free(s->own.nodes);
    free(s->own.what);
    free(s->own.by);
    free(s->own.about);
    free(s);
}

static struct search *search_create(const struct journal_ask *ask, journal_found_fn *fn, void *arg)
{
    struct search *s = mem_alloc(sizeof *s);
    s->ask = *ask;
    s->ask.what = s->own.what = mem_dup(ask->what);
    s->ask.by = s->own.by = mem_dup(ask->by);
    s->ask.about = s->own.about = mem_dup(ask->about);
    s->ask.nodes = s->own.nodes = mem_dup(ask->nodes);
    s->before = ask->before;
    s->fn = fn;
    s->arg = arg;
    return s;
}

/* Reads the names that are asked for. They exist only while the thread searches, because a list may have very
 * many. */
static int read_names(struct search *s)
{
    CLEANUP_HOSTLIST struct hostlist list = {0};
    if (!s->ask.nodes)
        return 0;
    int rc = hostlist_parse_max(s->ask.nodes, s->ask.nodes_max, &list, &s->why);
    for (size_t i = 0; i < list.n; i++) {
        struct name *n = mem_alloc(sizeof *n);
        n->name = mem_dup(list.names[i]);
        HASH_ADD_KEYPTR(hh, s->names, n->name, strlen(n->name), n);
    }
    return rc;
}

static void free_names(struct search *s)
{
    struct name *n, *next;
    HASH_ITER (hh, s->names, n, next) {
        HASH_DEL(s->names, n);
        free(n->name);
        free(n);
    }
}

/* "node" means node.drain, too. */
static bool what_means(const char *asked, const char *what)
{
    size_t len = strlen(asked);
    return strncmp(asked, what, len) == 0 && (what[len] == '\0' || what[len] == '.');
}

static bool search_matches(const struct journal_ask *a, const struct store_entry *e)
{
    return e->at.ns >= a->since.ns && e->at.ns <= a->until.ns && (!a->what || what_means(a->what, e->what)) &&
           (!a->by || strcmp(a->by, e->actor) == 0) &&
           (!a->about || (e->about && text_has_word(e->about, ' ', a->about)));
}

/* A slice has whole revisions, so at the end of one its entries are counted. */
static void part_end(struct search *s)
{
    for (size_t i = s->part.from; i < s->found.n; i++)
        s->found.entries[i].n = s->part.entries - 1 - s->found.entries[i].n;
    s->part.from = s->found.n;
    s->part.entries = 0;
}

/* How many entries of its revision come behind this one. */
static uint64_t part_count(struct search *s, uint64_t revision)
{
    if (revision != s->part.revision)
        part_end(s);
    s->part.revision = revision;
    return s->part.entries++;
}

static int take_entry(void *arg, uint64_t revision, const struct store_entry *e, struct err *err)
{
    struct search *s = arg;
    const struct journal_ask *a = &s->ask;
    s->any = true;
    s->before = revision;
    uint64_t behind = part_count(s, revision);
    if (revision <= a->after || e->at.ns < a->since.ns - slack_ns) {
        s->over = true;
        return 0;
    }
    if (!search_matches(a, e))
        return 0;
    if (s->found.n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->found.entries = mem_grow(s->found.entries, s->cap * sizeof *s->found.entries);
    }
    s->found.entries[s->found.n++] = (struct journal_entry){e->at,
                                                            revision,
                                                            behind,
                                                            mem_dup(e->actor),
                                                            mem_dup(e->what),
                                                            mem_dup(e->nodes),
                                                            mem_dup(e->text),
                                                            mem_dup(e->about),
                                                            mem_dup(e->fields)};
    return 0;
}

static bool names_node(const struct search *s, const char *nodes)
{
    struct name *found = NULL;
    if (!strpbrk(nodes, "[,")) {
        HASH_FIND_STR(s->names, nodes, found);
        return found;
    }
    CLEANUP_HOSTLIST struct hostlist list = {0};
    hostlist_parse(nodes, &list, NULL);
    for (size_t i = 0; i < list.n && !found; i++)
        HASH_FIND_STR(s->names, list.names[i], found);
    return found;
}

/* Keeps the entries that name one of the nodes that were asked for, if any were. */
static void search_sift(struct search *s)
{
    struct journal_found *f = &s->found;
    size_t n = s->slice;
    for (size_t i = s->slice; i < f->n; i++) {
        struct journal_entry *e = &f->entries[i];
        if (s->names && !names_node(s, e->nodes)) {
            entry_fini(e);
            continue;
        }
        s->bytes += strlen(e->text) + strlen(e->nodes) + 128;
        f->entries[n++] = *e;
    }
    f->n = s->slice = n;
}

/* Cuts the entries to the number that was asked for. Only whole revisions are returned, because the next
 * search goes on between two revisions. */
static void search_cut(struct search *s)
{
    struct journal_found *f = &s->found;
    size_t n = s->ask.most;
    while (n < f->n && f->entries[n].revision == f->entries[n - 1].revision)
        n++;
    if (n >= f->n)
        return;
    for (size_t i = n; i < f->n; i++)
        entry_fini(&f->entries[i]);
    f->n = n;
    f->before = f->entries[n - 1].revision;
    f->ended = false;
}

static void search_slices(struct searches *all, struct search *s)
{
    struct mono end = mono_add(mono_now(), span_ms(SEARCH_MS));
    do {
        s->any = false;
        if (committer_journal_back(all->committer, s->before, SLICE_ENTRIES, take_entry, s, &s->why) < 0)
            return;
        part_end(s);
        search_sift(s);
        s->part.from = s->found.n;
    } while (s->any && !s->over && s->found.n < s->ask.most && s->bytes < BYTES_MAX &&
             mono_now().ns < end.ns);
    s->found.before = s->any && !s->over ? s->before : 0;
    s->found.ended = !s->any;
    search_cut(s);
}

static void search_run(uv_work_t *work)
{
    struct searches *all = work->data;
    if (read_names(all->running) == 0)
        search_slices(all, all->running);
    free_names(all->running);
}

/* --- one after the other --------------------------------------------------------------------- */

static void run_next(struct searches *all);

static void search_answer(struct search *s, const struct err *why)
{
    s->fn(s->arg, why ? NULL : &s->found, why);
    search_destroy(s);
}

static void on_searched(uv_work_t *work, int status)
{
    struct searches *all = work->data;
    struct search *s = STEAL(all->running);
    search_answer(s, s->why.code ? &s->why : NULL);
    run_next(all);
}

static void run_next(struct searches *all)
{
    if (all->running || !all->waiting)
        return;
    all->running = all->waiting;
    DL_DELETE(all->waiting, all->running);
    all->n_waiting--;
    uv_queue_work(all->loop, &all->work, search_run, on_searched);
}

struct searches *searches_create(uv_loop_t *loop, struct committer *k)
{
    struct searches *all = mem_alloc(sizeof *all);
    all->loop = loop;
    all->committer = k;
    all->work.data = all;
    return all;
}

void searches_destroy(struct searches *all)
{
    struct search *s, *next;
    struct err why;
    if (!all)
        return;
    err_set(&why, -EAGAIN, "the controller is stopping");
    DL_FOREACH_SAFE(all->waiting, s, next)
    {
        DL_DELETE(all->waiting, s);
        search_answer(s, &why);
    }
    while (all->running)
        uv_run(all->loop, UV_RUN_ONCE);
    free(all);
}

void searches_begin(struct searches *all, const struct journal_ask *ask, journal_found_fn *fn, void *arg)
{
    struct err why;
    struct search *s = search_create(ask, fn, arg);
    if (all->n_waiting >= WAITING_MAX) {
        err_set(&why, -EAGAIN, "%d searches of the journal are waiting; ask again", WAITING_MAX);
        search_answer(s, &why);
        return;
    }
    DL_APPEND(all->waiting, s);
    all->n_waiting++;
    run_next(all);
}
