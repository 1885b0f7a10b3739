/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PLUGIN_H
#define FETTLE_HEALTH_PLUGIN_H

#include "health/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The protocol of Nagios and Sensu plugins: exit status and output become a verdict. 0 ok, 1 warn, 2 fatal
 * (the record's Severity lowers it), 3 and everything else unknown; 126 and 127 (no such program)
 * unsupported. The first line that is not blank is the text, up to '|'. Performance data follow the first '|'
 * on its line, and a second one somewhere below it, to the end. They are read leniently: what is no datum is
 * passed over. Of a plugin that warns or worse the verdict has their values beside the finding
 * ("load1=5.310 /=120MB").
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

/* What a plugin that ended with this exit status and said this came to; below 0: minus the signal that ended
 * it. *v is written anew. Any bytes are good; NUL bytes count as blanks. */
void plugin_read(int status, const char *output, size_t len, enum metric format, struct verdict *v);
/* Calls fn for each datum: of performance data; of the lines of any format. */
void plugin_perf(const char *output, size_t len, perf_fn *fn, void *arg);
void metric_each(enum metric format, const char *output, size_t len, perf_fn *fn, void *arg);
/* "-12.5e3" in thousandths; a comma does for the point. False, and *at as it was, for no number. */
bool perf_number(const char **at, const char *end, int64_t *milli);

#endif
