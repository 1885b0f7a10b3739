/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_REFUSAL_H
#define FETTLE_NODE_REFUSAL_H

#include <stdbool.h>

/* Why an operation was refused (refusal.tbl). REFUSAL_NONE: no reason was given, or an unknown one. */
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
/* True when any other operation by the same means would be refused too. */
bool refusal_bars(enum refusal r);

#endif
