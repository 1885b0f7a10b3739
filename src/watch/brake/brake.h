/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BRAKE_BRAKE_H
#define FETTLE_WATCH_BRAKE_BRAKE_H

#include "watch/brake/shell.h"
#include "watch/view/view.h"

/*
 * What has to be so before something is done to a node. It is asked when an operation is proposed, and again
 * right before it is carried out. It has no state.
 */

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

#endif
