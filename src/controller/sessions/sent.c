/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that were sent to a collector, and were not heard from there yet. */
#include "controller/sessions/collectors_inside.h"

#include <string.h>

enum { SEND_AGAIN_AFTER_S = 600 }; /* a node that could not be heard where it was sent */

static struct sent *sent_of(struct agents *a, const struct member *m)
{
    if (m->id >= a->sent.n) {
        size_t n = cluster_count(a->with.cluster);
        a->sent.list = mem_grow(a->sent.list, n * sizeof *a->sent.list);
        memset(a->sent.list + a->sent.n, 0, (n - a->sent.n) * sizeof *a->sent.list);
        a->sent.n = n;
    }
    return &a->sent.list[m->id];
}

void sent_away(struct agents *a, const struct member *m, const struct member *collector, struct mono now)
{
    *sent_of(a, m) = (struct sent){.to = collector, .at = now};
}

void sent_arrived(struct agents *a, struct member *m)
{
    if (m->id >= a->sent.n)
        return;
    struct sent *s = &a->sent.list[m->id];
    s->to = NULL;
    if (!s->early)
        return;
    s->early = false;
    agents_ask_anew(a, m);
}

void sent_early(struct agents *a, const struct member *m)
{
    sent_of(a, m)->early = true;
}

/* True for an agent that was sent to this collector before and came back unheard: there is no way between
 * the two, so it is heard here for a while. The same holds for an agent that left a collector which has
 * not missed it: that collector stands still, and would cost the agent three tries of half a minute. An
 * agent that restarted does not know where it was heard. */
bool sent_came_back(struct agents *a, const struct member *m, uint64_t instance, const struct session *to,
                    struct mono now)
{
    struct sent *before = sent_of(a, m);
    const struct observed *o = watch_observed(a->with.watch, m);
    if (o->session == to && instance && o->beat.instance == instance) {
        before->to = to->member;
        before->at = now;
    }
    if (before->to != to->member || before->at.ns < to->came.ns ||
        mono_sub(now, before->at).ns > span_s(SEND_AGAIN_AFTER_S).ns)
        return false;
    if (a->sent.kept_at.ns == 0)
        a->sent.kept_at = now;
    return true;
}

bool sent_is_due(struct agents *a, struct mono now)
{
    if (a->sent.kept_at.ns == 0 || mono_sub(now, a->sent.kept_at).ns <= span_s(SEND_AGAIN_AFTER_S).ns)
        return false;
    a->sent.kept_at.ns = 0;
    return true;
}
