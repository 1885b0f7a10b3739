/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OPERATION_INSIDE_H
#define FETTLE_WATCH_OPERATION_INSIDE_H

#include "node/action.h"
#include "watch/watch.h"

/*
 * What is to be done to a node, and how far it is. It has no state of its own.
 */

enum operation_state {
    OPERATION_NONE,
    OPERATION_WAITS,
    OPERATION_BEGUN,
    OPERATION_DONE,
    OPERATION_FAILED,
    OPERATION_REFUSED,
    OPERATION_UNKNOWN
};

/* An effect as it stands. Zero-initialise; operation_fini. */
struct operation {
    enum operation_state state;
    const char *id, *run, *of, *boot, *text; /* of `record` */
    enum refusal refusal;                    /* of one that was refused, where that is known */
    struct wall deadline, began;             /* began.ns 0: it is not under way */
    json_t *record;
};
void operation_read(const struct watch *w, const struct member *m, struct operation *o);
/* The same of a person's power command: `of` and `boot` are "". */
void power_read(const struct watch *w, const struct member *m, struct operation *o);
void operation_fini(struct operation *o);
void operation_propose(struct watch *w, struct mono now, const struct member *m, const char *run,
                       const char *of, struct span deadline);
/* What came of it was seen by the watch, and whoever carries it out does not say so. */
void operation_end(struct watch *w, struct mono now, const struct member *m, const struct operation *o,
                   const char *state, const char *text);
/* Whether its time is over, by the watch's own time; of one that is begun, long over. */
bool operation_overdue(struct watch *w, struct mono now, const struct member *m, const struct operation *o);

#endif
