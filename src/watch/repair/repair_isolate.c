/* SPDX-License-Identifier: Apache-2.0 */
/* The step isolate: the node takes no new work, and its running work ends. */
#include "watch/brake/brake.h"
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/incident/incident.h"
#include "watch/outside/outside.h"
#include "watch/repair/choose_inside.h"
#include "watch/repair/repair_step_inside.h"
#include "watch/view/facts.h"

enum { END_WORK_S = 120 };

static bool is_empty(const struct turn *t)
{
    bool counts = watch_live(t->w, t->m) || lost_finding(t->w, t->m);
    return counts && repair_work(t->w, t->m) == WORK_IDLE;
}

static bool gone_by_itself(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0};
    const struct incident *often = recur_often(t->m, t->r->began, t->w->wall);
    if (!often)
        return turn_to_step(t, STEP_EVENT_WELL, (struct move){0}, STEP_PROVISION, "the fault is gone");
    text_printf(&why, "%s%s%s comes and goes", fault_of(often->findings[0].check, &often->findings[0].f),
                *often->group ? " " : "", often->group);
    return turn_to_step(t, STEP_EVENT_WELL, (struct move){0}, STEP_QUEUE, why.s);
}

static bool wants_examination(const struct turn *t)
{
    return turn_has_extensive(t) && (t->r->examined == EXAMINED_NOT || t->r->examined == EXAMINED_OWED);
}

/* Somebody holds the node elsewhere, and Fettle has nothing left to do but to let its checks pass. So the
 * node does not stay in its repair for as long as the hold lasts. It does stay when a person's claim rests on
 * it here, or when it is to be examined. */
static bool is_cured_in_place(const struct turn *t)
{
    return held_elsewhere(t->w, t->m) && !person_holds(t->m) && !window_of(t->w, t->m) &&
           !incidents_open(t->m) && !member_maintenance(t->m) && !wants_examination(t);
}

/* Something else may explain the silence, or the node's state is too uncertain to act on. The repair waits
 * for that, and in the end for a person. False: the node may be repaired. */
static bool silence_stays(const struct turn *t, bool *did)
{
    struct err e = {0};
    if (!lost_finding(t->w, t->m) || lost_check(t->w, t->now, t->m, &e) == 0)
        return *did = false;
    *did = lost_lasts(t->w, t->now, t->m) &&
           turn_to_step(t, STEP_EVENT_LOST, (struct move){0}, STEP_QUEUE, e.msg);
    return true;
}

/* The work did not end: a person has to ask its owner. */
static bool work_stays(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0}, work = {0};
    work_say(t->w, t->m, &work);
    text_printf(&why, "its work did not end in time: %.300s",
                watch_live(t->w, t->m) ? work.s : "the node is not heard");
    return turn_to_step(t, STEP_EVENT_DEADLINE, (struct move){0}, STEP_QUEUE, why.s);
}

/* Asks the scheduler once to end the work on a lost node, if the class says so. The repair then waits for the
 * end of the work, whatever comes of that. */
static bool end_lost_work(const struct turn *t)
{
    CLEANUP_TEXT struct text run = {0};
    struct operation o;
    if (t->r->manual || member_maintenance(t->m) || brake_end_work(t->w, t->now, t->m, NULL) < 0)
        return false;
    watch_operation(t->w, t->m, &o);
    bool asked = o.id;
    operation_fini(&o);
    if (asked)
        return false;
    text_printf(&run, "work:%s", lost_work_name(class_of(t->w, t->m)->lost_work));
    operation_propose(t->w, t->now, t->m, run.s, "lost.work", span_s(END_WORK_S));
    return true;
}

/* A remedy that disturbs nobody need not wait for work, unless extensive checks are assigned: these would
 * have to follow on an idle node. */
static bool is_gentle(const struct turn *t)
{
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    return !t->r->manual && !member_maintenance(t->m) && !turn_has_extensive(t) &&
           repair_gentle(t->w, t->now, t->m, c);
}

bool step_isolate(const struct turn *t)
{
    struct move v = {0};
    bool did, empty = is_empty(t), lost = member_severity(t->m) == RESULT_LOST;
    if (window_of(t->w, t->m) && !t->r->manual)
        return false;
    bool gentle = !empty && !lost && is_gentle(t);
    if (t->late && !empty && !gentle)
        return work_stays(t);
    if (!empty && lost && end_lost_work(t))
        return true;
    if (!empty && !gentle && (!lost || t->r->manual || member_maintenance(t->m)))
        return false;
    if (t->r->manual)
        return turn_to_step(t, STEP_EVENT_DRAINED, v, STEP_QUEUE, t->r->why);
    if (shared_holds(t->w, t->m) || brake_stopped(t->w, NULL) < 0)
        return false;
    if (held_check(t->w, t->m, NULL) < 0)
        return is_cured_in_place(t) && gone_by_itself(t);
    if (member_maintenance(t->m) && (watch_live(t->w, t->m) || !member_restarts(t->m)))
        return turn_by_maintenance(t, STEP_EVENT_MAINTENANCE, v);
    if (silence_stays(t, &did))
        return did;
    if (empty && watch_live(t->w, t->m) && wants_examination(t))
        return turn_to_step(t, STEP_EVENT_DRAINED, v, STEP_EXAMINE, t->r->why);
    if (!incidents_open(t->m))
        return gone_by_itself(t);
    return turn_by_choice(t, empty ? STEP_EVENT_DRAINED : gentle ? STEP_EVENT_DEGRADED : STEP_EVENT_LOST, v);
}
