/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers about a node's conformance, with the reasons in words. An answer is computed from the present
 * state; the sweep may be a second behind.
 */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/drift_inside.h"
#include "watch/conform/shell.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Judges m at `now`, at any cost. */
static const struct known *known_now(struct watch *w, struct mono now, const struct member *m)
{
    struct member *about = cluster_by_id(w->cluster, m->id);
    conformity_look(w, watch_awake(w, now), about, true);
    return &w->conformity->known[m->id];
}

/* --- why not --------------------------------------------------------------------------------- */

enum { EXPLAINED_MAX = 3 };

struct explaining {
    struct text *why;
    bool unknown; /* explains what is unknown; else what differs */
    uint32_t n;
};

static bool explain_difference(void *arg, const struct difference *d)
{
    struct explaining *x = arg;
    if (d->unknown != x->unknown || x->n++ >= EXPLAINED_MAX)
        return true;
    if (x->n > 1)
        text_add(x->why, "; ");
    if (!d->unknown) {
        text_printf(x->why, "%s (%s)", d->name, severity_name(d->severity));
        return true;
    }
    const struct component *u = d->actual && d->actual->state == COMPONENT_UNKNOWN ? d->actual : d->expected;
    text_printf(x->why, "%s could not be read%s%s%s", d->name, u == d->actual ? "" : " for the baseline",
                u && *u->value ? ": " : "", u ? u->value : "");
    return true;
}

static void explain_differences(const struct watch *w, const struct known *k, const struct listing *expected,
                                bool unknown, struct text *why)
{
    struct explaining x = {why, unknown, 0};
    class_compare(&cluster_classes(w->cluster)->list[k->kind->key.class], expected, k->kind->listing,
                  explain_difference, &x);
    if (x.n > EXPLAINED_MAX)
        text_printf(why, "; and %u more", (unsigned)(x.n - EXPLAINED_MAX));
}

static void explain_no_baseline(struct watch *w, const struct member *m, struct text *why)
{
    uint32_t share, all;
    const struct member *like = watch_suggest(w, m->class, &share, &all);
    text_printf(why, "its class \"%s\" has no baseline", class_of(w, m)->name);
    if (like)
        text_printf(why, "; %u of %u nodes are as %s is (baseline accept %s)", (unsigned)share, (unsigned)all,
                    like->name, like->name);
}

static void explain_unproven(struct watch *w, struct mono now, const struct member *m, const struct known *k,
                             struct text *why)
{
    char buf[32];
    if (!k->kind)
        text_add(why, "it has not sent its fingerprint since this controller started");
    else if (k->flags & KNOWN_LIES)
        text_add(why, "the components that it sent do not hash to its fingerprint");
    else if (!(k->flags & KNOWN_VERIFIED))
        text_add(why, "its fingerprint has not been read since its last boot");
    else if (!conformity_fresh(w, now, k))
        text_printf(why, "its fingerprint is stale: last read %s ago",
                    span_human(mono_sub(now, watch_at(w, k->verified_ds)), buf));
    else if (!k->kind->own->known)
        text_add(why, "the components of its fingerprint are not known yet");
    else if (k->kind->unknown)
        explain_differences(w, k, k->kind->listing, true, why);
    else if (!baseline_of(w, m))
        explain_no_baseline(w, m, why);
    else
        explain_differences(w, k, baseline_of(w, m)->listing, true, why);
}

static void explain_drift(struct watch *w, struct mono now, const struct member *m, const struct known *k,
                          struct text *why)
{
    const struct drift *d = drift_of(m);
    if (k->proof == CONFORMANCE_DRIFTED) {
        text_printf(why,
                    "it is not as version %u of its baseline says: ", (unsigned)baseline_of(w, m)->version);
        explain_differences(w, k, baseline_of(w, m)->listing, false, why);
    } else if (k->proof == CONFORMANCE_CONFORMANT) {
        text_printf(why, "its drift comes and goes; it is the same again, and has to be so for a while: %s",
                    d->named);
    } else {
        text_printf(why, "it was drifted (%s), and it is not proven that it is right again: ", d->named);
        explain_unproven(w, now, m, k, why);
    }
}

void watch_standing(struct watch *w, struct mono now, const struct member *m, struct standing *s,
                    struct text *why)
{
    const struct known *k = known_now(w, now, m);
    struct mono awake = watch_awake(w, now);
    *s = (struct standing){.conformance = conformity_shown(w, m),
                           .listing = k->kind ? k->kind->listing : NULL,
                           .cohort = cohorts_of(w->conformity->cohorts, m->id),
                           .verified = mono_add(watch_at(w, k->verified_ds), w->stood_still),
                           .baseline = baseline_of(w, m),
                           .rolled = (k->flags & KNOWN_ROLLED) != 0,
                           .lies = (k->flags & KNOWN_LIES) != 0,
                           .flaps = member_flaps(m)};
    if (!why)
        return;
    text_clear(why);
    if (s->conformance == CONFORMANCE_UNKNOWN)
        explain_unproven(w, awake, m, k, why);
    else if (s->conformance == CONFORMANCE_DRIFTED)
        explain_drift(w, awake, m, k, why);
}

int watch_excludes(struct watch *w, struct mono now, const struct member *m, const struct fingerprint *id,
                   struct text *why)
{
    const struct known *k = known_now(w, now, m);
    struct mono awake = watch_awake(w, now);
    if (!k->kind || !(k->flags & KNOWN_VERIFIED) || !fingerprint_equal(&k->kind->key.id, id) ||
        (!k->kind->own->known && !(k->flags & KNOWN_LIES)))
        return -EAGAIN;
    if (k->proof != CONFORMANCE_DRIFTED)
        return 0;
    if (drift_lacks_claim(w, awake, m))
        return -EAGAIN;
    if (!member_held_by(m, CLAIM_DRIFT))
        return 0;
    text_clear(why);
    explain_drift(w, awake, m, k, why);
    return 1;
}

/* --- all of them ----------------------------------------------------------------------------- */

const struct cohorts *watch_cohorts(const struct watch *w)
{
    return w->conformity->cohorts;
}

/* The cohort with the most listed nodes of a class; among equals the one with the lowest fingerprint. */
static uint32_t largest_of(const struct watch *w, uint16_t class, uint32_t *share, uint32_t *all)
{
    uint32_t max = cohorts_number_max(w->conformity->cohorts), best = COHORT_NONE;
    CLEANUP_FREE uint32_t *n = mem_alloc((max + 1) * sizeof *n);
    *all = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct member *m = cluster_by_id(w->cluster, (uint32_t)i);
        if (!m->listed || m->class != class)
            continue;
        ++*all;
        n[w->conformity->known[i].cohort]++;
    }
    n[COHORT_NONE] = 0;
    for (uint32_t c = 1; c <= max; c++) {
        if (n[c] == 0 || n[c] < n[best])
            continue;
        if (n[c] > n[best] || fingerprint_compare(&cohorts_by_number(w->conformity->cohorts, c)->id,
                                                  &cohorts_by_number(w->conformity->cohorts, best)->id) < 0)
            best = c;
    }
    *share = n[best];
    return best;
}

const struct member *watch_suggest(struct watch *w, uint16_t class, uint32_t *share, uint32_t *all)
{
    *share = *all = 0;
    if (class >= w->conformity->n_classes)
        return NULL;
    struct class_state *c = &w->conformity->classes[class];
    if (!c->suggested) {
        uint32_t best = largest_of(w, class, &c->suggestion_share, &c->suggestion_all);
        c->suggested = true;
        c->suggestion = NULL;
        for (size_t i = 0; best != COHORT_NONE && i < w->n && !c->suggestion; i++) {
            const struct member *m = cluster_at(w->cluster, i);
            if (m->listed && m->class == class && w->conformity->known[m->id].cohort == best)
                c->suggestion = m;
        }
    }
    *share = c->suggestion_share;
    *all = c->suggestion_all;
    return c->suggestion;
}

bool watch_drift_alarm(const struct watch *w, uint16_t class)
{
    return class < w->conformity->n_classes && w->conformity->classes[class].alarm;
}

/* --- before a node becomes a baseline -------------------------------------------------------- */

int watch_may_be_baseline(struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    const struct known *k = known_now(w, now, m);
    const struct observed *o = watch_observed(w, m);
    CLEANUP_TEXT struct text why = {0};
    if (o->beat.liveness != LIVENESS_LIVE)
        return err_set(e, -EBUSY, "%s is not heard (%s)", m->name, liveness_name(o->beat.liveness));
    if (!(k->flags & KNOWN_COUNTS)) {
        explain_unproven(w, watch_awake(w, now), m, k, &why);
        return err_set(e, -EBUSY, "%s: %s", m->name, why.s);
    }
    if (k->kind->unknown) {
        explain_differences(w, k, k->kind->listing, true, &why);
        return err_set(e, -EBUSY, "%s: %s", m->name, why.s);
    }
    if (m->seen != k->kind->listing) {
        w->conformity->known[m->id].spent = 0; /* a person waits for it, so there is no pause */
        return err_set(e, -EBUSY, "%s changed a moment ago, and its new state is being recorded", m->name);
    }
    return 0;
}
