/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BUDGET_ISOLATE_INSIDE_H
#define FETTLE_WATCH_BUDGET_ISOLATE_INSIDE_H

#include "watch/view/view.h"

/*
 * Whether a node may be taken out of service now: the latch and the room in the budgets. The state is
 * w->surge.
 */

struct surge {
    size_t n_surge;
    struct mono *surge;    /* the times of the latest isolations that were wanted or recorded */
    bool surge_loaded;     /* the isolations of earlier leaders were added */
    bool tripped, latched; /* the latch: proposed and not yet recorded; its last known state */
    bool wants_room;       /* an ill node found no room */
    struct mono wanted_at; /* when it found none */
};

#endif
