/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of members and the roster. Members are never freed before the cluster: their number is
 * bounded by the names that the authority has signed, and everything observed hangs on their id.
 */
#include "cluster/cluster.h"
#include "cluster/decide/decide.h"
#include "cluster/record/record.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cluster *cluster_create(void)
{
    struct cluster *c = mem_alloc(sizeof *c);
    c->partition_max = 31;
    c->order_stale = mem_alloc(sizeof *c->order_stale);
    c->listings = listings_create();
    c->revisions = revisions_create();
    classes_finish(&c->classes);
    c->index = class_index_create(&c->classes);
    totals_count(c);
    return c;
}

static void member_free(struct cluster *c, struct member_slot *s)
{
    member_forget_conform(c, &s->m);
    member_forget_flaps(c, &s->m);
    member_forget_health(c, &s->m);
    member_forget_machine(c, &s->m);
    member_forget_bmc(c, &s->m);
    member_forget_trial(c, &s->m);
    spec_fini(&s->m.spec);
    if (s->m.rostered) {
        spec_fini(s->m.rostered);
        free(s->m.rostered);
    }
    free(s->m.name);
    free(s->m.edit);
    free(s->m.claims);
    free(s->m.wiped);
    free(s);
}

static void partitions_free(struct partition *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(p[i].name);
    free(p);
}

static void tenants_free(struct tenant *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(t[i].name);
    free(t);
}

void cluster_destroy(struct cluster *c)
{
    if (!c)
        return;
    cluster_forget_records(c);
    struct member_slot *s, *next;
    HASH_ITER (hh, c->members, s, next) {
        HASH_DEL(c->members, s);
        member_free(c, s);
    }
    partitions_free(c->partitions, c->n_partitions);
    tenants_free(c->tenants, c->n_tenants);
    listings_destroy(c->listings);
    class_index_destroy(c->index);
    classes_fini(&c->classes);
    totals_free(&c->totals);
    revisions_destroy(c->revisions);
    free(c->out);
    free(c->by_id);
    free(c->marks);
    free(c->order);
    free(c->order_stale);
    free(c);
}

void roster_fini(struct roster *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->nodes[i].name);
        spec_fini(&r->nodes[i].spec);
    }
    free(r->nodes);
    partitions_free(r->partitions, r->n_partitions);
    tenants_free(r->tenants, r->n_tenants);
    classes_fini(&r->classes);
    *r = (struct roster){0};
}

/* --- the roster ------------------------------------------------------------------------------ */

/* Nodes grouped by the sentence that says what changed for them. */
struct change {
    char *sentence;
    struct hostlist nodes;
    UT_hash_handle hh;
};

static void note_change(struct change **changes, const char *node, const char *sentence)
{
    struct change *g;
    HASH_FIND_STR(*changes, sentence, g);
    if (!g) {
        g = mem_alloc(sizeof *g);
        g->sentence = mem_dup(sentence);
        HASH_ADD_KEYPTR(hh, *changes, g->sentence, strlen(g->sentence), g);
    }
    hostlist_add(&g->nodes, node);
}

static void say_changes(struct change *changes, struct text *out)
{
    struct change *g, *next;
    HASH_ITER (hh, changes, g, next) {
        if (out) {
            CLEANUP_FREE char *folded = hostlist_fold((const char *const *)g->nodes.names, g->nodes.n);
            text_printf(out, "node %s %s\n", folded, g->sentence);
        }
        HASH_DEL(changes, g);
        hostlist_fini(&g->nodes);
        free(g->sentence);
        free(g);
    }
}

static void describe_difference(const struct spec *was, const struct spec *is, struct text *t)
{
    for (int f = 0; f < FIELDS; f++) {
        if (!field_get((enum field)f)->settable)
            continue;
        CLEANUP_TEXT struct text a = {0}, b = {0};
        spec_format(was, (enum field)f, &a);
        spec_format(is, (enum field)f, &b);
        text_add(&a, "");
        text_add(&b, "");
        if (strcmp(a.s, b.s) != 0)
            text_printf(t, "%s%s \"%s\" -> \"%s\"", t->len ? ", " : "", field_get((enum field)f)->name, a.s,
                        b.s);
    }
}

/* m: NULL when this cluster does not know the node. */
static void compare_node(const struct member *m, const struct roster_node *r, struct change **changes)
{
    const struct spec *was = m && m->rostered ? m->rostered : m ? &m->spec : NULL;
    if (!m || !m->listed)
        note_change(changes, r->name, "added");
    else if (!spec_equal(was, &r->spec)) {
        CLEANUP_TEXT struct text t = {0};
        describe_difference(was, &r->spec, &t);
        note_change(changes, r->name, t.len ? t.s : "changed");
    }
}

static void take_node(struct cluster *c, const struct roster_node *r, struct change **changes)
{
    struct member *m = cluster_meet(c, r->name);
    compare_node(m, r, changes);
    member_set_spec(c, m, &r->spec);
}

static void compare_class(const char *node, const char *was, const char *is, struct change **changes)
{
    CLEANUP_TEXT struct text t = {0};
    if (strcmp(was, is) == 0)
        return;
    text_printf(&t, "class \"%s\" -> \"%s\"", was, is);
    note_change(changes, node, t.s);
}

/* The classes of the roster in the place of those before, which the caller owns from now on. */
static struct classes take_classes(struct cluster *c, struct roster *r)
{
    struct classes before = c->classes;
    class_index_destroy(c->index);
    c->classes = r->classes;
    r->classes = (struct classes){0};
    classes_finish(&c->classes);
    c->index = class_index_create(&c->classes);
    return before;
}

/* The first n members had a class of `before`. */
static void classify_all(struct cluster *c, const struct classes *before, size_t n, struct change **changes)
{
    for (uint32_t id = 0; id < c->n; id++) {
        struct member *m = c->by_id[id];
        const char *was = id < n ? before->list[m->class].name : NULL;
        member_classify(c, m);
        const char *is = member_class(c, m)->name;
        if (was && m->listed)
            compare_class(m->name, was, is, changes);
    }
}

void cluster_configure(struct cluster *c, struct roster *r, struct text *changes)
{
    assert(c && r);
    struct change *groups = NULL;
    size_t n_before = c->n;
    struct classes classes_before = take_classes(c, r);
    c->tells_drift = r->tells_drift;
    partitions_free(c->partitions, c->n_partitions);
    c->partitions = STEAL(r->partitions);
    c->n_partitions = r->n_partitions;
    r->n_partitions = 0;
    c->partition_max = r->partition_max;
    tenants_free(c->tenants, c->n_tenants);
    c->tenants = STEAL(r->tenants);
    c->n_tenants = r->n_tenants;
    r->n_tenants = 0;
    c->sensitive_pool = r->sensitive_pool;
    c->wipes = r->wipes;

    for (size_t i = 0; i < r->n; i++)
        take_node(c, &r->nodes[i], &groups);
    CLEANUP_FREE bool *kept = mem_alloc(c->n);
    for (size_t i = 0; i < r->n; i++)
        kept[cluster_find(c, r->nodes[i].name)->id] = true;

    struct spec nothing;
    spec_init(&nothing);
    size_t at = r->n;
    for (uint32_t id = 0; id < c->n; id++) {
        struct member *m = c->by_id[id];
        if (kept[id])
            continue;
        if (m->listed) {
            note_change(&groups, m->name, "removed");
            member_set_spec(c, m, &nothing);
        }
        m->listed = false;
        c->order[at++] = m;
    }
    spec_fini(&nothing);
    for (size_t i = 0; i < r->n; i++) {
        c->order[i] = cluster_find(c, r->nodes[i].name);
        c->order[i]->listed = true;
        c->order[i]->place = i;
    }
    c->n_listed = r->n;
    *c->order_stale = true;
    classify_all(c, &classes_before, n_before, &groups);
    classes_fini(&classes_before);
    totals_count(c);
    say_changes(groups, changes);
    roster_fini(r);
}

/* The class that a member would have by the roster, its edit laid over what the roster says. */
static const char *class_by(const struct roster *r, const struct class_index *index, const struct member *m,
                            const struct spec *rostered)
{
    struct spec spec;
    spec_init(&spec);
    spec_copy(&spec, rostered);
    if (m->edit)
        edit_apply(&spec, m->edit, r->partition_max, NULL);
    uint16_t class = classes_match(&r->classes, index, m->name, &spec);
    spec_fini(&spec);
    return r->classes.list[class].name;
}

void cluster_compare(const struct cluster *c, struct roster *r, struct text *changes)
{
    struct change *groups = NULL, *classes = NULL;
    CLEANUP_FREE bool *kept = mem_alloc(c->n + 1);
    classes_finish(&r->classes);
    struct class_index *index = class_index_create(&r->classes);
    for (size_t i = 0; i < r->n; i++) {
        const struct member *m = cluster_find(c, r->nodes[i].name);
        compare_node(m, &r->nodes[i], &groups);
        if (m)
            kept[m->id] = true;
        if (m && m->listed)
            compare_class(m->name, member_class(c, m)->name, class_by(r, index, m, &r->nodes[i].spec),
                          &classes);
    }
    for (uint32_t id = 0; id < c->n; id++)
        if (c->by_id[id]->listed && !kept[id])
            note_change(&groups, c->by_id[id]->name, "removed");
    class_index_destroy(index);
    say_changes(groups, changes);
    say_changes(classes, changes);
}

/* --- records and commands --------------------------------------------------------------------- */

int cluster_put(struct cluster *c, const char *key, const char *value, struct err *e)
{
    return record_put(c, key, value, e);
}

int cluster_decide(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e)
{
    assert(c && cmd && d);
    return decide_command(c, cmd, from, d, e);
}

void cluster_remember(const struct cluster *c, uint64_t revision, const struct request_note *notes, size_t n,
                      size_t ops_max, struct decision *d)
{
    assert(c && notes && n > 0 && ops_max > 0 && d);
    decide_remember(c, revision, notes, n, ops_max, d);
}

/* --- the configuration's revision -------------------------------------------------------------- */

const struct revision *cluster_revision(const struct cluster *c)
{
    return revisions_head(c->revisions);
}

uint64_t cluster_revision_sum(const struct cluster *c)
{
    return revisions_sum(c->revisions);
}

int cluster_revision_text(const struct cluster *c, const char *part, struct text *out, struct err *e)
{
    return revisions_text(c->revisions, part, out, e);
}

/* --- digest ---------------------------------------------------------------------------------- */

uint64_t cluster_digest(const struct cluster *c)
{
    uint64_t sum = c->sum + revisions_sum(c->revisions);
    struct claim_slot *s, *next_claim;
    HASH_ITER (hh, c->claims, s, next_claim) {
        CLEANUP_FREE char *record = claim_record(&s->c, NULL, NULL, false);
        sum += record_sum(s->c.id, record);
    }
    struct token *t, *next_token;
    HASH_ITER (hh, c->tokens, t, next_token)
        sum += record_sum(t->hash, t->value);
    return sum;
}
