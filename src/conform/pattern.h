/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONFORM_PATTERN_H
#define FETTLE_CONFORM_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Patterns of component names, in which '*' stands for any characters, or none. The index finds the patterns
 * that match a name without trying each of them: matching 16,000 components with a thousand patterns takes
 * some milliseconds.
 */

bool pattern_matches(const char *pattern, const char *name);

struct patterns;
/* Makes an index of n patterns (65,535 at most). The patterns must live as long as it does. */
struct patterns *patterns_create(const char *const *list, size_t n);
void patterns_destroy(struct patterns *p);

/* Calls fn with the number of each pattern that matches, in no order, and possibly more than once. */
typedef void pattern_fn(void *arg, size_t number);
void patterns_match(const struct patterns *p, const char *name, pattern_fn *fn, void *arg);

#endif
