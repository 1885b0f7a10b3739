/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_TRIAL_BEGIN_INSIDE_H
#define FETTLE_WATCH_TRIAL_TRIAL_BEGIN_INSIDE_H

#include "health/group.h"
#include "watch/view/view.h"

/*
 * Which node is due for a trial, and which nodes are held for it. Its state is w->trial_begin.
 */

/* A node on which a check may run. */
struct trial_due {
    int64_t due_ns;
    uint16_t check;
    uint32_t member;
};

enum { PARTNERS_MAX = 2 * (CHECK_GROUP_MAX + GROUP_WITNESSES) };

/* One that looks free. */
struct partner {
    int64_t doubt_ns, ran_ns; /* trial_doubt; when it ran the check last in a trial; 0: never */
    uint32_t member;
};

/* Examinations that want partners for a check of several nodes. In a sweep they are noted for one. */
struct trial_wish {
    bool noting;     /* for this one: */
    uint32_t member; /* kept when it is over, as it says who is the next */
    uint16_t check;
    size_t in_service; /* nodes that may be its partners, now or when they are free */
    size_t n;
    struct partner partners[PARTNERS_MAX]; /* the best first */
    bool asked;                            /* in this sweep, and the next is: */
    uint32_t next;
    uint16_t next_check;
};

/* Notes m as a partner of the one whose turn it is. */
void trial_note_partner(struct watch *w, struct mono now, const struct member *m);
/* Notes m, which is in no trial, when it is due. */
void trial_note_due(struct watch *w, struct mono now, const struct member *m);
struct trial_begin {
    size_t n_scheduled;
    uint16_t *scheduled; /* places of the checks that are scheduled */
    size_t n_candidates, candidates_cap;
    struct trial_due *candidates; /* of the sweep under way */
    struct trial_wish wish;
};

#endif
