/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRIAL_TRIAL_BEGIN_INSIDE_H
#define FETTLE_WATCH_TRIAL_TRIAL_BEGIN_INSIDE_H

#include "health/group.h"
#include "watch/view/view.h"

/*
 * Which node is due for a trial, and which nodes are held for it. The state is w->trial_begin.
 */

/* A node on which a check is due. */
struct trial_due {
    int64_t due_ns;
    uint16_t check;
    uint32_t member;
};

enum { PARTNERS_MAX = 2 * (CHECK_GROUP_MAX + GROUP_WITNESSES) };

/* A possible partner: a node that looks free. */
struct partner {
    int64_t doubt_ns, ran_ns; /* trial_doubt; when the node last ran the check in a trial; 0: never */
    uint32_t member;
};

/* Examinations that need partners for a check of several nodes. In a sweep partners are noted for one of
 * them. */
struct trial_wish {
    bool noting;     /* partners are noted for the next field */
    uint32_t member; /* kept when its turn is over, because it decides which member is next */
    uint16_t check;
    size_t in_service; /* nodes that can be its partners, now or when they are free */
    size_t n;
    struct partner partners[PARTNERS_MAX]; /* the best first */
    bool asked;                            /* an examination asked in this sweep, and this one is next: */
    uint32_t next;
    uint16_t next_check;
};

/* Notes m as a partner of the examination whose turn it is. */
void trial_note_partner(struct watch *w, struct mono now, const struct member *m);
/* Notes m, which is in no trial, when a check is due. */
void trial_note_due(struct watch *w, struct mono now, const struct member *m);
struct trial_begin {
    size_t n_scheduled;
    uint16_t *scheduled; /* places of the scheduled checks */
    size_t n_candidates, candidates_cap;
    struct trial_due *candidates; /* in the present sweep */
    struct trial_wish wish;
};

#endif
