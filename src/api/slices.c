/* SPDX-License-Identifier: Apache-2.0 */
/* A slice ends by the clock: no table of what nodes cost stays true. */
#include "api/slices.h"

#include "base/loop.h"

#include <errno.h>
#include <stdlib.h>

enum { SLICE_MS = 1, NODES_A_STEP = 32, NAMES_A_STEP = 64 };

static void slices_destroy(struct slices *s)
{
    marking_fini(&s->marking);
    if (s->fini)
        s->fini(s);
    hostfolder_destroy(s->folder);
    text_fini(&s->text);
    free(s->members);
    free(s);
}

static void on_gone(void *arg)
{
    slices_destroy(arg);
}

static void refuse(struct slices *s, const struct err *why)
{
    http_answer_err(s->call.request, why);
    slices_destroy(s);
}

static void gather(struct slices *s, const struct cluster *cluster, const struct marking *k)
{
    size_t n = cluster_count(cluster);
    s->members = mem_alloc((n + 1) * sizeof(struct member *));
    for (size_t i = 0; i < n; i++) {
        struct member *m = cluster_at(cluster, i);
        if (!m->gone && (!k || (m->id < k->n && k->wanted[m->id])))
            s->members[s->n++] = m;
    }
}

static int read_some(struct slices *s, struct err *e)
{
    const struct cluster *cluster = s->call.api->cluster;
    if (marking_step(&s->marking, cluster))
        return 1;
    int rc = marking_end(&s->marking, e);
    if (rc == 0)
        gather(s, cluster, &s->marking);
    marking_fini(&s->marking);
    return rc < 0 ? rc : 1;
}

/* 1: there is more to do; 0: that was the last step; negative: the answer is a refusal. */
static int slices_step(struct slices *s, struct err *e)
{
    return s->marking.walk ? read_some(s, e) : s->step(s);
}

static void on_slice(void *arg)
{
    struct slices *s = arg;
    struct err e = {0};
    int rc;
    LOOP_DOES(route_get(s->call.route)->work);
    if (s->of_configuration && s->configured != s->call.api->configured) {
        err_set(&e, -EAGAIN, "the configuration was read anew meanwhile; ask again");
        refuse(s, &e);
        return;
    }
    s->call.now = mono_now();
    s->call.wall = wall_now();
    struct mono until = mono_add(s->call.now, span_ms(SLICE_MS));
    do
        rc = slices_step(s, &e);
    while (rc > 0 && mono_now().ns < until.ns);
    if (rc > 0) {
        http_again(s->call.request, on_slice);
    } else if (rc < 0) {
        refuse(s, &e);
    } else {
        call_answer(s->call.request, &s->text);
        slices_destroy(s);
    }
}

struct slices *slices_keep(const struct slices *s)
{
    struct slices *kept = mem_alloc(sizeof *kept);
    *kept = *s;
    return kept;
}

int call_slices(struct call *c, struct slices *s)
{
    s->call = *c;
    s->configured = c->api->configured;
    s->call.actor = NULL; /* lives no longer than this call */
    http_set_arg(c->request, s, on_gone);
    http_again(c->request, on_slice);
    return CALL_LATER;
}

int slices_gather(struct slices *s, const struct call *c, const char *list, struct err *e)
{
    if (list)
        return marking_begin(&s->marking, c->api->cluster, list, e);
    gather(s, c->api->cluster, NULL);
    return 0;
}

bool slices_walk(struct slices *s, void (*each)(struct slices *s, const struct member *m))
{
    for (int i = 0; i < NODES_A_STEP && s->at < s->n; i++)
        each(s, s->members[s->at++]);
    return s->at < s->n;
}

void pile_add(struct pile *p, const char *name)
{
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 4;
        p->names = mem_grow(p->names, p->cap * sizeof *p->names);
    }
    p->names[p->n++] = name;
}

void pile_fini(struct pile *p)
{
    free(p->names);
    *p = (struct pile){0};
}

struct bin *bins_get(struct bins *b, const struct cohort *k, uint32_t kind)
{
    static const struct fingerprint none;
    const struct bin_key key = {.cohort = k ? k->id : none, .kind = kind};
    struct bin *one;
    HASH_FIND(hh, b->table, &key, sizeof key, one);
    if (one)
        return one;
    one = mem_alloc(sizeof *one);
    one->key = key;
    one->number = k ? k->number : COHORT_NONE;
    b->n++;
    HASH_ADD(hh, b->table, key, sizeof one->key, one);
    return one;
}

void bins_fini(struct bins *b)
{
    struct bin *one, *next;
    HASH_ITER (hh, b->table, one, next) {
        HASH_DEL(b->table, one);
        pile_fini(&one->pile);
        free(one);
    }
    b->n = 0;
}

struct bin **bins_sort(const struct bins *b, int (*by)(const void *, const void *))
{
    struct bin **list = mem_alloc((b->n + 1) * sizeof(struct bin *));
    size_t n = 0;
    for (struct bin *one = b->table; one; one = one->hh.next)
        list[n++] = one;
    if (n > 0)
        qsort(list, n, sizeof(struct bin *), by);
    return list;
}

bool slices_fold(struct slices *s, const struct pile *p)
{
    if (!s->folder)
        s->folder = hostfolder_create();
    for (int i = 0; i < NAMES_A_STEP && s->folded < p->n; i++)
        hostfolder_add(s->folder, p->names[s->folded++]);
    if (s->folded < p->n)
        return false;
    CLEANUP_FREE char *list = hostfolder_end(STEAL(s->folder));
    s->folded = 0;
    text_add_json(&s->text, list);
    return true;
}
