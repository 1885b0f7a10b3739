/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PATTERN_H
#define FETTLE_HEALTH_PATTERN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Patterns of whole lines: `*` is any run of characters, or none; `#` one or more decimal digits; `<dev>` one
 * or more characters that are not white space, at most once. The text between two wildcards `*` or `<dev>`
 * matches at its first place, without backtracking: matching takes at most the product of both lengths in
 * steps.
 */

/* -EINVAL with the fault of the pattern: too long, nothing but wildcards, two adjacent wildcards, `<dev>`
 * twice. */
int pattern_check(const char *text, struct err *e);
/* Whether the line matches the pattern, which pattern_check has accepted. *dev and *dev_len are the part of
 * the line in the place of `<dev>`; len 0 when the pattern has none. */
bool pattern_match(const char *pattern, const char *line, const char **dev, size_t *dev_len);
/* The number of bytes before the first `*`, `#` or `<dev>`. */
size_t pattern_head(const char *pattern);
/* The byte with which every matching line begins; 0 when it may be any byte or a digit. */
char pattern_first(const char *pattern);

#endif
