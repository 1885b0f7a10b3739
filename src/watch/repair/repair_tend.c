/* SPDX-License-Identifier: Apache-2.0 */
/* The step tend: a remedy that disturbs nobody, on a node that stays in service. */
#include "watch/brake/brake.h"
#include "watch/health/health.h"
#include "watch/repair/repair.h"
#include "watch/repair/repair_step_inside.h"
#include "watch/view/facts.h"

#include <errno.h>
#include <stdio.h>

enum { TAKEN_BACK_S = 10 };

static bool tend_ends(const struct turn *t, enum step_event event, struct move v, const char *why)
{
    return turn_to_step(t, event, v, STEP_NONE, why);
}

/* Begins the remedy, or ends the step when that is not possible. */
static bool tend_begins(const struct turn *t)
{
    const struct remedy *remedy = turn_remedy(t);
    struct err e = {0};
    struct move v = {0};
    if (!remedy)
        return tend_ends(t, STEP_EVENT_NOT_REMEDIED, v, "its remedy is not configured any more");
    int rc = brake_tend(t->w, t->now, t->m, remedy, &e);
    if (rc == -EBUSY || (rc < 0 && t->late))
        return tend_ends(t, STEP_EVENT_NOT_REMEDIED, v, e.msg);
    if (rc == 0)
        operation_propose(t->w, t->now, t->m, remedy->run, remedy->name, remedy->deadline);
    return rc == 0;
}

/* Takes in the outcome of the operation of a remedy in service. False while it is not known. */
static bool take_tended(const struct turn *t, struct move *v, char said[static REASON_BYTES_MAX + 1])
{
    struct operation o;
    watch_operation(t->w, t->m, &o);
    bool waits = o.state == OPERATION_NONE || o.state == OPERATION_WAITS, over = !waits;
    bool overdue = o.id && operation_overdue(t->w, t->now, t->m, &o);
    if (o.state == OPERATION_BEGUN) {
        over = false;
        if (overdue)
            operation_end(t->w, t->now, t->m, &o, OPERATION_UNKNOWN, "its outcome was not reported");
    }
    snprintf(said, REASON_BYTES_MAX + 1, "%s",
             waits                       ? "nobody carried it out"
             : *o.text                   ? o.text
             : o.state == OPERATION_DONE ? "carried out"
                                         : "not carried out");
    v->attempt = said;
    v->done = o.state == OPERATION_DONE;
    v->verdict = waits || o.state == OPERATION_REFUSED ? '0' : '?';
    operation_fini(&o);
    return over || (waits && overdue);
}

static enum step_event tended_event(const struct move *v)
{
    return v->done ? STEP_EVENT_REMEDIED : STEP_EVENT_NOT_REMEDIED;
}

/* The check has not run since the remedy was carried out. A check that follows a source, like the kernel's
 * log, has a moment to take its findings back. */
static bool is_old(const struct turn *t, size_t check)
{
    const struct check *k = check_at(t->w, check);
    if (!check_ages(k))
        return mono_sub(t->now, t->v->stage_at).ns < span_s(TAKEN_BACK_S).ns;
    return check_round(k).ns < repair_provision_deadline(t->w, t->m).ns / 2 &&
           (said_now(t->w, t->now, t->m, check) == RESULT_UNKNOWN ||
            said_looked(t->w, t->v, check).ns < t->v->stage_at.ns);
}

static bool is_asked_again(const struct turn *t)
{
    for (size_t i = 0; i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        if (!k->observe && check_repeats(k) && (t->v->said[i] & SAID_ASSIGNED) && turn_found(t, k) &&
            is_old(t, i))
            return true;
    }
    return false;
}

static bool is_carried_out(const struct turn *t)
{
    const struct attempt_record *a = t->r->n_attempts ? &t->r->attempts[t->r->n_attempts - 1] : NULL;
    return a && a->done && a->at.ns >= t->r->began.ns;
}

bool step_tend(const struct turn *t)
{
    char said[REASON_BYTES_MAX + 1];
    struct move v = {0};
    if (*t->r->operation) {
        if (!take_tended(t, &v, said))
            return t->v->asked;
        v.remedy = v.done ? turn_remedy(t) : NULL;
        enum step_event event = tended_event(&v);
        return v.remedy ? turn_to_step(t, event, v, STEP_TEND, "carried out; its checks are asked again")
                        : tend_ends(t, event, v, said);
    }
    if (!is_carried_out(t))
        return tend_begins(t);
    const struct remedy *remedy = turn_remedy(t);
    if (!remedy || !remedy_wanted(t->w, t->now, t->m, remedy))
        return tend_ends(t, STEP_EVENT_CHECKED, v, "the fault is gone");
    if (is_asked_again(t) && !t->late)
        return false;
    return tend_ends(t, STEP_EVENT_CHECKED, v, "it did not help");
}

bool tend_follow(const struct turn *t)
{
    char said[REASON_BYTES_MAX + 1];
    struct move v = {0};
    if (!attempt_under_way(t->r) || !*t->r->operation || t->r->step == STEP_REMEDY ||
        t->r->step == STEP_REPLACE || t->r->step == STEP_TEND)
        return false;
    if (take_tended(t, &v, said))
        turn_to_step(t, tended_event(&v), v, t->r->step, t->r->why);
    return true;
}
