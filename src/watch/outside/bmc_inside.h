/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_BMC_INSIDE_H
#define FETTLE_WATCH_OUTSIDE_BMC_INSIDE_H

#include "watch/view/view.h"

/*
 * When each BMC is asked, and what its answer means for a healthy node. The state is w->bmcs.
 */

/* What is known about asking one node's BMC. */
struct bmc_asking {
    /* when its regular question is due, in tenths of seconds since the watch was made; 0: not set */
    uint32_t due_ds;
    uint32_t asked_ds; /* when it was last asked, likewise */
    uint8_t tries;     /* how often in a row it did not answer */
    bool none;         /* there is nothing to ask */
    bool wanted;       /* it is to be asked */
    bool urgent; /* it is to be asked before those that are due, because something waits for the answer */
    bool asked;  /* it was asked and has not answered yet */
    bool mute;   /* its last answer does not count any more */
};

/* Something waits for an answer of the BMC. */
void bmc_want(struct watch *w, const struct member *m);
bool bmc_is_asked(const struct watch *w, struct mono now, const struct member *m); /* or is about to be */
struct bmcs {
    struct bmc_asking *of; /* by member id */
    bool wanted;           /* some node's BMC is to be asked */
    unsigned asked;        /* how many were asked and have not answered yet */
    size_t n_news;
    struct bmc_noted {
        const struct member *m;
        struct components told; /* n 0: no firmware any more */
    } * news;                   /* the answers to be written down */
};

#endif
