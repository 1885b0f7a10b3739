/* SPDX-License-Identifier: Apache-2.0 */
#include "health/act.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name, *what;
    enum result result;
    enum act_end end;
} acts[ACTS] = {
#define ACT(symbol, name, result, ends, what) [ACT_##symbol] = {name, what, RESULT_##result, ACT_ENDS_##ends},
#include "health/act.tbl"
#undef ACT
};

const char *act_name(enum act a)
{
    assert((size_t)a < sizeof acts / sizeof *acts);
    return acts[a].name;
}

const char *act_what(enum act a)
{
    assert((size_t)a < sizeof acts / sizeof *acts);
    return acts[a].what;
}

bool act_parse(const char *name, enum act *out)
{
    for (int a = 0; a < ACTS; a++) {
        if (strcmp(name, acts[a].name) == 0) {
            *out = (enum act)a;
            return true;
        }
    }
    return false;
}

enum result act_result(enum act a)
{
    assert((size_t)a < sizeof acts / sizeof *acts);
    return acts[a].result;
}

enum act_end act_end(enum act a)
{
    assert((size_t)a < sizeof acts / sizeof *acts);
    return acts[a].end;
}
