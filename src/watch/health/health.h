/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEALTH_HEALTH_H
#define FETTLE_WATCH_HEALTH_HEALTH_H

#include "node/operation.h"
#include "watch/view/view.h"

/*
 * The health of each node: the results of its checks, and whether they count. At most one command about a
 * node is under way at a time. This room draws no consequences; the rooms above do, and keep what they
 * remember of a single node in struct health_state. That is one allocation for each node that was ever ill.
 *
 * Nothing follows from what is not known. A result counts as unknown when it is of another boot, of a node
 * that is not live, or older than the check's own time allows.
 */

enum anew { ANEW_NOT, ANEW_ASKED, ANEW_TOLD };
/* A check's result that is not plainly ok. */
struct saying {
    uint16_t check;
    struct mono since, told;
    char *text;
    bool blind; /* text is the reason why the last look had no answer; the result is an earlier one */
    unsigned more;
    size_t n;
    struct finding *findings;
};

/* The fields of a check's record that are asked for most often. */
struct check_rule {
    int64_t age_max_ns; /* a result older than this is out of date; INT64_MAX: never */
    bool repeats;
    uint64_t sum;   /* of the record, without the nodes that run it */
    uint32_t since; /* the generation of the records that brought this version */
};

/* The health of one member, and what is known of its repair beside the records. A node that never sent a
 * result and was never ill has none. */
struct health_state {
    char boot[37];      /* the boot of all results */
    uint64_t log_next;  /* up to this line of the kernel's log the node has told */
    bool told;          /* everything was told in this session */
    enum anew anew;     /* everything was told after this controller stood still */
    bool follow;        /* to be looked at in the next tick */
    uint16_t class;     /* `said` has the checks that are assigned in this class */
    uint32_t checks;    /* and in this generation of the records */
    uint32_t list;      /* the generation of the check list that the node last had; 0: none */
    uint8_t *said;      /* by the check's place in the records */
    int32_t *looked_ds; /* when each check last ran, in tenths of seconds since the watch was made */
    size_t n_sayings;
    struct saying *sayings;
    size_t n_outside;
    struct outside *outside;

    struct trial *trial;   /* the trial in which the node takes part; NULL: none */
    bool trial_out;        /* the trial takes it out of service, or is about to */
    struct wall trial_due; /* the earliest moment at which a check is to run on it again */
    uint16_t trial_check;  /* the check that is due then; valid when the next field is true */
    bool trial_known;
    struct mono trial_rest;  /* no trial begins before */
    struct mono trial_doubt; /* when it last ran a check with others without a pass; ns 0: no doubt */

    struct mono jobs_at; /* when its jobs were last read; ns 0: never */
    bool asked;          /* a command about it is under way */
    struct mono asked_at;
    struct mono tell_at;      /* when it was last told to send everything anew; ns 0: never */
    bool patient;             /* it is among the watch's patients */
    bool counted;             /* for its present fault, in the surge */
    bool isolating;           /* proposed, and the record is not here yet */
    bool waits;               /* the node waits for room in a budget */
    struct mono commits_paid; /* its commits are paid for until then; a node that is too far ahead waits */
    struct mono restless;     /* when it was told that two machines use its name in turn; ns 0: never */
    struct wall answered; /* the person's word for which the agent forgot the findings of the kernel's log */
    struct wall word;     /* the last such word; ns 0: none */
    struct mono word_at;  /* when it became known here */
    struct wall override_of;   /* the `at` of the override to which the next field belongs; ns 0: none */
    struct mono override_from; /* when the override begins to count */
    struct wall mild_of;       /* since when it has been no worse than degraded, by its incidents */
    struct mono mild_from;     /* the same by the watch's own time */
    struct wall stage;         /* the `since` of the step to which the next fields belong; ns 0: none */
    struct mono stage_at, stage_due;
    bool stage_limited;
    char operation[CLAIM_ID_BYTES_MAX + 1]; /* the operation to which the next field belongs */
    struct mono operation_due;
    struct absence *absence; /* for a node that stays silent; NULL without */
    /* the finding that nobody asked for its last boot, until it is recorded; or NULL */
    struct finding *booted;
    /* the check of this step that could not begin, the last of `refusals` */
    char refused[CLAIM_ID_BYTES_MAX + 1];
    unsigned refusals;
    struct mono refused_until; /* when the next check may be asked for */
};

/* The result of one check, read and not yet believed. */
struct heard {
    size_t place;
    enum result result;
    int64_t age_ms;
    struct saying saying;
};

enum {
    SAID_RESULT = 15,   /* enum result + 1; 0: nothing was said */
    SAID_ASSIGNED = 16, /* the node runs the check */
    SAID_ANSWERED = 32  /* an extensive check ran in the present step */
};

/* --- what checks said of a node ---------------------------------------------------------------------- */

struct health_state *health_state_find(const struct watch *w, const struct member *m); /* or NULL */
size_t health_states_count(const struct watch *w); /* members below this id may have one */
struct health_state *health_states_by_id(const struct watch *w,
                                         size_t id); /* id below health_states_count; or NULL */
struct health_state *health_state_of(struct watch *w, const struct member *m);
/* The place of a check's record; SIZE_MAX when there is none. */
size_t check_place(const struct watch *w, const char *name);
const struct check *check_at(const struct watch *w, size_t i);
size_t check_count(const struct watch *w);
/* The present result of the check on m: UNKNOWN when nothing is known. */
enum result said_now(const struct watch *w, struct mono now, const struct member *m, size_t i);
/* Whether the results of m count: m is live, and they are of this boot. */
bool health_state_speaks(const struct watch *w, const struct member *m, const struct health_state *v);
bool was_said(const struct health_state *v, size_t i); /* the check has a result, on this boot */
void said_forget(struct health_state *v, size_t i);
/* The check runs by itself, and not only on demand or in the extensive stage. */
bool check_repeats(const struct check *k);
/* The check runs again and again, whatever else runs, so its results go out of date. */
bool check_ages(const struct check *k);
bool check_runs(const struct watch *w, const struct member *m, size_t i); /* m runs this check */
bool said_assigned(const struct health_state *v, size_t i); /* the same for a node with a health state */
const struct saying *saying_find(const struct health_state *v,
                                 size_t i); /* NULL: the result has no details */
/* Whether the result is new enough for an action that cannot be undone. */
bool said_fresh(const struct watch *w, struct mono now, const struct health_state *v, size_t i);
struct mono said_looked(const struct watch *w, const struct health_state *v, size_t i);
/* All nodes are to tell everything anew. */
void health_states_doubt(struct watch *w);
/* Whether everything was told anew since this process did nothing for a while (health_stood_still). */
bool told_anew(const struct health_state *v);
/* Finds out anew which checks the node runs. The results stay. */
void health_state_assign(struct watch *w, const struct member *m, struct health_state *v);
void sayings_drop(struct health_state *v);
void saying_fini(struct saying *s);
/* The records of checks may have changed. The results of unchanged checks stay. */
void health_states_reconfigure(struct watch *w);
/* The parts of boot.c, lost.c and outside.c must have been dropped before. */
void health_states_destroy(struct watch *w);
/* m came up, for the first time or on a boot other than the one of its admission, and its checks have to pass
 * before it enters service. False when a person has an override on it. */
bool repair_comes_up(const struct watch *w, const struct member *m);
/* m is out of service for a trial, or about to be. False for a node under examination. */
bool trial_holds(const struct watch *w, const struct member *m);
/* The i-th check has run in the present examination of m, as this leader or the record says; *out is the
 * result. A failure that only the record has does not count: its findings are not known, and the check runs
 * again. */
bool examination_answered(const struct watch *w, const struct member *m, size_t i, enum result *out);
/* m is under examination and still needs partners for this check. */
bool trial_waits(const struct watch *w, const struct member *m, size_t check);
/* The fields of a check's record that are asked for most often. */
const struct check_rule *check_rule_of(const struct watch *w, size_t i);
uint32_t check_generation(const struct watch *w); /* of the records */
/* said_now for a node that speaks; for loops over all checks of all nodes. */
enum result said_of(const struct watch *w, struct mono now, const struct health_state *v, size_t i);

/* --- how the result of a check is taken over --------------------------------------------------------- */

/* Copies the details of a verdict. */
void heard_keep(const struct verdict *v, struct heard *h);
/* h becomes the result of m's check. Takes the details from h. */
void heard_believe(struct watch *w, struct mono now, struct health_state *v, struct heard *h);
/* Adds the result of m's check as JSON, as a follower is told: as CHECKS has it, with "since_ms". */
void said_write(const struct watch *w, struct mono now, const struct health_state *v, size_t i,
                struct text *t);
/* The moments of a result that a follower was told, which has details. */
void said_told(struct health_state *v, size_t i, struct mono since, struct mono told);
/* A check that the controller had carried out has just ended with this verdict. */
void said_note(struct watch *w, struct mono now, const struct member *m, size_t i, const struct verdict *x);

/* --- commands about one node, and what is being done to it ------------------------------------------- */

/* Proposes a command about m; `says` has its kind, its reason and its details. No other command about m is
 * proposed until it is decided, when the shell takes it. */
void health_propose(struct watch *w, struct mono now, const struct member *m, const struct command *says);
bool health_asked(const struct health_state *v, struct mono now); /* a command about it is under way */
void operation_propose(struct watch *w, struct mono now, const struct member *m, const char *run,
                       const char *of, struct span deadline);
/* The watch has seen the outcome of the operation, and the agent or driver does not report it. */
void operation_end(struct watch *w, struct mono now, const struct member *m, const struct operation *o,
                   enum operation_state state, const char *text);
/* Whether the time of the operation is over, by the watch's own time. An operation that has begun gets an
 * extra grace. */
bool operation_overdue(struct watch *w, struct mono now, const struct member *m, const struct operation *o);

/* --- benchmarks -------------------------------------------------------------------------------------- */

/* Compares the results of a benchmark with those recorded of other nodes of m's class; a node that is too
 * slow fails. The results are to be written down in turn. */
void measure_judge(struct watch *w, struct mono now, const struct member *m, const struct check *k,
                   struct verdict *x);
void measures_end_sweep(struct watch *w);
void measures_destroy(struct watch *w);
void health_states_create(struct watch *w); /* and the memory of measure.c */

#endif
