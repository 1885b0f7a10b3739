/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_REFUSAL_H
#define FETTLE_NODE_REFUSAL_H

#include <stdbool.h>

/* Why an operation was refused (refusal.tbl). REFUSAL_NONE: nobody said so in a word that is known. */
enum refusal {
    REFUSAL_NONE,
#define REFUSAL(symbol, name, rules_out, what) REFUSAL_##symbol,
#include "node/refusal.tbl"
#undef REFUSAL
    REFUSALS
};

const char *refusal_name(enum refusal r); /* "" for none */
const char *refusal_what(enum refusal r); /* a clause */
enum refusal refusal_find(const char *name);
/* Whatever goes the same way would be refused as well. */
bool refusal_bars(enum refusal r);

#endif
