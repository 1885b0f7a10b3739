/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PIECE_H
#define FETTLE_HEALTH_PIECE_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a program's output: points into it, from `at` to before `end`. Any bytes are good. */
struct piece {
    const char *at, *end;
};

/* A space, a tab, a carriage return or a NUL byte, but not a newline. */
bool piece_is_blank(char c);
/* The piece without blanks at both ends. */
struct piece piece_trim(struct piece p);
/* The part before the first c; *rest is the part after it. Without c, it returns all of p and *rest is
 * empty. */
struct piece piece_cut(struct piece p, char c, struct piece *rest);
/* The first line with more than blanks, without its newline; *rest is the part after it. */
struct piece piece_first_line(const char *output, size_t len, struct piece *rest);

#endif
