/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PROBE_H
#define FETTLE_HEALTH_PROBE_H

#include "health/blame.h"
#include "health/result.h"

#include <stdbool.h>

/*
 * The probes (probe.tbl), with their defaults. Each looks at one thing on a node.
 */

enum probe {
#define PROBE(symbol, name, how, every, severity, blame, keys, source, meaning, more) PROBE_##symbol,
#include "health/probe.tbl"
#undef PROBE
    PROBES
};
enum probe_how { PROBE_READ, PROBE_APART, PROBE_IDLE, PROBE_BENCH, PROBE_FOLLOW };
struct probe_row {
    const char *name;
    enum probe_how how;
    int every_s;
    enum result severity;
    enum blame blame; /* the cause of its findings; a meaning of the kernel's log has a cause of its own */
    const char *keys, *what, *source;
};
const struct probe_row *probe_row(enum probe p);
/* False when there is none; *out is unchanged. */
bool probe_find(const char *name, enum probe *out);

#endif
