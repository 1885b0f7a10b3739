/* SPDX-License-Identifier: Apache-2.0 */
#include "health/perf.h"

#include "health/piece.h"

#include <assert.h>
#include <string.h>

/*
 * The formats of Sensu with one line for each metric. Malformed lines are skipped, as Sensu does. Times and
 * tags are skipped too: a finding shows only what was measured, and how much.
 */

static const char *const names[METRICS] = {
#define METRIC(symbol, name, what) [METRIC_##symbol] = name,
#include "health/metric.tbl"
#undef METRIC
};

const char *metric_name(enum metric m)
{
    assert((size_t)m < sizeof names / sizeof *names);
    return names[m];
}

bool metric_parse(const char *name, enum metric *out)
{
    for (int m = 0; m < METRICS; m++)
        if (strcmp(name, names[m]) == 0) {
            *out = (enum metric)m;
            return true;
        }
    return false;
}

static void skip_blanks(struct piece *l)
{
    while (l->at < l->end && piece_is_blank(*l->at))
        l->at++;
}

/* Takes a word. `escapes`: a backslash protects the character after it. */
static struct piece next_word(struct piece *l, bool escapes)
{
    skip_blanks(l);
    struct piece word = {l->at, l->at};
    while (l->at < l->end && !piece_is_blank(*l->at))
        l->at += escapes && *l->at == '\\' && l->at + 1 < l->end ? 2 : 1;
    word.end = l->at;
    return word;
}

/* True when the whole word is a number, except for one of the characters in may_follow. */
static bool whole_number(struct piece word, const char *may_follow, int64_t *milli)
{
    const char *at = word.at;
    if (!perf_number(&at, word.end, milli))
        return false;
    return at == word.end || (at + 1 == word.end && *may_follow && strchr(may_follow, *at));
}

static void metric_say(perf_fn *fn, void *arg, struct piece name, int64_t milli)
{
    if (name.at < name.end)
        fn(arg,
           &(struct perf){.label = name.at, .label_len = (size_t)(name.end - name.at), .value_milli = milli});
}

static void read_graphite(struct piece l, perf_fn *fn, void *arg)
{
    int64_t milli;
    struct piece name = next_word(&l, false), value = next_word(&l, false);
    if (whole_number(value, "", &milli))
        metric_say(fn, arg, name, milli);
}

static void read_opentsdb(struct piece l, perf_fn *fn, void *arg)
{
    int64_t time, milli;
    struct piece name = next_word(&l, false), at = next_word(&l, false), value = next_word(&l, false);
    if (whole_number(at, "", &time) && whole_number(value, "", &milli))
        metric_say(fn, arg, name, milli);
}

/* Cuts before one of `stops` that neither a backslash nor quotes protect. */
static struct piece metric_cut(struct piece *l, const char *stops)
{
    struct piece piece = {l->at, l->at};
    bool quoted = false;
    for (; l->at < l->end && (quoted || !*l->at || !strchr(stops, *l->at)); l->at++) {
        if (*l->at == '\\' && l->at + 1 < l->end)
            l->at++;
        else if (*l->at == '"')
            quoted = !quoted;
    }
    piece.end = l->at;
    return piece;
}

/* Takes only the name of the field: the measurement's name mostly equals the check's. Texts and booleans are
 * skipped. */
static void read_influxdb(struct piece l, perf_fn *fn, void *arg)
{
    int64_t milli;
    struct piece measurement = next_word(&l, true);
    skip_blanks(&l);
    while (measurement.at < measurement.end && l.at < l.end && !piece_is_blank(*l.at)) {
        struct piece name = metric_cut(&l, "=, ");
        if (l.at == l.end || *l.at != '=')
            return;
        l.at++;
        struct piece value = metric_cut(&l, ", ");
        if (whole_number(value, "iu", &milli))
            metric_say(fn, arg, name, milli);
        if (l.at == l.end || *l.at != ',')
            return;
        l.at++;
    }
}

static void read_prometheus(struct piece l, perf_fn *fn, void *arg)
{
    int64_t milli;
    skip_blanks(&l);
    if (l.at == l.end || *l.at == '#')
        return;
    struct piece name = metric_cut(&l, "{ \t");
    if (l.at < l.end && *l.at == '{') {
        metric_cut(&l, "}");
        if (l.at == l.end)
            return;
        l.at++;
        name.end = l.at;
    }
    if (whole_number(next_word(&l, false), "", &milli))
        metric_say(fn, arg, name, milli);
}

void metric_each(enum metric format, const char *output, size_t len, perf_fn *fn, void *arg)
{
    static void (*const read[METRICS])(struct piece, perf_fn *,
                                       void *) = {[METRIC_GRAPHITE] = read_graphite,
                                                  [METRIC_INFLUXDB] = read_influxdb,
                                                  [METRIC_OPENTSDB] = read_opentsdb,
                                                  [METRIC_PROMETHEUS] = read_prometheus};
    assert((size_t)format < METRICS);
    if (!read[format]) {
        perf_each(output, len, fn, arg);
        return;
    }
    for (const char *at = output, *end = output + len; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct piece l = {at, newline ? newline : end};
        read[format](l, fn, arg);
        at = newline ? newline + 1 : end;
    }
}
