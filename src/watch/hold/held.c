/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether somebody other than Fettle holds a node: by a person's claim here, a maintenance window, or in the
 * scheduler. Everything destructive asks this one question: a remedy, an examination, a replacement, a reboot
 * for drift, a trial. Isolation does not ask it, because it disturbs nobody.
 *
 * A decision uses what the scheduler said last. Right before something is done to a node, the scheduler must
 * have been read a moment ago; time in which this process stood still is included. Otherwise the shell is
 * asked to read it (watch_unread), and the action waits. OpenCHAMI is read at that moment, once a minute, and
 * more often while a hold stands there. Locks of a BMC are known from its last answer (bmc.c), and are read
 * again right before the BMC switches the power.
 */
#include "watch/hold/held_inside.h"
#include "watch/hold/hold.h"
#include "watch/hold/shell.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
    FRESH_S = 2,
    HELD_AGAIN_S = 10, /* after this time a hold in OpenCHAMI is read anew */
    OCHAMI_SWEEPS =
        60 /* a sweep takes a second: each node is read once in this many sweeps, an equal share in each */
};

/* Whether a hold in that system concerns m. */
static bool held_applies(const struct watch *w, const struct member *m, enum elsewhere_where where)
{
    return where != ELSEWHERE_OCHAMI || cluster_is_told(w->cluster, m);
}

void watch_elsewhere(struct watch *w, struct mono now, struct member *m, const struct elsewhere *is)
{
    assert((size_t)is->where < ELSEWHERES);
    struct held_read *r = &watch_of(w, m)->elsewhere[is->where];
    bool was_held = r->is.state == ELSEWHERE_HELD;
    r->at = now;
    if (!elsewhere_set(&r->is, is))
        return;
    watch_touch(w, m, ASPECT_OUTSIDE);
    if (was_held && is->state != ELSEWHERE_HELD)
        watch_of(w, m)->freed = watch_awake(w, w->last_tick);
    row_refresh(w, m);
    if (member_repair(m))
        health_changed(w, m);
}

void held_look(struct watch *w, struct mono now, const struct member *m)
{
    struct held_read *r = &watch_of(w, m)->elsewhere[ELSEWHERE_OCHAMI];
    bool stands = r->is.state != ELSEWHERE_NOBODY;
    bool is_due = (m->id + w->sweeps) % OCHAMI_SWEEPS == 0 || (stands && !within(now, r->at, HELD_AGAIN_S));
    if (held_applies(w, m, ELSEWHERE_OCHAMI) && m->listed && is_due) {
        r->unread = w->held->unread = true;
    } else if (stands && !held_applies(w, m, ELSEWHERE_OCHAMI)) {
        elsewhere_set(&r->is, &(struct elsewhere){.where = ELSEWHERE_OCHAMI});
        watch_touch(w, m, ASPECT_OUTSIDE);
        row_refresh(w, m);
    }
}

static int say_person(const struct member *m, struct err *e)
{
    const struct claim *of = NULL;
    for (size_t i = 0; i < m->n_claims && !of; i++) {
        const struct claim *claim = m->claims[i].claim;
        of = claim->kind == CLAIM_DRAIN || claim->kind == CLAIM_DOWN ? claim : NULL;
    }
    assert(of && "asked of a node that a person holds");
    return err_set(e, -EAGAIN, "a person holds it: %s by %s: %s", claim_kind_name(of->kind), of->owner,
                   of->reason);
}

int held_check(const struct watch *w, const struct member *m, struct err *e)
{
    CLEANUP_TEXT struct text t = {0};
    if (person_holds(m))
        return say_person(m, e);
    if (window_of(w, m))
        return err_set(e, -EAGAIN, "it is in maintenance: Slurm's %s", window_of(w, m));
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++) {
        const struct elsewhere *is = &watch_observed(w, m)->elsewhere[k].is;
        if (is->state == ELSEWHERE_NOBODY || !held_applies(w, m, k))
            continue;
        elsewhere_say(is, &t);
        return err_set(e, -EAGAIN, "%s", t.s);
    }
    return 0;
}

bool held_elsewhere(const struct watch *w, const struct member *m)
{
    bool is_held = false;
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++)
        is_held |= held_applies(w, m, k) && watch_observed(w, m)->elsewhere[k].is.state == ELSEWHERE_HELD;
    return is_held;
}

void held_fitness(const struct watch *w, const struct member *m, struct fitness *f)
{
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++)
        f->elsewhere[k] = held_applies(w, m, k) ? &watch_observed(w, m)->elsewhere[k].is : NULL;
}

bool is_somebodys(const struct watch *w, const struct member *m)
{
    const struct repair *r = member_repair(m);
    bool aside =
        r && (r->manual || r->step == STEP_QUEUE || r->step == STEP_QUARANTINE || r->step == STEP_RETIRED);
    return aside || person_holds(m) || window_of(w, m) || held_elsewhere(w, m) ||
           (member_maintenance(m) && !member_restarts(m));
}

int held_check_now(struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    int rc = held_check(w, m, e);
    int fresh = held_read_now(w, now, m, rc == 0 ? e : NULL);
    return rc < 0 ? rc : fresh;
}

int held_read_now(struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    struct observed *o = watch_of(w, m);
    int rc = 0;
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++) {
        struct held_read *r = &o->elsewhere[k];
        bool is_asked = k == ELSEWHERE_SLURM ? o->scheduler
                        : k == ELSEWHERE_OCHAMI
                            ? held_applies(w, m, k)
                            : false; /* a BMC is asked by the code that is about to switch the power */
        if (!is_asked || (r->at.ns && within(now, r->at, FRESH_S)))
            continue;
        r->unread = w->held->unread = true;
        if (rc == 0)
            rc = err_set(e, -ESTALE, "%s is asked whether somebody holds it", elsewhere_where_name(k));
    }
    return rc;
}

void watch_unread(struct watch *w, unread_fn *fn, void *arg)
{
    for (size_t id = 0; w->held->unread && id < w->n; id++) {
        for (enum elsewhere_where k = 0; k < ELSEWHERES; k++) {
            if (!w->seen[id].elsewhere[k].unread)
                continue;
            w->seen[id].elsewhere[k].unread = false;
            fn(arg, cluster_by_id(w->cluster, (uint32_t)id), k);
        }
    }
    w->held->unread = false;
}

void held_create(struct watch *w)
{
    w->held = mem_alloc(sizeof *w->held);
}

void held_destroy(struct watch *w)
{
    free(STEAL(w->held));
}
