/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_OBSERVED_H
#define FETTLE_WATCH_VIEW_OBSERVED_H

#include "beat/beat.h"
#include "cluster/cluster.h"
#include "node/elsewhere.h"
#include "node/report.h"
#include "node/scheduler_word.h"

/*
 * What was observed about one member: what its agent, its collector, the scheduler and other systems said.
 */

/* What is known about slurmd on a node: it answers slurmctld, it does not answer, or Slurm has powered the
 * node off or is about to power it on or off. */
enum slurmd { SLURMD_UNKNOWN, SLURMD_ANSWERS, SLURMD_SILENT, SLURMD_OFF };

/* The parts of what is observed about a member, as a follower is told them (picture.h). */
enum aspect { ASPECT_PRESENCE, ASPECT_REPORT, ASPECT_CONFORM, ASPECT_CHECKS, ASPECT_OUTSIDE, ASPECTS };

/* What was observed about one member. */
struct observed {
    /* The number of the last change (watch_touch): of each part, of any, and of when it was heard; 0: none */
    uint64_t changed[ASPECTS], changed_any, changed_heard;
    struct beat beat;
    struct report report;
    /* what an earlier controller was told, for people; NULL: unknown, or the node has reported */
    struct report *before;
    bool inventoried; /* the report is of the open session */
    char boot[37];
    struct {
        bool awaits;           /* it came up on another boot, and the cause of that boot is not judged yet */
        struct mono opened;    /* its session on that boot */
        struct mono left;      /* when it was last heard on the boot before; ns 0: never by this watch */
        struct wall left_wall; /* the same by the wall clock and by earlier controllers; ns 0: not known */
        struct mono excused;   /* when something last explained a boot; ns 0: never */
    } came;
    char *version;
    char *running;              /* JSON array of the running work; NULL when unknown */
    enum work work;             /* according to its agent */
    enum work scheduled;        /* according to the scheduler */
    bool scheduler;             /* the scheduler was asked about it since the watch began */
    struct scheduler_word word; /* what the scheduler said last */
    enum slurmd slurmd;         /* its slurmd, according to the scheduler */
    bool away;                  /* the scheduler gives the node no work, for a reason that is not Fettle's */
    bool window_known;          /* the next field was read since the watch began */
    char *window;               /* the scheduler's maintenance window in which the node lies; NULL: none */
    struct held_read {
        struct elsewhere is; /* who else holds the node there, as it was read */
        struct mono at;      /* when it was read; ns 0: never */
        bool unread;         /* to be read again, because something is about to be done to the node */
    } elsewhere[ELSEWHERES];
    /* when the node's holder released it, until its repair takes note; ns 0: no release */
    struct mono freed;
    uint64_t uptime_s; /* as the agent said last */
    struct mono uptime_at;
    struct mono missed;       /* when its collector last said that it does not hear the node */
    struct wall heard_wall;   /* only for people */
    struct wall heard_before; /* the same, by an earlier controller; ns 0: never, or not known */
    void *session; /* the link that speaks for the node, owned by the shell; NULL when there is none */
    const struct member *collector; /* the collector that vouches for it; NULL when it reports directly */
};

#endif
