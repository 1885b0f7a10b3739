/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that lost their way here: their collector went, or they were given to another one. All members are
 * looked at for that, some in each turn of the loop, however many collectors went at once. In one round the
 * nodes are taken from the sessions that spoke for them and counted; in the next they are excused for as
 * long as that many nodes need to come back. Collectors that go meanwhile wait for later rounds.
 *
 * A session outlives its connection until all its nodes are taken from it.
 */
#include "controller/sessions/collectors_inside.h"

#include "base/log.h"
#include "base/loop.h"

#include <stdlib.h>
#include <utlist.h>

enum { MEMBERS_A_TURN = 4096, TURN_EVERY_MS = 1 };

/* Nodes on their way here or to another collector after they lost theirs: each may take as long as all of
 * them take to be greeted. */
struct span regain_time(struct agents *a, struct mono now, size_t more)
{
    if (a->greeted_at.ns < now.ns)
        a->greeted_at = now;
    a->greeted_at =
        mono_add(a->greeted_at, config_spread(2 * more)); /* they spread their dialling likewise */
    return waits_excuse(&a->waits, mono_sub(a->greeted_at, now));
}

/* --- what is done to one member ---------------------------------------------------------------- */

static struct session *loser_of(const struct agents *a, const struct member *m)
{
    const struct member *collector = share_collector_of(a->share, m);
    return collector && collector->id < a->regain.n ? a->regain.by_collector[collector->id] : NULL;
}

static void take_away(struct agents *a, struct member *m)
{
    const struct observed *o = watch_observed(a->with.watch, m);
    struct session *s = o->session, *loser = s && s->lost && m != s->member ? s : loser_of(a, m);
    if (!loser)
        return;
    loser->left_behind += o->beat.liveness == LIVENESS_LIVE || o->beat.liveness == LIVENESS_LATE;
    if (loser == s)
        watch_close(a->with.watch, m, s);
}

/* The nodes of these collectors, and those of others that were on their way already: they queue behind these.
 */
static void regain_excuse(struct agents *a, struct member *m)
{
    const struct observed *o = watch_observed(a->with.watch, m);
    if (!o->session && (o->collector || loser_of(a, m)))
        watch_excuse(a->with.watch, mono_now(), a->regain.more, m);
}

/* The node belongs to another session now: its old collector does not speak for it any more, and the way
 * to the new one is not its silence. */
static void regain_move(struct agents *a, struct member *m)
{
    const struct observed *o = watch_observed(a->with.watch, m);
    if (!o->collector || o->collector == share_collector_of(a->share, m))
        return;
    if (o->session)
        watch_close(a->with.watch, m, o->session);
    watch_excuse(a->with.watch, mono_now(), a->regain.more, m);
}

/* --- rounds ------------------------------------------------------------------------------------ */

static void regain_begin(struct agents *a, void (*visit)(struct agents *a, struct member *m))
{
    a->regain.visit = visit;
    a->regain.at = 0;
}

/* The collectors that went until now. One that never responded has lost no nodes: else a collector that
 * comes and goes would excuse its nodes for ever. */
static void begin_losses(struct agents *a)
{
    struct session *s;
    a->regain.losers = STEAL(a->regain.waiting);
    a->regain.n = cluster_count(a->with.cluster);
    a->regain.by_collector = mem_alloc((a->regain.n + 1) * sizeof(struct session *));
    LL_FOREACH2(a->regain.losers, s, next_lost)
    {
        if (s->port)
            a->regain.by_collector[s->member->id] = s;
    }
    regain_begin(a, take_away);
}

static void tell_losses(struct agents *a)
{
    struct session *s;
    size_t all = 0;
    bool any = false;
    LL_FOREACH2(a->regain.losers, s, next_lost)
    {
        CLEANUP_TEXT struct text t = {0};
        if (!s->port)
            continue;
        text_printf(&t, "does not respond; its %zu nodes move", s->left_behind);
        agents_note(a, "collector.lost", s->member->name, t.s);
        all += s->left_behind;
        any = true;
    }
    if (any)
        a->regain.more = regain_time(a, mono_now(), all);
    regain_begin(a, any ? regain_excuse : NULL);
}

static void regain_release(struct session *s)
{
    s->lost = false;
    s->left_behind = 0;
    if (s->ended)
        free(s);
}

static void drop_losers(struct agents *a, struct session **list)
{
    struct session *s, *tmp;
    LL_FOREACH_SAFE2(*list, s, tmp, next_lost)
    {
        LL_DELETE2(*list, s, next_lost);
        regain_release(s);
    }
}

static void end_round(struct agents *a)
{
    if (a->regain.visit == take_away) {
        tell_losses(a);
        if (a->regain.visit)
            return;
    }
    regain_begin(a, NULL);
    drop_losers(a, &a->regain.losers);
    free(STEAL(a->regain.by_collector));
    a->regain.n = 0;
    if (a->regain.waiting)
        begin_losses(a);
}

bool regain_turn(struct agents *a)
{
    size_t n = cluster_count(a->with.cluster);
    for (int i = 0; i < MEMBERS_A_TURN && a->regain.visit && a->regain.at < n; i++)
        a->regain.visit(a, cluster_by_id(a->with.cluster, a->regain.at++));
    if (a->regain.visit && a->regain.at >= n)
        end_round(a);
    return a->regain.visit != NULL;
}

static void on_turn(uv_timer_t *t)
{
    LOOP_DOES("lost collectors");
    struct agents *a = t->data;
    bool shares = shares_tell(a);
    if (!regain_turn(a) && !shares) {
        uv_timer_stop(t);
        a->regain.turning = false;
    }
}

static void regain_start(struct agents *a)
{
    if (a->regain.turning)
        return;
    a->regain.turning = true;
    uv_timer_start(&a->regain.timer, on_turn, 0, TURN_EVERY_MS);
}

void regain_lost(struct session *s)
{
    struct agents *a = s->agents;
    s->lost = true;
    LL_APPEND2(a->regain.waiting, s, next_lost);
    if (!a->regain.visit)
        begin_losses(a);
    regain_start(a);
}

void regain_moved(struct agents *a, struct mono now, size_t moved)
{
    a->regain.more = regain_time(a, now, moved);
    regain_begin(a, regain_move);
    regain_start(a);
}

bool regain_busy(const struct agents *a)
{
    return a->regain.visit != NULL;
}

void regain_finish(struct agents *a)
{
    while (regain_turn(a))
        ;
}

void regain_drop(struct agents *a)
{
    regain_begin(a, NULL);
    drop_losers(a, &a->regain.losers);
    drop_losers(a, &a->regain.waiting);
    free(STEAL(a->regain.by_collector));
}
