/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_PRESENCE_SILENCE_INSIDE_H
#define FETTLE_WATCH_PRESENCE_SILENCE_INSIDE_H

#include "watch/view/view.h"

/*
 * Silence: which nodes are late, which go down, and when too many are silent at once. The state is
 * w->silence.
 */

enum { DUE_TICKS = 1024, DUE_NONE = -1 };

/* When a member is looked at next, and how it counts for the alarm. */
struct due {
    int64_t tick;        /* DUE_NONE: no look is planned */
    uint32_t prev, next; /* members of the same tick, modulo DUE_TICKS; UINT32_MAX: none */
    bool watched, quiet;
    bool fallen; /* it is to be taken down */
};

struct silence {
    struct due *due;           /* by member id */
    uint32_t wheel[DUE_TICKS]; /* the first member of each tick; UINT32_MAX: none */
    int64_t tick;              /* the present tick */
    int64_t ticked;            /* the last tick whose members were looked at */
    bool round;                /* the notices are due once all are looked at */
    size_t watched, quiet;     /* for the alarm: nodes in service, and how many were not heard of late */
    size_t n_fallen, fallen_cap;
    uint32_t *fallen;           /* members to be taken down, found in earlier ticks */
    struct hostlist late, live; /* for the notices */
    bool alarm;                 /* the alarm of mass silence stands */
    /* when the last alarm ended: no node is taken down for a full window from then */
    struct mono calm;
    size_t alarm_quiet, alarm_watched; /* at the last sweep's end */
};

#endif
