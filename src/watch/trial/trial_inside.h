/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_TRIAL_INSIDE_H
#define FETTLE_WATCH_TRIAL_TRIAL_INSIDE_H

#include "watch/view/view.h"

/*
 * Trials that are under way: checks for which idle nodes are held. Its state is w->trials.
 */

enum seat_state {
    SEAT_WAITS,  /* for the hold, or for its next run */
    SEAT_CALLED, /* its run is to be begun, by the shell */
    SEAT_RUNS,
    SEAT_HEARD, /* its run is over */
    SEAT_OVER,  /* it takes part no more, and is to be let go */
    SEAT_LEFT   /* it was */
};

/* One node's part in a trial. */
struct seat {
    uint32_t member;
    enum seat_state state;
    size_t of;     /* a group's: its run, of the grouping */
    uint64_t run;  /* by which the shell knows what it began; */
    char boot[37]; /* and the boot on which */
    bool stop;     /* what it runs is not wanted any more, and its agent was not told */
    bool ran;      /* over, and this is what it came to */
    enum result result;
    char *why;              /* over */
    struct verdict *said;   /* what its last run said; NULL: nothing */
    char *failed;           /* a group's: what was said in its last run that failed; NULL: none did */
    struct mono told, wait; /* its end was proposed; what came of it was noted */
};

/* A check for which nodes are held. */
struct trial {
    char claim[CLAIM_ID_BYTES_MAX + 1]; /* "" until it is recorded */
    char check[CHECK_NAME_BYTES_MAX + 1];
    unsigned group;
    bool examines;     /* the first seat's node, which its repair keeps, and whose partners the others are; */
    struct wall stage; /* in the step that began then */
    struct mono began, due;
    struct wall began_wall;
    size_t n;
    struct seat *seats; /* in order of their members; or who is examined, then his partners in theirs */
    struct grouping *grouping; /* of their places; NULL: each runs it by itself */
    unsigned rounds;
    bool called; /* the first round was begun */
    struct trial *next;
};

enum { TRIAL_HOLD_S = 120, TRIAL_MARGIN_S = 30, TRIAL_ROUNDS_MAX = 16 };

/* It takes part no more; ran: with this result. */
void seat_end(struct watch *w, struct mono now, struct seat *s, bool ran, enum result r, const char *why);
/* Notes what the check says of its node now, and ends its part with that. Of one that is examined it is what
 * its examination wanted to know; where it is unknown, that counts as no run. */
void seat_conclude(struct watch *w, struct mono now, const struct trial *t, struct seat *s,
                   struct verdict *x);
/* It came to nothing, for which its node can do nothing. */
void seat_fail(struct watch *w, struct mono now, const struct trial *t, struct seat *s, const char *why);
/* Whether it is held and free, now. */
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
/* The node of this seat is the one that is examined. */
bool trial_examines(const struct trial *t, const struct seat *s);
/* The examination of m, for which the trial is, goes on. */
bool trial_is_examined(const struct trial *t, const struct member *m);
/* What keeps m out of service for the trial stands: the claim, or the examination. */
bool seat_is_kept(const struct trial *t, const struct seat *s, const struct member *m);
void seat_leave(struct watch *w, struct seat *s);
/* An ill node was kept in service for want of room: all trials that are under way end. */
void trials_yield(struct watch *w);
struct trials {
    struct trial *first;
    uint64_t runs;     /* begun so far */
    bool may;          /* more may be begun, as the last sweep found */
    struct mono yield; /* their room was needed; ns 0: never */
};

#endif
