/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OWN_USER_H
#define FETTLE_CONTROLLER_OWN_USER_H

#include "controller/config/config.h"

/*
 * Whether the user that fettled is to be can do its work: what `fettled -n` says beside the mistakes of the
 * configuration. That user is the one who has the state directory, or the packages' user where it is root's
 * and the usual one: the service gives it away when it starts. Nothing is changed.
 */

#define STATE_DIRECTORY "/var/lib/fettle" /* the usual state directory */

/* Appends a sentence a line: files and directories of others, and a fettle-exec that does not answer at
 * `exec`. */
void own_user_check(const struct config *c, const char *state, const char *exec, struct text *out);

#endif
