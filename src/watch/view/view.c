/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every room of the watch sees: the agreed state, the observations of each member, and the time.
 *
 * Time: `awake` is the monotonic clock less the time in which this process stood still (a stopped process, a
 * loop that hung). A controller that does not listen cannot hear a node. The first event after such a time
 * takes notice of the gap, even when it comes before the first tick, so that no node is heard in the future.
 *
 * A room tells the rooms above it through the functions that the top gives (struct watch_up).
 */
#include "watch/view/view.h"
#include "watch/view/alarm.h"
#include "watch/view/observed.h"
#include "watch/view/policy.h"
#include "watch/view/shell.h"

#include <assert.h>
#include <stdlib.h>

enum { STOOD_STILL_S = 10 }; /* after so long a standstill, what is known about nodes may be out of date */

struct mono watch_awake(const struct watch *w, struct mono now)
{
    return (struct mono){now.ns - w->stood_still.ns};
}

struct mono watch_at(const struct watch *w, uint32_t ds)
{
    return mono_add(w->created, span_ms(INT64_C(100) * ds));
}

uint32_t watch_ds(const struct watch *w, struct mono at)
{
    return (uint32_t)(mono_sub(at, w->created).ns / span_ms(100).ns);
}

/* A member that is met now counts as heard now, for lack of anything better. */
static struct mono view_met(const struct watch *w)
{
    struct mono from = watch_awake(w, w->last_tick);
    return from.ns < w->began.ns ? w->began : from;
}

/* Takes a gap since the last tick out of the time that counts, when it is too long for a working loop. */
static void note_gap(struct watch *w, struct mono now)
{
    int64_t gap = mono_sub(now, w->last_tick).ns;
    int64_t usual = span_ms(WATCH_TICK_MS).ns;
    if (gap <= 10 * usual)
        return;
    w->stood_still.ns += gap - usual;
    w->last_tick = now;
    beat_init(&w->unmet.beat, view_met(w));
    if (gap >= span_s(STOOD_STILL_S).ns)
        w->up->stood_still(w);
}

struct mono watch_observed_at(struct watch *w, struct mono now)
{
    note_gap(w, now);
    return watch_awake(w, now);
}

void view_tick(struct watch *w, struct mono now, struct wall wall)
{
    note_gap(w, now);
    w->last_tick = now;
    w->wall = wall;
    beat_init(&w->unmet.beat, view_met(w));
}

/* Members may be met at any time. The observations, and what the rooms remember, grow with them. */
static void view_grow(struct watch *w)
{
    size_t n = cluster_count(w->cluster), before = w->n;
    if (n > w->cap) {
        w->cap = n + n / 4 + 16;
        w->seen = mem_grow(w->seen, w->cap * sizeof *w->seen);
    }
    for (size_t i = before; i < n; i++) {
        w->seen[i] = (struct observed){0};
        beat_init(&w->seen[i].beat, view_met(w));
    }
    w->n = n;
    w->up->grow(w, before, n);
}

struct observed *watch_of(struct watch *w, const struct member *m)
{
    if (m->id >= w->n)
        view_grow(w);
    return &w->seen[m->id];
}

const struct observed *watch_observed(const struct watch *w, const struct member *m)
{
    return m->id < w->n ? &w->seen[m->id] : &w->unmet;
}

void watch_touch(struct watch *w, const struct member *m, enum aspect p)
{
    struct observed *o = watch_of(w, m);
    o->changed[p] = o->changed_any = ++w->changes;
}

struct watch *view_create(struct cluster *c, const struct watch_policy *p, struct mono now,
                          struct span before, const struct watch_sink *sink, const struct watch_up *up)
{
    assert(sink->propose && sink->notice && sink->alarm);
    struct watch *w = mem_alloc(sizeof *w);
    w->cluster = c;
    w->policy = *p;
    w->sink = *sink;
    w->up = up;
    w->alarms = (struct alarms){.fn = sink->alarm, .arg = sink->arg};
    w->created = (struct mono){now.ns - before.ns};
    w->began = mono_add(now, p->spread);
    w->last_tick = now;
    beat_init(&w->unmet.beat, view_met(w));
    return w;
}

void observed_forget_before(struct observed *o)
{
    if (o->before)
        report_fini(o->before);
    free(STEAL(o->before));
}

static void observed_fini(struct observed *o)
{
    report_fini(&o->report);
    observed_forget_before(o);
    free(o->version);
    free(o->running);
    free(o->window);
    for (int k = 0; k < ELSEWHERES; k++)
        elsewhere_fini(&o->elsewhere[k].is);
    scheduler_word_fini(&o->word);
}

void view_destroy(struct watch *w)
{
    alarms_fini(&w->alarms);
    for (size_t i = 0; i < w->n; i++)
        observed_fini(&w->seen[i]);
    free(w->seen);
    free(w);
}

void row_refresh(struct watch *w, const struct member *m)
{
    w->up->row(w, m);
}

void health_changed(struct watch *w, const struct member *m)
{
    w->up->changed(w, m);
}

void health_heard(struct watch *w, struct mono now, struct wall wall, const struct member *m)
{
    w->up->heard(w, now, wall, m);
}

const struct beat_timeouts *timeouts_of(const struct watch *w, const struct member *m)
{
    if (m->spec.sensitive)
        return &w->policy.sensitive;
    return m->spec.borrowed ? &w->policy.borrowed : &w->policy.plain;
}

struct wall watch_contact(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    return o->heard_wall.ns ? o->heard_wall : o->heard_before;
}
