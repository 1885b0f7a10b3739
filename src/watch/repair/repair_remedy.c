/* SPDX-License-Identifier: Apache-2.0 */
/* The steps remedy and replace: an operation is carried out, and its outcome is followed. */
#include "node/action.h"
#include "watch/brake/brake.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/incident/incident.h"
#include "watch/outside/outside.h"
#include "watch/repair/repair_step_inside.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <string.h>

enum { REFUSALS_MAX = 3 /* in a row; then a person is needed */ };

/* The faults were found only by extensive checks, and not under this watch. The node does not report these by
 * itself, so they would never be seen again. */
static bool found_by_another(const struct turn *t)
{
    const struct ailment *a = member_ailment(t->m);
    bool found = false;
    for (size_t i = 0; a && i < a->n_open; i++) {
        for (size_t k = 0; incident_counts(&a->open[i]) && k < a->open[i].n; k++) {
            const struct incident_finding *f = &a->open[i].findings[k];
            size_t at = check_place(t->w, f->check);
            if (finding_gone(t->w, t->now, t->m, f->check, &f->f))
                continue;
            if (at == SIZE_MAX || check_repeats(check_at(t->w, at)) || was_said(t->v, at))
                return false;
            found = true;
        }
    }
    return found && watch_live(t->w, t->m);
}

/* The chosen remedy is not the right one any more. For a node that is to be replaced there is no other
 * remedy. */
static bool choose_anew(const struct turn *t, const char *why)
{
    struct move v = {0};
    return t->r->step == STEP_REPLACE ? turn_to_step(t, STEP_EVENT_NOT_REMEDIED, v, STEP_QUEUE, why)
                                      : turn_by_choice(t, STEP_EVENT_NOT_REMEDIED, v);
}

/* The time to begin the remedy is over. It runs from the approval, if there was one. */
static bool not_begun(const struct turn *t, const struct remedy *remedy, const char *because)
{
    CLEANUP_TEXT struct text why = {0};
    text_printf(&why, "%s%s could not be begun in time", remedy->name,
                t->r->approval == APPROVAL_GIVEN ? " was approved and" : "");
    if (because)
        text_printf(&why, ": %s", because);
    return turn_to_step(t, STEP_EVENT_DEADLINE, (struct move){0}, STEP_QUEUE, why.s);
}

static bool begin_operation(const struct turn *t)
{
    const struct remedy *remedy = turn_remedy(t);
    struct err e = {0};
    struct move v = {0};
    if (!remedy)
        return turn_to_step(t, STEP_EVENT_NOT_REMEDIED, v, STEP_QUEUE,
                            "its remedy is not configured any more");
    const char *boot = watch_of(t->w, t->m)->boot;
    if (watch_live(t->w, t->m) && *t->r->boot && strcmp(t->r->boot, boot) != 0) {
        v.restarted = true;
        return turn_on_the_way(t, STEP_EVENT_BOOTED, v, "it was booted before the remedy was begun");
    }
    if (remedy->approval && t->r->approval == APPROVAL_NONE)
        return choose_anew(t, "it needs a person's approval by now");
    if (lost_finding(t->w, t->m) && remedy_way(remedy->run) == WAY_AGENT)
        return choose_anew(t, "its agent is not heard");
    int rc = brake_operate(t->w, t->now, t->m, remedy, &e);
    if (t->late)
        return not_begun(t, remedy, rc < 0 ? e.msg : NULL);
    if (rc == 0)
        operation_propose(t->w, t->now, t->m, remedy->run, remedy->name, remedy->deadline);
    else if (maintenance_wants(t->m, remedy))
        return false;
    else if (!remedy_wanted(t->w, t->now, t->m, remedy))
        return incidents_open(t->m)
                   ? choose_anew(
                         t, "the fault for which it was to be replaced is gone, and there is another one")
                   : turn_on_the_way(t, STEP_EVENT_WELL, v, "the fault is gone");
    else if (found_by_another(t))
        return turn_to_step(t, STEP_EVENT_UNSEEN, v, turn_has_extensive(t) ? STEP_EXAMINE : STEP_QUEUE,
                            "the finding has to be found again");
    return rc == 0;
}

static bool carried_out(const struct turn *t, const struct operation *o)
{
    const struct remedy *remedy = turn_remedy(t);
    struct move v = {.attempt = *o->text ? o->text : "carried out", .done = true, .verdict = '?'};
    v.restarted = action_boots(action_of(o->run));
    v.renewed =
        t->r->step == STEP_REPLACE && (o->state == OPERATION_DONE || machine_check(t->w, t->m, NULL) < 0);
    const struct remedies *all = t->w->policy.health.remedies;
    const struct remedy *after =
        remedy && remedy->after && *remedy->after ? remedies_find(all, remedy->after) : NULL;
    if (after && t->r->step == STEP_REMEDY)
        return turn_to_remedy(t, STEP_EVENT_REMEDIED, v, after, "it has to follow");
    bool replaces = t->r->step == STEP_REPLACE;
    return turn_on_the_way(t,
                           !replaces   ? STEP_EVENT_REMEDIED
                           : v.renewed ? STEP_EVENT_INSTANCE
                                       : STEP_EVENT_BOOTED,
                           v, "carried out");
}

/* How often in a row nothing was done, including this time. An attempt that did nothing does not count as a
 * try, so the same remedy would be chosen for ever. */
static unsigned repair_remedy_refusals(const struct repair *r)
{
    unsigned n = 1;
    for (size_t i = r->n_attempts - (attempt_under_way(r) != NULL); i-- > 0 && r->attempts[i].verdict == '0';)
        n++;
    return n;
}

static bool is_on_another_boot(const struct turn *t, const struct operation *o)
{
    const char *boot = watch_of(t->w, t->m)->boot;
    return watch_live(t->w, t->m) && *boot && strcmp(boot, o->boot) != 0;
}

static bool not_carried_out(const struct turn *t, const struct operation *o, const char *why)
{
    bool says = *o->text && o->state != OPERATION_DONE;
    struct move v = {.attempt = says ? o->text : why, .done = false};
    bool refused = o->state == OPERATION_REFUSED || o->state == OPERATION_WAITS;
    v.verdict = refused ? '0' : '?';
    v.refusal = o->refusal;
    v.restarted = is_on_another_boot(t, o);
    if (v.restarted && member_restarts(t->m))
        return turn_on_the_way(t, STEP_EVENT_BOOTED, v, "it was booted meanwhile");
    if (!incidents_open(t->m) && o->state == OPERATION_REFUSED && !member_restarts(t->m))
        return turn_on_the_way(t, STEP_EVENT_WELL, v, "the fault is gone");
    if (refused && repair_remedy_refusals(t->r) >= REFUSALS_MAX) {
        CLEANUP_TEXT struct text said = {0};
        text_printf(&said, "nothing was done %d times in a row: %.256s", REFUSALS_MAX, v.attempt);
        return turn_to_step(t, STEP_EVENT_NOT_REMEDIED, v, STEP_QUEUE, said.s);
    }
    return refused && member_restarts(t->m) ? turn_by_maintenance(t, STEP_EVENT_NOT_REMEDIED, v)
                                            : turn_by_choice(t, STEP_EVENT_NOT_REMEDIED, v);
}

/* An operation that boots the node is done when the node is here on another boot, for nothing else can report
 * that. A boot of another machine proves nothing, unless the node is being replaced. */
bool turn_came_back(const struct turn *t, const struct operation *o)
{
    return is_on_another_boot(t, o) && (t->r->step == STEP_REPLACE || machine_check(t->w, t->m, NULL) == 0);
}

/* The node is lost, and may be repaired. */
static bool is_gone(const struct turn *t)
{
    return lost_finding(t->w, t->m) && lost_check(t->w, t->now, t->m, NULL) == 0;
}

static bool follow_operation(const struct turn *t, const struct operation *o)
{
    bool boots = action_boots(action_of(o->run)), back = turn_came_back(t, o);
    bool overdue = operation_overdue(t->w, t->now, t->m, o);
    if (boots && is_on_another_boot(t, o) && !machine_seen(t->w, t->m))
        return false; /* in a moment it is known which machine booted */
    switch (o->state) {
    case OPERATION_NONE:
    case OPERATION_WAITS:
        if (remedy_way(o->run) == WAY_AGENT && is_gone(t))
            return not_carried_out(t, o, "its agent is not heard");
        return overdue && not_carried_out(t, o, "nobody carried it out");
    case OPERATION_BEGUN:
        if (boots && back && action_of(o->run).kind != ACTION_REPLACE)
            operation_end(t->w, t->now, t->m, o, OPERATION_DONE, "it came back on another boot");
        else if (action_of(o->run).kind == ACTION_REBOOT && is_gone(t))
            operation_end(t->w, t->now, t->m, o, OPERATION_UNKNOWN,
                          "it did not come back in the time that this takes");
        else if (overdue)
            operation_end(t->w, t->now, t->m, o, OPERATION_UNKNOWN, "its outcome was not reported");
        return t->v->asked;
    case OPERATION_DONE:
        if (!boots || back)
            return carried_out(t, o);
        return overdue && not_carried_out(t, o, "it did not come back on another boot");
    case OPERATION_UNKNOWN:
        if (boots && back)
            return carried_out(t, o);
        return not_carried_out(t, o, "its outcome is not known");
    case OPERATION_FAILED:
    case OPERATION_REFUSED: return not_carried_out(t, o, "not carried out");
    case OPERATION_STATES: break;
    }
    return false;
}

bool step_remedy(const struct turn *t)
{
    struct operation o;
    if (t->r->approval == APPROVAL_WANTED)
        return false;
    if (t->r->approval == APPROVAL_REFUSED)
        return turn_to_step(t, STEP_EVENT_NOT_REMEDIED, (struct move){0}, STEP_QUEUE,
                            t->r->approver ? t->r->approver : "refused");
    watch_operation(t->w, t->m, &o);
    bool is_its = *t->r->operation && o.id && strcmp(o.id, t->r->operation) == 0, did = false;
    bool held = window_of(t->w, t->m) || held_elsewhere(t->w, t->m);
    if (!held || (is_its && o.state != OPERATION_WAITS))
        did = is_its ? follow_operation(t, &o) : begin_operation(t);
    operation_fini(&o);
    return did;
}
