/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AUDIT_LINES_H
#define FETTLE_AUDIT_LINES_H

#include "audit/tree.h"
#include "base/text.h"

/* Texts of lines, each with its newline, as they are read. Inside this folder. */

struct lines {
    const char *at, *end;
};

/* Takes the next line, without its newline. False: there is none, or the last has no newline. */
bool lines_take(struct lines *l, const char **line, size_t *len);

/* Reads a whole line: a decimal number without leading zeroes, below 2^62; a hash in Base 64. */
bool line_number(const char *line, size_t len, uint64_t *out);
bool line_hash(const char *line, size_t len, struct tree_hash *out);

#endif
