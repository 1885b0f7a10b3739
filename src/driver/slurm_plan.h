/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_PLAN_H
#define FETTLE_DRIVER_SLURM_PLAN_H

#include "base/err.h"
#include "driver/slurm_read.h"
#include "driver/slurm_reason.h"
#include "product/slurm.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The next step for a node, from its wanted state, its record and Slurm's answer. The step is carried out and
 * the node looked at again, until there is nothing left to do; a driver that is killed between two steps
 * continues with the next. Pure.
 */

enum slurm_wish { WISH_NOTHING, WISH_DRAIN, WISH_RESERVE };

/* What keeps the node out of service in Slurm. */
enum slurm_hold {
    HOLD_NONE,
    HOLD_WANTED, /* drained, with a reason of Fettle's for the claim that wants it */
    HOLD_STALE,  /* drained, with a reason of Fettle's for another claim, or with another problem */
    HOLD_REST,   /* down, no longer drained, with a reason of Fettle's */
    HOLD_FOREIGN /* drained, down or failing, with a reason of somebody else's */
};

enum slurm_ground {
    GROUND_UP,
    GROUND_MOVING,
    GROUND_DOWN
}; /* below the drain; moving: booting, on or off, unknown */

enum slurm_guard { GUARD_UNREAD, GUARD_NONE, GUARD_OURS, GUARD_FOREIGN }; /* suspicious-node-NAME.OWNER */

struct slurm_case {
    enum slurm_wish wish;
    enum slurm_record_state record;
    bool is_claim;   /* the record is for the claim that wants something now */
    bool has_guard;  /* the record's `reservation` */
    bool is_refused; /* the record's `refused`: a person deleted the reservation of this examination */
    bool is_known;
    enum slurm_hold hold;
    enum slurm_ground ground;
    enum slurm_guard guard;
    bool is_rebooting; /* somebody is rebooting it in Slurm */
    bool had_reboot;   /* the record's `reboot`: somebody was rebooting it when its drain last stood */
    bool is_lost;      /* the record's `lost`: our write undid somebody's, which must be restored */
    bool is_kept;      /* it is in somebody's maintenance reservation, and only Fettle wants to drain it */
    /* It was restarted since the record's drain or reservation was last seen, or that was never seen. */
    bool is_another_slurmctld;
};

/* In the order in which they are carried out. */
enum slurm_act {
    ACT_NOTE,    /* the record becomes `record`, `has_guard`; nothing is written into Slurm */
    ACT_RESTORE, /* repeat, in its own words, what our write undid */
    ACT_DRAIN,
    ACT_RESERVE,
    ACT_UNRESERVE,
    ACT_UNDRAIN,
    ACT_RETURN, /* undrain a node that is down: its reason becomes Slurm's own "Not responding" again */
    ACT_WAIT,   /* something must be done that cannot be done now */
    ACT_NOTHING /* Slurm agrees with the wanted state, or somebody else decides */
};

struct slurm_step {
    enum slurm_act act;
    enum slurm_record_state record; /* ACT_NOTE; RECORD_NONE: the record goes */
    bool has_guard, is_refused, is_rebooting;
    bool keeps_claim;   /* the record's claim stays; otherwise the claim that wants something */
    bool is_overridden; /* a person took the drain back: report it */
    bool is_restored;   /* the lost hold stands again, or somebody else's does: report it; `lost` goes */
};

struct slurm_step slurm_plan(const struct slurm_case *c);

/* True when it changes something in Slurm. */
bool slurm_act_writes(enum slurm_act a);

/* For logs and tests. */
const char *slurm_act_name(enum slurm_act a);

#endif
