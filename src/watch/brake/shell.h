/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_BRAKE_SHELL_H
#define FETTLE_WATCH_BRAKE_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells ask right before they do something to a node.
 */

struct watch;

/* Asked right before an operation is carried out. The operation must still belong to the node's repair, to
 * its present step and to this boot, and be approved and not stopped. The evidence must be fresh, no work may
 * run where that matters, the budgets must have room, and only Fettle may hold the node. Returns 0; -EAGAIN,
 * not now; -EBUSY, not any more; -ESTALE, the scheduler has to be read first (watch_unread), and the question
 * may be asked again in a moment. Each error has the reason. */
int watch_may_operate(struct watch *w, struct mono now, const struct member *m, const char *operation,
                      struct err *e);
/* Whether a person's command ("power.off") may be applied to m's power now. The switch "stop" prevents it.
 * Budgets, the latch and holds do not, because a person gave the command. Unless it is forced, a command
 * other than switching on needs m to be without work, as the agent and the scheduler say: -EBUSY, work runs
 * on it, or everything is stopped; -EAGAIN, it is not known whether work runs. watch_may_operate asks the
 * same about a command that is committed. */
int watch_may_power(const struct watch *w, const struct member *m, const char *run, bool force,
                    struct err *e);

#endif
