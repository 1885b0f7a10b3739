/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine answers by a name. What tells it from another is written down when it is known, for all nodes
 * of a sweep at once; that another one has the name is a command of its own, with all that follows.
 *
 * An inventory counts that is of the open session alone: what the machine before had said is known until the
 * new one has said something else. A change within a replacement of Fettle's own is that replacement. Two
 * machines that answer by one name in turn would change it again and again: that is said, and not followed.
 *
 * As long as it is not known that the machine which answers is the one of the record, nothing is done to it,
 * and it does not return: what stands in the record is not of it.
 */
#include "node/action.h"
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/outside/machine_inside.h"
#include "watch/outside/outside.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/policy.h"
#include "watch/view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MACHINES_A_SWEEP = 500,
    TELL_AGAIN_S = 600 /* that two machines answer by one name */
};

static void note_machine(struct watch *w, const struct member *m, const char *name, const char *was)
{
    if (!w->machines->news)
        w->machines->news = json_object();
    if (json_object_size(w->machines->news) < MACHINES_A_SWEEP)
        json_object_set_new(w->machines->news, m->name, json_pack("{s:s,s:s*}", "machine", name, "was", was));
}

/* The remedies that make a new machine of it: how often they were tried is not of the machine. */
static json_t *machine_replacing(const struct watch *w)
{
    const struct remedies *all = w->policy.health.remedies;
    json_t *names = json_array();
    for (size_t i = 0; all && i < all->n; i++)
        if (strcmp(all->list[i].run, "replace") == 0)
            json_array_append_new(names, json_string(all->list[i].name));
    return names;
}

/* How far a driver is with what is to be done to m: that is done to whichever machine is there. NONE also
 * when it has not begun, or never will. */
static enum operation_state begun_outside(const struct watch *w, const struct member *m)
{
    struct operation o;
    watch_operation(w, m, &o);
    bool any = action_of(o.run).by != ACTION_BY_AGENT && operation_was_begun(o.state);
    enum operation_state state = any ? o.state : OPERATION_NONE;
    operation_fini(&o);
    return state;
}

static void propose_instance(struct watch *w, struct mono now, const struct member *m, const char *name)
{
    const struct observed *o = watch_of(w, m);
    const struct health_policy *p = &w->policy.health;
    bool examine = machine_may_be_known(w, m) || begun_outside(w, m) != OPERATION_NONE;
    struct span deadline = examine ? p->examine_deadline : repair_provision_deadline(w, m);
    char instance[20];
    snprintf(instance, sizeof instance, "%016" PRIx64, o->beat.instance);
    CLEANUP_JSON json_t *set =
        json_pack("{s:s,s:s,s:b,s:b,s:s,s:s,s:I,s:o}", "was", member_machine(m)->machine, "is", name, "act",
                  (int)acts_for(w, m), "examine", (int)examine, "boot", o->boot, "instance", instance,
                  "deadline_s", (json_int_t)(deadline.ns / span_s(1).ns), "keep", machine_replacing(w));
    brake_swapped(w, m);
    CLEANUP_FREE char *written = json_write(set);
    health_propose(w, now, m, &(struct command){.kind = COMMAND_INSTANCE, .set = written});
}

static void tell_restless(struct watch *w, struct mono now, const struct member *m, const char *name)
{
    struct vitals *v = vitals_of(w, m);
    CLEANUP_TEXT struct text t = {0};
    if (v->restless.ns && within(now, v->restless, TELL_AGAIN_S))
        return;
    v->restless = now;
    text_printf(&t, "two machines or more answer as %s: %s now, and %s a moment ago", m->name, name,
                member_machine(m)->machine);
    w->sink.notice(w->sink.arg, "node.duplicate", m->name, t.s);
}

static void look_at_another(struct watch *w, struct mono now, const struct member *m, const char *name)
{
    const struct repair *r = member_repair(m);
    if ((r && r->step == STEP_REPLACE) || window_of(w, m))
        return; /* it is being replaced, or somebody works on it */
    if (begun_outside(w, m) == OPERATION_BEGUN)
        return; /* what a driver has begun comes to its end */
    if (machine_restless(member_machine(m), name, w->wall))
        tell_restless(w, now, m, name);
    else if (!health_asked(vitals_of(w, m), now))
        propose_instance(w, now, m, name);
}

void machine_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct observed *o = watch_of(w, m);
    const struct machine_record *i = member_machine(m);
    const char *name = machine_here(w, m);
    if (!name || !watch_live(w, m))
        return;
    if (!i) {
        note_machine(w, m, name, NULL);
        return;
    }
    switch (machine_is(&o->report.machine, i->machine)) {
    case MACHINE_IS_UNKNOWN: break;
    case MACHINE_IS_SAME:
        if (strcmp(name, i->machine) != 0)
            note_machine(w, m, name, i->machine);
        break;
    case MACHINE_IS_ANOTHER: look_at_another(w, now, m, name); break;
    }
}

void machines_end_sweep(struct watch *w)
{
    CLEANUP_JSON json_t *all = STEAL(w->machines->news);
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    const char *name;
    json_t *one;
    if (!all)
        return;
    json_object_foreach (all, name, one)
        if (cluster_find(w->cluster, name)->listed) /* by now, too */
            hostlist_add(&nodes, name);
    if (!nodes.n)
        return;
    CLEANUP_JSON json_t *set = json_pack("{s:O}", "machines", all);
    CLEANUP_FREE char *text = json_write(set);
    w->sink.propose(w->sink.arg, &(struct command){.kind = COMMAND_MACHINE, .nodes = &nodes, .set = text});
}

void machines_destroy(struct watch *w)
{
    json_decref(w->machines->news);
}
