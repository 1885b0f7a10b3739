/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BRAKE_SHELL_H
#define FETTLE_WATCH_BRAKE_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells ask right before they do something to a node.
 */

struct watch;

/* Asked right before an operation is carried out: still its repair, this step and this id, approved, not
 * stopped, on this boot, fresh evidence, no work where that matters, within the budgets, and held by nobody
 * but Fettle. 0; -EAGAIN, not now; -EBUSY, not any more; -ESTALE, the scheduler has to be read first
 * (watch_unread), and it may be asked again in a moment. All with why. */
int watch_may_operate(struct watch *w, struct mono now, const struct member *m, const char *operation,
                      struct err *e);
/* Whether a person may have this done to m's power ("power.off") now. The switch "stop" stops it; no budget,
 * no latch and no hold does, for it is a person's word. What is not to switch it on needs m to be without
 * work, by everybody's word who can say so, unless it is forced: -EBUSY, work runs on it, or all is stopped;
 * -EAGAIN, what runs on it is not known. watch_may_operate asks the same of one that is committed. */
int watch_may_power(const struct watch *w, const struct member *m, const char *run, bool force,
                    struct err *e);

#endif
