/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_SCHEDULER_WORD_H
#define FETTLE_NODE_SCHEDULER_WORD_H

#include "base/clock.h"

#include <stdbool.h>

/*
 * The scheduler's own words about a node, for people and for filters. Who holds the node there follows from
 * them, and is a fact of its own (elsewhere.h).
 */

/* Zero-initialised: nothing was read. Owns its texts once it was set. */
struct scheduler_word {
    const char *state;  /* with its flags, "IDLE+DRAIN"; NULL: the last reading failed, or there was none */
    const char *reason; /* with any mark of Fettle's in it; NULL without */
    const char *by;     /* the user who set the reason; NULL when the scheduler does not say */
    struct wall since;  /* when the reason was set; ns 0: unknown */
    char *texts;        /* the three, once they are owned; else NULL */
    struct mono read;   /* when the node was last read; ns 0: never */
};

void scheduler_word_fini(struct scheduler_word *s);
/* Takes over a copy of what was read at now->read. A `now` without a state means that the reading failed:
 * state and reason are dropped, and `read` is kept. */
void scheduler_word_set(struct scheduler_word *s, const struct scheduler_word *now);

#endif
