/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_DRIFTING_INSIDE_H
#define FETTLE_WATCH_CONFORM_DRIFTING_INSIDE_H

#include "base/table.h"
#include "watch/view/view.h"

/*
 * What this leader itself saw of drift, by its own clock: since when, for how long it is gone, and what was
 * proposed. Everything that decides beyond that is agreed (cluster/state/drift.h). A new leader begins with
 * nothing, and each time here counts from its own first look. Its state is w->driftings.
 */

/* One member that drifts, or did so a moment ago. */
struct drifting {
    uint32_t member;
    bool found;              /* by this watch, and its record is not here yet */
    bool here, good;         /* as last proven; neither: unknown */
    struct mono came;        /* drifted since then, if here */
    struct mono good_since;  /* conformant without a break, if good */
    bool dated;              /* the next three are given */
    struct wall since;       /* as the record says */
    struct mono since_at;    /* the same by the watch's own clock: a clock that is set ages no drift */
    struct mono dated_at;    /* when since_at was computed */
    bool written, reboot;    /* the following are given */
    struct fingerprint what; /* was proposed to be recorded as the drift, */
    struct mono written_at;  /* at this time, */
    unsigned rewrites;       /* and it was another one so many times without an hour's rest */
    struct mono reboot_at;   /* a reboot was proposed */
    struct wall worn; /* the `since` of the drift about which a person was told that reboots do not cure it */
    UT_hash_handle hh;
};

struct drifting *drifting_find(const struct watch *w, const struct member *m); /* NULL without */
struct drifting *drifting_of(struct watch *w, const struct member *m);         /* made when there is none */
/* Something else is proven of m than before. */
void drifting_note(struct watch *w, struct mono now, const struct member *m, enum conformance is);
/* In each sweep: dates the record by the watch's own clock when it is seen first, and forgets a node that is
 * well. */
void drifting_look(struct watch *w, struct mono now, const struct member *m);
/* m is proven conformant for half an hour without a break: drift that flaps is over. */
bool drifting_rested(const struct watch *w, struct mono now, const struct member *m);

struct driftings {
    struct drifting *all; /* by member */
};

#endif
