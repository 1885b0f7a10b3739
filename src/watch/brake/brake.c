/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The brakes: they keep a node in service although something is wrong with it, and keep an operation from
 * beginning. They are asked before a node is isolated, and again right before anything is done to it. A node
 * that a brake keeps in service is marked in its health state, and takes no new work.
 */
#include "watch/brake/brake.h"
#include "node/action.h"
#include "watch/brake/shell.h"
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/incident/incident.h"
#include "watch/outside/outside.h"
#include "watch/view/facts.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- before something is done ----------------------------------------------------------------- */

/* The remedy is the mandatory successor of the last one. It completes that remedy, so it needs no evidence of
 * its own. */
static bool brake_follows(const struct watch *w, const struct member *m, const struct remedy *remedy)
{
    const struct repair *r = member_repair(m);
    const struct remedies *all = w->policy.health.remedies;
    size_t n = r ? r->n_attempts : 0;
    if (n && !r->attempts[n - 1].ended.ns)
        n--; /* the last attempt is this remedy itself */
    const struct remedy *last =
        n && all && r->attempts[n - 1].done ? remedies_find(all, r->attempts[n - 1].remedy) : NULL;
    return last && last->after && strcmp(last->after, remedy->name) == 0;
}

bool remedy_wanted(const struct watch *w, struct mono now, const struct member *m,
                   const struct remedy *remedy)
{
    const struct ailment *a = member_ailment(m);
    bool any = brake_follows(w, m, remedy);
    for (size_t i = 0; a && i < a->n_open; i++)
        any |= incident_counts(&a->open[i]) && incident_is_for(w, now, m, &a->open[i], remedy);
    return any;
}

/* The fault that the remedy is for was seen a moment ago. Other faults are no evidence for it. */
static int check_evidence(const struct watch *w, struct mono now, const struct member *m,
                          const struct remedy *remedy, struct err *e)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++)
        if (incident_counts(&a->open[i]) && incident_shown(w, now, m, &a->open[i], remedy))
            return 0;
    return remedy_wanted(w, now, m, remedy) ? err_set(e, -EAGAIN, "its fault was not seen a moment ago")
                                            : err_set(e, -EBUSY, "its fault is over");
}

/* The conditions for anything that is done to m. */
static int check_ground(const struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    int rc = brake_stopped(w, e);
    if (rc < 0)
        return rc;
    if (!acts_for(w, m))
        return err_set(e, -EBUSY, "it is only observed: Remediate=no");
    rc = held_check(w, m, e);
    if (rc < 0)
        return rc;
    if (repair_yields(m))
        return err_set(e, -EBUSY, "a person took it back");
    if (!watch_live(w, m))
        return lost_check(w, now, m, e);
    if (!told_anew(health_state_find(w, m)))
        return err_set(e, -EAGAIN, "it did not tell its checks since this controller stood still");
    return machine_check(w, m, e);
}

/* Slurm was read and shows Fettle's drain, so no other work follows the work that ends there. */
static bool is_drained_there(const struct watch *w, const struct member *m)
{
    CLEANUP_JSON json_t *record = slurm_recorded(w, m);
    return record && strcmp(json_text(record, "state"), "drained") == 0;
}

int brake_end_work(const struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    int rc = check_ground(w, now, m, e);
    if (rc < 0)
        return rc;
    if (class_of(w, m)->lost_work == LOST_WORK_WAIT)
        return err_set(e, -EBUSY, "its class waits for its work");
    if (!incident_lost(w, now, m))
        return err_set(e, -EBUSY, "it is not lost any more");
    if (shared_holds(w, m))
        return err_set(e, -EAGAIN, "its fault has a cause that it shares with others");
    if (watch_observed(w, m)->scheduled != WORK_BUSY || !is_drained_there(w, m))
        return err_set(e, -EAGAIN, "the scheduler knows of no work on it, or did not drain it yet");
    return 0;
}

int brake_operate(struct watch *w, struct mono now, const struct member *m, const struct remedy *remedy,
                  struct err *e)
{
    struct budget full;
    int rc = check_ground(w, now, m, e);
    if (rc < 0)
        return rc;
    if (repair_work(w, m) != WORK_IDLE &&
        (!remedy || remedy->needs == NEEDS_IDLE || maintenance_wants(m, remedy))) {
        CLEANUP_TEXT struct text work = {0};
        work_say(w, m, &work);
        return err_set(e, -EAGAIN, "%s", work.s);
    }
    if (!remedy)
        return 0;
    if (remedy->dry)
        return err_set(e, -EBUSY, "the remedy is a dry run");
    if (shared_holds(w, m))
        return err_set(e, -EAGAIN, "its fault has a cause that it shares with others");
    if (!budget_allows(w, m, 0, &full))
        return err_set(e, -EAGAIN, "%s: %u of %u nodes are out, at most %u may be", full.scope, full.out,
                       full.nodes, full.limit);
    return maintenance_wants(m, remedy) || brake_follows(w, m, remedy) ? 0
                                                                       : check_evidence(w, now, m, remedy, e);
}

/* No evidence is needed but that a person released the node. What runs on it, and whoever else holds it, is
 * waited for. */
int brake_wipe(const struct watch *w, const struct member *m, const struct remedy *remedy, struct err *e)
{
    int rc = brake_stopped(w, e);
    if (rc == 0)
        rc = held_check(w, m, e);
    if (rc == 0 && !member_unwiped(m))
        rc = err_set(e, -EBUSY, "nobody released it");
    if (rc == 0 && remedy->dry)
        rc = err_set(e, -EBUSY, "the remedy is a dry run");
    if (rc == 0 && !watch_live(w, m))
        rc = err_set(e, -EAGAIN, "it is not heard");
    if (rc == 0 && repair_work(w, m) != WORK_IDLE) {
        CLEANUP_TEXT struct text work = {0};
        work_say(w, m, &work);
        rc = err_set(e, -EAGAIN, "%s", work.s);
    }
    return rc < 0 ? rc : machine_check(w, m, e);
}

/* The conditions for a remedy on a node in service: it is degraded, and no person has decided about it. */
static int check_tend(const struct member *m, const struct remedy *remedy, struct err *e)
{
    if (!remedy_is_gentle(remedy))
        return err_set(e, -EBUSY, "remedy \"%s\" is not for a node in service by now", remedy->name);
    if (member_override(m))
        return err_set(e, -EBUSY, "a person took it back");
    if (member_maintenance(m))
        return err_set(e, -EBUSY, "maintenance: %s", member_maintenance(m)->why);
    if (member_severity(m) > RESULT_DEGRADED)
        return err_set(e, -EBUSY, "it is worse than degraded by now");
    return 0;
}

int brake_tend(struct watch *w, struct mono now, const struct member *m, const struct remedy *remedy,
               struct err *e)
{
    int rc = check_tend(m, remedy, e);
    return rc < 0 ? rc : brake_operate(w, now, m, remedy, e);
}

static int may_operate(struct watch *w, struct mono now, const struct member *m, const struct repair *r,
                       const struct operation *o, struct err *e)
{
    const char *boot = boot_of(w, m);
    if (!m->listed)
        return err_set(e, -EBUSY, "no configuration file names it any more");
    if (!*boot)
        return err_set(e, -EAGAIN, "it was not heard since this controller began");
    if (strcmp(boot, o->boot) != 0)
        return err_set(e, -EBUSY, "it was booted since");
    struct action action = action_of(o->run);
    if (action.kind == ACTION_FORGET)
        return 0;
    if (r->approval == APPROVAL_WANTED)
        return err_set(e, -EAGAIN, "it is not approved yet");
    if (r->approval == APPROVAL_REFUSED)
        return err_set(e, -EBUSY, "it was refused");
    if (action.kind == ACTION_CHECK)
        return brake_operate(w, now, m, NULL, e);
    if (action.kind == ACTION_WORK)
        return brake_end_work(w, now, m, e);
    const struct remedies *all = w->policy.health.remedies;
    const struct remedy *remedy = all ? remedies_find(all, o->of) : NULL;
    if (!remedy)
        return err_set(e, -EBUSY, "there is no remedy \"%s\" any more", o->of);
    if (strcmp(remedy->run, o->run) != 0)
        return err_set(e, -EBUSY, "remedy \"%s\" is another one by now", o->of);
    if (r->step == STEP_WIPE)
        return brake_wipe(w, m, remedy, e);
    if (remedy->approval && r->approval != APPROVAL_GIVEN)
        return err_set(e, -EBUSY, "remedy \"%s\" needs a person's approval by now", o->of);
    if (remedies_of_week(w, m) > w->policy.health.limits.remedies_a_week)
        return err_set(e, -EBUSY, "it had %u remedies within a week", remedies_of_week(w, m) - 1);
    if (r->step == STEP_TEND && check_tend(m, remedy, e) < 0)
        return -EBUSY;
    return brake_operate(w, now, m, remedy, e);
}

/* A node that is not heard may run work by now, whatever it said last. */
static enum work power_work(const struct watch *w, const struct member *m)
{
    enum work work = watch_work(w, m);
    return work == WORK_IDLE && !watch_live(w, m) ? WORK_UNKNOWN : work;
}

int watch_may_power(const struct watch *w, const struct member *m, const char *run, bool force, struct err *e)
{
    const char *stop = cluster_switch(w->cluster, "stop");
    CLEANUP_TEXT struct text says = {0};
    if (stop)
        return err_set(e, -EBUSY, "everything is stopped: %s", stop);
    enum work work = power_work(w, m);
    if (force || action_of(run).kind == ACTION_POWER_ON || work == WORK_IDLE)
        return 0;
    if (work == WORK_BUSY)
        work_say(w, m, &says);
    return err_set(e, work == WORK_BUSY ? -EBUSY : -EAGAIN, "%s; only a command with force goes through",
                   work == WORK_BUSY ? says.s : "it is not known whether work runs on it");
}

/* Asked right before the power is switched. */
static int power_may(struct watch *w, struct mono now, const struct member *m, const struct operation *o,
                     struct err *e)
{
    int rc = watch_may_power(w, m, o->run, o->force, e);
    if (rc == 0 && !o->force && action_of(o->run).kind != ACTION_POWER_ON)
        rc = held_read_now(w, now, m, e);
    return rc;
}

int watch_may_operate(struct watch *w, struct mono now, const struct member *m, const char *operation,
                      struct err *e)
{
    const struct repair *r = member_treated(m);
    CLEANUP_OPERATION struct operation power = {0}, o = {0};
    cluster_power(w->cluster, m, &power);
    if (power.id && strcmp(power.id, operation) == 0)
        return power_may(w, now, m, &power, e);
    watch_operation(w, m, &o);
    int rc = !r || strcmp(r->operation, operation) != 0 || !o.id || strcmp(o.id, operation) != 0
                 ? err_set(e, -EBUSY, "it is not wanted any more")
                 : may_operate(w, watch_awake(w, now), m, r, &o, e);
    if (rc == 0)
        rc = held_check_now(w, now, m, e);
    return rc;
}

/* --- the sweep -------------------------------------------------------------------------------- */
