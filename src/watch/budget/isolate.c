/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a node may be taken out of service now. A full budget, or the latch, keeps a node in service
 * although something is wrong with it. The node is then marked in its health state, and takes no new work.
 *
 * The latch trips when more nodes would be isolated within the surge window than independent faults explain.
 * From then on no node is isolated until a person releases the latch.
 */
#include "watch/budget/budget.h"
#include "watch/budget/budget_inside.h"
#include "watch/budget/isolate_inside.h"
#include "watch/budget/shell.h"
#include "watch/health/health.h"
#include "watch/view/alarm.h"
#include "watch/view/facts.h"
#include "watch/view/policy.h"
#include "watch/view/view.h"

#include <errno.h>
#include <stdlib.h>

/* --- the latch -------------------------------------------------------------------------------- */

bool watch_latched(const struct watch *w)
{
    return w->surge->tripped || cluster_switch(w->cluster, "latch");
}

static void propose_latch(struct watch *w)
{
    const struct hostlist nobody = {0};
    CLEANUP_TEXT struct text t = {0};
    char window[32];
    text_printf(&t, "%u nodes would have been isolated within %s", w->policy.health.limits.surge,
                span_human(w->policy.health.limits.surge_window, window));
    w->sink.propose(w->sink.arg, &(struct command){.kind = COMMAND_SWITCH,
                                                   .nodes = &nobody,
                                                   .reason = t.s,
                                                   .switched = {.name = "latch", .on = true}});
}

/* Isolations by earlier leaders count from the time of their records; a time in the future counts as now. A
 * node that had to wait is still ill, and this leader counts it. */
void brake_load(struct watch *w, struct mono now)
{
    const struct wall *at;
    size_t n = cluster_isolations(w->cluster, &at);
    if (w->surge->surge_loaded)
        return;
    w->surge->surge_loaded = true;
    w->surge->surge = mem_grow(w->surge->surge, (n + 1) * sizeof *w->surge->surge);
    for (size_t i = 0; i < n; i++) {
        int64_t age_ns = w->wall.ns - at[i].ns;
        w->surge->surge[w->surge->n_surge++].ns = now.ns - (age_ns > 0 ? age_ns : 0);
    }
}

/* Each node counts once for its present fault, even when it has to wait. */
static void count_surge(struct watch *w, struct mono now, const struct member *m, struct wall since)
{
    struct health_state *v = health_state_of(w, m);
    const struct health_policy *p = &w->policy.health;
    if (v->counted || !p->limits.surge || w->wall.ns - since.ns >= p->limits.surge_window.ns)
        return;
    v->counted = true;
    if (watch_latched(w))
        return;
    size_t kept = 0;
    for (size_t i = 0; i < w->surge->n_surge; i++)
        if (mono_sub(now, w->surge->surge[i]).ns < p->limits.surge_window.ns)
            w->surge->surge[kept++] = w->surge->surge[i];
    w->surge->surge = mem_grow(w->surge->surge, (kept + 1) * sizeof *w->surge->surge);
    w->surge->surge[kept++] = now;
    w->surge->n_surge = kept;
    if (kept < p->limits.surge)
        return;
    CLEANUP_TEXT struct text t = {0};
    char window[32];
    text_printf(&t,
                "%zu nodes would be isolated within %s: none is isolated until a person releases the latch",
                kept, span_human(p->limits.surge_window, window));
    w->surge->tripped = true;
    alarms_raise(&w->alarms, ALARM_SURGE, "", m->name, t.s, w->wall);
    propose_latch(w);
}

/* What was counted before a person released the latch counts no more. A latch that tripped under an earlier
 * leader still holds. */
static void follow_latch(struct watch *w)
{
    const char *held = cluster_switch(w->cluster, "latch");
    if (held)
        w->surge->tripped = false;
    else if (w->surge->tripped)
        propose_latch(w);
    if (held && !w->surge->latched && !alarms_find(&w->alarms, ALARM_SURGE, ""))
        alarms_raise(&w->alarms, ALARM_SURGE, "", "", held, w->wall);
    if (w->surge->latched && !held) {
        w->surge->n_surge = 0;
        alarms_end(&w->alarms, ALARM_SURGE, "", "a person released the latch; nodes are isolated again");
    }
    w->surge->latched = held != NULL;
}

/* --- before a node is isolated ---------------------------------------------------------------- */

int brake_stopped(const struct watch *w, struct err *e)
{
    const char *stop = cluster_switch(w->cluster, "stop"), *latch = cluster_switch(w->cluster, "latch");
    if (!w->policy.health.limits.act)
        return err_set(e, -EAGAIN, "health is only observed");
    if (stop)
        return err_set(e, -EAGAIN, "everything is stopped: %s", stop);
    if (latch || w->surge->tripped)
        return err_set(e, -EAGAIN, "the latch is on%s%s", latch ? ": " : "", latch ? latch : "");
    return 0;
}

/* Fettle acts on m, which is in service, and no person or maintenance window holds it. */
static bool is_held_by_nobody(const struct watch *w, const struct member *m)
{
    return acts_for(w, m) && m->admitted && !member_repair(m) && !repair_comes_up(w, m) && !person_holds(m) &&
           !window_of(w, m);
}

/* There is room for m in the budgets, and m takes it from now on. */
static bool take_room(struct watch *w, const struct member *m)
{
    struct health_state *v = health_state_of(w, m);
    struct budget full;
    if (brake_stopped(w, NULL) < 0) {
        budget_waits(w, v);
        return false;
    }
    if (!v->isolating && !budget_allows(w, m, v->patient ? 0 : 1, &full)) {
        w->surge->wants_room = true;
        w->surge->wanted_at = watch_awake(w, w->last_tick);
        budget_tell(w, m, &full);
        return false;
    }
    v->waits = false;
    v->isolating = true;
    budget_patient(w, m);
    return true;
}

bool isolation_wants_room(struct watch *w, struct mono *at)
{
    bool wants = w->surge->wants_room;
    w->surge->wants_room = false;
    *at = w->surge->wanted_at;
    return wants;
}

bool brake_isolate(struct watch *w, struct mono now, const struct member *m, struct wall since)
{
    if (!is_held_by_nobody(w, m))
        return false;
    count_surge(w, now, m, since);
    return take_room(w, m);
}

void brake_swapped(struct watch *w, const struct member *m)
{
    if (!acts_for(w, m) || !m->admitted || member_repair(m))
        return;
    health_state_of(w, m)->isolating = true;
    budget_patient(w, m);
}

bool brake_maintain(struct watch *w, const struct member *m)
{
    return is_held_by_nobody(w, m) && take_room(w, m);
}

/* --- the sweep -------------------------------------------------------------------------------- */

void brake_end_sweep(struct watch *w)
{
    follow_latch(w);
    budgets_end_sweep(w);
}

void isolation_create(struct watch *w)
{
    w->budgets = mem_alloc(sizeof *w->budgets);
    w->surge = mem_alloc(sizeof *w->surge);
}

void isolation_destroy(struct watch *w)
{
    budgets_destroy(w);
    free(w->surge->surge);
    free(STEAL(w->surge));
    free(STEAL(w->budgets));
}
