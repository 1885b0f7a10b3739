/* SPDX-License-Identifier: Apache-2.0 */
#include "health/probe.h"

#include <assert.h>
#include <string.h>

static const struct probe_row rows[PROBES] = {
#define PROBE(symbol, name, how, every, severity, blame, keys, source, meaning, more) \
    [PROBE_##symbol] = {name, PROBE_##how, every, RESULT_##severity, BLAME_##blame, keys, meaning, source},
#include "health/probe.tbl"
#undef PROBE
};

const struct probe_row *probe_row(enum probe p)
{
    assert((size_t)p < PROBES);
    return &rows[p];
}

bool probe_find(const char *name, enum probe *out)
{
    for (int p = 0; p < PROBES; p++) {
        if (strcmp(name, rows[p].name) == 0) {
            *out = (enum probe)p;
            return true;
        }
    }
    return false;
}
