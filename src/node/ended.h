/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_ENDED_H
#define FETTLE_NODE_ENDED_H

#include "base/json.h"

#include <stdbool.h>

/*
 * How the boot before the present one ended (ended.tbl), as the agent found it and its inventory reports it:
 * "LastBoot":{"ended":NAME,"text":TEXT}.
 */

enum ended {
#define ENDED(symbol, name, code, own, stands_h, what) ENDED_##symbol,
#include "node/ended.tbl"
#undef ENDED
    ENDEDS
};
const char *ended_name(enum ended d);
const char *ended_what(enum ended d); /* a clause about the node */
const char *ended_code(enum ended d);
/* Finds the row with this code; false when there is none. */
bool ended_of_code(const char *code, enum ended *out);
bool ended_is_own(enum ended d);
int ended_stands_h(enum ended d);

enum { ENDED_TEXT_BYTES_MAX = 200 };

struct last_boot {
    bool known; /* the agent reported it; older agents do not */
    enum ended ended;
    char text[ENDED_TEXT_BYTES_MAX + 1]; /* the evidence, for people; may be "" */
};

/* Reads the member "LastBoot" of an inventory. When it is absent or malformed, `known` is false. A name of a
 * newer version is ENDED_UNKNOWN. */
void last_boot_read(const json_t *inventory, struct last_boot *out);
/* The value of the member, which the caller owns. */
json_t *last_boot_write(const struct last_boot *b);

#endif
