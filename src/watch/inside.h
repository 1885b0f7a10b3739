/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INSIDE_H
#define FETTLE_WATCH_INSIDE_H

#include "watch/answer_inside.h"
#include "watch/bmc_inside.h"
#include "watch/budget_inside.h"
#include "watch/call_inside.h"
#include "watch/conformity_inside.h"
#include "watch/fitness_inside.h"
#include "watch/gather_inside.h"
#include "watch/health_inside.h"
#include "watch/hearing_inside.h"
#include "watch/held_inside.h"
#include "watch/isolate_inside.h"
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
    struct observed *seen; /* by member id, as known and rows */
    size_t n, cap;
    struct observed unmet; /* what is known of a member that was not met yet */
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
    struct surge surge;
    struct fitness_rows fitness;
};

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

/* --- one member, by what is agreed and what was observed of it ------------------------------------- */

bool watch_live(const struct watch *w, const struct member *m);
const struct node_class *class_of(const struct watch *w, const struct member *m);
const struct baseline *baseline_of(const struct watch *w, const struct member *m);
const struct drift *drift_of(const struct member *m); /* NULL without; also one that is remedied */
/* The boot on which m was last, as far as it is known; else "". */
const char *boot_of(const struct watch *w, const struct member *m);
/* Fettle acts for m: health does, and neither m nor its class is excepted. */
bool acts_for(const struct watch *w, const struct member *m);
/* A person's claim rests on m. */
bool person_holds(const struct member *m);
/* The maintenance window of the scheduler's that m lies in, in words: hands off. NULL: in none. Borrowed. */
const char *window_of(const struct watch *w, const struct member *m);
/* What Fettle has written of m into Slurm, as its driver recorded it; NULL: nothing. The caller's. */
json_t *slurm_recorded(const struct watch *w, const struct member *m);
/* What is to be done to the node by its repair, and how far it is. Give *o to operation_fini. */
void watch_operation(const struct watch *w, const struct member *m, struct operation *o);
/* Why nothing may be done that needs m idle, and which work it is: "work runs on it: slurm.4711". */
void work_say(const struct watch *w, const struct member *m, struct text *out);
/* The name of a finding's fault, for remedies. */
const char *fault_of(const char *check, const struct finding *f);
size_t incidents_open(const struct member *m); /* those that count */
/* A person wants m in service in spite of incidents of this group that are no worse than this. */
bool override_excuses(const struct member *m, const char *group, enum result severity);
/* A person wants m in service, and its repair gives way. */
bool repair_yields(const struct member *m);
unsigned remedies_of_week(const struct watch *w, const struct member *m);
/* A maintenance event asks for it: that the node is replaced, or restarted. It is asked for no evidence. */
bool maintenance_wants(const struct member *m, const struct remedy *remedy);
/* A remedy that may be applied to a node in service: it takes no node away, and asks for nobody. */
bool remedy_is_gentle(const struct remedy *r);
/* How long m may be in provision: its class says so, or the setting of all classes. */
struct span repair_provision_deadline(const struct watch *w, const struct member *m);
/* False while a machine is recorded, and this session's inventory is not here. */
bool machine_seen(const struct watch *w, const struct member *m);
/* -EAGAIN while it is not known that the machine that answers is the recorded one, or when it is another. 0
 * also when nothing tells it from others: nothing follows from that. */
int machine_check(const struct watch *w, const struct member *m, struct err *e);
/* The surest name of the machine that answers; NULL while it is unknown. Borrowed. */
const char *machine_here(const struct watch *w, const struct member *m);
/* Whether the machine that answers had the name already, now or before; also when that is not known any more,
 * because as many had it since as are remembered. */
bool machine_may_be_known(const struct watch *w, const struct member *m);

#endif
