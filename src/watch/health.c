/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows from the health of a node, in the sweep and as soon as something changes.
 *
 * Findings are proposed as they come, and again in each sweep until the records have them. While a command
 * about a node is under way, no other command about it is proposed: each command is computed from the
 * records, and the next one from the records that it leaves.
 */
#include "watch/health/health.h"
#include "watch/budget/budget.h"
#include "watch/health_inside.h"
#include "watch/incident/incident.h"
#include "watch/outside/outside.h"
#include "watch/repair/repair.h"
#include "watch/trial/trial.h"
#include "watch/view/called.h"
#include "watch/view/view.h"

#include <stdlib.h>
#include <string.h>

void health_reconfigure(struct watch *w)
{
    health_states_reconfigure(w);
    shared_destroy(w); /* classes may have other numbers now, so the records are taken in anew */
    w->health->began = false;
    trial_reconfigure(w);
}

void health_create(struct watch *w)
{
    w->health = mem_alloc(sizeof *w->health);
    health_reconfigure(w);
}

/* Drops what the rooms know about a node from outside. */
static void health_drop(struct watch *w, struct health_state *v)
{
    lost_drop(w, v);
    boot_drop(v);
    outside_drop(v);
}

void health_destroy(struct watch *w)
{
    for (size_t id = 0; id < health_states_count(w); id++)
        if (health_states_by_id(w, id))
            health_drop(w, health_states_by_id(w, id));
    health_states_destroy(w);
    free(w->health->follow.ids);
    free(w->health->following.ids);
    measures_destroy(w);
    free(STEAL(w->health));
}

void health_open(struct watch *w, const struct member *m)
{
    struct health_state *v = health_state_find(w, m);
    if (!v)
        return;
    v->told = false;
    lost_drop(w, v);
    if (v->anew == ANEW_NOT)
        v->anew = ANEW_ASKED;
}

void health_stood_still(struct watch *w)
{
    w->resumed = watch_awake(w, w->last_tick);
    health_states_doubt(w);
}

void health_boot(struct watch *w, const struct member *m)
{
    struct health_state *v = health_state_find(w, m);
    if (!v)
        return;
    memcpy(v->boot, watch_of(w, m)->boot, sizeof v->boot);
    v->told = false;
    v->log_next = 0;
    boot_drop(v);
    sayings_drop(v);
    outside_drop(v);
    for (size_t i = 0; v->said && i < check_count(w); i++)
        v->said[i] &= SAID_ASSIGNED;
    health_changed(w, m);
}

/* Takes in the records when the watch begins, before anything follows from the results of checks. */
static void health_begin(struct watch *w, struct mono now)
{
    if (w->health->began)
        return;
    w->health->began = true;
    for (size_t i = 0; i < cluster_count(w->cluster); i++)
        if (member_repair(cluster_by_id(w->cluster, (uint32_t)i)) ||
            trial_holds(w, cluster_by_id(w->cluster, (uint32_t)i)))
            budget_patient(w, cluster_by_id(w->cluster, (uint32_t)i));
    shared_load(w, now);
    brake_load(w, now);
}

void health_take(struct watch *w, struct mono now, struct wall wall, const struct member *m)
{
    w->wall = wall;
    health_begin(w, now);
    health_look(w, now, m);
    row_refresh(w, m);
}

/* --- the sweep -------------------------------------------------------------------------------- */

void health_follow(struct watch *w, const struct member *m)
{
    struct health_state *v = health_state_find(w, m);
    if (!v && !member_ailment(m) && !member_repairs(m) && !member_maintenance(m))
        return;
    v = health_state_of(w, m);
    v->asked = false;
    budget_patient(w, m);
    if (v->follow)
        return;
    v->follow = true;
    called_add(&w->health->follow, m);
}

/* Gives the faults of m to the search for shared causes. */
static void note_faults(struct watch *w, struct mono now, const struct member *m,
                        const struct health_state *v)
{
    for (size_t i = 0; i < v->n_sayings; i++) {
        const struct check *k = check_at(w, v->sayings[i].check);
        if (k->observe || said_now(w, now, m, v->sayings[i].check) < RESULT_WARN)
            continue;
        for (size_t n = 0; n < v->sayings[i].n; n++)
            if (shared_counts(w, k->name, &v->sayings[i].findings[n]))
                shared_note(w, now, m, k->name, &v->sayings[i].findings[n]);
    }
}

void health_look(struct watch *w, struct mono now, const struct member *m)
{
    struct health_state *v = health_state_find(w, m);
    const struct ailment *a = member_ailment(m);
    bool ill = (v && (v->n_sayings || v->booted || outside_ill(v) || lost_finding(w, m))) ||
               (a && a->n_open) || member_repairs(m) || member_maintenance(m) || member_unwiped(m);
    bool comes_up = repair_comes_up(w, m);
    if (!m->listed || (!ill && !comes_up))
        return;
    v = health_state_of(w, m);
    health_state_assign(w, m, v);
    note_faults(w, now, m, v);
    shared_note_outside(w, now, m);
    if (lost_stands(w, m))
        shared_note(w, now, m, LOST_CHECK, lost_finding(w, m));
    if (health_asked(v, now))
        return;
    v->asked = false;
    repair_stage(w, now, m);
    forget_look(w, now, m);
    outside_look(now, m, v);
    if ((comes_up && repair_look(w, now, m)) || incident_look(w, now, m) || repair_look(w, now, m))
        return;
    outcome_look(w, now, m);
}

void health_tick(struct watch *w, struct mono now)
{
    health_begin(w, now);
    if (w->health->following.at < w->health->following.n)
        return; /* there was no time for the members of the last tick: they come first */
    struct called done = w->health->following;
    w->health->following = w->health->follow;
    w->health->follow = done;
    w->health->follow.n = w->health->follow.at = 0;
}

size_t health_step(struct watch *w, struct mono now, size_t nodes)
{
    struct called *c = &w->health->following;
    size_t looked = 0;
    for (; c->at < c->n && looked < nodes; looked++) {
        const struct member *m = cluster_by_id(w->cluster, c->ids[c->at++]);
        health_state_of(w, m)->follow = false;
        health_look(w, now, m);
    }
    return looked;
}
