/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_OBSERVED_H
#define FETTLE_WATCH_VIEW_OBSERVED_H

#include "beat/beat.h"
#include "cluster/cluster.h"
#include "node/elsewhere.h"
#include "node/report.h"
#include "node/scheduler_word.h"

/*
 * What was observed of one member: what its agent, its collector, the scheduler and other systems said.
 */

/* What is known of slurmd on a node: it answers slurmctld, it does not, or Slurm has switched the node off or
 * is about to switch it on or off. */
enum slurmd { SLURMD_UNKNOWN, SLURMD_ANSWERS, SLURMD_SILENT, SLURMD_OFF };

/* What was observed of one member. */
struct observed {
    struct beat beat;
    struct report report;
    struct report
        *before;      /* as a controller before was told; NULL: not known, or it has reported. For people */
    bool inventoried; /* the report is of the open session */
    char boot[37];
    struct {
        bool awaits;        /* it came up on another boot, of which nobody has judged yet whose doing it is */
        struct mono opened; /* its session on that boot */
        struct mono left;   /* when it was heard last on the boot before; ns 0: not by this watch */
        struct wall left_wall; /* the same by the wall clock, also by a controller before; ns 0: not known */
        struct mono excused;   /* when something last explained a boot; ns 0: never */
    } came;
    char *version;
    char *running;              /* JSON array of the running work; NULL when unknown */
    enum work work;             /* as its agent says */
    enum work scheduled;        /* as the scheduler says; */
    bool scheduler;             /* it was asked since the watch began */
    struct scheduler_word word; /* of which this is what it said last */
    enum slurmd slurmd;         /* its slurmd, as the scheduler says */
    bool away;                  /* it gives the node no work, by somebody else's word */
    bool window_known;          /* the next was read since the watch began */
    char *window;               /* the maintenance window of the scheduler's that it lies in; NULL: in none */
    struct held_read {
        struct elsewhere is; /* who else holds it there, as it was read */
        struct mono at;      /* at this moment of the clock; ns 0: never */
        bool unread;         /* to be read again, as something is about to be done to the node */
    } elsewhere[ELSEWHERES];
    struct mono
        freed; /* when somebody let go of it, and its repair has not taken note yet; ns 0: nobody did */
    uint64_t uptime_s; /* as last said */
    struct mono uptime_at;
    struct mono missed;             /* when its collector said last that it does not hear it */
    struct wall heard_wall;         /* for people only */
    struct wall heard_before;       /* the same, by a controller before; ns 0: never, or not known */
    void *session;                  /* the link that speaks for it, NULL when none; the shell's */
    const struct member *collector; /* that vouches for it, NULL when it reports directly */
};

#endif
