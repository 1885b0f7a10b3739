/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INSIDE_H
#define FETTLE_WATCH_INSIDE_H

#include "watch/answer_inside.h"
#include "watch/bmc_inside.h"
#include "watch/brake_inside.h"
#include "watch/budget_inside.h"
#include "watch/call_inside.h"
#include "watch/conformity_inside.h"
#include "watch/gather_inside.h"
#include "watch/health_inside.h"
#include "watch/hearing_inside.h"
#include "watch/held_inside.h"
#include "watch/machine_inside.h"
#include "watch/measure_inside.h"
#include "watch/proposal_inside.h"
#include "watch/shared_inside.h"
#include "watch/silence_inside.h"
#include "watch/spell_inside.h"
#include "watch/trial_begin_inside.h"
#include "watch/trial_inside.h"
#include "watch/vitals_inside.h"
#include "watch/window_inside.h"

/*
 * The inside of a watch, for the files of this folder only: what all of them need. NAME_inside.h is what
 * NAME.c does for the others, with its own state in a struct of its own, which struct watch has by value
 * under the same name: w->silence is touched by silence.c, and where another file touches it, it reaches
 * through a wall (doc/adr/0052-rooms-of-the-watch.md has the rooms, and what leads from one to another).
 *
 * All moments in here are of the watch's own time (watch_awake), but where a name says otherwise.
 */
struct watch {
    struct cluster *cluster;
    struct watch_policy policy;
    struct watch_sink sink;
    struct observed *seen; /* by member id, as known and rows */
    size_t n, cap;
    struct mono created, began;
    struct mono last_tick;
    struct wall wall; /* of the last tick */
    struct span stood_still;
    struct mono resumed; /* when it had stood still for long the last time */
    uint32_t cursor;
    unsigned slice, sweeps;
    unsigned ended; /* so much of what is judged on the whole is */
    struct alarms alarms;

    struct silence silence;
    struct calls calls;
    struct conformity conformity;
    struct gather gather;
    struct spells spells;
    struct proposals proposals;
    struct bmcs bmcs;
    struct held held;
    struct windows windows;
    struct machines machines;
    struct vitals_known vitals;
    struct hearing hearing;
    struct health_turns health;
    struct answers answers;
    struct shared shared;
    struct measures measures;
    struct trials trials;
    struct trial_begin trial_begin;
    struct budgets budgets;
    struct brake brake;
};

/* said_now of a node that speaks: for those who ask about all checks of all nodes. */
static inline enum result said_of(const struct watch *w, struct mono now, const struct vitals *v, size_t i)
{
    int64_t age_ns = now.ns - w->created.ns - INT64_C(100000000) * v->looked_ds[i];
    uint8_t said = v->said[i] & SAID_RESULT;
    return !said || age_ns > w->vitals.rules[i].age_max_ns ? RESULT_UNKNOWN : (enum result)(said - 1);
}

/* A moment that is kept in tenths of seconds since the watch was made. */
struct mono watch_at(const struct watch *w, uint32_t ds);
uint32_t watch_ds(const struct watch *w, struct mono at);
static inline bool within(struct mono now, struct mono then, int64_t seconds)
{
    return mono_sub(now, then).ns < span_s(seconds).ns;
}
const struct patience *patience_of(const struct watch *w, const struct member *m);
/* The monotonic clock less the time in which this process stood still. */
struct mono watch_awake(const struct watch *w, struct mono now);
/* The same at a moment at which something was observed. */
struct mono watch_observed_at(struct watch *w, struct mono now);
/* What was observed of m; makes room for members that were met since. */
struct observed *watch_of(struct watch *w, const struct member *m);
/* Nothing has to pass first, and the record does not say that it is in service on this boot. */
bool is_put_into_service(const struct watch *w, const struct member *m);
/* And held for its checks, where they have to pass first: no work lands in between. */
bool is_heard(const struct watch *w, const struct member *m);

#endif
