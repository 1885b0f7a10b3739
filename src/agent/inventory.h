/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_INVENTORY_H
#define FETTLE_AGENT_INVENTORY_H

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The part of the inventory that has to be sent. Pure. The agent keeps only a table of hashes: one for
 * every member and one for the whole. The tree itself lives in the child process that reads it. The child
 * knows the table from its parent's memory and writes a report: the new table, and the bodies of the
 * INVENTORY frames that lead from the old inventory to the new one.
 */

enum {
    INVENTORY_MEMBERS_MAX = 64,
    INVENTORY_KEY_BYTES_MAX = 31,
    INVENTORY_PART_BYTES_MAX = 40 << 10, /* the members of one frame */
    INVENTORY_REPORT_BYTES_MAX = 1 << 20
};

struct inventory_table {
    size_t n;
    struct {
        char key[INVENTORY_KEY_BYTES_MAX + 1];
        char hash[17];
    } member[INVENTORY_MEMBERS_MAX];
    char hash[17]; /* the hash of the whole; "" while it is not known */
};

/* Writes the report. told is what the other side has; NULL: nothing, it wants the whole. Members
 * that are too many or too large to send are left out, and named in the report. Nothing changed:
 * no bodies. */
void inventory_report(const struct inventory_table *told, json_t *inventory, const char *instance,
                      struct text *out);

/* A report as the parent reads it; text is changed and borrowed. -EINVAL when it is cut short. */
struct inventory_news {
    struct inventory_table table;
    const char *left_out; /* a member; NULL for none */
    char *bodies;         /* for inventory_next_body */
};
int inventory_read(char *text, struct inventory_news *out, struct err *e);
/* The next body and its length; NULL after the last. */
const char *inventory_next_body(struct inventory_news *news, size_t *len);

#endif
