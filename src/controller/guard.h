/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_GUARD_H
#define FETTLE_CONTROLLER_GUARD_H

#include "controller/config/config.h"

/*
 * Whether what has to be the controller's own is: keys, state, passwords and tokens that nobody else may read
 * or write, and a directory of the local socket that nobody else may write, who could put a socket of his own
 * there. Each function returns 0, or a negative errno with the command that mends it. What does not exist is
 * all right here.
 */

/* The state directory with all that is in it. Before it is opened. */
int guard_state(const char *dir, struct err *e);

/* The files that the configuration names, and the directory of the socket: -EINVAL. At each reading of it. */
int guard_config(const struct config *c, struct err *e);
/* The same without the files whose records come from elsewhere, where the configuration is the agreed one. */
int guard_own(const struct config *c, struct err *e);

#endif
