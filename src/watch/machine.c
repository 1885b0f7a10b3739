/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine answers by a name. What tells it from another is written down when it is known, for all nodes
 * of a sweep at once; that another one has the name is a command of its own, with all that follows.
 *
 * An inventory counts that is of the open session alone: what the machine before had said is known until the
 * new one has said something else. A change within a replacement of Fettle's own is that replacement. Two
 * machines that answer by one name in turn would change it again and again: that is said, and not followed.
 */
#include "watch/inside.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    MACHINES_A_SWEEP = 500,
    TELL_AGAIN_S = 600 /* that two machines answer by one name */
};

static void note_machine(struct watch *w, const struct member *m, const char *name, const char *was)
{
    if (!w->machines)
        w->machines = json_object();
    if (json_object_size(w->machines) < MACHINES_A_SWEEP)
        json_object_set_new(w->machines, m->name, json_pack("{s:s,s:s*}", "machine", name, "was", was));
}

/* The remedies that make a new machine of it: how often they were tried is not of the machine. */
static json_t *replacing(const struct watch *w)
{
    const struct remedies *all = w->policy.health.remedies;
    json_t *names = json_array();
    for (size_t i = 0; all && i < all->n; i++)
        if (strcmp(all->list[i].run, "replace") == 0)
            json_array_append_new(names, json_string(all->list[i].name));
    return names;
}

static void propose_instance(struct watch *w, struct mono now, const struct member *m, const char *name)
{
    const struct observed *o = watch_of(w, m);
    const struct health_policy *p = &w->policy.health;
    char instance[20];
    snprintf(instance, sizeof instance, "%016" PRIx64, o->beat.instance);
    CLEANUP_JSON json_t *set =
        json_pack("{s:s,s:s,s:b,s:s,s:s,s:I,s:o}", "was", member_machine(m)->machine, "is", name, "act",
                  (int)p->act, "boot", o->boot, "instance", instance, "deadline_s",
                  (json_int_t)(p->provision_deadline.ns / span_s(1).ns), "keep", replacing(w));
    health_propose(w, now, m, COMMAND_INSTANCE, NULL, set);
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
    if (machine_restless(member_machine(m), name, w->wall))
        tell_restless(w, now, m, name);
    else if (!health_asked(vitals_of(w, m), now))
        propose_instance(w, now, m, name);
}

void machine_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct observed *o = watch_of(w, m);
    const struct machine_record *i = member_machine(m);
    const char *name = o->inventoried ? machine_surest(&o->report.machine) : NULL;
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
    CLEANUP_JSON json_t *all = STEAL(w->machines);
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    const char *name;
    json_t *one;
    if (!all)
        return;
    json_object_foreach (all, name, one)
        hostlist_add(&nodes, name);
    CLEANUP_JSON json_t *set = json_pack("{s:O}", "machines", all);
    CLEANUP_FREE char *text = json_write(set);
    w->sink.propose(w->sink.arg, COMMAND_MACHINE, &nodes, NULL, text);
}
