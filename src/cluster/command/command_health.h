/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_COMMAND_HEALTH_H
#define FETTLE_CLUSTER_COMMAND_HEALTH_H

#include "cluster/command/command_node.h"
#include "cluster/state/claim.h"
#include "cluster/state/floor.h"
#include "cluster/state/incident.h"
#include "cluster/state/repair.h"

/*
 * The structs of commands about health and repair (command.h). Their pointers are borrowed.
 */

enum { PROBLEM_BYTES_MAX = 23 };

/* FINDINGS: changes of the incidents of one node. */
struct findings_command {
    char boot[BOOT_ID_BYTES_MAX + 1]; /* on which it was found; "": not known */
    size_t n_open, n_close, n_jobs;
    const struct incident_news {         /* one that opens, or goes on */
        char id[CLAIM_ID_BYTES_MAX + 1]; /* "": a new one */
        char group[FINDING_DEVICE_BYTES_MAX + 1];
        enum result severity;
        enum act act;
        unsigned recurs;
        bool observe;
        size_t n; /* 1 at least */
        struct finding_news {
            struct incident_finding of; /* but `at` and `times` */
            bool counts;                /* by the general rule of recurrence */
        } * findings;
    } * open;
    const struct incident_end {
        char id[CLAIM_ID_BYTES_MAX + 1];
        const char *how;
    } * close;
    const struct incident_job *jobs; /* that run on the node: for each incident that is open */
    struct isolation {
        const char *why; /* NULL: the node is not isolated */
        char problem[PROBLEM_BYTES_MAX + 1];
        uint64_t deadline_s;
        enum step_event event; /* FATAL, LOST or DEGRADED */
        unsigned surge; /* this many of the last isolations count towards a surge; 0: this one is no part of a
                           surge */
    } isolate;
};

/* SHARED: a cause of findings on many nodes, or that it is over. */
struct shared_command {
    const char *key, *nodes; /* nodes: folded; "": it is over */
    const char *why;
    enum result severity;
};

/* REPAIR: a repair goes from one step to the next. */
struct repair_command {
    char id[CLAIM_ID_BYTES_MAX + 1]; /* the repair's id; "": a new one */
    enum step from, to;
    enum step_event event; /* what leads to this move */
    const char *why;
    char problem[PROBLEM_BYTES_MAX + 1]; /* "": as it is, or what fits the step */
    char boot[BOOT_ID_BYTES_MAX + 1];    /* "": as it is */
    uint64_t instance;                   /* 0: as it is */
    uint64_t deadline_s;                 /* the deadline of the step; 0: none */
    char remedy[REMEDY_NAME_BYTES_MAX + 1];
    bool approval; /* the remedy needs one */
    int64_t cost;  /* as in entry_fields */
    enum examined
        examined; /* EXAMINED_NOT: no news of an examination, nor of how often in a row it was inconclusive */
    unsigned inconclusive; /* it came to no answer */
    struct attempt_news {  /* the result of the attempt that is under way, or of one without an operation */
        char verdict;      /* as in attempt_record; '\0': no result */
        char remedy[REMEDY_NAME_BYTES_MAX + 1];
        char fault[FAULT_BYTES_MAX + 1];
        bool done;
        const char *text;
        enum refusal refusal;
    } attempt;
    bool restarted; /* the node has had the restart that its maintenance asked for */
    bool renewed;   /* another machine has the name now, */
    char machine[MACHINE_NAME_BYTES_MAX + 1]; /* and which one; "": that will be said */
};

/* OPERATE: something is to be done to the node in its step. */
struct operate_command {
    char id[CLAIM_ID_BYTES_MAX + 1]; /* the repair's id */
    enum step step;
    const char *run;                    /* RUN_BYTES_MAX at most */
    char of[REMEDY_NAME_BYTES_MAX + 1]; /* the remedy, or the check */
    char boot[BOOT_ID_BYTES_MAX + 1];
    uint64_t deadline_s;
    size_t n_ran;                /* a check of an examination: what the others came to, */
    const struct ran_check *ran; /* which is recorded */
};

/* OUTCOME: an attempt is judged. */
struct outcome_command {
    char remedy[REMEDY_NAME_BYTES_MAX + 1];
    struct wall at; /* when the attempt began */
    char class[CLASS_NAME_BYTES_MAX + 1];
    char verdict; /* as in attempt_record; not '?' */
    size_t n;     /* FAULTS_MAX at most */
    const struct fault_name {
        const char *name;
    } * faults;
};

/* A person's transitions of a node (transition.tbl). */
enum by_hand {
#define TRANSITION(symbol, name) BY_HAND_##symbol,
#include "cluster/command/transition.tbl"
#undef TRANSITION
    BY_HANDS
};
const char *by_hand_name(enum by_hand h);
/* -EINVAL with a sentence that has all names. */
int by_hand_parse(const char *name, enum by_hand *out, struct err *e);

struct transition_command {
    enum by_hand what;
    uint64_t deadline_s; /* the deadline of the next step, where the class has none; 0: none */
    bool answers;        /* all that was found is put right */
    bool yields;         /* the controller's own word: a person took the node back elsewhere */
};

/* ANSWER: these findings were put right. */
struct answer_command {
    uint64_t deadline_s; /* the deadline of the way back, where the class has none */
    size_t n;            /* 1 to ANSWERED_MAX */
    const struct finding_name {
        const char *fault;
        const char *device; /* NULL: on any */
    } * findings;
};

/* TICKET; a note is the reason. */
struct ticket_command {
    enum ticket { TICKET_STAYS, TICKET_TAKEN, TICKET_GIVEN_BACK } what;
};

/* REPAIR_APPROVE and REPAIR_REFUSE. */
struct approval_command {
    const char *remedy; /* NULL: the one that waits */
};

struct switch_command {
    const char *name; /* "stop", "latch" */
    bool on;
};

/* OVERRIDE. source NULL: the giver of the command asks for it, for its reason. */
struct override_command {
    const char *by, *source;
    const char *key,
        *done; /* the effect's result, as the scheduler's driver says it in JSON: committed with it */
};

/* OVERRIDE_AGE and OVERRIDE_END. */
struct override_of_command {
    struct wall of;   /* when the override that is meant was made; END: ns 0 for whichever stands */
    uint64_t spent_s; /* AGE: the part of its time that has passed */
};

struct trial_begin_command {
    char check[CHECK_NAME_BYTES_MAX + 1];
    uint64_t deadline_s;
    const char *examines; /* the node of the command that its repair holds; NULL: none */
};

struct trial_end_command {
    char claim[CLAIM_ID_BYTES_MAX + 1];
    char check[CHECK_NAME_BYTES_MAX + 1];
    const char *why;
    size_t n;
    const struct trial_result { /* the results of nodes on which it ran; for other nodes it did not run */
        const char *node;
        enum result result;
    } * results;
};

/* MEASURED: the results of a benchmark on nodes of a class. */
struct measured_command {
    const char *class, *check;
    uint64_t sum; /* a sum of what was measured, as in struct floor */
    size_t n;     /* 1 to FLOOR_NODES_MAX, each node once */
    const struct floor_node *nodes;
};

struct power_command {
    const char *verb; /* "on", "off", "cycle", "reset", "netboot" */
    bool force;
};

#endif
