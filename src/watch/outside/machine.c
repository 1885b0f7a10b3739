/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine has a node's name. The machine's identifier is written down when it is known, for all nodes
 * of a sweep at once. Another machine under the name is a command of its own, with consequences.
 *
 * Only an inventory of the open session counts, because the earlier inventory remains until the new machine
 * has sent its own. A change during a replacement by Fettle is that replacement. Two machines that use one
 * name in turn would change the record again and again: that is announced and not followed.
 *
 * While it is not known that the machine which answers is the recorded one, nothing is done to it and it does
 * not return, because the records are not about it.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MACHINES_A_SWEEP = 500,
    TELL_AGAIN_S = 600 /* until the same notice about two machines is repeated */
};

static void note_machine(struct watch *w, const struct member *m, const char *name, const char *was)
{
    struct machines *all = w->machines;
    if (all->n == MACHINES_A_SWEEP)
        return;
    if (!all->news)
        all->news = mem_alloc(MACHINES_A_SWEEP * sizeof *all->news);
    struct machine_noted *noted = &all->news[all->n++];
    *noted = (struct machine_noted){.m = m};
    snprintf(noted->is.machine, sizeof noted->is.machine, "%s", name);
    snprintf(noted->is.was, sizeof noted->is.was, "%s", was ? was : "");
}

/* Lists the remedies that put a new machine in place. Their attempts are about the node and not about the
 * machine. Returns how many there are. */
static size_t machine_replacing(const struct watch *w, struct remedy_name out[static REMEDIES_MAX])
{
    const struct remedies *all = w->policy.health.remedies;
    size_t n = 0;
    for (size_t i = 0; all && i < all->n; i++)
        if (strcmp(all->list[i].run, "replace") == 0)
            snprintf(out[n++].name, sizeof out->name, "%s", all->list[i].name);
    return n;
}

/* The state of the operation that a driver carries out on m, whichever machine is there. NONE also when it
 * has not begun, or never will. */
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
    struct remedy_name keep[REMEDIES_MAX];
    struct command cmd = {.kind = COMMAND_INSTANCE,
                          .instance = {.act = acts_for(w, m),
                                       .examine = examine,
                                       .instance = o->beat.instance,
                                       .deadline_s = (uint64_t)(deadline.ns / span_s(1).ns),
                                       .n = machine_replacing(w, keep),
                                       .keep = keep}};
    snprintf(cmd.instance.was, sizeof cmd.instance.was, "%s", member_machine(m)->machine);
    snprintf(cmd.instance.is, sizeof cmd.instance.is, "%s", name);
    snprintf(cmd.instance.boot, sizeof cmd.instance.boot, "%s", o->boot);
    brake_swapped(w, m);
    health_propose(w, now, m, &cmd);
}

static void tell_restless(struct watch *w, struct mono now, const struct member *m, const char *name)
{
    struct health_state *v = health_state_of(w, m);
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
        return; /* the driver's operation comes to its end first */
    if (machine_restless(member_machine(m), name, w->wall))
        tell_restless(w, now, m, name);
    else if (!health_asked(health_state_of(w, m), now))
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
    struct machines *all = w->machines;
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    CLEANUP_FREE struct machine_news *news = mem_alloc((all->n + 1) * sizeof *news);
    for (size_t i = 0; i < all->n; i++)
        if (all->news[i].m->listed) { /* it may have been removed meanwhile */
            news[nodes.n] = all->news[i].is;
            hostlist_add(&nodes, all->news[i].m->name);
        }
    machines_destroy(w);
    if (nodes.n)
        w->sink.propose(
            w->sink.arg,
            &(struct command){.kind = COMMAND_MACHINE, .nodes = &nodes, .machine = {nodes.n, news}});
}

void machines_destroy(struct watch *w)
{
    free(w->machines->news);
    *w->machines = (struct machines){0};
}
