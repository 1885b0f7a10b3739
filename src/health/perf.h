/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PERF_H
#define FETTLE_HEALTH_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The measurements of a plugin: a label and a number for each, in the format of Nagios (perf.c) or in one of
 * Sensu's (metric.c).
 */

/* 'label'=value[UOM];warn;crit;min;max. The texts point into the output. */
struct perf {
    const char *label;
    size_t label_len;
    int64_t value_milli; /* rounded towards zero, and limited to the range of the type */
    char unit[8];
};
typedef void perf_fn(void *arg, const struct perf *p);

/* The format of a check's metrics (metric.tbl). */
enum metric {
#define METRIC(symbol, name, what) METRIC_##symbol,
#include "health/metric.tbl"
#undef METRIC
    METRICS
};
const char *metric_name(enum metric m); /* "graphite_plaintext" */
bool metric_parse(const char *name, enum metric *out);

/* Calls fn for each measurement in Nagios' performance data. These follow the first '|' on the first line
 * that is not blank, and from a second '|' on a later line to the end. */
void perf_each(const char *output, size_t len, perf_fn *fn, void *arg);
/* The same for any format. PERFDATA is perf_each. */
void metric_each(enum metric format, const char *output, size_t len, perf_fn *fn, void *arg);
/* Reads "-12.5e3" in thousandths; a comma may replace the point. False, with *at unchanged, when there is no
 * number. */
bool perf_number(const char **at, const char *end, int64_t *milli);

#endif
