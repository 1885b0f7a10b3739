/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BRAKE_INSIDE_H
#define FETTLE_WATCH_BRAKE_INSIDE_H

#include "watch/watch.h"

/*
 * What keeps a node from being isolated or operated on. Its state is w->brake.
 */

/* Whether m may be isolated now for what began at `since`; if not, whoever has to know is told. */
bool brake_isolate(struct watch *w, struct mono now, const struct member *m, struct wall since);
/* Whether remedies may be carried out at all: 0, or -EAGAIN with why not. */
int brake_stopped(const struct watch *w, struct err *e);
/* What Fettle has written of m into Slurm, as its driver recorded it; NULL: nothing. The caller's. */
json_t *slurm_recorded(const struct watch *w, const struct member *m);
/* A person's claim rests on m. */
bool person_holds(const struct member *m);
/* Another machine is found under the name of m, which has to be tested: it is out from now on, whatever room
 * there is, and others find that it is. */
void brake_swapped(struct watch *w, const struct member *m);
/* Whether m may be taken out now for a maintenance event: as brake_isolate, but that is no surge. */
bool brake_maintain(struct watch *w, const struct member *m);
/* A maintenance event asks for it: that the node is replaced, or restarted. It is asked for no evidence. */
bool maintenance_wants(const struct member *m, const struct remedy *remedy);
/* Something is open that it may help, or it has to follow what was done last. */
bool remedy_wanted(const struct watch *w, struct mono now, const struct member *m,
                   const struct remedy *remedy);
/* Whether this may be done to m now: 0; -EAGAIN, not now; -EBUSY, not any more. remedy NULL: a check. */
int brake_operate(struct watch *w, struct mono now, const struct member *m, const struct remedy *remedy,
                  struct err *e);
/* The same for a remedy on a node in service, which has to be degraded and in nobody's hands. */
int brake_tend(struct watch *w, struct mono now, const struct member *m, const struct remedy *remedy,
               struct err *e);
/* Whether the scheduler may be asked now to end the work on m, which is lost, as its class says. */
int brake_end_work(const struct watch *w, struct mono now, const struct member *m, struct err *e);
/* Why nothing may be done that needs m idle, and which work it is: "work runs on it: slurm.4711". */
void work_say(const struct watch *w, const struct member *m, struct text *out);
unsigned remedies_of_week(const struct watch *w, const struct member *m);
void brake_load(struct watch *w, struct mono now); /* what is recorded of isolations, once */
void brake_end_sweep(struct watch *w);
void brake_destroy(struct watch *w);

struct brake {
    size_t n_surge;
    struct mono *surge;    /* when each of the last came that would be isolated, and those recorded before */
    bool surge_loaded;     /* with those of leaders before */
    bool tripped, latched; /* the latch: proposed and not yet recorded; as seen last */
};

#endif
