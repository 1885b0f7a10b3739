/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_POLICY_H
#define FETTLE_WATCH_VIEW_POLICY_H

#include "beat/beat.h"
#include "cluster/cluster.h"
#include "health/check.h"
#include "remedy/remedy.h"
#include "watch/view/alarm.h"

/*
 * What the configuration says about the watch, and where its results go.
 */

struct conformity_policy {
    struct span stale;              /* a fingerprint that was not verified for this long counts as unknown */
    struct span timeout, sensitive; /* the time within which drift has to be remedied */
    unsigned drift_share_percent; /* above this share of a class, and three nodes or more, the alarm begins */
};

struct health_policy {
    struct limits limits;    /* kept by the proposals and by the decisions */
    unsigned trials_percent; /* of the cluster; so many idle nodes may be held for checks at once; 1 */
    unsigned shared;         /* the same fault on this many nodes within shared_window is a shared cause; 5 */
    struct span shared_window;  /* 3 min */
    struct span group;          /* findings of one device within this time are one incident; 3 min */
    struct span drain_deadline; /* work that runs on longer needs a person; 0: no deadline */
    struct span examine_deadline, provision_deadline; /* 4 h; 30 min */
    struct span wipe_deadline; /* a node that was not wiped within this time is quarantined; 30 min */
    unsigned inconclusive;     /* after this many inconclusive examinations in a row a person is needed; 3 */
    struct span fresh;         /* the maximum age of evidence for a destructive action; 2 min */
    struct span lost_after;    /* a node that is silent for this long is lost; 10 min; 0: never */
    struct span degraded_for;  /* a node that is degraded for this long is drained; 1 h; 0: never */
    struct span override; /* how long a person's resume in Slurm prevents isolation for the same fault; 4 h */
    bool provision_new;   /* nodes that come for the first time go through provisioning */
    struct cost_policy cost;
    const struct checks *checks; /* borrowed, like the next; lives as long as the policy; may be NULL */
    const struct remedies *remedies;
    const struct meanings *meanings;
};

struct watch_policy {
    struct beat_timeouts plain, sensitive, borrowed;
    struct span spread;            /* the first window is longer than a timeout by this time */
    struct span quiet;             /* a node that was not heard for this long counts as quiet */
    unsigned silent_share_percent; /* above this share at once, and three nodes or more, the alarm begins */
    struct conformity_policy conform;
    struct health_policy health;
    bool judge; /* false when heartbeats are not sent (interval 0) */
};

/* Where the watch's results go. The callee copies what it keeps. */
struct watch_sink {
    void *arg;
    /* Proposes a command to commit. The shell adds its actor, time and id. Returns true when the shell took
     * it, and false when the shell has no room (it takes one command that says the same at a time,
     * command_same); then it will be proposed again. */
    bool (*propose)(void *arg, const struct command *cmd);
    /* An observation that is no decision: "node.late", "node.live", "node.duplicate". nodes is a folded list
     * and may be "". */
    void (*notice)(void *arg, const char *what, const char *nodes, const char *text);
    /* An alarm begins or ends. */
    alarm_fn *alarm;
};

#endif
