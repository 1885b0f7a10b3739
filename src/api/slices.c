/* SPDX-License-Identifier: Apache-2.0 */
/* A slice ends by the clock: no table of the cost of nodes would stay true. */
#include "api/slices.h"

#include "base/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { SLICE_MS = 1, NODES_A_STEP = 32, NAMES_A_STEP = 64, PIECE_BYTES = 128 << 10 };

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

static void slices_refuse(struct slices *s)
{
    http_answer_err(s->call.request, &s->why);
    slices_destroy(s);
}

/* Takes the whole table. Visiting 100,000 nodes takes milliseconds; each step decides whether its node is
 * meant. */
static void slices_gather(struct slices *s)
{
    const struct cluster *cluster = s->call.api->cluster;
    s->n = cluster_count(cluster);
    s->members = mem_alloc((s->n + 1) * sizeof(struct member *));
    for (size_t i = 0; i < s->n; i++)
        s->members[i] = cluster_at(cluster, i);
}

static bool is_meant(const struct slices *s, const struct member *m)
{
    const struct marking *k = &s->marking;
    return !m->gone && (!k->wanted || (m->id < k->n && k->wanted[m->id]));
}

static int read_some(struct slices *s)
{
    if (marking_step(&s->marking, s->call.api->cluster))
        return 1;
    hostwalk_destroy(STEAL(s->marking.walk));
    return marking_end(&s->marking, &s->why) < 0 ? -1 : 1;
}

/* 1: there is more to do; 0: that was the last step; negative: the error that is the answer. */
static int slices_step(struct slices *s)
{
    if (s->marking.walk)
        return read_some(s);
    bool more = s->step(s);
    return s->why.code ? -1 : more;
}

/* Gives the text away when it is long enough, except its last byte, which steps look at. */
static void give_piece(struct slices *s)
{
    if (s->text.len <= PIECE_BYTES)
        return;
    size_t len = s->text.len - 1;
    char last = s->text.s[len], *bytes = text_take(&s->text);
    text_add_char(&s->text, last);
    http_answer_add(s->call.request, bytes, len);
}

static void on_slice(void *arg)
{
    struct slices *s = arg;
    int rc;
    LOOP_DOES(route_get(s->call.route)->work);
    if (s->of_configuration && s->configured != s->call.api->configured) {
        err_set(&s->why, -EAGAIN, "the configuration was read anew meanwhile; ask again");
        slices_refuse(s);
        return;
    }
    s->call.now = mono_now();
    s->call.wall = wall_now();
    struct mono until = loop_share_at(span_ms(SLICE_MS), s->call.now);
    do {
        rc = slices_step(s);
        give_piece(s);
    } while (rc > 0 && mono_now().ns < until.ns);
    if (rc > 0) {
        http_again(s->call.request, on_slice);
    } else if (rc < 0) {
        slices_refuse(s);
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
    assert(s->step && !s->members && !s->folder && "it has not begun");
    s->call = *c;
    s->configured = c->api->configured;
    s->call.actor = NULL; /* these two do not outlive this call */
    s->call.caller = NULL;
    http_set_arg(c->request, s, on_gone);
    http_again(c->request, on_slice);
    return CALL_LATER;
}

int slices_choose(struct slices *s, const struct call *c, const char *list, struct err *e)
{
    return list ? marking_begin(&s->marking, c->api->cluster, list, e) : 0;
}

bool slices_walk(struct slices *s, void (*each)(struct slices *s, const struct member *m))
{
    if (!s->members)
        slices_gather(s);
    for (int i = 0; i < NODES_A_STEP && s->at < s->n; i++, s->at++)
        if (is_meant(s, s->members[s->at]))
            each(s, s->members[s->at]);
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
    assert(s->folded <= p->n && "a pile does not shrink while it is folded");
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
