/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_SCHEDULER_WORD_H
#define FETTLE_NODE_SCHEDULER_WORD_H

#include "base/clock.h"

#include <stdbool.h>

/*
 * What the scheduler says of a node, as it says it: for people, and for filters. Who holds the node there
 * follows from it, and is a fact of its own (elsewhere.h).
 */

/* Zero-initialised: nothing was read. One that was set owns its texts. */
struct scheduler_word {
    const char *state;  /* with its flags, "IDLE+DRAIN"; NULL: the last reading failed, or there was none */
    const char *reason; /* with whatever mark is in it; NULL without */
    const char *by;     /* the user who set the reason; NULL when the scheduler does not say */
    struct wall since;  /* when it was set; ns 0: likewise */
    struct mono read;   /* when the node was last read; ns 0: never */
};

void scheduler_word_fini(struct scheduler_word *s);
/* Takes over a copy of what was read at now->read. Without a state the reading failed: what was said before
 * goes, and `read` stays. */
void scheduler_word_set(struct scheduler_word *s, const struct scheduler_word *now);

#endif
