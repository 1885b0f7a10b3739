/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes are the same, what a node was before, and a person's requests about its fingerprint. */
#include "api/call.h"
#include "api/render.h"
#include "api/seen.h"
#include "api/slices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* --- groups ---------------------------------------------------------------------------------- */

/* The good states of a class, counted as the class counts. */
struct goods {
    bool made, has_baseline, has_rollout;
    uint32_t version;
    struct fingerprint baseline, rollout;
};

struct groups {
    struct slices slices;
    int class;         /* -1: any */
    struct bins bins;  /* by class */
    struct bin **list; /* largest first, once all nodes were visited */
    size_t next;       /* index in the list */
    struct goods *goods;
    struct text alone, why;
    size_t told; /* bytes of `alone` that were written */
};

static void groups_fini(struct slices *s)
{
    struct groups *g = (struct groups *)s;
    bins_fini(&g->bins);
    free(g->list);
    free(g->goods);
    text_fini(&g->alone);
    text_fini(&g->why);
}

static int by_size(const void *a, const void *b)
{
    const struct bin *x = *(struct bin *const *)a, *y = *(struct bin *const *)b;
    if (x->pile.n != y->pile.n)
        return x->pile.n > y->pile.n ? -1 : 1;
    int d = fingerprint_compare(&x->key.cohort, &y->key.cohort);
    return d != 0 ? d : (int)x->key.kind - (int)y->key.kind;
}

static const struct node_class *class_of(const struct call *c, uint16_t class)
{
    return &cluster_classes(c->api->cluster)->list[class];
}

static bool good_state(const struct node_class *k, const struct listing *g, struct fingerprint *out)
{
    uint32_t unknown;
    if (!g || !g->known)
        return false;
    *out = class_fingerprint(k, g, &unknown);
    return unknown == 0;
}

static const struct goods *goods_of(const struct call *c, struct goods *all, uint16_t class)
{
    struct goods *g = &all[class];
    const struct node_class *k = class_of(c, class);
    const struct baseline *b = g->made ? NULL : cluster_baseline(c->api->cluster, k->name);
    g->made = true;
    if (!b)
        return g;
    g->version = b->version;
    g->has_baseline = true;
    good_state(k, b->listing, &g->baseline);
    g->has_rollout = b->rollout && good_state(k, b->rollout->to, &g->rollout);
    return g;
}

static void render_standing(const struct goods *g, const struct fingerprint *id, struct text *t)
{
    bool baseline = g->has_baseline && fingerprint_equal(&g->baseline, id);
    bool rollout = g->has_rollout && fingerprint_equal(&g->rollout, id);
    text_add(t, ",\"standing\":");
    render_word(t, !g->has_baseline ? "none" : baseline ? "baseline" : rollout ? "rollout" : "other");
    if (baseline)
        text_printf(t, ",\"version\":%" PRIu32, g->version);
    else
        text_add(t, ",\"version\":null");
}

static void render_alone(struct groups *g, const struct member *m)
{
    struct text *t = &g->alone;
    text_add(t, t->len ? ",{\"node\":" : "{\"node\":");
    text_add_json(t, m->name);
    text_add(t, ",\"class\":");
    text_add_json(t, class_of(&g->slices.call, m->class)->name);
    text_add(t, ",\"why\":");
    text_add_json(t, g->why.len ? g->why.s : "");
    text_add_char(t, '}');
}

/* The node is judged first, so that one that has just become stale is in no cohort. */
static void add_to_groups(struct slices *s, const struct member *m)
{
    struct groups *g = (struct groups *)s;
    const struct watch *w = s->call.api->watch;
    struct standing standing;
    if (g->class >= 0 && m->class != g->class)
        return;
    watch_standing(s->call.api->watch, s->call.now, m, &standing, &g->why);
    const struct cohort *k = cohorts_of(watch_cohorts(w), m->id);
    if (k)
        pile_add(&bins_get(&g->bins, k, m->class)->pile, m->name);
    else
        render_alone(g, m);
}

/* Renders some more of the next group. True when it is complete. */
static bool render_group(struct groups *g)
{
    struct slices *s = &g->slices;
    struct text *t = &s->text;
    const struct bin *b = g->list[g->next];
    if (s->folded == 0) {
        char name[FINGERPRINT_SHORT_BYTES];
        text_add(t, g->next ? ",{\"class\":" : "{\"class\":");
        text_add_json(t, class_of(&s->call, (uint16_t)b->key.kind)->name);
        text_add(t, ",\"cohort\":");
        render_string(t, fingerprint_cohort(&b->key.cohort, name));
        text_add(t, ",\"fingerprint\":");
        render_fingerprint(t, &b->key.cohort);
        text_printf(t, ",\"count\":%zu,\"nodes\":", b->pile.n);
    }
    if (!slices_fold(s, &b->pile))
        return false;
    render_standing(goods_of(&s->call, g->goods, (uint16_t)b->key.kind), &b->key.cohort, t);
    text_add_char(t, '}');
    return true;
}

enum { BYTES_A_STEP = 1 << 16 };

/* Appends the nodes in no group. False when all of it is there. */
static bool append_alone(struct groups *g)
{
    size_t left = g->alone.len - g->told, n = left < BYTES_A_STEP ? left : BYTES_A_STEP;
    if (n == 0)
        return false;
    text_add_bytes(&g->slices.text, g->alone.s + g->told, n);
    g->told += n;
    return true;
}

static bool groups_step(struct slices *s)
{
    struct groups *g = (struct groups *)s;
    if (slices_walk(s, add_to_groups))
        return true;
    if (!g->list)
        g->list = bins_sort(&g->bins, by_size);
    if (g->next < g->bins.n) {
        if (render_group(g))
            g->next++;
        return true;
    }
    if (g->told == 0)
        text_add(&s->text, "],\"alone\":[");
    if (append_alone(g))
        return true;
    text_add(&s->text, "]}");
    return false;
}

int call_conform_groups(struct call *c, struct text *t, struct err *e)
{
    int class;
    int rc = call_query_class(c, &class, e);
    if (rc < 0)
        return rc;
    struct groups *g = mem_alloc(sizeof *g);
    g->slices = (struct slices){.step = groups_step, .fini = groups_fini, .of_configuration = true};
    g->class = class;
    g->goods = mem_alloc(cluster_classes(c->api->cluster)->n * sizeof *g->goods);
    text_add(&g->slices.text, "{\"groups\":[");
    return call_slices(c, &g->slices);
}

/* --- history --------------------------------------------------------------------------------- */

static void render_seen(const struct seen_entry *s, struct text *t)
{
    text_add(t, "{\"at\":");
    render_time(t, s->at);
    text_add(t, ",\"fingerprint\":");
    text_add_json(t, s->fingerprint);
    text_add(t, ",\"named\":[");
    for (size_t i = 0; i < s->named.n; i++) {
        text_add(t, i ? "," : "");
        text_add_json(t, s->named.list[i]);
    }
    text_printf(t, "],\"count\":%" PRIu32 "}", s->count);
}

int call_conform_history(struct call *c, struct text *t, struct err *e)
{
    struct member *m;
    int rc = member_get(c->api->cluster, c->parameter, &m, e);
    if (rc < 0)
        return rc;
    struct seen seen;
    seen_init(&seen, m);
    text_add(t, "{\"node\":");
    text_add_json(t, m->name);
    text_add(t, ",\"history\":[");
    for (size_t i = 0; i < seen.n; i++) {
        text_add(t, i ? "," : "");
        render_seen(&seen.entries[i], t);
    }
    text_add(t, "]}");
    seen_fini(&seen);
    return 0;
}

/* --- asking a node, approving one ------------------------------------------------------------ */

int call_conform_recheck(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE struct member **members = NULL;
    size_t told = 0;
    int rc = call_ask_members(c, &a, &members, e);
    if (rc == 0 && c->dry)
        call_would(c, &a.nodes, "reads its fingerprint anew", t);
    else if (rc == 0)
        rc = c->api->shell.recheck(c->api->shell.arg, &a.nodes, &told, e);
    ask_fini(&a);
    if (rc == 0 && !c->dry)
        text_printf(t, "{\"told\":%zu}", told);
    return rc;
}

/* The agreed state does not say whether a node is right now: that is checked here. For a node without a
 * baseline, a person decides. */
static int check_conformant(struct call *c, struct member *const *members, size_t n, struct err *e)
{
    CLEANUP_TEXT struct text why = {0};
    for (size_t i = 0; i < n; i++) {
        struct standing s;
        if (cluster_is_unjudged(c->api->cluster, members[i]))
            continue;
        watch_standing(c->api->watch, c->now, members[i], &s, &why);
        if (s.conformance != CONFORMANCE_CONFORMANT)
            return err_set(e, -EBUSY, "node \"%s\" is not verified to be right: %s", members[i]->name,
                           why.len ? why.s : conformance_name(s.conformance));
    }
    return 0;
}

int call_conform_approve(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE struct member **members = NULL;
    int rc = call_ask_members(c, &a, &members, e);
    if (rc == 0)
        rc = check_conformant(c, members, a.nodes.n, e);
    if (rc == 0) {
        struct command cmd = {.kind = COMMAND_APPROVE, .reason = a.reason};
        rc = call_submit(c, &a.nodes, &cmd, NULL);
    }
    ask_fini(&a);
    return rc;
}
