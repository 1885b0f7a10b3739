/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_LOCAL_H
#define FETTLE_AGENT_CHECKER_LOCAL_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>
#include <uv.h>

/*
 * Runs checks once, by hand, on a node with no controller and no agent, and prints a line for each: its
 * name, what it came to, how long it took, and why. Counters have their first reading then, and cannot have
 * grown. Unless checks were named, it says at the end where these stand, and which the controller has the
 * node run.
 */

struct local_request {
    const char *root; /* "" for the real one */
    const char *conf; /* a file of checks; NULL: the node's own, or without one what is checked by default */
    const char *home; /* the agent's directory of state, where the controller's list is kept */
    const char *node; /* its name */
    size_t n_names;   /* the names of checks to run; none: all */
    char **names;
};

/* *status is 0: all is well, 1: something fails, 3: nothing fails, and something is unknown. -ENOENT for a
 * name that no check has, a root that is no directory, and when there is no check for the node; -errno with a
 * sentence when the checks cannot be read. */
int local_check(uv_loop_t *loop, const struct local_request *q, FILE *out, int *status, struct err *e);

#endif
