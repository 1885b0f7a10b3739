/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BUDGET_ISOLATE_INSIDE_H
#define FETTLE_WATCH_BUDGET_ISOLATE_INSIDE_H

#include "watch/view/view.h"

/*
 * Whether a node may be taken out of service now: the latch and the room in the budgets. Its state is
 * w->surge.
 */

struct surge {
    size_t n_surge;
    struct mono *surge;    /* when each of the last came that would be isolated, and those recorded before */
    bool surge_loaded;     /* with those of leaders before */
    bool tripped, latched; /* the latch: proposed and not yet recorded; as seen last */
    bool wants_room;       /* an ill node found none, */
    struct mono wanted_at; /* at this moment */
};

#endif
