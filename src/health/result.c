/* SPDX-License-Identifier: Apache-2.0 */
#include "health/result.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name, *what;
} rows[RESULTS] = {
#define RESULT(symbol, name, what) [RESULT_##symbol] = {name, what},
#include "health/result.tbl"
#undef RESULT
};

const char *result_name(enum result r)
{
    assert((size_t)r < sizeof rows / sizeof *rows);
    return rows[r].name;
}

const char *result_what(enum result r)
{
    assert((size_t)r < sizeof rows / sizeof *rows);
    return rows[r].what;
}

bool result_parse(const char *name, enum result *out)
{
    for (int r = 0; r < RESULTS; r++) {
        if (strcmp(name, rows[r].name) == 0) {
            *out = (enum result)r;
            return true;
        }
    }
    return false;
}

bool result_fails(enum result r)
{
    return r > RESULT_WARN;
}
