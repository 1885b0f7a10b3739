/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_VIEW_H
#define FETTLE_WATCH_VIEW_VIEW_H

#include "watch/view/alarm.h"
#include "watch/view/observed.h"
#include "watch/view/policy.h"
#include "watch/view/shell.h"

/*
 * What every room of the watch sees: the agreed state (cluster), the observations of each member, and the
 * time. A room reads them. It changes an observation only where one comes in, or to leave a mark that another
 * room takes in its own turn.
 *
 * Each room owns what it remembers: struct watch has a pointer to it, and only the room's files know the
 * type. A room tells the rooms above it through the functions that the top gives (struct watch_up).
 *
 * All moments are in the watch's own time (watch_awake), unless a name says otherwise.
 */

struct watch;

/* What a room tells the rooms above it: functions that the top gives. */
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
    struct observed unmet;      /* the observation of a member that was not met yet */
    struct mono created, began; /* created: moments are kept as distances from it */
    uint64_t changes;           /* the number of the last change of an observation */
    struct mono last_tick;
    struct wall wall; /* at the last tick */
    struct span stood_still;
    struct mono resumed;    /* when it last went on after a long standstill */
    uint32_t cursor;        /* the sweep, which belongs to the top: the next member */
    unsigned slice, sweeps; /* tenths of this sweep that are done; whole sweeps that are done */
    unsigned ended;         /* judgements of the sweep's end that are done */
    struct alarms alarms;

    /* What the rooms remember. */
    struct silence *silence;       /* presence */
    struct held *held;             /* hold */
    struct conformity *conformity; /* conform, as the next three */
    struct gather *gather;
    struct driftings *driftings;
    struct proposals *proposals;
    struct health_states *health_states; /* health, as the next one */
    struct measures *measures;
    struct budgets *budgets; /* budget, as the next one */
    struct surge *surge;
    struct bmcs *bmcs; /* outside, as the next two */
    struct windows *windows;
    struct machines *machines;
    struct shared *shared; /* incident, as the next one */
    struct answers *answers;
    struct fitness_rows *fitness;
    struct trials *trials; /* trial, as the next one */
    struct trial_begin *trial_begin;
    struct calls *calls; /* the top, as the next one */
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
/* The same for the moment of an observation. */
struct mono watch_observed_at(struct watch *w, struct mono now);
/* The observations of m; makes room for members that were met since. */
struct observed *watch_of(struct watch *w, const struct member *m);
/* This part of what is observed about m changed: followers are to be told. */
void watch_touch(struct watch *w, const struct member *m, enum aspect p);

/* --- life: the top's ----------------------------------------------------------------------------- */

/* before: of what was observed so long before now, the moments can be kept. */
struct watch *view_create(struct cluster *c, const struct watch_policy *p, struct mono now,
                          struct span before, const struct watch_sink *sink, const struct watch_up *up);
void view_tick(struct watch *w, struct mono now, struct wall wall); /* time passes */
void view_destroy(struct watch *w);
/* What an earlier controller was told about the inventory does not count any more. */
void observed_forget_before(struct observed *o);

/* --- what a room tells those above it -------------------------------------------------------------- */

/* Something changed that decides whether work may land on m: its row is made anew. */
void row_refresh(struct watch *w, const struct member *m);
/* Something changed that decides m's health: the next tick looks at m. */
void health_changed(struct watch *w, const struct member *m);
/* A result about m came in: what follows from it is proposed. */
void health_heard(struct watch *w, struct mono now, struct wall wall, const struct member *m);

#endif
