/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BRAKE_BRAKE_H
#define FETTLE_WATCH_BRAKE_BRAKE_H

#include "watch/brake/shell.h"
#include "watch/view/view.h"

/*
 * The conditions under which something may be done to a node. They are checked when an operation is proposed,
 * and again right before it is carried out. This room has no state.
 */

/* The remedy may help against an open incident, or has to follow the last remedy. */
bool remedy_wanted(const struct watch *w, struct mono now, const struct member *m,
                   const struct remedy *remedy);
/* Whether this may be done to m now: 0; -EAGAIN, not now; -EBUSY, not any more. remedy NULL: a check. */
int brake_operate(struct watch *w, struct mono now, const struct member *m, const struct remedy *remedy,
                  struct err *e);
/* The same for a remedy on a node in service. The node has to be degraded, and no person may have decided
 * about it. */
int brake_tend(struct watch *w, struct mono now, const struct member *m, const struct remedy *remedy,
               struct err *e);
/* Whether m, which a person released, may be wiped now: 0, or -EAGAIN, or -EBUSY. */
int brake_wipe(const struct watch *w, const struct member *m, const struct remedy *remedy, struct err *e);
/* Whether the scheduler may be told now to end the work on m, which is lost. The class decides about that. */
int brake_end_work(const struct watch *w, struct mono now, const struct member *m, struct err *e);

#endif
