/* SPDX-License-Identifier: Apache-2.0 */
/* The step provision: the node has come up, and its checks have to pass. */
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/incident/incident.h"
#include "watch/incident/shell.h"
#include "watch/outside/outside.h"
#include "watch/repair/choose_inside.h"
#include "watch/repair/repair.h"
#include "watch/repair/repair_step_inside.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

enum { LOOKED_MS = 200 /* the accuracy of the time of a check's result */ };

/* The result is newer than the beginning of the step, or of this boot when the node came up. */
static bool looked_in_step(const struct turn *t, size_t check)
{
    bool came_up = t->r->came_up && t->r->since.ns == t->r->began.ns;
    return came_up || said_looked(t->w, t->v, check).ns >= t->v->stage_at.ns;
}

/* A check that fails in this step. A result from before the step may be out of date. */
static const struct check *fails_again(const struct turn *t)
{
    for (size_t i = 0; i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        if (!k->observe && (t->v->said[i] & SAID_ASSIGNED) &&
            said_now(t->w, t->now, t->m, i) >= RESULT_FATAL && looked_in_step(t, i))
            return k;
    }
    return NULL;
}

/* A check that is degraded while every other check has reported, so that only the fault's own end can change
 * anything. NULL: there is none, or a check has not reported yet. */
static const struct check *stays_degraded(const struct turn *t)
{
    const struct check *found = NULL;
    for (size_t i = 0; i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        if (k->observe || !check_repeats(k) || !(t->v->said[i] & SAID_ASSIGNED))
            continue;
        enum result is = said_now(t->w, t->now, t->m, i);
        if (is == RESULT_UNKNOWN)
            return NULL;
        if (is == RESULT_DEGRADED && looked_in_step(t, i))
            found = k;
    }
    return found;
}

/* There is a remedy that needs no approval, and this node runs no work: the node is treated as if the fault
 * were fatal. Without a remedy the node waits for the deadline, because a degraded state often ends when a
 * node has settled (its clock, a link), and a person is asked then. */
static bool remedies_degraded(const struct turn *t)
{
    const struct check *k = stays_degraded(t);
    CLEANUP_TEXT struct text why = {0};
    if (!k || held_check(t->w, t->m, NULL) < 0 || shared_holds(t->w, t->m) || brake_stopped(t->w, NULL) < 0 ||
        remedies_of_week(t->w, t->m) >= t->w->policy.health.limits.remedies_a_week)
        return false;
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    repair_choose(t->w, t->now, t->m, false, REFUSAL_NONE, c);
    if (!c->chosen || c->chosen->approval || c->chosen->dry)
        return false;
    text_printf(&why, "%s is degraded, and %s may help", k->name, c->chosen->name);
    return turn_to_step(t, STEP_EVENT_DEGRADED, (struct move){0}, STEP_ISOLATE, why.s);
}

/* When the last remedy of this repair began, by the watch's own time, at the beginning of this step at the
 * latest; ns 0: the repair had none. */
static struct mono tried_at(const struct turn *t)
{
    const struct repair *r = t->r;
    const struct attempt_record *a = r->n_attempts ? &r->attempts[r->n_attempts - 1] : NULL;
    if (!a || !a->done || a->at.ns < r->began.ns)
        return (struct mono){0};
    int64_t at = t->now.ns - (t->w->wall.ns - a->at.ns);
    return (struct mono){at < t->v->stage_at.ns ? at : t->v->stage_at.ns};
}

/* A check that runs again within this step and has not run since the remedy; NULL without. Its result from
 * before the remedy says nothing about the state that the remedy left. */
static const struct check *repair_provision_unseen(const struct turn *t)
{
    struct mono since = tried_at(t);
    for (size_t i = 0; since.ns && i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        if (!k->observe && check_ages(k) && (t->v->said[i] & SAID_ASSIGNED) &&
            check_round(k).ns < repair_provision_deadline(t->w, t->m).ns / 2 &&
            said_looked(t->w, t->v, i).ns + span_ms(LOOKED_MS).ns < since.ns)
            return k;
    }
    return NULL;
}

bool step_provision(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0}, said = {0};
    struct move v = {0};
    struct err e = {0};
    if (turn_given_up(t))
        return turn_to_step(t, STEP_EVENT_YIELDED, v, STEP_NONE, turn_given_up(t));
    if (window_of(t->w, t->m))
        return false;
    if (member_maintenance(t->m)) {
        maintenance_say(t, &said);
        return turn_to_step(t, STEP_EVENT_MAINTENANCE, v, STEP_ISOLATE, said.s);
    }
    if (forget_waits(t->w, t->m) && !t->late)
        return forget_propose(t->w, t->now, t->m);
    const struct check *fails = fails_again(t);
    if (fails && !shared_holds(t->w, t->m)) {
        text_printf(&said, "%s fails", fails->name);
        return turn_to_step(t, STEP_EVENT_FATAL, v, STEP_ISOLATE, said.s);
    }
    const struct check *waits = repair_provision_unseen(t);
    if (t->late && !person_holds(t->m)) {
        watch_provisioned(t->w, mono_add(t->now, t->w->stood_still), t->m, &why);
        if (!why.len && waits)
            text_printf(&why, "%s was not looked at since the remedy", waits->name);
        bool same = machine_check(t->w, t->m, &e) == 0;
        text_printf(&said, "not in time: %s", !same ? e.msg : why.len ? why.s : "an incident is open");
        return turn_to_step(t, STEP_EVENT_DEADLINE, v, STEP_QUEUE, said.s);
    }
    if (!waits && remedies_degraded(t))
        return true;
    if (waits || boot_awaits(t->w, t->m) || incidents_open(t->m) || machine_check(t->w, t->m, NULL) < 0 ||
        !watch_provisioned(t->w, mono_add(t->now, t->w->stood_still), t->m, &why))
        return false;
    if (t->r->examined == EXAMINED_OWED && turn_has_extensive(t))
        return turn_to_step(t, STEP_EVENT_PASSED, v, STEP_EXAMINE,
                            "the examination that was broken off is made up");
    return turn_to_step(t, STEP_EVENT_PASSED, v, STEP_NONE, "every check passed");
}

static void repair_provision(struct watch *w, struct mono now, const struct member *m, const char *why)
{
    const struct turn t = {w, now, m, NULL, health_state_of(w, m), false};
    turn_to_step(&t, STEP_EVENT_WINDOW_OVER, (struct move){.problem = "maintenance"}, STEP_PROVISION, why);
}

/* The window is over, and it is not proven that m is well. */
void provision_after_window(struct watch *w, struct mono now, const struct member *m)
{
    CLEANUP_TEXT struct text missing = {0}, why = {0};
    if (member_repair(m) || member_override(m) || health_asked(health_state_of(w, m), now) ||
        !watch_live(w, m) || watch_provisioned(w, mono_add(now, w->stood_still), m, &missing) ||
        !brake_maintain(w, m))
        return;
    text_printf(&why, "its maintenance is over: %s", missing.s);
    repair_provision(w, now, m, why.s);
}
