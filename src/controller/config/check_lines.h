/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONFIG_CHECK_LINES_H
#define FETTLE_CONTROLLER_CONFIG_CHECK_LINES_H

#include "base/hostlist.h"
#include "base/text.h"
#include "health/check.h"

/*
 * The checks as they are sent to agents: one list for all, in which each record names the nodes that run it,
 * and the records of MeaningConf.
 */

/* The name of node i and its class; NULL: no file names it. */
typedef const char *check_node_fn(const void *arg, size_t i, const char **class);

/* Adds the members "lines" and "meanings" to an object. A record that none of the n nodes runs is left out.
 */
void check_lines(const struct checks *c, const struct hostlist *meanings, check_node_fn *node,
                 const void *arg, size_t n, struct text *out);

#endif
