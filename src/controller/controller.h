/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONTROLLER_H
#define FETTLE_CONTROLLER_CONTROLLER_H

#include "base/err.h"

#include <uv.h>

/*
 * The controller: opens the state, takes the leadership, listens, and ties the parts together. With a state
 * in etcd it follows until it leads.
 */

struct controller;

/* Reads the configuration, opens the state directory (made with its authority when it is new) and
 * begins to serve on the loop. Everything is closed again on error. -ENOKEY: a person has to admit this
 * controller to the state in etcd, and the sentence says how; try again until then. */
int controller_open(uv_loop_t *loop, const char *config_path, const char *state_dir, struct controller **out,
                    struct err *e);

/* Reads the configuration anew: all or nothing. It is taken later, when it is agreed. What changed, or why
 * nothing did, is logged. */
void controller_reload(struct controller *c);

/* Stops serving, ends every connection and waits until what was begun is committed; the loop is
 * run until nothing is left on it. */
void controller_close(struct controller *c);

/* Why the loop was stopped. */
enum controller_end {
    CONTROLLER_STOPPED, /* by a signal, not by the controller itself */
    CONTROLLER_ENDED,   /* it cannot go on, and has logged why: the process ends */
    CONTROLLER_ANEW /* close it, and open it again: another controller leads, or the state has to be loaded */
};
enum controller_end controller_ended(const struct controller *c);

#endif
