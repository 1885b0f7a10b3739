/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of members and the roster. Members are never freed before the cluster: their number is
 * bounded by the names that the authority has signed, and everything observed hangs on their id.
 */
#include "cluster/record_inside.h"

#include "base/digest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const claim_kind_names[CLAIM_KINDS] = {
#define CLAIM(symbol, name, who, what, todo) [CLAIM_##symbol] = name,
#include "cluster/claim.tbl"
#undef CLAIM
};

const char *claim_kind_name(enum claim_kind k)
{
    return claim_kind_names[k];
}

struct cluster *cluster_create(void)
{
    struct cluster *c = mem_alloc(sizeof *c);
    c->partition_max = 31;
    c->listings = listings_create();
    classes_finish(&c->classes);
    c->index = class_index_create(&c->classes);
    totals_count(c);
    return c;
}

static void member_free(struct cluster *c, struct member_slot *s)
{
    member_forget_conform(c, &s->m);
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
    free(s);
}

static void partitions_free(struct partition *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(p[i].name);
    free(p);
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
    listings_destroy(c->listings);
    class_index_destroy(c->index);
    classes_fini(&c->classes);
    totals_free(&c->totals);
    free(c->out);
    free(c->by_id);
    free(c->order);
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
    classes_fini(&r->classes);
    *r = (struct roster){0};
}

struct member *cluster_find(const struct cluster *c, const char *name)
{
    struct member_slot *s;
    HASH_FIND_STR(c->members, name, s);
    return s ? &s->m : NULL;
}

/* A look-up in the table costs several misses of the cache; the member behind the one before is near. */
struct member *cluster_find_next(const struct cluster *c, size_t *place, const char *name)
{
    struct member *m = *place < c->n_listed ? c->order[*place] : NULL;
    if (!m || strcmp(m->name, name) != 0)
        m = cluster_find(c, name);
    if (m && m->listed)
        *place = m->place + 1;
    return m;
}

struct member *cluster_meet(struct cluster *c, const char *name)
{
    struct member *known = cluster_find(c, name);
    if (known) {
        known->gone = false;
        return known;
    }
    struct member_slot *s = mem_alloc(sizeof *s);
    s->m.name = mem_dup(name);
    s->m.id = (uint32_t)c->n;
    spec_init(&s->m.spec);
    member_classify(c, &s->m);
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 64;
        c->by_id = mem_grow(c->by_id, c->cap * sizeof *c->by_id);
        c->order = mem_grow(c->order, c->cap * sizeof *c->order);
    }
    c->by_id[c->n] = &s->m;
    c->order[c->n] = &s->m;
    c->n++;
    c->order_stale = true;
    HASH_ADD_KEYPTR(hh, c->members, s->m.name, strlen(s->m.name), s);
    return &s->m;
}

bool cluster_let_go(struct cluster *c, struct member *m)
{
    bool recorded =
        m->n_claims || m->admitted || m->held_in_slurm || m->machine || m->edit || m->bmc || m->seen;
    m->gone = !m->listed && !recorded && !m->past;
    return m->gone;
}

void member_classify(const struct cluster *c, struct member *m)
{
    m->class = classes_match(&c->classes, c->index, m->name, &m->spec);
}

const struct node_class *member_class(const struct cluster *c, const struct member *m)
{
    return &c->classes.list[m->class];
}

size_t cluster_count(const struct cluster *c)
{
    return c->n;
}

struct member *cluster_by_id(const struct cluster *c, uint32_t id)
{
    return c->by_id[id];
}

static int by_name(const void *a, const void *b)
{
    const struct member *x = *(struct member *const *)a, *y = *(struct member *const *)b;
    return strcmp(x->name, y->name);
}

/* The unlisted stand behind the roster. Their order is made when somebody asks after a meeting. */
struct member *cluster_at(const struct cluster *c, size_t order)
{
    if (c->order_stale) {
        qsort(c->order + c->n_listed, c->n - c->n_listed, sizeof *c->order, by_name);
        ((struct cluster *)(uintptr_t)c)->order_stale = false;
    }
    return c->order[order];
}

const struct claim *cluster_claim(const struct cluster *c, const char *id)
{
    struct claim_slot *s;
    HASH_FIND_STR(c->claims, id, s);
    return s ? &s->c : NULL;
}

const struct token *cluster_token(const struct cluster *c, const char *hash)
{
    struct token *t;
    HASH_FIND_STR(c->tokens, hash, t);
    return t;
}

bool cluster_token_known(const struct cluster *c, const char *hash)
{
    return cluster_token(c, hash);
}

const char *cluster_token_record(const struct cluster *c, const char *hash)
{
    const struct token *t = cluster_token(c, hash);
    return t ? t->value : NULL;
}

void cluster_each_token(const struct cluster *c, token_fn *fn, void *arg)
{
    for (const struct token *t = c->tokens; t; t = t->hh.next)
        fn(arg, t->hash);
}

size_t cluster_partitions(const struct cluster *c, const struct partition **out)
{
    *out = c->partitions;
    return c->n_partitions;
}

const struct classes *cluster_classes(const struct cluster *c)
{
    return &c->classes;
}

struct listings *cluster_listings(const struct cluster *c)
{
    return c->listings;
}

bool kind_drains(enum claim_kind kind)
{
    return kind == CLAIM_DRAIN || kind == CLAIM_DRIFT || kind == CLAIM_REPAIR || kind == CLAIM_TRIAL;
}

bool claim_drains(const struct claim *claim)
{
    return kind_drains(claim->kind);
}

bool cluster_excepts(const struct cluster *c, const struct member *m)
{
    return m->spec.excepted || member_class(c, m)->excepted;
}

struct agreed member_agreed(const struct member *m)
{
    const struct repair *r = member_repair(m);
    struct agreed a = {.listed = m->listed,
                       .admitted = m->admitted,
                       .drained = true,
                       .returning = m->held_in_slurm,
                       .step = r ? r->step : STEP_NONE};
    for (size_t i = 0; i < m->n_claims; i++) {
        const struct hold *hold = &m->claims[i];
        a.down |= hold->claim->kind == CLAIM_DOWN;
        a.silent |= hold->claim->kind == CLAIM_SILENT;
        a.overdue |= hold->claim->kind == CLAIM_OVERDUE;
        a.returning &= hold->claim->kind == CLAIM_SILENT;
        a.drain |= claim_drains(hold->claim);
        a.drained &= !claim_drains(hold->claim) || hold->drained;
    }
    a.drained &= a.drain;
    return a;
}

void member_claims(const struct member *m, struct text *t)
{
    for (size_t i = 0; i < m->n_claims; i++) {
        const struct claim *claim = m->claims[i].claim;
        if (claim->kind == CLAIM_SILENT)
            continue;
        if (t->len)
            text_add(t, "; ");
        text_printf(t, "%s by %s: %s", claim_kind_name(claim->kind), claim->owner, claim->reason);
    }
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

/* m: NULL, nobody knows it. */
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
    struct change *groups = NULL;
    size_t n_before = c->n;
    struct classes classes_before = take_classes(c, r);
    c->tells_ochami = r->tells_ochami;
    partitions_free(c->partitions, c->n_partitions);
    c->partitions = STEAL(r->partitions);
    c->n_partitions = r->n_partitions;
    r->n_partitions = 0;
    c->partition_max = r->partition_max;

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
    c->order_stale = true;
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

/* --- digest ---------------------------------------------------------------------------------- */

uint64_t record_sum(const char *key, const char *value)
{
    return digest_fnv(digest_fnv(DIGEST_FNV_START, key, strlen(key)), value, strlen(value));
}

uint64_t cluster_digest(const struct cluster *c)
{
    uint64_t sum = c->sum;
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
