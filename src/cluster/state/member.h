/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_MEMBER_H
#define FETTLE_CLUSTER_MEMBER_H

#include "base/text.h"
#include "cluster/state/claim.h"
#include "health/finding.h"
#include "node/lifecycle.h"
#include "node/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One node of the cluster, with everything that is remembered about it.
 */

struct ailment;
struct drift;
struct flaps;
struct listing;
struct ownership;
struct machine_record;
struct maintenance;
struct override;
struct reboots;
struct repair;
struct trial_record;

/* One node. Its address and id stay for the life of the cluster. */
struct member {
    uint32_t id;        /* dense, from 0 */
    uint32_t out_place; /* in the cluster's list of those that are out, from 1; 0: it is in service */
    char *name;
    bool listed; /* the roster has it */
    bool gone;   /* forgotten: no list has it, and no command may name it until it is met again */
    bool admitted;
    bool held_outside;              /* Fettle's drain or reservation stands in the scheduler, by its record */
    struct wall admitted_at;        /* ns 0 while it is not */
    char boot[37];                  /* on which it was put into service last; "" when no record says so */
    struct machine_record *machine; /* NULL while nothing tells its machine from another */
    struct spec spec;               /* effective: the roster's with the edits over it */
    struct spec *rostered;          /* the roster's own, only while edits lie over it */
    size_t place;                   /* in the order of the roster, while it is listed */
    char *edit;                     /* the edit record's "set" object as JSON, NULL without one */
    struct listing *bmc;            /* its BMC's last report of the firmware; NULL: none */
    uint16_t class;                 /* its node class, of cluster_classes */
    struct listing *seen;           /* the fingerprint that it was last seen with, NULL before */
    struct wall seen_since;
    struct past *past; /* NULL for a node that never changed and did not drift */
    size_t n_claims;
    struct hold *claims;           /* in order of their ids */
    const struct ownership *owner; /* NULL: nobody owns it */
    char *wiped; /* its record as it stands; NULL: it was not wiped since a person released it */
};

/* Memory of a node that changed. */
struct past {
    char *history;       /* JSON array, newest first, at most 16: [{"fingerprint","since","named","count"}] */
    struct drift *drift; /* NULL while it is not drifted */
    struct flaps *flaps; /* NULL unless a drift came and went within the hour before */
    struct reboots *reboots;    /* NULL when none was ever asked for */
    struct ailment *ailment;    /* NULL when nothing was ever wrong */
    struct trial_record *trial; /* NULL when none ever was */
    struct repair
        *repair; /* NULL when none is to be remembered; step NONE: over, what was tried in it stays */
    struct maintenance *maintenance; /* NULL without */
    struct maintenance *window;      /* NULL without */
    struct override *override;       /* NULL without */
};

/* Its name for the product that is told of its drift and that reboots it; NULL: it has none there. */
const char *member_outside_name(const struct member *m);
/* NULL while nothing was ever wrong with it. */
const struct ailment *member_ailment(const struct member *m);
/* The repair that has m out of service; NULL without one. A repair that is over does not count, nor does a
 * remedy that is applied in service (STEP_TEND). */
const struct repair *member_repair(const struct member *m);
/* The same or, at STEP_TEND, what is done to m while it is in service. */
const struct repair *member_treated(const struct member *m);
/* The attempts on the node, also when no repair is under way. */
const struct repair *member_repairs(const struct member *m);
/* NULL while nothing tells its machine from another. */
const struct machine_record *member_machine(const struct member *m);
/* NULL without a maintenance event. */
const struct maintenance *member_maintenance(const struct member *m);
/* A maintenance event asks for a restart, which the node did not have yet. */
bool member_restarts(const struct member *m);
/* The maintenance window of the scheduler's that it lies in, as it is recorded; NULL without. */
const struct maintenance *member_window(const struct member *m);
/* NULL while no override stands. */
const struct override *member_override(const struct member *m);
/* Its repair began before it was in service: ever, or on the boot on which it came up. */
bool member_is_new(const struct member *m);
/* It is on another boot than the one on which it was put into service last, or was never put there. A node of
 * an older record counts as in service on the boot on which it is seen first. */
bool member_came_up(const struct member *m, const char *boot);
/* NULL when no check was ever scheduled on it. */
const struct trial_record *member_trial(const struct member *m);
/* The worst severity of its open incidents that are not only observed; OK without. */
enum result member_severity(const struct member *m);
/* m was lost as the present step of its repair began, and was heard again since. */
bool member_was_lost(const struct member *m);
struct agreed member_agreed(const struct member *m);
/* True when a claim of this kind rests on it. */
bool member_held_by(const struct member *m, enum claim_kind kind);
/* A person released it, and it was not wiped yet. */
bool member_unwiped(const struct member *m);
/* The claims of people in words: "drain by root: bad DIMM; down by ann: ...", into t. */
void member_claims(const struct member *m, struct text *t);

#endif
