/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PERF_H
#define FETTLE_HEALTH_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a plugin measured: a label and a number for each datum, in the format of Nagios (perf.c) or in one of
 * Sensu's (metric.c).
 */

/* 'label'=value[UOM];warn;crit;min;max. The text points into what was read. */
struct perf {
    const char *label;
    size_t label_len;
    int64_t value_milli; /* rounded to zero, and to the ends of its range */
    char unit[8];
};
typedef void perf_fn(void *arg, const struct perf *p);

/* How a check's output has its metrics (metric.tbl). */
enum metric {
#define METRIC(symbol, name, what) METRIC_##symbol,
#include "health/metric.tbl"
#undef METRIC
    METRICS
};
const char *metric_name(enum metric m); /* "graphite_plaintext" */
bool metric_parse(const char *name, enum metric *out);

/* Calls fn for each datum of Nagios' performance data: they follow the first '|' on the first line that is
 * not blank, and a second one somewhere below it, to the end. */
void perf_each(const char *output, size_t len, perf_fn *fn, void *arg);
/* The same for any format: PERFDATA is perf_each. */
void metric_each(enum metric format, const char *output, size_t len, perf_fn *fn, void *arg);
/* "-12.5e3" in thousandths; a comma does for the point. False, and *at as it was, for no number. */
bool perf_number(const char **at, const char *end, int64_t *milli);

#endif
