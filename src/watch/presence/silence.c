/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Silence. Each member waits in a wheel of ticks for the moment at which its silence reaches the next
 * threshold, and is looked at then. A heartbeat does not move it in the wheel: a member that was heard
 * meanwhile is moved when it is looked at. So a node becomes late, and silent, in the tick in which its time
 * is over, and a hundred thousand live nodes cost one look each per late timeout.
 *
 * A node that is found silent is taken down two to three tenths of a second later, when the data that waited
 * in the sockets was read. All nodes that are found by then share one claim. No node is taken down while more
 * nodes are quiet than MaxSilentShare; waits_quiet says why enough of them count by then.
 *
 * A node behind a collector is silent only when its collector says so. A collector that says nothing proves
 * nothing about its nodes.
 */
#include "watch/presence/presence.h"
#include "watch/presence/shell.h"
#include "watch/presence/silence_inside.h"
#include "watch/view/alarm.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND_TICKS = 2, /* between two claims on silent nodes */
    UNTOLD_TICKS =
        /* until the next look at a node that is due, while its collector says nothing about it */
    5,
    PROPOSED_TICKS = 10 /* until a node is found again whose claim was not committed */
};
#define NOBODY UINT32_MAX

void silence_create(struct watch *w)
{
    w->silence = mem_alloc(sizeof *w->silence);
    memset(w->silence->wheel, 0xff, sizeof w->silence->wheel);
    w->silence->calm = w->began;
    w->silence->tick = w->silence->ticked = mono_sub(w->last_tick, w->created).ns / span_ms(WATCH_TICK_MS).ns;
}

void silence_destroy(struct watch *w)
{
    hostlist_fini(&w->silence->late);
    hostlist_fini(&w->silence->live);
    free(w->silence->fallen);
    free(w->silence->due);
    free(STEAL(w->silence));
}

void silence_grow(struct watch *w, size_t from, size_t n)
{
    w->silence->due = mem_grow(w->silence->due, w->cap * sizeof *w->silence->due);
    for (size_t i = from; i < n; i++)
        w->silence->due[i] = (struct due){.tick = DUE_NONE};
    for (size_t i = from; i < n; i++)
        silence_look(w, cluster_by_id(w->cluster, (uint32_t)i));
}

/* --- the wheel ------------------------------------------------------------------------------- */

static void silence_unplan(struct watch *w, uint32_t id)
{
    struct due *d = &w->silence->due[id];
    if (d->tick == DUE_NONE)
        return;
    assert((d->prev == NOBODY) == (w->silence->wheel[d->tick % DUE_TICKS] == id));
    *(d->prev == NOBODY ? &w->silence->wheel[d->tick % DUE_TICKS] : &w->silence->due[d->prev].next) = d->next;
    if (d->next != NOBODY)
        w->silence->due[d->next].prev = d->prev;
    d->tick = DUE_NONE;
}

static void silence_plan(struct watch *w, uint32_t id, int64_t tick)
{
    struct due *d = &w->silence->due[id];
    uint32_t *first = &w->silence->wheel[tick % DUE_TICKS];
    assert(d->tick == DUE_NONE && "a member waits in one place of the wheel");
    assert(tick > w->silence->ticked && tick < w->silence->ticked + DUE_TICKS);
    d->tick = tick;
    d->prev = NOBODY;
    d->next = *first;
    if (*first != NOBODY)
        w->silence->due[*first].prev = id;
    *first = id;
}

/* The first tick after `at`. A moment beyond the wheel's range gets a look on the way. */
static int64_t tick_of(const struct watch *w, struct mono at)
{
    int64_t tick = span_ms(WATCH_TICK_MS).ns, left = at.ns - (w->created.ns + w->silence->ticked * tick);
    if (left <= tick)
        return w->silence->ticked + 1;
    return w->silence->ticked + (left >= (DUE_TICKS - 1) * tick ? DUE_TICKS - 1 : (left + tick - 1) / tick);
}

/* --- when, and how it counts ------------------------------------------------------------------ */

static struct mono silence_earlier(struct mono a, struct mono b)
{
    return a.ns < b.ns ? a : b;
}

static struct mono silence_later(struct mono a, struct mono b)
{
    return a.ns > b.ns ? a : b;
}

static bool goes_down(const struct observed *o, const struct agreed *a)
{
    return o->beat.liveness == LIVENESS_SILENT && a->listed && a->admitted && !a->silent;
}

/* Uses the present timeouts, which may have grown. Also leaves a full window after an alarm. */
static struct mono down_from(const struct watch *w, const struct member *m, const struct observed *o)
{
    struct mono calm = w->silence->alarm ? watch_awake(w, w->last_tick) : w->silence->calm;
    return mono_add(silence_later(o->beat.heard, calm), timeouts_of(w, m)->silent);
}

/* Nodes in service are watched. A watched node is quiet when it was not heard of late. A node that is held
 * for its silence, or that a person set down, is accounted for already. */
static bool is_watched(const struct agreed *a)
{
    return a->listed && a->admitted && !a->silent && !a->down;
}

static struct mono quiet_from(const struct watch *w, const struct observed *o)
{
    bool unheard = o->beat.liveness == LIVENESS_UNHEARD;
    return mono_add(o->beat.heard, unheard ? w->policy.plain.silent : w->policy.quiet);
}

static void silence_count(struct watch *w, struct due *d, bool watched, bool quiet)
{
    w->silence->watched += (size_t)watched - (size_t)d->watched;
    w->silence->quiet += (size_t)quiet - (size_t)d->quiet;
    d->watched = watched;
    d->quiet = quiet;
    assert(w->silence->quiet <= w->silence->watched);
}

/* Plans the next look at m. When m is due already, that is `again` ticks from now. */
static void plan_next(struct watch *w, const struct member *m, int64_t again)
{
    const struct observed *o = watch_of(w, m);
    struct due *d = &w->silence->due[m->id];
    struct agreed a = member_agreed(m);
    struct mono now = watch_awake(w, w->last_tick), quiet = quiet_from(w, o);
    struct mono next = beat_due(&o->beat, timeouts_of(w, m));
    bool counts = is_watched(&a) && w->policy.judge;
    bool missed = o->beat.liveness == LIVENESS_LATE || o->beat.liveness == LIVENESS_SILENT;
    silence_count(w, d, is_watched(&a), counts && (missed || now.ns >= quiet.ns));
    if (counts && !d->quiet)
        next = silence_earlier(next, quiet);
    if (goes_down(o, &a) && !d->fallen)
        next = silence_earlier(next, down_from(w, m, o));
    int64_t tick = next.ns <= now.ns ? w->silence->ticked + again : tick_of(w, next);
    if (!w->policy.judge || next.ns == INT64_MAX || (d->tick != DUE_NONE && d->tick <= tick))
        return;
    silence_unplan(w, m->id);
    silence_plan(w, m->id, tick);
}

bool silence_heeds(const struct watch *w, const struct member *m)
{
    const struct due *d = &w->silence->due[m->id];
    return d->tick == DUE_NONE || d->quiet;
}

void silence_look(struct watch *w, const struct member *m)
{
    plan_next(w, m, 1);
}

/* --- what follows ----------------------------------------------------------------------------- */

/* Up to when it is known that m was silent. A collector says in each report which of its nodes it has missed.
 */
static struct mono known_until(const struct watch *w, const struct observed *o, struct mono now)
{
    if (!o->session || !o->collector)
        return now;
    return silence_earlier(now, silence_later(o->missed, watch_observed(w, o->collector)->beat.heard));
}

static void silence_fall(struct watch *w, uint32_t id)
{
    if (w->silence->n_fallen == w->silence->fallen_cap) {
        w->silence->fallen_cap = 2 * w->silence->fallen_cap + 16;
        w->silence->fallen =
            mem_grow(w->silence->fallen, w->silence->fallen_cap * sizeof *w->silence->fallen);
    }
    w->silence->fallen[w->silence->n_fallen++] = id;
    w->silence->due[id].fallen = true;
}

/* m is due: draws the consequences of its silence. */
static void silence_judge(struct watch *w, const struct member *m, struct mono now)
{
    struct observed *o = watch_of(w, m);
    struct agreed a = member_agreed(m);
    enum liveness was = o->beat.liveness;
    o->beat.liveness = beat_judge(&o->beat, now, known_until(w, o, now), timeouts_of(w, m));
    if (o->beat.liveness != was)
        row_refresh(w, m);
    if (o->beat.liveness != was && o->beat.liveness == LIVENESS_LATE && m->listed)
        hostlist_add(&w->silence->late, m->name);
    if (goes_down(o, &a) && !w->silence->due[m->id].fallen && now.ns >= down_from(w, m, o).ns)
        silence_fall(w, m->id);
    plan_next(w, m, UNTOLD_TICKS);
}

static void silence_notice(struct watch *w, const char *what, struct hostlist *nodes, const char *text)
{
    if (nodes->n == 0)
        return;
    CLEANUP_FREE char *folded = hostlist_fold((const char *const *)nodes->names, nodes->n);
    w->sink.notice(w->sink.arg, what, folded, text);
    hostlist_fini(nodes);
}

/* At least three: in a cluster of five, one broken node is a fifth, and no mass silence. */
static bool is_mass(const struct watch *w)
{
    return w->silence->quiet >= 3 &&
           w->silence->quiet * 100 > w->silence->watched * w->policy.silent_share_percent;
}

/* Takes down the nodes that were found in earlier ticks and are still silent. */
static void take_down(struct watch *w, struct mono now)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    if (is_mass(w) && !w->silence->alarm) /* the end of the sweep raises or ends the alarm */
        return;
    for (size_t i = 0; i < w->silence->n_fallen; i++) {
        const struct member *m = cluster_by_id(w->cluster, w->silence->fallen[i]);
        const struct observed *o = watch_of(w, m);
        struct agreed a = member_agreed(m);
        if (goes_down(o, &a) && now.ns >= down_from(w, m, o).ns)
            hostlist_add(&nodes, m->name);
    }
    if (nodes.n && !w->sink.propose(w->sink.arg, &(struct command){.kind = COMMAND_SILENT,
                                                                   .nodes = &nodes,
                                                                   .reason = "silent past its grace"}))
        return; /* another command is under way: the next round tries again */
    for (size_t i = 0; i < w->silence->n_fallen; i++) {
        w->silence->due[w->silence->fallen[i]].fallen = false;
        plan_next(w, cluster_by_id(w->cluster, w->silence->fallen[i]), PROPOSED_TICKS);
    }
    w->silence->n_fallen = 0;
}

void silence_tick(struct watch *w, struct mono now)
{
    int64_t tick = mono_sub(now, w->created).ns / span_ms(WATCH_TICK_MS).ns;
    if (tick / ROUND_TICKS != w->silence->tick / ROUND_TICKS) {
        w->silence->round = true;
        take_down(w, now);
    }
    w->silence->tick = tick;
}

/* The first member that is due by now; NOBODY: none is left. */
static uint32_t next_due(struct watch *w)
{
    uint32_t id = w->silence->wheel[w->silence->ticked % DUE_TICKS];
    while (id == NOBODY && w->silence->ticked < w->silence->tick)
        id = w->silence->wheel[++w->silence->ticked % DUE_TICKS];
    return id;
}

size_t silence_step(struct watch *w, struct mono now, size_t nodes)
{
    size_t looked = 0;
    for (uint32_t id; looked < nodes && (id = next_due(w)) != NOBODY; looked++) {
        silence_unplan(w, id);
        silence_judge(w, cluster_by_id(w->cluster, id), now);
    }
    if (looked < nodes && w->silence->round) {
        w->silence->round = false;
        silence_notice(w, "node.live", &w->silence->live, "heard again");
        silence_notice(w, "node.late", &w->silence->late, "not heard of late; takes no new work");
    }
    return looked;
}

void silence_end_sweep(struct watch *w)
{
    w->silence->alarm_quiet = w->silence->quiet;
    w->silence->alarm_watched = w->silence->watched;
    if (is_mass(w) == w->silence->alarm)
        return;
    w->silence->alarm = !w->silence->alarm;
    w->silence->calm = watch_awake(w, w->last_tick);
    CLEANUP_TEXT struct text t = {0};
    if (w->silence->alarm)
        text_printf(
            &t, "%zu of %zu nodes are silent at once, more than %u %%: no node is taken down until fewer are",
            w->silence->quiet, w->silence->watched, w->policy.silent_share_percent);
    else
        text_printf(&t, "%zu of %zu nodes are silent; nodes are judged again", w->silence->quiet,
                    w->silence->watched);
    if (w->silence->alarm)
        alarms_raise(&w->alarms, ALARM_SILENCE, "", "", t.s, w->wall);
    else
        alarms_end(&w->alarms, ALARM_SILENCE, "", t.s);
}

void silence_ended(struct watch *w, const struct member *m)
{
    hostlist_add(&w->silence->live, m->name);
}

bool silence_is_mass(const struct watch *w)
{
    return w->silence->alarm;
}

struct mono silence_calm(const struct watch *w)
{
    return w->silence->calm;
}

bool watch_alarm(const struct watch *w, size_t *silent, size_t *all)
{
    *silent = w->silence->alarm_quiet;
    *all = w->silence->alarm_watched;
    return w->silence->alarm;
}
