/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of nodes. Nodes with one fingerprint and one class are one kind. The fingerprint of a kind within its
 * class, and its differences from the baseline and from a rollout, are computed once, however many nodes it
 * has. So judging a node takes a few comparisons, and an event costs the same in a cluster of any size.
 *
 * A node is judged when something about it came in, and otherwise in the sweep: when its fingerprint has
 * become stale, and when baselines, rollouts or classes have changed (the epoch). Each tick has a limited
 * share of work for comparing lists. A node for which nothing of the share is left keeps its last judgement
 * and waits for the next sweep. Nothing is proposed for it meanwhile.
 *
 * The proof (known.proof) follows from the fingerprint alone. What is shown follows from the record, too:
 * drift that was found before stays until the opposite is proven, under any leader.
 */
#include "base/digest.h"
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/drifting_inside.h"
#include "watch/view/alarm.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/view.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORK_A_TICK = 4096,   /* components; about a millisecond */
    PRESSING_WORK = 32768 /* extra work for sensitive nodes, because no work may land on a drifted one */
};

/* --- kinds ----------------------------------------------------------------------------------- */

struct kind *kind_ref(struct kind *k)
{
    k->users++;
    return k;
}

void kind_unref(struct watch *w, struct kind *k)
{
    assert(!k || k->users > 0);
    if (!k || --k->users > 0)
        return;
    HASH_DEL(w->conformity->kinds, k);
    listing_unref(cluster_listings(w->cluster), k->listing);
    listing_unref(cluster_listings(w->cluster), k->bmc);
    listing_unref(cluster_listings(w->cluster), k->own);
    free(k);
}

static struct kind *kind_get(struct watch *w, const struct fingerprint *id, struct listing *bmc,
                             uint16_t class)
{
    struct kind_key key = {.id = *id, .class = class};
    struct kind *k;
    if (bmc)
        key.bmc = bmc->id;
    HASH_FIND(hh, w->conformity->kinds, &key, sizeof key, k);
    if (k)
        return kind_ref(k);
    k = mem_alloc(sizeof *k);
    k->key = key;
    k->own = listings_get(cluster_listings(w->cluster), id);
    k->bmc = bmc ? listing_ref(bmc) : NULL;
    k->listing = listing_ref(k->own);
    k->users = 1;
    HASH_ADD(hh, w->conformity->kinds, key, sizeof k->key, k);
    return k;
}

/* Joins the components from the nodes and those from their BMCs, once both are known. False: there is no room
 * for the list. */
static bool kind_join(struct watch *w, struct kind *k)
{
    struct listings *all = cluster_listings(w->cluster);
    if (!k->bmc || k->listing != k->own)
        return true;
    struct listing *both = listings_join(all, k->own, k->bmc, NULL);
    w->conformity->work_left -= k->own->n;
    if (!both)
        return false;
    listing_unref(all, k->listing);
    k->listing = both;
    return true;
}

/* The components that m's BMC gives, as they count now; NULL: none. */
static struct listing *bmc_listing(const struct watch *w, const struct member *m)
{
    bool is_mute = m->id < w->n && (w->conformity->known[m->id].flags & KNOWN_MUTE);
    return m->bmc && is_mute ? w->conformity->mute : m->bmc;
}

/* m needs another kind, because its class or its BMC's components changed. */
static bool kind_is_old(const struct watch *w, const struct member *m, const struct kind *k)
{
    return k->key.class != m->class || k->bmc != bmc_listing(w, m);
}

void conformity_bmc(struct watch *w, const struct member *m, bool is_mute)
{
    struct known *k = known_of(w, m);
    k->flags = (uint16_t)((k->flags & ~KNOWN_MUTE) | (is_mute ? KNOWN_MUTE : 0) | KNOWN_DIRTY);
    watch_touch(w, m, ASPECT_CONFORM);
}

void conformity_set_kind(struct watch *w, struct member *m, const struct fingerprint *id)
{
    struct known *k = known_of(w, m);
    struct kind *is = kind_get(w, id, bmc_listing(w, m), m->class);
    kind_unref(w, k->kind);
    k->kind = is;
    k->flags |= KNOWN_DIRTY;
}

static bool may_work(const struct watch *w, bool must)
{
    return must || w->conformity->work_left > 0;
}

/* Computes the cohort of a kind in its class. False: its components are not known yet, or it is work for
 * another tick. */
static bool kind_reckon(struct watch *w, struct kind *k, bool must)
{
    const struct classes *all = cluster_classes(w->cluster);
    if (k->generation == w->conformity->generation)
        return true;
    if (!k->own->known || k->key.class >= all->n || !may_work(w, must) || !kind_join(w, k))
        return false;
    k->cohort = class_fingerprint(&all->list[k->key.class], k->listing, &k->unknown);
    k->base.done = k->to.done = k->seen.done = false;
    k->generation = w->conformity->generation;
    w->conformity->work_left -= k->listing->n;
    return true;
}

/* How a computed kind differs from a listing. NULL: it is work for another tick. */
static const struct comparison *kind_versus(struct watch *w, struct kind *k, struct versus *v,
                                            const struct listing *other, bool must)
{
    if (v->done && fingerprint_equal(&v->with, &other->id))
        return &v->result;
    if (!may_work(w, must))
        return NULL;
    v->result = class_count(&cluster_classes(w->cluster)->list[k->key.class], other, k->listing);
    v->with = other->id;
    v->done = true;
    w->conformity->work_left -= k->listing->n + other->n;
    return &v->result;
}

bool conformity_trifle(struct watch *w, struct kind *k, const struct listing *seen)
{
    uint32_t unknown;
    if (!seen->known || k->generation != w->conformity->generation)
        return false;
    if (k->seen.done && fingerprint_equal(&k->seen.with, &seen->id))
        return k->seen.same;
    if (w->conformity->work_left <= 0)
        return true;
    const struct node_class *class = &cluster_classes(w->cluster)->list[k->key.class];
    const struct fingerprint was = class_fingerprint(class, seen, &unknown);
    k->seen.same = fingerprint_equal(&was, &k->cohort);
    k->seen.with = seen->id;
    k->seen.done = true;
    w->conformity->work_left -= seen->n;
    return k->seen.same;
}

/* --- judging --------------------------------------------------------------------------------- */

bool conformity_fresh(const struct watch *w, struct mono now, const struct known *k)
{
    return mono_sub(now, watch_at(w, k->verified_ds)).ns < w->policy.conform.stale.ns;
}

static bool conformity_counts(const struct watch *w, struct mono now, const struct known *k)
{
    return k->kind && (k->flags & KNOWN_VERIFIED) && !(k->flags & KNOWN_LIES) && conformity_fresh(w, now, k);
}

static bool conformity_same(const struct comparison *c)
{
    return c->different == 0 && c->unknown == 0;
}

struct proof_of {
    enum conformance proof;
    bool rolled;
};

/* What the components of a node that counts prove. False: it is work for another tick. */
static bool conformity_prove(struct watch *w, const struct member *m, const struct known *k, bool must,
                             struct proof_of *v)
{
    const struct baseline *b = baseline_of(w, m);
    *v = (struct proof_of){CONFORMANCE_UNKNOWN, false};
    if (!b)
        return true;
    const struct comparison *base = kind_versus(w, k->kind, &k->kind->base, b->listing, must);
    if (!base)
        return false;
    if (conformity_same(base)) {
        v->proof = CONFORMANCE_CONFORMANT;
        return true;
    }
    bool drifted = base->different > 0;
    if (b->rollout && (k->flags & KNOWN_ROLLS)) {
        const struct comparison *to = kind_versus(w, k->kind, &k->kind->to, b->rollout->to, must);
        if (!to)
            return false;
        v->rolled = conformity_same(to);
        drifted = drifted && to->different > 0;
    }
    v->proof = v->rolled ? CONFORMANCE_CONFORMANT : drifted ? CONFORMANCE_DRIFTED : CONFORMANCE_UNKNOWN;
    return true;
}

static void set_cohort(struct watch *w, const struct member *m, const struct fingerprint *id)
{
    const struct cohort *was = cohorts_of(w->conformity->cohorts, m->id);
    if (was ? id && fingerprint_equal(&was->id, id) : !id)
        return;
    cohorts_set(w->conformity->cohorts, m->id, id);
    w->conformity->known[m->id].cohort = cohorts_number_of(w->conformity->cohorts, m->id);
}

static void conformity_settle(struct watch *w, struct mono now, const struct member *m, struct known *k,
                              bool counted, const struct proof_of *v)
{
    enum conformance was = (enum conformance)k->proof;
    k->flags = (uint16_t)(k->flags & ~(KNOWN_DIRTY | KNOWN_COUNTS | KNOWN_ROLLED));
    k->flags |= (uint16_t)((counted ? KNOWN_COUNTS : 0) | (v->rolled ? KNOWN_ROLLED : 0));
    k->epoch = w->conformity->epoch;
    k->proof = v->proof & 3;
    set_cohort(w, m, counted && k->kind->unknown == 0 ? &k->kind->cohort : NULL);
    if (was != v->proof)
        drifting_note(w, now, m, v->proof);
    row_refresh(w, m);
}

void conformity_judge(struct watch *w, struct mono now, struct member *m, bool must)
{
    struct known *k = known_of(w, m);
    struct proof_of v = {CONFORMANCE_UNKNOWN, false};
    if (k->kind && kind_is_old(w, m, k->kind)) {
        const struct fingerprint id = k->kind->key.id; /* the kind may go with its last member */
        conformity_set_kind(w, m, &id);
    }
    bool counted = conformity_counts(w, now, k) && k->kind->own->known;
    if (counted && (!kind_reckon(w, k->kind, must) || !conformity_prove(w, m, k, must, &v))) {
        k->flags |= KNOWN_DIRTY;
        return;
    }
    conformity_settle(w, now, m, k, counted, &v);
    if (!counted && conformity_counts(w, now, k))
        k->flags |= KNOWN_DIRTY; /* until the list has arrived */
}

void conformity_touch(struct watch *w, const struct member *m)
{
    known_of(w, m)->flags |= KNOWN_DIRTY;
}

bool conformity_look(struct watch *w, struct mono now, struct member *m, bool must)
{
    struct known *k = known_of(w, m);
    bool counted = (k->flags & KNOWN_COUNTS) != 0;
    if (k->epoch != w->conformity->epoch)
        row_shortfall(w, m); /* the specification may have changed, too */
    if ((k->flags & KNOWN_DIRTY) || k->epoch != w->conformity->epoch ||
        (k->kind && kind_is_old(w, m, k->kind)) || counted != conformity_counts(w, now, k))
        conformity_judge(w, now, m, must);
    return !(k->flags & KNOWN_DIRTY);
}

bool conformity_pressing(const struct watch *w, const struct member *m)
{
    return m->spec.sensitive && w->conformity->work_left > -PRESSING_WORK;
}

void conformity_boot(struct watch *w, struct mono now, struct member *m)
{
    struct known *k = known_of(w, m);
    k->flags &= (uint16_t)~KNOWN_VERIFIED;
    conformity_judge(w, now, m, true);
}

/* --- rows ------------------------------------------------------------------------------------ */

static const struct known *known_if_met(const struct watch *w, const struct member *m)
{
    static const struct known unmet = {.flags = KNOWN_DIRTY};
    return m->id < w->n ? &w->conformity->known[m->id] : &unmet;
}

bool conformity_is_proven_drifted(const struct watch *w, const struct member *m)
{
    return known_if_met(w, m)->proof == CONFORMANCE_DRIFTED;
}

bool conformity_lies(const struct watch *w, const struct member *m)
{
    return known_if_met(w, m)->flags & KNOWN_LIES;
}

bool conformity_is_short(const struct watch *w, const struct member *m)
{
    return known_if_met(w, m)->flags & KNOWN_SHORT;
}

uint32_t conformity_cohort(const struct watch *w, const struct member *m)
{
    return known_if_met(w, m)->cohort;
}

/* The alarms of a class; classes come and go with the configuration. */
bool conformity_alarms(const struct watch *w, enum alarm_kind kind, const char *subject)
{
    for (size_t i = 0; i < w->conformity->n_classes; i++) {
        CLEANUP_TEXT struct text name = {0};
        text_printf(&name, "class %s", w->conformity->classes[i].name);
        if (strcmp(name.s, subject) == 0)
            return kind == ALARM_DRIFT ? w->conformity->classes[i].alarm : w->conformity->classes[i].overrun;
    }
    return false;
}

int64_t conformity_work_left(const struct watch *w)
{
    return w->conformity->work_left;
}

enum conformance conformity_shown(const struct watch *w, const struct member *m)
{
    const struct known *k = known_if_met(w, m);
    const struct drift *d = drift_of(m);
    bool proven = k->proof == CONFORMANCE_CONFORMANT && !member_flaps(m);
    if (d && d->state != DRIFT_REMEDIED && !proven)
        return CONFORMANCE_DRIFTED;
    return (enum conformance)k->proof;
}

void row_shortfall(struct watch *w, const struct member *m)
{
    CLEANUP_TEXT struct text t = {0};
    struct observed *o = watch_of(w, m);
    if (o->report.json)
        spec_shortfall(&m->spec, &o->report, &t);
    struct known *k = &w->conformity->known[m->id];
    k->flags = (uint16_t)(t.len ? k->flags | KNOWN_SHORT : k->flags & ~KNOWN_SHORT);
    uint32_t lacks = t.len && m->listed ? (uint32_t)digest_fnv(DIGEST_FNV_START, t.s, t.len) | 1 : 0;
    if (lacks && lacks != k->lacks)
        w->sink.notice(w->sink.arg, "node.shortfall", m->name, t.s);
    else if (!lacks && k->lacks && m->listed)
        w->sink.notice(w->sink.arg, "node.sufficient", m->name, "has what its specification says");
    k->lacks = lacks;
}

/* --- classes and rollouts -------------------------------------------------------------------- */

bool conformity_rolls(const struct watch *w, struct mono now, const struct member *m)
{
    const struct class_state *c = &w->conformity->classes[m->class];
    return (w->conformity->known[m->id].flags & KNOWN_ROLLS) && c->rolls && now.ns < c->rolls_until.ns;
}

/* Marks the nodes that the rollout of a class names. */
static void mark_rollout(struct watch *w, uint16_t class, const struct rollout *r)
{
    for (size_t i = 0; i < w->n; i++)
        if (cluster_by_id(w->cluster, (uint32_t)i)->class == class)
            w->conformity->known[i].flags &= (uint16_t)~KNOWN_ROLLS;
    for (size_t i = 0; r && i < r->nodes.n; i++) {
        const struct member *m = cluster_find(w->cluster, r->nodes.names[i]);
        if (m && m->class == class)
            known_of(w, m)->flags |= KNOWN_ROLLS;
    }
}

static void note_class(struct watch *w, uint16_t class)
{
    struct class_state *s = &w->conformity->classes[class];
    const struct baseline *b = cluster_baseline(w->cluster, s->name);
    const struct rollout *r = b ? b->rollout : NULL;
    uint32_t version = b ? b->version : 0;
    bool rollout_is_new = s->rolls != (r != NULL) || (r && s->rollout_at.ns != r->at.ns);
    if (version == s->version && !rollout_is_new)
        return;
    s->version = version;
    w->conformity->epoch++;
    if (!rollout_is_new)
        return;
    s->rolls = r != NULL;
    if (r) {
        s->rollout_at = r->at;
        struct span left = {r->deadline.ns - w->wall.ns};
        s->rolls_until = mono_add(watch_awake(w, w->last_tick), left);
    }
    mark_rollout(w, class, r);
}

/* What is remembered of a class is found by its name, because numbers change with the file. */
static void take_classes(struct watch *w)
{
    const struct classes *all = cluster_classes(w->cluster);
    struct class_state *now = mem_alloc(all->n * sizeof *now);
    for (size_t i = 0; i < all->n; i++) {
        for (size_t j = 0; j < w->conformity->n_classes; j++)
            if (strcmp(w->conformity->classes[j].name, all->list[i].name) == 0)
                now[i] = w->conformity->classes[j];
        memcpy(now[i].name, all->list[i].name, strlen(all->list[i].name) + 1);
        now[i].version = 0; /* the next tick notes the baseline and the rollout anew */
        now[i].rolls = now[i].suggested = false;
    }
    free(w->conformity->classes);
    w->conformity->classes = now;
    w->conformity->n_classes = all->n;
}

void conformity_reconfigure(struct watch *w)
{
    take_classes(w);
    w->conformity->generation++;
    w->conformity->epoch++;
}

void conformity_tick(struct watch *w)
{
    w->conformity->work_left = WORK_A_TICK;
    if (cluster_count(w->cluster) > w->n)
        watch_of(w, cluster_by_id(w->cluster, (uint32_t)w->n));
    if (cluster_classes(w->cluster)->n != w->conformity->n_classes)
        conformity_reconfigure(w);
    for (size_t i = 0; i < w->conformity->n_classes; i++)
        note_class(w, (uint16_t)i);
}

/* --- life ------------------------------------------------------------------------------------ */

/* What counts for each BMC that does not answer: one list for all of them. */
static struct listing *mute_listing(struct listings *all)
{
    struct components c = {0};
    components_add(&c, COMPONENT_REDFISH "*", COMPONENT_UNKNOWN, "the BMC does not answer", NULL);
    components_sort(&c, NULL);
    const struct fingerprint id = components_fingerprint(&c);
    struct listing *mute = listings_get(all, &id);
    listing_fill(all, mute, &c, NULL);
    components_fini(&c);
    return mute;
}

void conformity_create(struct watch *w)
{
    w->conformity->mute = mute_listing(cluster_listings(w->cluster));
    w->conformity->cohorts = cohorts_create();
    conformity_reconfigure(w);
}

void conformity_grow(struct watch *w, size_t from, size_t n)
{
    w->conformity->known = mem_grow(w->conformity->known, w->cap * sizeof *w->conformity->known);
    for (size_t i = from; i < n; i++)
        w->conformity->known[i] = (struct known){.flags = KNOWN_DIRTY};
    for (size_t i = from; i < n; i++) {
        const struct member *m = cluster_by_id(w->cluster, (uint32_t)i);
        if (m->class < w->conformity->n_classes && w->conformity->classes[m->class].rolls &&
            rollout_has(baseline_of(w, m)->rollout, m->name))
            w->conformity->known[i].flags |= KNOWN_ROLLS;
        row_refresh(w, m);
    }
}

struct known *known_of(struct watch *w, const struct member *m)
{
    watch_of(w, m);
    return &w->conformity->known[m->id];
}

void conformity_destroy(struct watch *w)
{
    for (size_t i = 0; i < w->n; i++)
        kind_unref(w, w->conformity->known[i].kind);
    listing_unref(cluster_listings(w->cluster), w->conformity->mute);
    cohorts_destroy(w->conformity->cohorts);
    free(w->conformity->classes);
    free(w->conformity->known);
}
