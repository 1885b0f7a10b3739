/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether somebody other than Fettle holds a node: a person's claim here, a maintenance window, or what the
 * scheduler says. It is the one question before anything destructive: a remedy, an examination, a
 * replacement, a reboot for drift, a trial. It does not keep a node from being isolated, which disturbs
 * nobody.
 *
 * What the scheduler said counts for a decision. Right before the node is acted on it has to have been read a
 * moment ago, the time in which this process stood still included; where it was not, the shell is asked to
 * read it (watch_unread), and the action waits.
 */
#include "watch/inside.h"

#include <errno.h>

enum { FRESH_S = 2 };

void watch_elsewhere(struct watch *w, struct mono now, struct member *m, const struct elsewhere *is)
{
    struct observed *o = watch_of(w, m);
    bool was_held = o->elsewhere.state == ELSEWHERE_HELD;
    o->elsewhere_at = now;
    if (!elsewhere_set(&o->elsewhere, is))
        return;
    if (was_held && is->state != ELSEWHERE_HELD)
        repair_restart_step(w, m);
    row_refresh(w, m);
    if (member_repair(m))
        health_changed(w, m);
}

static int say_person(const struct member *m, struct err *e)
{
    const struct claim *of = NULL;
    for (size_t i = 0; i < m->n_claims && !of; i++) {
        const struct claim *claim = m->claims[i].claim;
        of = claim->kind == CLAIM_DRAIN || claim->kind == CLAIM_DOWN ? claim : NULL;
    }
    return err_set(e, -EAGAIN, "a person holds it: %s by %s: %s", claim_kind_name(of->kind), of->owner,
                   of->reason);
}

int held_check(const struct watch *w, const struct member *m, struct err *e)
{
    CLEANUP_TEXT struct text t = {0};
    const struct elsewhere *is = &watch_observed(w, m)->elsewhere;
    if (person_holds(m))
        return say_person(m, e);
    if (window_of(w, m))
        return err_set(e, -EAGAIN, "it is in maintenance: Slurm's %s", window_of(w, m));
    if (is->state == ELSEWHERE_NOBODY)
        return 0;
    elsewhere_say(is, &t);
    return err_set(e, -EAGAIN, "%s", t.s);
}

bool held_elsewhere(const struct watch *w, const struct member *m)
{
    return watch_observed(w, m)->elsewhere.state == ELSEWHERE_HELD;
}

int held_check_now(const struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    struct observed *o = watch_of((struct watch *)(uintptr_t)w, m);
    int rc = held_check(w, m, e);
    if (rc < 0 || !o->scheduler || (o->elsewhere_at.ns && within(now, o->elsewhere_at, FRESH_S)))
        return rc;
    o->elsewhere_unread = ((struct watch *)(uintptr_t)w)->unread = true;
    return err_set(e, -ESTALE, "Slurm is asked whether somebody holds it");
}

void watch_unread(struct watch *w, tell_fn *fn, void *arg)
{
    for (size_t id = 0; w->unread && id < w->n; id++) {
        if (!w->seen[id].elsewhere_unread)
            continue;
        w->seen[id].elsewhere_unread = false;
        fn(arg, cluster_by_id(w->cluster, (uint32_t)id));
    }
    w->unread = false;
}
