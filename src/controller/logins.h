/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_LOGINS_H
#define FETTLE_CONTROLLER_LOGINS_H

#include "api/api.h"

#include <uv.h>

/*
 * Names of users and groups of this machine, for processes at the local socket. A look-up may wait for a
 * directory server, so it runs in a worker, one at a time, and a request waits 2 s for it at most: then
 * numbers stand in the place of the names. Nothing is kept: who left a group is out of it at the next
 * request.
 */

struct logins;
struct logins *logins_create(uv_loop_t *loop);
/* Calls back those that wait, with numbers. The loop must run on until its handles are closed. */
void logins_destroy(struct logins *l);

/* As api_shell's names. */
void logins_find(struct logins *l, const struct shell_process *p, shell_names_fn *fn, void *arg);

#endif
