/* SPDX-License-Identifier: Apache-2.0 */
/* Who is the same as whom, what a node was before, and what a person asks of its fingerprint. */
#include "api/call.h"
#include "api/render.h"
#include "api/seen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* --- groups ---------------------------------------------------------------------------------- */

/* A node that is in a cohort: nodes of one cohort stand together, and in it those of one class. */
struct in_group {
    uint32_t cohort; /* number */
    uint32_t id;
    uint16_t class;
};

struct group {
    const struct cohort *cohort;
    uint16_t class;
    size_t from, n; /* of the sorted nodes */
};

/* What the good states of a class come to, counted as the class counts. */
struct goods {
    bool made, has_baseline, has_rollout;
    uint32_t version;
    struct fingerprint baseline, rollout;
};

static int by_cohort(const void *a, const void *b)
{
    const struct in_group *x = a, *y = b;
    if (x->cohort != y->cohort)
        return x->cohort < y->cohort ? -1 : 1;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_size(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    int d = fingerprint_compare(&x->cohort->id, &y->cohort->id);
    return d != 0 ? d : x->class - y->class;
}

/* The nodes of the class (-1: of any) that are in a cohort, sorted. Returns their number. Each is judged
 * first, so that nobody who became stale in the last moment is in one. */
static size_t gather(const struct call *c, int class, struct in_group **out)
{
    const struct cohorts *cohorts = watch_cohorts(c->api->watch);
    size_t n = 0, all = cluster_count(c->api->cluster);
    struct in_group *nodes = mem_alloc((all + 1) * sizeof *nodes);
    for (uint32_t id = 0; id < all; id++) {
        const struct member *m = cluster_by_id(c->api->cluster, id);
        struct standing s;
        if (class >= 0 && m->class != class)
            continue;
        watch_standing(c->api->watch, c->now, m, &s, NULL);
        uint32_t number = cohorts_number_of(cohorts, id);
        if (number != COHORT_NONE)
            nodes[n++] = (struct in_group){number, id, m->class};
    }
    qsort(nodes, n, sizeof *nodes, by_cohort);
    *out = nodes;
    return n;
}

/* Largest first. Returns their number. */
static size_t cut_groups(const struct call *c, const struct in_group *nodes, size_t n, struct group **out)
{
    const struct cohorts *cohorts = watch_cohorts(c->api->watch);
    struct group *groups = NULL;
    size_t count = 0, cap = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from;
             to < n && nodes[to].cohort == nodes[from].cohort && nodes[to].class == nodes[from].class; to++)
            continue;
        if (count == cap) {
            cap = cap ? cap * 2 : 64;
            groups = mem_grow(groups, cap * sizeof *groups);
        }
        groups[count++] = (struct group){cohorts_by_number(cohorts, nodes[from].cohort), nodes[from].class,
                                         from, to - from};
    }
    if (count > 0)
        qsort(groups, count, sizeof *groups, by_size);
    *out = groups;
    return count;
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

static void render_standing(const struct goods *g, const struct cohort *k, struct text *t)
{
    bool baseline = g->has_baseline && fingerprint_equal(&g->baseline, &k->id);
    bool rollout = g->has_rollout && fingerprint_equal(&g->rollout, &k->id);
    text_add(t, ",\"standing\":");
    render_word(t, !g->has_baseline ? "none" : baseline ? "baseline" : rollout ? "rollout" : "other");
    if (baseline)
        text_printf(t, ",\"version\":%" PRIu32, g->version);
    else
        text_add(t, ",\"version\":null");
}

static void render_group(struct call *c, const struct group *g, const struct in_group *nodes,
                         struct goods *goods, struct text *t)
{
    CLEANUP_FREE const char **names = mem_alloc(g->n * sizeof *names);
    for (size_t i = 0; i < g->n; i++)
        names[i] = cluster_by_id(c->api->cluster, nodes[g->from + i].id)->name;
    text_add(t, "{\"class\":");
    text_add_json(t, class_of(c, g->class)->name);
    text_add(t, ",\"cohort\":");
    render_cohort(t, g->cohort);
    text_add(t, ",\"fingerprint\":");
    render_fingerprint(t, &g->cohort->id);
    text_printf(t, ",\"count\":%zu,\"nodes\":", g->n);
    render_fold(t, names, g->n);
    render_standing(goods_of(c, goods, g->class), g->cohort, t);
    text_add_char(t, '}');
}

/* In the order of the node table. */
static void render_alone(struct call *c, int class, struct text *t)
{
    const struct cohorts *cohorts = watch_cohorts(c->api->watch);
    CLEANUP_TEXT struct text why = {0};
    const char *comma = "";
    for (size_t i = 0; i < cluster_count(c->api->cluster); i++) {
        const struct member *m = cluster_at(c->api->cluster, i);
        if ((class >= 0 && m->class != class) || cohorts_number_of(cohorts, m->id) != COHORT_NONE)
            continue;
        struct standing s;
        watch_standing(c->api->watch, c->now, m, &s, &why);
        text_add(t, comma);
        comma = ",";
        text_add(t, "{\"node\":");
        text_add_json(t, m->name);
        text_add(t, ",\"class\":");
        text_add_json(t, class_of(c, m->class)->name);
        text_add(t, ",\"why\":");
        text_add_json(t, why.len ? why.s : "");
        text_add_char(t, '}');
    }
}

int call_conform_groups(struct call *c, struct text *t, struct err *e)
{
    int class;
    int rc = call_query_class(c, &class, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE struct in_group *nodes = NULL;
    CLEANUP_FREE struct group *groups = NULL;
    size_t n = gather(c, class, &nodes);
    n = cut_groups(c, nodes, n, &groups);
    CLEANUP_FREE struct goods *goods = mem_alloc(cluster_classes(c->api->cluster)->n * sizeof *goods);
    text_add(t, "{\"groups\":[");
    for (size_t i = 0; i < n; i++) {
        text_add(t, i ? "," : "");
        render_group(c, &groups[i], nodes, goods, t);
    }
    text_add(t, "],\"alone\":[");
    render_alone(c, class, t);
    text_add(t, "]}");
    return 0;
}

/* --- history --------------------------------------------------------------------------------- */

static void render_seen(const struct seen_entry *s, struct text *t)
{
    text_add(t, "{\"at\":");
    render_time(t, s->at);
    text_add(t, ",\"fingerprint\":");
    text_add_json(t, s->fingerprint);
    text_add(t, ",\"named\":[");
    const char *list = s->named, *name;
    for (size_t len, n = 0; (len = seen_next_name(&list, &name)) > 0; n++) {
        CLEANUP_FREE char *one = mem_dup_len(name, len);
        text_add(t, n ? "," : "");
        text_add_json(t, one);
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
    if (rc == 0)
        rc = c->api->shell.recheck(c->api->shell.arg, &a.nodes, &told, e);
    ask_fini(&a);
    if (rc == 0)
        text_printf(t, "{\"told\":%zu}", told);
    return rc;
}

/* What is agreed alone does not say whether a node is right now: that is looked at here. Of whom nothing
 * says what is right, a person says it. */
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
