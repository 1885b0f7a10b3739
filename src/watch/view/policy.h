/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_POLICY_H
#define FETTLE_WATCH_VIEW_POLICY_H

#include "beat/beat.h"
#include "cluster/cluster.h"
#include "health/check.h"
#include "remedy/remedy.h"
#include "watch/view/alarm.h"

/*
 * What the configuration says of the watch, and where what it finds goes.
 */

struct conformity_policy {
    struct span stale;              /* a fingerprint that was not verified for this long is unknown */
    struct span timeout, sensitive; /* drift is to be remedied within */
    unsigned drift_share_percent;   /* more than this of a class, and at least three: the alarm */
};

struct health_policy {
    struct limits limits;      /* proposals keep them, and so does what is decided of them */
    unsigned trials_percent;   /* of the cluster whose idle nodes may be held for checks at once; 1 */
    unsigned shared;           /* the same fault on so many nodes within shared_window is a shared cause; 5 */
    struct span shared_window; /* 3 min */
    struct span group;         /* findings of one device within so long are one incident; 3 min */
    struct span drain_deadline; /* running work has ended by then, or a person is called; 0: none */
    struct span examine_deadline, provision_deadline; /* 4 h; 30 min */
    unsigned inconclusive;                            /* so often in a row, then a person; 3 */
    struct span fresh;        /* evidence is not older when something destructive follows; 2 min */
    struct span lost_after;   /* a node that is silent for so long is lost; 10 min; 0: never */
    struct span degraded_for; /* a node that is degraded for so long is drained; 1 h; 0: never */
    struct span override;     /* after a person's resume in Slurm nothing isolates for the same; 4 h */
    bool provision_new;       /* nodes that come for the first time pass through provisioning */
    struct cost_policy cost;
    const struct checks *checks; /* borrowed, as the next two: live as long as the policy; may be NULL */
    const struct remedies *remedies;
    const struct meanings *meanings;
};

struct watch_policy {
    struct beat_timeouts plain, sensitive, borrowed;
    struct span spread;            /* by so much the first window is longer than a timeout */
    struct span quiet;             /* who was not heard for so long counts towards the next */
    unsigned silent_share_percent; /* more than this at once, and at least three: the alarm */
    struct conformity_policy conform;
    struct health_policy health;
    bool judge; /* false when heartbeats are not sent (interval 0) */
};

/* What comes out. The callee copies what it keeps. */
struct watch_sink {
    void *arg;
    /* A command to commit; its actor, time and id are the shell's. True when it was taken; false when the
     * shell has no room (it takes one that says the same at a time, command_same), and it will be proposed
     * again. */
    bool (*propose)(void *arg, const struct command *cmd);
    /* Something was observed that is no decision: "node.late", "node.live", "node.duplicate".
     * nodes is a folded list, may be "". */
    void (*notice)(void *arg, const char *what, const char *nodes, const char *text);
    /* An alarm begins, or is over. */
    alarm_fn *alarm;
};

#endif
