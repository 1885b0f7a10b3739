/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_ISOLATE_INSIDE_H
#define FETTLE_WATCH_ISOLATE_INSIDE_H

#include "watch/watch.h"

/*
 * Whether a node may be taken out of service now: the latch and the room in the budgets. Its state is
 * w->surge.
 */

/* Whether m may be isolated now for what began at `since`; if not, whoever has to know is told. */
bool brake_isolate(struct watch *w, struct mono now, const struct member *m, struct wall since);
/* Whether remedies may be carried out at all: 0, or -EAGAIN with why not. */
int brake_stopped(const struct watch *w, struct err *e);
/* Another machine is found under the name of m, which has to be tested: it is out from now on, whatever room
 * there is, and others find that it is. */
void brake_swapped(struct watch *w, const struct member *m);
/* Whether m may be taken out now for a maintenance event: as brake_isolate, but that is no surge. */
bool brake_maintain(struct watch *w, const struct member *m);
/* Whether an ill node was kept in service for want of room since this was asked last, and when. The room that
 * trials take is to be given up for it. */
bool isolation_wants_room(struct watch *w, struct mono *at);
void brake_load(struct watch *w, struct mono now); /* what is recorded of isolations, once */
void brake_end_sweep(struct watch *w);
void brake_destroy(struct watch *w);

struct surge {
    size_t n_surge;
    struct mono *surge;    /* when each of the last came that would be isolated, and those recorded before */
    bool surge_loaded;     /* with those of leaders before */
    bool tripped, latched; /* the latch: proposed and not yet recorded; as seen last */
    bool wants_room;       /* an ill node found none, */
    struct mono wanted_at; /* at this moment */
};

#endif
