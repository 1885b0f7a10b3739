/* SPDX-License-Identifier: Apache-2.0 */
#include "node/refusal.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name;
    bool bars;
    const char *what;
} rows[REFUSALS] = {
    {"", false, ""},
#define REFUSAL(symbol, name, rules_out, what) [REFUSAL_##symbol] = {name, rules_out, what},
#include "node/refusal.tbl"
#undef REFUSAL
};

const char *refusal_name(enum refusal r)
{
    assert((size_t)r < sizeof rows / sizeof *rows);
    return rows[r].name;
}

const char *refusal_what(enum refusal r)
{
    assert((size_t)r < sizeof rows / sizeof *rows);
    return rows[r].what;
}

enum refusal refusal_find(const char *name)
{
    for (int r = REFUSAL_NONE + 1; r < REFUSALS; r++)
        if (strcmp(rows[r].name, name) == 0)
            return (enum refusal)r;
    return REFUSAL_NONE;
}

bool refusal_bars(enum refusal r)
{
    assert((size_t)r < sizeof rows / sizeof *rows);
    return rows[r].bars;
}
