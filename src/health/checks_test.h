/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_CHECKS_TEST_H
#define FETTLE_HEALTH_CHECKS_TEST_H

#include "health/check.h"
#include "health/meaning.h"

/*
 * Records of checks and meanings that a test reads. Each function fails the test where what it says does not
 * hold.
 */

/* The records are good: *c has their checks. */
void checks_good(const char *records, struct checks *c);
/* They are refused with this sentence, and leave no check. */
void checks_refused(const char *records, const char *sentence);
/* The records of meanings are good; the caller destroys what they give. */
struct meanings *meanings_good(const char *text);
/* A check of which the argument Run has this value, whatever its form. */
struct check check_with(const char *value);
/* The check of this record is written as this line. */
void check_line_is(const char *record, const char *line);

#endif
