/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcomes of remedies. A remedy that was carried out has helped when the node has been back in service
 * for the remedy's settle time without the fault. It has failed when the fault came back, or when something
 * else had to follow in the same repair. A later repair of another fault, or a person's repair, does not
 * count against it.
 */
#include "watch/health/health.h"
#include "watch/incident/shell.h"
#include "watch/repair/repair.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <stdio.h>
#include <string.h>

static bool names_fault(const char *list, const char *fault)
{
    size_t len = strlen(fault);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, fault, len) == 0 && (p[len] == ',' || p[len] == '\0'))
            return true;
    return false;
}

/* A fault that the remedy was for came after it. */
static bool came_after(const struct member *m, const struct attempt_record *a)
{
    const struct ailment *all = member_ailment(m);
    for (size_t i = 0; all && i < all->n_open + all->n_past; i++) {
        const struct incident *one = i < all->n_open ? &all->open[i] : &all->past[i - all->n_open];
        for (size_t k = 0; (one->since.ns > a->ended.ns || one->last.ns > a->ended.ns) && k < one->n; k++)
            if (one->findings[k].at.ns > a->ended.ns &&
                names_fault(a->fault, fault_of(one->findings[k].check, &one->findings[k].f)))
                return true;
    }
    return false;
}

/* Another remedy was begun for the same fault, and it was not the remedy's mandatory successor. */
static bool was_followed(const struct watch *w, const struct repair *r, size_t i)
{
    const struct remedies *all = w->policy.health.remedies;
    const struct remedy *one = all ? remedies_find(all, r->attempts[i].remedy) : NULL;
    if (i + 1 >= r->n_attempts)
        return false;
    return !one || !one->after || strcmp(one->after, r->attempts[i + 1].remedy) != 0;
}

static bool outcome_helps(const struct watch *w, const struct member *m, const char *name, const char *fault)
{
    const struct remedies *all = w->policy.health.remedies;
    const struct remedy *one = all ? remedies_find(all, name) : NULL;
    return !one || remedy_helps(one, fault, class_of(w, m)->name);
}

/* The remedy was carried out in service and is over, and its fault is still open. */
static bool is_left(const struct watch *w, const struct member *m, const struct repair *r,
                    const struct attempt_record *a)
{
    const struct ailment *all = member_ailment(m);
    for (size_t i = 0; r->step == STEP_NONE && all && i < all->n_open; i++) {
        const struct incident *one = &all->open[i];
        for (size_t k = 0; incident_counts(one) && one->since.ns < a->at.ns && k < one->n; k++) {
            const char *fault = fault_of(one->findings[k].check, &one->findings[k].f);
            if (names_fault(a->fault, fault) && outcome_helps(w, m, a->remedy, fault))
                return true;
        }
    }
    return false;
}

static int64_t settle_of(const struct watch *w, const char *name)
{
    const struct remedies *all = w->policy.health.remedies;
    const struct remedy *one = all ? remedies_find(all, name) : NULL;
    return one ? one->settle.ns : span_s(1800).ns;
}

/* The repair goes on, so the remedy was not enough. */
static bool goes_on(const struct repair *r, const struct attempt_record *a)
{
    bool after = r->since.ns > a->ended.ns;
    return r->step == STEP_QUEUE || (after && r->step == STEP_ISOLATE) ||
           (r->step == STEP_EXAMINE && r->examined == EXAMINED_FAIL);
}

/* '?' while the outcome is not known. In a repair that is over, the successors were judged already. */
static char outcome_judge(const struct watch *w, struct mono now, const struct member *m,
                          const struct repair *r, size_t i)
{
    const struct attempt_record *a = &r->attempts[i];
    bool over = a->at.ns < r->began.ns;
    if (!a->ended.ns)
        return '?';
    if (!a->done || came_after(m, a) || is_left(w, m, r, a) ||
        (!over && (was_followed(w, r, i) || goes_on(r, a))))
        return '-';
    if (r->step != STEP_NONE || w->wall.ns - r->since.ns < settle_of(w, a->remedy))
        return '?';
    return watch_health(w, mono_add(now, w->stood_still), m) == HEALTH_UNKNOWN ? '?' : '+';
}

static void propose_outcome(struct watch *w, struct mono now, const struct member *m,
                            const struct attempt_record *a, char verdict)
{
    CLEANUP_FREE char *list = mem_dup(a->fault);
    struct fault_name faults[FAULTS_MAX];
    struct command cmd = {.kind = COMMAND_OUTCOME,
                          .outcome = {.at = a->at, .verdict = verdict, .faults = faults}};
    memcpy(cmd.outcome.remedy, a->remedy, sizeof a->remedy);
    snprintf(cmd.outcome.class, sizeof cmd.outcome.class, "%s", class_of(w, m)->name);
    for (char *save, *one = strtok_r(list, ",", &save); one; one = strtok_r(NULL, ",", &save))
        if (outcome_helps(w, m, a->remedy, one)) /* the remedy is not judged by other faults */
            faults[cmd.outcome.n++].name = one;
    health_propose(w, now, m, &cmd);
}

bool outcome_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct repair *r = member_repairs(m);
    for (size_t i = 0; r && i < r->n_attempts; i++) {
        char verdict = r->attempts[i].verdict == '?' ? outcome_judge(w, now, m, r, i) : '?';
        if (verdict == '?')
            continue;
        propose_outcome(w, now, m, &r->attempts[i], verdict);
        return true;
    }
    return false;
}
