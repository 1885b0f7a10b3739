/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_PRESENCE_SILENCE_INSIDE_H
#define FETTLE_WATCH_PRESENCE_SILENCE_INSIDE_H

#include "watch/view/view.h"

/*
 * Silence: who is late, who goes down, and when too many are silent at once. Its state is w->silence.
 */

enum { DUE_TICKS = 1024, DUE_NONE = -1 };

/* When a member is looked at next, and how it counts for the alarm. */
struct due {
    int64_t tick;        /* DUE_NONE: not by itself */
    uint32_t prev, next; /* of those of the same tick, modulo DUE_TICKS; UINT32_MAX: none */
    bool watched, quiet;
    bool fallen; /* it is among those that are to be taken down */
};

struct silence {
    struct due *due;           /* by member id */
    uint32_t wheel[DUE_TICKS]; /* the first member of each; UINT32_MAX: none */
    int64_t tick;              /* the last that came, */
    int64_t ticked;            /* and the last whose members are looked at */
    bool round;                /* it is time to tell, once all are looked at */
    size_t watched, quiet;     /* for the alarm: in service, and of them not heard of late */
    size_t n_fallen, fallen_cap;
    uint32_t *fallen;           /* members to be taken down, found in ticks before */
    struct hostlist late, live; /* to be told */
    bool alarm;                 /* of mass silence */
    struct mono calm; /* when the last one ended: nobody is taken down for a full window from then */
    size_t alarm_quiet, alarm_watched; /* as it began, or changed */
};

#endif
