/* SPDX-License-Identifier: Apache-2.0 */
#include "health/blame.h"

#include <assert.h>
#include <stddef.h>

static const struct {
    const char *name, *what;
    bool counts;
} rows[BLAMES] = {
#define BLAME(symbol, name, counts, what) [BLAME_##symbol] = {name, what, counts},
#include "health/blame.tbl"
#undef BLAME
};

const char *blame_name(enum blame c)
{
    assert((size_t)c < sizeof rows / sizeof *rows);
    return rows[c].name;
}

const char *blame_what(enum blame c)
{
    assert((size_t)c < sizeof rows / sizeof *rows);
    return rows[c].what;
}

bool blame_counts(enum blame c)
{
    assert((size_t)c < sizeof rows / sizeof *rows);
    return rows[c].counts;
}
