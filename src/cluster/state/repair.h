/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_REPAIR_H
#define FETTLE_CLUSTER_REPAIR_H

#include "base/clock.h"
#include "cluster/state/incident.h"
#include "conform/class.h"
#include "node/lifecycle.h"
#include "node/machine.h"
#include "node/refusal.h"
#include "remedy/remedy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A node's way back into service, and what stands beside it (doc/spec/repair.md): which machine it is,
 * maintenance, overrides, checks for which it is held.
 */

enum {
    ATTEMPTS_KEPT_MAX = 32,
    NOTES_KEPT_MAX = 16,
    TALLIES_A_REMEDY_MAX = 1024,
    RUN_BYTES_MAX = 2048,            /* the bytes of an operation's text */
    EFFECT_TEXT_BYTES_MAX = 32 << 10 /* the bytes of an operation's result, which may hold a verdict */
};

enum approval { APPROVAL_NONE, APPROVAL_WANTED, APPROVAL_GIVEN, APPROVAL_REFUSED };
/* OWED: it was broken off, and is made up before the node returns. */
enum examined { EXAMINED_NOT, EXAMINED_PASS, EXAMINED_FAIL, EXAMINED_INCONCLUSIVE, EXAMINED_OWED };
const char *examined_name(enum examined x);

/* A check that ran in an examination. One that failed ended it, unless it is only observed. */
struct ran_check {
    char check[CHECK_NAME_BYTES_MAX + 1];
    enum result result;
};

/* A node's way back into service. A claim of kind repair rests on it as long as there is one. At STEP_TEND it
 * has no claim: the node is in service. */
#define PROBLEM_WIPE "wipe" /* a person released the node */
struct repair {
    char id[CLAIM_ID_BYTES_MAX + 1]; /* the id of the claim */
    enum step step;
    struct wall began, since; /* the repair; this step */
    struct wall deadline;     /* the deadline of this step; ns 0: none */
    char boot[37];            /* the node's when this step began */
    uint64_t instance;        /* of its agent then; 0: not known */
    char problem[24];         /* "node_problem", "hardware_problem", "user_problem", "manual", "provision",
                                 "new_instance", "maintenance", "wipe" */
    char *why;                /* the reason of this step, for people */
    char remedy[REMEDY_NAME_BYTES_MAX + 1]; /* chosen; "" for none */
    char operation[CLAIM_ID_BYTES_MAX + 1]; /* id of the effect that is under way; "" for none. Also of a
                                               remedy that was begun in service, until it has ended */
    enum approval approval;                 /* approval of the remedy */
    char *approver;                         /* the person and the comment: "ann: go ahead"; NULL */
    enum examined examined;                 /* the last result of the extensive stage */
    unsigned inconclusive;                  /* how often in a row */
    size_t n_ran;                           /* in this step, which is an examination: */
    struct ran_check *ran;                  /* what checks came to, each once */
    bool manual;                            /* no remedy: to the work queue */
    struct answer answer; /* in provision, and for single findings in the queue: by a person */
    bool shared;          /* in the queue: its fault had a shared cause that is over */
    bool came_up;         /* it began as the node came up: it was not in service on this boot */
    char *taken_by;       /* the owner of its ticket in the work queue; NULL: none */
    size_t n_attempts;
    struct attempt_record {
        char remedy[REMEDY_NAME_BYTES_MAX + 1];
        char fault[FAULT_BYTES_MAX +
                   1];         /* the faults that it was for, the worst first, with commas between; cut */
        struct wall at, ended; /* ended ns 0: under way */
        char boot[37];         /* on which it was proposed; "": nothing was done, or not known */
        bool done;             /* it was carried out; whether it helped is judged later */
        char *text;            /* the result in words; may be "" */
        char verdict;          /* '?' to be judged, '+' helped, '-' failed, '0' not counted */
        char counted[FAULT_BYTES_MAX + 1]; /* the faults for which the tally counts its verdict; "": none */
        char class[CLASS_NAME_BYTES_MAX + 1]; /* under this class */
        enum refusal refusal;                 /* why nothing was done, when that is known */
    } * attempts; /* attempts on the node, also of earlier repairs: oldest first, ATTEMPTS_KEPT_MAX at most */
    size_t n_notes;
    struct note {
        struct wall at;
        char *by, *text;
    } * notes; /* notes of this repair, oldest first, NOTES_KEPT_MAX at most */
};

/* What the check came to in the present examination; NULL: it did not run. */
const struct ran_check *repair_ran(const struct repair *r, const char *check);

enum { MACHINES_KEPT_MAX = 4 };

/* Which machine has the name, by the surest that tells it from another. */
struct machine_record {
    char machine[MACHINE_NAME_BYTES_MAX + 1]; /* as machine_surest says it */
    struct wall since;
    size_t n_before;
    struct {
        char machine[MACHINE_NAME_BYTES_MAX + 1];
        struct wall until;
    } before[MACHINES_KEPT_MAX]; /* the latest first */
};

/* Somebody is about to work on the machine, or to take it away: no extensive check goes on, and it is
 * replaced, or waits for a person; or somebody asks for one restart of it. Or it lies in a window: hands off
 * until that is over. */
struct maintenance {
    char *by;
    struct wall at;
    char *why;
    bool restart;
};

/* That it is this machine now is no news but two machines (or more) with one name: it was this one within the
 * last hour already, or MACHINES_KEPT_MAX others. */
bool machine_restless(const struct machine_record *i, const char *machine, struct wall now);

/* A person took the node back, or said that it stays in service: its faults of that moment isolate it no
 * more until the override ends. */
struct override {
    char *by, *source; /* who, and where: "Slurm", "command" */
    struct wall at;
    char *why;        /* the person's words; may be "" */
    uint64_t spent_s; /* how much of its time it had when this was written */
    size_t n;
    struct override_of {
        char group[FINDING_DEVICE_BYTES_MAX + 1];
        enum result severity;
        char fault[FAULT_BYTES_MAX + 1]; /* the worst, for people */
    } * of;                              /* the incidents that were open, INCIDENTS_OPEN_MAX at most */
};

/* What the override covers: an incident of this group that is no worse than it was then. */
bool override_covers(const struct override *o, const char *group, enum result severity);
/* Adds what the override covers to t: "xid.79 0000:9b:00.0 (fatal)" and so on. */
void override_say(const struct override *o, struct text *t);

enum { TRIAL_NODES_MAX = 96 /* one commit has a record of each */, TRIALS_KEPT_MAX = CHECKS_SCHEDULED_MAX };

/* Checks for which a node is held while they run (doc/spec/trial.md). */
struct trial_record {
    char claim[CLAIM_ID_BYTES_MAX + 1]; /* the id of the one under way; "": none is */
    char check[CHECK_NAME_BYTES_MAX + 1];
    struct wall began, deadline;
    size_t n_last;
    struct tried {
        char check[CHECK_NAME_BYTES_MAX + 1];
        struct wall at;
        enum result result;
    } * last; /* when each check ran last, and what it came to: the latest first, TRIALS_KEPT_MAX at most */
};

/* When a check ran last on it in a trial; NULL: never. */
const struct tried *trial_last(const struct trial_record *t, const char *check);

#endif
