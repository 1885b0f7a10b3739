/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_BLAME_H
#define FETTLE_HEALTH_BLAME_H

#include <stdbool.h>

/* The possible causes of a finding (blame.tbl). NODE is 0: a finding of unknown cause is attributed to the
 * node. */
enum blame {
#define BLAME(symbol, name, counts, what) BLAME_##symbol,
#include "health/blame.tbl"
#undef BLAME
    BLAMES
};

const char *blame_name(enum blame c); /* "program" */
const char *blame_what(enum blame c);
/* True when a finding with this cause becomes more severe because it recurs. */
bool blame_counts(enum blame c);

#endif
