/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEALTH_HEALTH_H
#define FETTLE_WATCH_HEALTH_HEALTH_H

#include "node/operation.h"
#include "watch/view/view.h"

/*
 * What is known of each node's health: what its checks said, and whether that counts. One command about a
 * node is under way at a time. Nothing follows here from what is known; the rooms above see to that, and keep
 * what they remember of a single node in struct health_state, which is one allocation for each node that was
 * ever ill.
 *
 * Nothing follows from what is not known: a result of another boot, of a node that is not live, or older than
 * the check's own time allows counts as unknown.
 */

enum anew { ANEW_NOT, ANEW_ASKED, ANEW_TOLD };
/* What a check says that is not plainly ok. */
struct saying {
    uint16_t check;
    struct mono since, told;
    char *text;
    bool blind; /* text is why the last look had no answer: the result is that of an older one */
    unsigned more;
    size_t n;
    struct finding *findings;
};

/* What is asked most often of a check's record. */
struct check_rule {
    int64_t age_max_ns; /* what it said is out of date then; INT64_MAX: never */
    bool repeats;
    uint64_t sum;   /* of the record, whoever runs it, */
    uint32_t since; /* and the generation of the records since which it is this one */
};

/* What is known of one member's health, and of its repair beside the records. Of a node that never said
 * anything and was never ill there is none. */
struct health_state {
    char boot[37];      /* of which all that is said is */
    uint64_t log_next;  /* the line of its kernel's log up to which it told */
    bool told;          /* everything was told in this session, */
    enum anew anew;     /* and after this controller stood still */
    bool follow;        /* to be looked at in the next tick */
    uint16_t class;     /* for which `said` knows what is assigned, */
    uint32_t checks;    /* and of which generation of the records */
    uint32_t list;      /* the last of which the node had the list; 0: it had none */
    uint8_t *said;      /* by the check's place in the records */
    int32_t *looked_ds; /* when each was looked at, in tenths of seconds since the watch was made */
    size_t n_sayings;
    struct saying *sayings;
    size_t n_outside;
    struct outside *outside;

    struct trial *trial;   /* in which it takes part; NULL: in none */
    bool trial_out;        /* which takes it out of service, or is about to */
    struct wall trial_due; /* the earliest moment at which a check is to run on it again, */
    uint16_t trial_check;  /* and which, when the next is true */
    bool trial_known;
    struct mono trial_rest;  /* none is begun before */
    struct mono trial_doubt; /* when it ran a check with others last, and did not pass; ns 0: not */

    struct mono jobs_at; /* when it was read whose jobs run on it; ns 0: never */
    bool asked;          /* a command about it is under way, */
    struct mono asked_at;
    struct mono tell_at;       /* when it was to tell everything anew last; ns 0: never */
    bool patient;              /* it is among the watch's patients */
    bool counted;              /* towards a surge, for what is wrong with it now */
    bool isolating;            /* proposed, and the record is not here yet */
    bool waits;                /* for room in a budget */
    struct mono commits_paid;  /* its commits are paid for until then; one that is too far ahead waits */
    struct mono restless;      /* that two machines answer by its name was told; ns 0: never */
    struct wall answered;      /* the person's word for which its agent forgot what the kernel's log said */
    struct wall word;          /* the last such word; ns 0: none */
    struct mono word_at;       /* and when it was known here */
    struct wall override_of;   /* the `at` of the override for which the next is; ns 0: of none */
    struct mono override_from; /* since when it counts */
    struct wall mild_of;       /* since when it is no worse than degraded, as its incidents say, */
    struct mono mild_from;     /* and by the watch's own time */
    struct wall stage;         /* the step's `since`, for which the next are; ns 0: none */
    struct mono stage_at, stage_due;
    bool stage_limited;
    char operation[CLAIM_ID_BYTES_MAX + 1]; /* for which the next is */
    struct mono operation_due;
    struct absence *absence; /* of one that stays silent; NULL without */
    struct finding *booted;  /* that its last boot was asked for by nobody, until it is recorded; or NULL */
    char refused[CLAIM_ID_BYTES_MAX + 1]; /* a check of this step that was not begun, the last of so many; */
    unsigned refusals;
    struct mono refused_until; /* and when the next may be asked for */
};

/* One check's word, read and not yet believed. */
struct heard {
    size_t place;
    enum result result;
    int64_t age_ms;
    struct saying saying;
};

enum {
    SAID_RESULT = 15,   /* enum result + 1; 0: nothing was said */
    SAID_ASSIGNED = 16, /* the node runs the check */
    SAID_ANSWERED = 32  /* of an extensive one: it ran in the present step */
};

/* --- what checks said of a node ---------------------------------------------------------------------- */

struct health_state *health_state_find(const struct watch *w,
                                       const struct member *m); /* NULL when there are none */
size_t health_states_count(const struct watch *w);              /* members below this id may have some */
struct health_state *health_states_by_id(const struct watch *w,
                                         size_t id); /* id below health_states_count; NULL: there are none */
struct health_state *health_state_of(struct watch *w, const struct member *m);
/* The place of a check's record; SIZE_MAX when there is none. */
size_t check_place(const struct watch *w, const char *name);
const struct check *check_at(const struct watch *w, size_t i);
size_t check_count(const struct watch *w);
/* What the check says of m now: UNKNOWN when nothing is known. */
enum result said_now(const struct watch *w, struct mono now, const struct member *m, size_t i);
/* Whether anything that it said counts: it is live, and has said it on this boot. */
bool health_state_speaks(const struct watch *w, const struct member *m, const struct health_state *v);
bool was_said(const struct health_state *v, size_t i); /* anything, on this boot */
void said_forget(struct health_state *v, size_t i);
/* It runs by itself, not on demand or in the extensive stage alone. */
bool check_repeats(const struct check *k);
/* It is looked at again and again, whatever runs: what it said goes out of date. */
bool check_ages(const struct check *k);
bool check_runs(const struct watch *w, const struct member *m, size_t i); /* m runs this check */
bool said_assigned(const struct health_state *v,
                   size_t i); /* the same of a node of which something is known */
const struct saying *saying_find(const struct health_state *v, size_t i); /* NULL: nothing but its result */
/* Whether what it says is new enough for something that cannot be undone. */
bool said_fresh(const struct watch *w, struct mono now, const struct health_state *v, size_t i);
struct mono said_looked(const struct watch *w, const struct health_state *v, size_t i);
/* Everything is to be told anew. */
void health_states_doubt(struct watch *w);
/* Whether everything was told anew since this process did nothing for a while (health_stood_still). */
bool told_anew(const struct health_state *v);
/* Finds out anew which checks the node runs; what was said stays. */
void health_state_assign(struct watch *w, const struct member *m, struct health_state *v);
void sayings_drop(struct health_state *v);
void saying_fini(struct saying *s);
/* The records of checks may be other ones now: what was said by those that are the same stays. */
void health_states_reconfigure(struct watch *w);
/* What boot.c, lost.c and outside.c keep in them is dropped before. */
void health_states_destroy(struct watch *w);
/* m came up, for the first time or on another boot than it was put into service on, and its checks have to
 * pass before it is in service. Not where a person took it back a while ago: it is his. */
bool repair_comes_up(const struct watch *w, const struct member *m);
/* It is out of service for a check, or about to be; not so for one that is examined. */
bool trial_holds(const struct watch *w, const struct member *m);
/* The i-th check has run in the present examination of m, as this leader or the record says; *out is the
 * result. A failure of the record alone does not count: its findings are not known, and the check runs again.
 */
bool examination_answered(const struct watch *w, const struct member *m, size_t i, enum result *out);
/* m is examined, and nobody was found yet to run this check with. */
bool trial_waits(const struct watch *w, const struct member *m, size_t check);
/* What is asked most often of a check's record. */
const struct check_rule *check_rule_of(const struct watch *w, size_t i);
uint32_t check_generation(const struct watch *w); /* of the records */
/* said_now of a node that speaks: for those who ask about all checks of all nodes. */
enum result said_of(const struct watch *w, struct mono now, const struct health_state *v, size_t i);

/* --- how the word of a check is taken over ----------------------------------------------------------- */

/* Copies what a verdict says. */
void heard_keep(const struct verdict *v, struct heard *h);
/* From now on m's check says this. What h has is taken from it. */
void heard_believe(struct watch *w, struct mono now, struct health_state *v, struct heard *h);
/* A check that the controller had carried out came to this, just now. */
void said_note(struct watch *w, struct mono now, const struct member *m, size_t i, const struct verdict *x);

/* --- commands about one node, and what is being done to it ------------------------------------------- */

/* A command about m: its kind, its reason and what it says. Nothing else is proposed about m until it is
 * decided, when the shell takes it. */
void health_propose(struct watch *w, struct mono now, const struct member *m, const struct command *says);
bool health_asked(const struct health_state *v, struct mono now); /* such a one is under way */
void operation_propose(struct watch *w, struct mono now, const struct member *m, const char *run,
                       const char *of, struct span deadline);
/* What came of it was seen by the watch, and whoever carries it out does not say so. */
void operation_end(struct watch *w, struct mono now, const struct member *m, const struct operation *o,
                   enum operation_state state, const char *text);
/* Whether its time is over, by the watch's own time; of one that is begun, long over. */
bool operation_overdue(struct watch *w, struct mono now, const struct member *m, const struct operation *o);

/* --- benchmarks -------------------------------------------------------------------------------------- */

/* Holds what a benchmark came to against what is recorded of other nodes of m's class; one that is too slow
 * fails. It is to be written down in turn. */
void measure_judge(struct watch *w, struct mono now, const struct member *m, const struct check *k,
                   struct verdict *x);
void measures_end_sweep(struct watch *w);
void measures_destroy(struct watch *w);
void health_states_create(struct watch *w); /* and what measure.c remembers */

#endif
