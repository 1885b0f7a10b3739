/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_BMC_INSIDE_H
#define FETTLE_WATCH_OUTSIDE_BMC_INSIDE_H

#include "watch/view/view.h"

/*
 * When each BMC is asked, and what its answer means for a node that is well. Its state is w->bmcs.
 */

/* What is known of asking one node's BMC. */
struct bmc_asking {
    uint32_t due_ds; /* when it is asked next by itself, in tenths of seconds since the watch was made; 0: not
                        set */
    uint32_t asked_ds; /* when it was asked last, likewise */
    uint8_t tries;     /* so often in a row it did not answer */
    bool none;         /* there is nothing to ask */
    bool wanted;       /* it is to be asked, */
    bool urgent;       /* before those that are due, for something waits for it; */
    bool asked;        /* or was, and has not answered yet */
    bool mute;         /* what it told once is not known any more */
};

/* Something waits for an answer of it. */
void bmc_want(struct watch *w, const struct member *m);
bool bmc_is_asked(const struct watch *w, struct mono now, const struct member *m); /* or about to be */
struct bmcs {
    struct bmc_asking *of; /* by member id */
    bool wanted;           /* of some node the BMC is to be asked; */
    unsigned asked;        /* so many were, and have not answered yet */
    size_t n_news;
    struct bmc_noted {
        const struct member *m;
        struct components told; /* n 0: nothing any more */
    } * news;                   /* that is to be written down */
};

#endif
