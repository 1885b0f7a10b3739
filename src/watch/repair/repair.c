/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next step of a repair. Each step has a function that looks at the records and at what is known now, and
 * proposes at most one command. A REPAIR command names the step that it leaves, so that a late command
 * changes nothing. A watch that begins anew finds the step in the record and goes on.
 *
 * The duration of a step is measured by the watch's own time since it first saw the step, up to the time that
 * the record leaves. So a change of the clock ends no step.
 */
#include "watch/repair/repair.h"
#include "watch/brake/brake.h"
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/incident/incident.h"
#include "watch/outside/outside.h"
#include "watch/repair/choose_inside.h"
#include "watch/repair/repair_step_inside.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/view.h"

/* By which event a node that waits for a person may go on without one when it is well; STEP_EVENT_NONE: it
 * may not. A node that is lost again and again stays. */
static enum step_event needs_nobody(const struct turn *t)
{
    if (t->r->shared)
        return STEP_EVENT_SHARED_OVER;
    if (member_was_lost(t->m) && !recur_often(t->m, t->r->began, t->w->wall))
        return STEP_EVENT_HEARD;
    return STEP_EVENT_NONE;
}

static bool leave_queue(const struct turn *t)
{
    bool refused = t->r->approval == APPROVAL_REFUSED;
    enum step_event event = needs_nobody(t);
    if (forget_waits(t->w, t->m))
        return forget_propose(t->w, t->now, t->m);
    if (event == STEP_EVENT_NONE || refused || t->r->manual || t->r->taken_by ||
        held_check(t->w, t->m, NULL) < 0 || member_maintenance(t->m) || incidents_open(t->m) ||
        !watch_live(t->w, t->m) || brake_stopped(t->w, NULL) < 0)
        return false;
    return turn_to_step(t, event, (struct move){0}, STEP_PROVISION,
                        event == STEP_EVENT_SHARED_OVER
                            ? "it waited for a cause that it shared with others, which is over"
                            : "it was lost, and is heard again");
}

/* Notes that the step is new, and how long it may last. When a step waited because somebody held the node,
 * its time begins anew when the hold ends. What the extensive stage found before a person, or a new instance,
 * answered for it counts no more. */
void repair_stage(struct watch *w, struct mono now, const struct member *m)
{
    const struct repair *r = member_treated(m);
    struct health_state *v = health_state_of(w, m);
    struct observed *o = watch_of(w, m);
    struct mono freed = o->freed;
    o->freed = (struct mono){0};
    if (r && v->stage.ns == r->since.ns && freed.ns && member_repair(m) && v->stage_limited)
        v->stage_due = (struct mono){freed.ns + r->deadline.ns - r->since.ns};
    if (!r || v->stage.ns == r->since.ns)
        return;
    int64_t all = r->deadline.ns - r->since.ns, left = r->deadline.ns - w->wall.ns;
    watch_touch(w, m, ASPECT_CHECKS);
    v->stage = r->since;
    v->stage_at = now;
    v->stage_limited = r->deadline.ns != 0;
    v->refusals = 0;
    v->refused_until = (struct mono){0};
    v->stage_due = (struct mono){now.ns + (left < 0 ? 0 : left > all ? all : left)};
    for (size_t i = 0; i < check_count(w); i++) {
        v->said[i] &= (uint8_t)~SAID_ANSWERED;
        if (r->step == STEP_PROVISION && !check_repeats(check_at(w, i)))
            said_forget(v, i);
    }
}

/* A person took the node back, or excepted it: what has not begun is not done, and the faults are the
 * person's. */
static bool yield_to_person(const struct turn *t)
{
    struct operation o;
    struct move v = {0};
    const char *why = turn_given_up(t);
    if (!why)
        return false;
    watch_operation(t->w, t->m, &o);
    bool begun = o.state == OPERATION_BEGUN;
    operation_fini(&o);
    if (begun || t->r->step == STEP_PROVISION || t->r->step == STEP_TEND || t->r->step == STEP_QUARANTINE ||
        t->r->step == STEP_RETIRED)
        return false;
    if (t->r->step == STEP_QUEUE) {
        health_propose(t->w, t->now, t->m,
                       &(struct command){.kind = COMMAND_TRANSITION,
                                         .reason = why,
                                         .transition = {.what = BY_HAND_REPAIRED, .yields = true}});
        return true;
    }
    v.attempt = why;
    v.verdict = '0';
    return turn_to_step(t, STEP_EVENT_YIELDED, v, STEP_PROVISION, why);
}

/* The node came up, and is held from now on until its checks have passed. */
static bool begin_provision(const struct turn *t)
{
    return turn_to_step(t, STEP_EVENT_BOOTED,
                        (struct move){.problem = "provision", .restarted = t->m->admitted}, STEP_PROVISION,
                        t->m->admitted ? "it came up on another boot" : "it comes for the first time");
}

/* The provider will take the node, which is in service: it is drained first, as far as the budgets allow.
 * When a person has taken the node back since, that person decides. */
static bool begin_maintenance(const struct turn *t)
{
    const struct maintenance *x = member_maintenance(t->m);
    const struct override *o = member_override(t->m);
    CLEANUP_TEXT struct text why = {0};
    if (!x || !watch_live(t->w, t->m) || (o && o->at.ns > x->at.ns) || !brake_maintain(t->w, t->m))
        return false;
    maintenance_say(t, &why);
    return turn_to_step(t, STEP_EVENT_MAINTENANCE, (struct move){.problem = "maintenance"}, STEP_ISOLATE,
                        why.s);
}

/* An incident stays open for a while after its checks are ok again. No remedy is applied in that time. */
static bool is_still_ill(const struct turn *t)
{
    for (size_t i = 0; i < check_count(t->w); i++)
        if (!check_at(t->w, i)->observe && (t->v->said[i] & SAID_ASSIGNED) &&
            said_now(t->w, t->now, t->m, i) >= RESULT_DEGRADED)
            return true;
    return false;
}

/* The node stays in service meanwhile. */
static bool begin_tend(const struct turn *t)
{
    struct move v = {.problem = "node_problem"};
    if (!t->m->admitted || t->m->n_claims || trial_holds(t->w, t->m) || t->v->isolating || !is_still_ill(t))
        return false;
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    v.remedy = repair_gentle(t->w, t->now, t->m, c);
    if (!v.remedy || brake_tend(t->w, t->now, t->m, v.remedy, NULL) < 0)
        return false;
    v.cost = choice_cost(c);
    return turn_to_step(t, STEP_EVENT_DEGRADED, v, STEP_TEND, *c->why ? c->why : "chosen");
}

static bool boots_again(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0};
    text_printf(&why, "it boots again and again: %s", boot_finding(t->w, t->m)->text);
    return turn_to_step(t, STEP_EVENT_RESTLESS, (struct move){0}, STEP_ISOLATE, why.s);
}

bool repair_look(struct watch *w, struct mono now, const struct member *m)
{
    struct turn t = {w, now, m, member_repair(m), health_state_of(w, m), false};
    budget_patient(w, m);
    if (repair_comes_up(w, m))
        return begin_provision(&t);
    t.r = member_treated(m);
    if (!t.r)
        return wipe_begin(&t) || begin_maintenance(&t) || begin_tend(&t);
    t.late = t.v->stage_limited && now.ns >= t.v->stage_due.ns;
    if (t.r->step == STEP_WIPE) /* a person's word, also where Fettle only observes */
        return step_wipe(&t);
    if (!w->policy.health.limits.act)
        return false;
    if (tend_follow(&t))
        return true;
    if (lost_stands(w, m) && !turn_given_up(&t) && (t.r->step == STEP_EXAMINE || t.r->step == STEP_PROVISION))
        return turn_to_step(&t, STEP_EVENT_LOST, (struct move){0}, STEP_ISOLATE, "it is lost");
    if (boot_stands(w, m) && !turn_given_up(&t) && t.r->step == STEP_PROVISION)
        return boots_again(&t);
    if (yield_to_person(&t))
        return true;
    switch (t.r->step) {
    case STEP_TEND: return step_tend(&t);
    case STEP_ISOLATE: return step_isolate(&t);
    case STEP_EXAMINE: return step_examine(&t);
    case STEP_REMEDY:
    case STEP_REPLACE: return step_remedy(&t);
    case STEP_PROVISION: return step_provision(&t);
    case STEP_QUEUE: return leave_queue(&t);
    case STEP_NONE:
    case STEP_WIPE:
    case STEP_QUARANTINE:
    case STEP_RETIRED:
    case STEPS: return false;
    }
    return false;
}
