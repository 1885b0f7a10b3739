/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_BLAME_H
#define FETTLE_HEALTH_BLAME_H

#include <stdbool.h>

/* What can bring a finding about (blame.tbl). NODE is 0: what nothing is known of is the node's own. */
enum blame {
#define BLAME(symbol, name, counts, what) BLAME_##symbol,
#include "health/blame.tbl"
#undef BLAME
    BLAMES
};

const char *blame_name(enum blame c); /* "program" */
const char *blame_what(enum blame c);
/* A finding of this cause that comes back often enough is raised for that alone. */
bool blame_counts(enum blame c);

#endif
