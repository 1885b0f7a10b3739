/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_RESULT_H
#define FETTLE_HEALTH_RESULT_H

#include <stdbool.h>

/* The result of a check. The order counts: a later one is worse. */
enum result {
#define RESULT(symbol, name, what) RESULT_##symbol,
#include "health/result.tbl"
#undef RESULT
    RESULTS
};

const char *result_name(enum result r); /* "degraded" */
const char *result_what(enum result r);
bool result_parse(const char *name, enum result *out);
/* True when it is worse than warn: it may have consequences. */
bool result_fails(enum result r);

#endif
