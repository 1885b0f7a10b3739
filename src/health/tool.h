/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_TOOL_H
#define FETTLE_HEALTH_TOOL_H

#include "health/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the output of test and benchmark programs line by line, by the rows of tool.tbl. It keeps only what a
 * row recognises, and the last line, so an output may have any length.
 *
 * The verdict:
 *   a wrong result                                fatal, whatever the exit status
 *   the hardware or its driver at fault           fatal, unless the program's own fault was said before
 *   no such device; exit status 127               unsupported
 *   a result, and an exit status other than 0     fatal
 *   no result                                     unknown; in a group fatal, since it is compared with others
 *   a value below the floor                       fatal
 */

enum tool {
#define TOOL(symbol, name, measured, unit, what) TOOL_##symbol,
#include "health/tool.tbl"
    TOOLS
};

bool tool_parse(const char *name, enum tool *out);

enum { TOOL_LINE_BYTES_MAX = 1023 };

/* Zero-initialise all but the tool. */
struct tool_said {
    enum tool tool;
    bool wrong, bad, own, absent, passed, has_value;
    int64_t value_milli; /* the last value; of a matrix the least */
    char evidence[FINDING_TEXT_BYTES_MAX +
                  1]; /* the lines that matched rows of WRONG, BAD, OWN and NOTE, separated by "; "; cut */
    char last[FINDING_TEXT_BYTES_MAX + 1]; /* the last line that is not blank; cut */
    /* while reading: */
    bool in_matrix, noting, full;
    char cell[64]; /* the first cell of the table's last row that has one */
    size_t n;
    char line[TOOL_LINE_BYTES_MAX + 1]; /* longer lines are cut */
};

/* Takes the next bytes of the output. A line ends at a line feed or a carriage return. Any bytes are
 * allowed. */
void tool_read(struct tool_said *s, const char *bytes, size_t n);
/* Call after the last bytes. */
void tool_end(struct tool_said *s);

/* How the program ended. */
struct tool_end {
    int status;          /* its exit status */
    bool group;          /* it ran together with other nodes */
    bool teller;         /* this node reports the result; on other nodes the exit status is all there is */
    int64_t floor_milli; /* 0: none */
};
/* Writes the verdict; *v is overwritten. */
void tool_judge(const struct tool_said *s, const struct tool_end *end, struct verdict *v);

#endif
