/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_VIEW_H
#define FETTLE_WATCH_VIEW_VIEW_H

#include "watch/view/alarm.h"
#include "watch/view/observed.h"
#include "watch/view/policy.h"
#include "watch/view/shell.h"

/*
 * What every room of the watch sees: the agreed state (cluster), what was observed of each member, and the
 * time. A room reads it. It changes what was observed of a member only where an observation comes in, or to
 * leave a mark that another room takes in its own turn.
 *
 * What a room remembers is its own: struct watch has a pointer to it, and only the room's files know the
 * type. A room tells the rooms above it through the functions that the top gives (struct watch_up).
 *
 * All moments are of the watch's own time (watch_awake), unless a name says otherwise.
 */

struct watch;

/* What a room tells those above it: functions that the top gives. */
struct watch_up {
    void (*grow)(struct watch *w, size_t from, size_t n); /* members up to n - 1 were met */
    void (*stood_still)(struct watch *w);
    void (*row)(struct watch *w, const struct member *m);     /* row_refresh */
    void (*changed)(struct watch *w, const struct member *m); /* health_changed */
    void (*heard)(struct watch *w, struct mono now, struct wall wall,
                  const struct member *m); /* health_heard */
};

struct watch {
    const struct watch_up *up;
    struct cluster *cluster;
    struct watch_policy policy;
    struct watch_sink sink;
    struct observed *seen; /* by member id */
    size_t n, cap;
    struct observed unmet; /* what is known of a member that was not met yet */
    struct mono created, began;
    struct mono last_tick;
    struct wall wall; /* of the last tick */
    struct span stood_still;
    struct mono resumed;    /* when it had stood still for long the last time */
    uint32_t cursor;        /* the sweep, which is the top's: the next member, */
    unsigned slice, sweeps; /* so many tenths, so many whole ones, */
    unsigned ended;         /* and so much of what is judged on the whole is */
    struct alarms alarms;

    /* What the rooms remember. */
    struct silence *silence;       /* presence */
    struct held *held;             /* hold */
    struct conformity *conformity; /* conform, as the next three */
    struct gather *gather;
    struct driftings *driftings;
    struct proposals *proposals;
    struct health_states *health_states; /* health, as the next */
    struct measures *measures;
    struct budgets *budgets; /* budget, as the next */
    struct surge *surge;
    struct bmcs *bmcs; /* outside, as the next two */
    struct windows *windows;
    struct machines *machines;
    struct shared *shared; /* incident, as the next two */
    struct answers *answers;
    struct fitness_rows *fitness;
    struct trials *trials; /* trial, as the next */
    struct trial_begin *trial_begin;
    struct calls *calls; /* the top, as the next two */
    struct hearing *hearing;
    struct health_turns *health;
};

static inline bool within(struct mono now, struct mono then, int64_t seconds)
{
    return mono_sub(now, then).ns < span_s(seconds).ns;
}

/* A moment that is kept in tenths of seconds since the watch was made. */
struct mono watch_at(const struct watch *w, uint32_t ds);
uint32_t watch_ds(const struct watch *w, struct mono at);
const struct beat_timeouts *timeouts_of(const struct watch *w, const struct member *m);
/* The monotonic clock less the time in which this process stood still. */
struct mono watch_awake(const struct watch *w, struct mono now);
/* The same at a moment at which something was observed. */
struct mono watch_observed_at(struct watch *w, struct mono now);
/* What was observed of m; makes room for members that were met since. */
struct observed *watch_of(struct watch *w, const struct member *m);

/* --- life: the top's ----------------------------------------------------------------------------- */

struct watch *view_create(struct cluster *c, const struct watch_policy *p, struct mono now,
                          const struct watch_sink *sink, const struct watch_up *up);
void view_tick(struct watch *w, struct mono now, struct wall wall); /* time passes */
void view_destroy(struct watch *w);
/* What a controller before was told of its inventory does not count any more. */
void observed_forget_before(struct observed *o);

/* --- what a room tells those above it -------------------------------------------------------------- */

/* Something that decides whether work may land on m is another: its row is made anew. */
void row_refresh(struct watch *w, const struct member *m);
/* Something changed that its health is judged by: m is looked at in the next tick. */
void health_changed(struct watch *w, const struct member *m);
/* One word of somebody's about m came in: what follows from it is proposed. */
void health_heard(struct watch *w, struct mono now, struct wall wall, const struct member *m);

#endif
