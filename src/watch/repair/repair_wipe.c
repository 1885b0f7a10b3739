/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step wipe: a person released a sensitive node, and nothing of that person's work may be left on it. The
 * remedy of the name `wipe` is applied, and what has to follow it. Only the carrier's word that it was
 * carried out counts. Everything else, and a wipe that is not confirmed in time, ends in the quarantine:
 * there a person decides, also after a restart.
 */
#include "node/action.h"
#include "watch/brake/brake.h"
#include "watch/health/health.h"
#include "watch/repair/repair_step_inside.h"
#include "watch/view/facts.h"
#include "watch/view/policy.h"
#include "watch/view/view.h"

#include <string.h>

bool wipe_begin(const struct turn *t)
{
    const struct remedies *all = t->w->policy.health.remedies;
    struct move v = {.problem = PROBLEM_WIPE, .remedy = all ? remedies_find(all, WIPE_REMEDY) : NULL};
    return member_unwiped(t->m) && turn_to_step(t, STEP_EVENT_RELEASED, v, STEP_WIPE, "a person released it");
}

static bool wipe_fails(const struct turn *t, enum step_event event, const char *why)
{
    CLEANUP_TEXT struct text said = {0};
    text_printf(&said, "it was not wiped: %.600s", why);
    return turn_to_step(t, event, (struct move){0}, STEP_QUARANTINE, said.s);
}

static bool wipe_operate(const struct turn *t)
{
    const struct remedy *remedy = turn_remedy(t);
    struct err e = {0};
    if (!remedy)
        return wipe_fails(t, STEP_EVENT_NOT_REMEDIED, "there is no remedy for that any more");
    int rc = brake_wipe(t->w, t->m, remedy, &e);
    if (t->late)
        return wipe_fails(t, STEP_EVENT_DEADLINE, rc < 0 ? e.msg : "it could not be begun in time");
    if (rc == 0)
        operation_propose(t->w, t->now, t->m, remedy->run, remedy->name, remedy->deadline);
    return rc == 0;
}

static bool wipe_done(const struct turn *t, const struct operation *o)
{
    const struct remedies *all = t->w->policy.health.remedies;
    const struct remedy *remedy = turn_remedy(t);
    struct move v = {0};
    CLEANUP_TEXT struct text said = {0};
    if (remedy && remedy->after && *remedy->after) {
        v.remedy = remedies_find(all, remedy->after);
        return v.remedy
                   ? turn_to_step(t, STEP_EVENT_REMEDIED, v, STEP_WIPE, "it has to follow")
                   : wipe_fails(t, STEP_EVENT_NOT_REMEDIED, "what has to follow is not configured any more");
    }
    text_printf(&said, "wiped%s%.600s", *o->text ? ": " : "", o->text);
    return turn_to_step(t, STEP_EVENT_REMEDIED, v, STEP_PROVISION, said.s);
}

static bool wipe_follow(const struct turn *t, const struct operation *o)
{
    bool boots = action_boots(action_of(o->run)), back = turn_came_back(t, o);
    bool overdue = operation_overdue(t->w, t->now, t->m, o) || t->late;
    switch (o->state) {
    case OPERATION_NONE:
    case OPERATION_WAITS:
        return overdue &&
               wipe_fails(t, STEP_EVENT_NOT_REMEDIED, *o->text ? o->text : "nobody carried it out");
    case OPERATION_BEGUN:
        if (boots && back && action_of(o->run).kind != ACTION_REPLACE)
            operation_end(t->w, t->now, t->m, o, OPERATION_DONE, "it came back on another boot");
        else if (overdue)
            operation_end(t->w, t->now, t->m, o, OPERATION_UNKNOWN, "its outcome was not reported in time");
        return t->v->asked;
    case OPERATION_DONE:
        if (!boots || back)
            return wipe_done(t, o);
        return overdue && wipe_fails(t, STEP_EVENT_NOT_REMEDIED, "it did not come back on another boot");
    case OPERATION_UNKNOWN:
    case OPERATION_FAILED:
    case OPERATION_REFUSED:
        return wipe_fails(t, STEP_EVENT_NOT_REMEDIED, *o->text ? o->text : "its outcome is not known");
    case OPERATION_STATES: break;
    }
    return false;
}

bool step_wipe(const struct turn *t)
{
    struct operation o;
    watch_operation(t->w, t->m, &o);
    bool is_its = *t->r->operation && o.id && strcmp(o.id, t->r->operation) == 0;
    bool did = is_its ? wipe_follow(t, &o) : wipe_operate(t);
    operation_fini(&o);
    return did;
}
