/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overrides: a person decided that a node stays in service. While an override stands, the findings that it
 * covers do not isolate the node.
 *
 * The watch measures the age of an override by its own time, and records it now and then, so that a watch
 * that begins anew continues from there. Time without a controller does not count, nor does a change of the
 * clock. So an override may last longer than its time, and never ends early.
 */
#include "watch/health/health.h"
#include "watch/repair/repair.h"
#include "watch/repair/shell.h"
#include "watch/view/view.h"

enum {
    AGE_PARTS = 8, /* how often the age is recorded within the override's time */
    AGE_MIN_S = 1  /* the shortest time between two records */
};

static void override_propose(struct watch *w, const struct member *m, enum command_kind kind,
                             const char *reason, struct override_of_command says)
{
    CLEANUP_HOSTLIST struct hostlist one = {0};
    hostlist_add(&one, m->name);
    w->sink.propose(w->sink.arg,
                    &(struct command){.kind = kind, .nodes = &one, .reason = reason, .override_of = says});
}

/* How long the override has stood, by the watch's own time. */
static struct span override_spent(struct watch *w, struct mono now, const struct member *m,
                                  const struct override *o)
{
    struct health_state *v = health_state_of(w, m);
    if (v->override_of.ns != o->at.ns) {
        v->override_of = o->at;
        v->override_from = (struct mono){now.ns - span_s((int64_t)o->spent_s).ns};
    }
    return mono_sub(now, v->override_from);
}

void override_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct override *o = member_override(m);
    if (!o)
        return;
    int64_t all = w->policy.health.override.ns, part = all / AGE_PARTS, is = override_spent(w, now, m, o).ns;
    part = part > span_s(AGE_MIN_S).ns ? part : span_s(AGE_MIN_S).ns;
    if (is >= all)
        override_propose(w, m, COMMAND_OVERRIDE_END, "its time is over",
                         (struct override_of_command){.of = o->at});
    else if (is - span_s((int64_t)o->spent_s).ns >= part)
        override_propose(w, m, COMMAND_OVERRIDE_AGE, NULL,
                         (struct override_of_command){.of = o->at, .spent_s = (uint64_t)(is / span_s(1).ns)});
}

struct span watch_override_left(const struct watch *w, struct mono now, const struct member *m)
{
    const struct override *o = member_override(m);
    const struct health_state *v = health_state_find(w, m);
    int64_t all = w->policy.health.override.ns, is = o ? span_s((int64_t)o->spent_s).ns : all;
    if (o && v && v->override_of.ns == o->at.ns)
        is = mono_sub(watch_awake(w, now), v->override_from).ns;
    return (struct span){is < all ? all - is : 0};
}
