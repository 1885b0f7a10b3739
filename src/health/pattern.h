/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PATTERN_H
#define FETTLE_HEALTH_PATTERN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Patterns of whole lines: `*` is any run of characters, also none; `#` one or more decimal digits; `<dev>`
 * one or more characters that are no white space, once at most. What stands between two of `*` and `<dev>`
 * is taken where it is found first, and never looked for again: matching takes at most as many steps as line
 * and pattern are long, multiplied.
 */

/* -EINVAL with what is wrong with it: too long, nothing but wildcards, two wildcards side by side, `<dev>`
 * twice. */
int pattern_check(const char *text, struct err *e);
/* Whether the line is of this pattern (which pattern_check has seen). *dev and *dev_len are what stands in
 * the place of `<dev>`, a piece of the line; len 0 when the pattern has none. */
bool pattern_match(const char *pattern, const char *line, const char **dev, size_t *dev_len);
/* How many bytes stand before the first of `*`, `#` and `<dev>`. */
size_t pattern_head(const char *pattern);
/* The byte with which every line of the pattern begins; 0 when that may be any, or a digit. */
char pattern_first(const char *pattern);

#endif
