/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_TRIAL_INSIDE_H
#define FETTLE_WATCH_TRIAL_TRIAL_INSIDE_H

#include "watch/view/view.h"

/*
 * Trials that are under way: checks for which idle nodes are held. The state is w->trials.
 */

enum seat_state {
    SEAT_WAITS,  /* for the hold, or for its next run */
    SEAT_CALLED, /* the shell is to begin its run */
    SEAT_RUNS,
    SEAT_HEARD, /* its run is over */
    SEAT_OVER,  /* it takes part no more, and is to be let go */
    SEAT_LEFT   /* it was let go */
};

/* One node's part in a trial. */
struct seat {
    uint32_t member;
    enum seat_state state;
    size_t of;     /* in a group: the run in the grouping */
    uint64_t run;  /* the number by which the shell knows the run */
    char boot[37]; /* the boot on which the run began */
    bool stop;     /* the run is not wanted any more, and the agent was not told yet */
    bool ran;      /* the part is over, with the next field as its result */
    enum result result;
    char *why;              /* why the part is over */
    struct verdict *said;   /* the verdict of its last run; NULL: none */
    char *failed;           /* in a group: the words of its last failed run; NULL: none failed */
    struct mono told, wait; /* when its end was proposed; when its result was noted */
};

/* A check for which nodes are held. */
struct trial {
    char claim[CLAIM_ID_BYTES_MAX + 1]; /* "" until it is recorded */
    char check[CHECK_NAME_BYTES_MAX + 1];
    unsigned group;
    bool examines;     /* the first member is under examination and kept by its repair; the others are its
                          partners */
    struct wall stage; /* the step of that repair: the moment at which it began */
    struct mono began, due;
    struct wall began_wall;
    size_t n;
    struct seat *seats; /* in order of their members; or the examined node, then its partners in order */
    struct grouping *grouping; /* of the members' places; NULL: each runs the check by itself */
    unsigned rounds;
    bool called; /* the first round has begun */
    struct trial *next;
};

enum { TRIAL_HOLD_S = 120, TRIAL_MARGIN_S = 30, TRIAL_ROUNDS_MAX = 16 };

/* The part is over. ran: it ran, with this result. */
void seat_end(struct watch *w, struct mono now, struct seat *s, bool ran, enum result r, const char *why);
/* Notes the present verdict of the check about its node, which ends the node's part. For a node under
 * examination it is the answer of the examination; an unknown verdict counts as no run. */
void seat_conclude(struct watch *w, struct mono now, const struct trial *t, struct seat *s,
                   struct verdict *x);
/* The part came to no result, and that is not the node's fault. */
void seat_fail(struct watch *w, struct mono now, const struct trial *t, struct seat *s, const char *why);
/* Whether the node is held and free now. */
bool seat_ready(const struct watch *w, const struct trial *t, const struct seat *s);
void seat_call(struct watch *w, struct seat *s, size_t run);
const struct member *seat_member(const struct watch *w, const struct seat *s);
struct seat *trial_seat(struct watch *w, struct trial *t, const struct member *m);
void trial_drop(struct watch *w, struct trial *t);
static inline bool seat_has_left(const struct seat *s)
{
    return s->state == SEAT_LEFT;
}

/* The claim rests on m. */
bool seat_is_held(const struct member *m, const char *claim);
/* The node under examination is this one. */
bool trial_examines(const struct trial *t, const struct seat *s);
/* The examination of m for which the trial runs goes on. */
bool trial_is_examined(const struct trial *t, const struct member *m);
/* The reason that keeps m out of service for the trial still stands: the claim, or the examination. */
bool seat_is_kept(const struct trial *t, const struct seat *s, const struct member *m);
void seat_leave(struct watch *w, struct seat *s);
/* An ill node was kept in service for want of room: all trials that are under way end. */
void trials_yield(struct watch *w);
struct trials {
    struct trial *first;
    uint64_t runs;     /* runs begun so far */
    bool may;          /* the last sweep found that more trials may begin */
    struct mono yield; /* when the trials' room was last needed; ns 0: never */
};

#endif
