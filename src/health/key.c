/* SPDX-License-Identifier: Apache-2.0 */
#include "health/key.h"

#include "base/conf.h"
#include "health/argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static unsigned default_when(enum probe p)
{
    enum probe_how how = probe_row(p)->how;
    if (how == PROBE_BENCH)
        return CHECK_DEMAND | CHECK_EXTENSIVE;
    return CHECK_PERIODIC | (how == PROBE_IDLE ? CHECK_IDLE : CHECK_BOOT);
}

static struct span default_every(const struct check *k)
{
    enum { DAY_S = 86400 };
    return span_s(k->when & CHECK_SCHEDULED ? DAY_S : probe_row(k->probe)->every_s);
}

static struct span default_deadline(enum probe p)
{
    return span_s(probe_row(p)->how == PROBE_BENCH ? 120 : 10);
}

void key_defaults(struct check *k)
{
    const struct probe_row *row = probe_row(k->probe);
    k->when = default_when(k->probe);
    k->deadline = default_deadline(k->probe);
    k->severity = row->severity;
    k->fails = k->passes = k->group = 1;
    k->window = span_s(600);
    k->canary_percent = 100;
}

void key_finish(struct check *k)
{
    if (k->every.ns == 0)
        k->every = default_every(k);
}

/* --- forms of values ----------------------------------------------------------------------------- */

static int take_number(const char *value, unsigned least, unsigned most, unsigned *out, struct err *e)
{
    uint64_t n = 0;
    int rc = text_parse_u64(value, least, most, &n, e);
    if (rc == 0)
        *out = (unsigned)n;
    return rc;
}

static void put_number(unsigned n, unsigned fallback, struct text *value)
{
    if (n != fallback)
        text_add_u64(value, n);
}

static int take_span(const char *value, struct span least, struct span most, struct span *out, struct err *e)
{
    struct span s;
    char from[32], to[32];
    int rc = span_parse(value, &s, e);
    if (rc == 0 && (s.ns < least.ns || s.ns > most.ns))
        return err_set(e, -EINVAL, "\"%.80s\" is not a time from %s to %s", value, span_format(least, from),
                       span_format(most, to));
    if (rc == 0)
        *out = s;
    return rc;
}

static void put_span(struct span s, struct span fallback, struct text *value)
{
    char buf[32];
    if (s.ns != fallback.ns)
        text_add(value, span_format(s, buf));
}

static int take_percent(const char *value, unsigned least, unsigned *out, struct err *e)
{
    unsigned n = 0;
    int rc = argument_percent(value, &n, e);
    if (rc == 0 && n < least)
        return err_set(e, -EINVAL, "\"%.80s\" is not a number from %u to 100 %%", value, least);
    if (rc == 0)
        *out = n;
    return rc;
}

static void put_percent(unsigned n, unsigned fallback, struct text *value)
{
    if (n != fallback)
        text_printf(value, "%u%%", n);
}

/* --- the keys of any check ----------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned when;
} whens[] = {{"boot", CHECK_BOOT},           {"periodic", CHECK_PERIODIC},  {"idle", CHECK_IDLE},
             {"prolog", CHECK_PROLOG},       {"epilog", CHECK_EPILOG},      {"demand", CHECK_DEMAND},
             {"extensive", CHECK_EXTENSIVE}, {"scheduled", CHECK_SCHEDULED}};
enum { WHENS = sizeof whens / sizeof whens[0] };

static int take_when_word(struct check *k, const char *word, struct err *e)
{
    for (size_t i = 0; i < WHENS; i++) {
        if (strcasecmp(whens[i].name, word) == 0) {
            k->when |= whens[i].when | (whens[i].when == CHECK_IDLE ? CHECK_PERIODIC : 0);
            return 0;
        }
    }
    return err_set(
        e, -EINVAL,
        "\"%.80s\" is none of boot, periodic, idle, prolog, epilog, demand, extensive and scheduled", word);
}

static int take_when(struct check *k, const char *value, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(value);
    char *rest = copy;
    int rc = 0;
    k->when = 0;
    for (char *word; rc == 0 && (word = strsep(&rest, ","));)
        rc = take_when_word(k, word, e);
    return rc;
}

static void put_when(const struct check *k, struct text *value)
{
    if (k->when == default_when(k->probe))
        return;
    for (size_t i = 0; i < WHENS; i++)
        if (k->when & whens[i].when)
            text_printf(value, "%s%s", value->len > 0 ? "," : "", whens[i].name);
}

static const struct span WEEK = {INT64_C(604800000000000)}, MONTH = {INT64_C(2592000000000000)};

static int take_every(struct check *k, const char *value, struct err *e)
{
    return take_span(value, span_s(1), MONTH, &k->every, e);
}

static void put_every(const struct check *k, struct text *value)
{
    put_span(k->every, default_every(k), value);
}

static int take_deadline(struct check *k, const char *value, struct err *e)
{
    return take_span(value, span_ms(100), span_s(86400), &k->deadline, e);
}

static void put_deadline(const struct check *k, struct text *value)
{
    put_span(k->deadline, default_deadline(k->probe), value);
}

static int take_severity(struct check *k, const char *value, struct err *e)
{
    enum result r;
    if (!result_parse(value, &r) || r <= RESULT_OK)
        return err_set(e, -EINVAL, "\"%.80s\" is none of info, warn, degraded, fatal and lost", value);
    k->severity = r;
    return 0;
}

static void put_severity(const struct check *k, struct text *value)
{
    if (k->severity != probe_row(k->probe)->severity)
        text_add(value, result_name(k->severity));
}

static int take_fails(struct check *k, const char *value, struct err *e)
{
    return take_number(value, 1, 100, &k->fails, e);
}

static void put_fails(const struct check *k, struct text *value)
{
    put_number(k->fails, 1, value);
}

static int take_passes(struct check *k, const char *value, struct err *e)
{
    return take_number(value, 1, 100, &k->passes, e);
}

static void put_passes(const struct check *k, struct text *value)
{
    put_number(k->passes, 1, value);
}

static int take_fail_percent(struct check *k, const char *value, struct err *e)
{
    return take_percent(value, 0, &k->fail_percent, e);
}

static void put_fail_percent(const struct check *k, struct text *value)
{
    put_percent(k->fail_percent, 0, value);
}

static int take_window(struct check *k, const char *value, struct err *e)
{
    return take_span(value, span_s(1), WEEK, &k->window, e);
}

static void put_window(const struct check *k, struct text *value)
{
    put_span(k->window, span_s(600), value);
}

static int take_sticky(struct check *k, const char *value, struct err *e)
{
    return take_span(value, span_s(0), WEEK, &k->sticky, e);
}

static void put_sticky(const struct check *k, struct text *value)
{
    put_span(k->sticky, span_s(0), value);
}

static int take_observe(struct check *k, const char *value, struct err *e)
{
    return text_parse_bool(value, &k->observe, e);
}

static void put_observe(const struct check *k, struct text *value)
{
    if (k->observe)
        text_add(value, "yes");
}

static int take_canary(struct check *k, const char *value, struct err *e)
{
    return take_percent(value, 1, &k->canary_percent, e);
}

static void put_canary(const struct check *k, struct text *value)
{
    put_percent(k->canary_percent, 100, value);
}

static int take_group(struct check *k, const char *value, struct err *e)
{
    return take_number(value, 1, CHECK_GROUP_MAX, &k->group, e);
}

static void put_group(const struct check *k, struct text *value)
{
    put_number(k->group, 1, value);
}

static int take_classes(struct check *k, const char *value, struct err *e)
{
    enum { CLASS_NAME_BYTES_MAX = 63 };
    CLEANUP_FREE char *copy = mem_dup(value);
    char *rest = copy;
    for (char *name; (name = strsep(&rest, ","));) {
        if (!hostlist_name_ok(name) || strlen(name) > CLASS_NAME_BYTES_MAX)
            return err_set(e, -EINVAL, "\"%.80s\" is no name of a class", name);
        hostlist_add(&k->classes, name);
    }
    return 0;
}

static void put_classes(const struct check *k, struct text *value)
{
    for (size_t i = 0; i < k->classes.n; i++)
        text_printf(value, "%s%s", i > 0 ? "," : "", k->classes.names[i]);
}

/* Adds names to the present ones: a long list is written in several keys. */
static int take_nodes(struct check *k, const char *value, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist more = {0};
    int rc = hostlist_parse(value, &more, e);
    if (rc < 0)
        return rc;
    if (more.n == 0)
        return err_set(e, -EINVAL, "\"%.80s\" names no node", value);
    if (k->nodes.n + more.n > CHECKS_NODES_MAX)
        return err_set(e, -EINVAL, "more than %d nodes", CHECKS_NODES_MAX);
    hostlist_add_all(&k->nodes, &more);
    return 0;
}

/* Name and probe are read and written before the other keys. Nodes are written after them, because
 * check_format may replace them. */
#define take_name NULL
#define take_probe NULL
#define put_name NULL
#define put_probe NULL
#define put_nodes NULL
const struct key key_rows[] = {
#define KEY(symbol, name, who, form, fallback, meaning, more) {name, take_##symbol, put_##symbol, who},
#include "health/key.tbl"
#undef KEY
};
const size_t key_rows_n = sizeof key_rows / sizeof key_rows[0];

const struct key *key_find(const char *key)
{
    static const char nodes[] = "Nodes";
    bool goes_on = strncasecmp(key, nodes, strlen(nodes)) == 0 && key[strlen(nodes)] != '\0' &&
                   text_parse_u64(key + strlen(nodes), 2, CONF_LINE_FIELDS_MAX, &(uint64_t){0}, NULL) == 0;
    for (size_t i = 0; i < key_rows_n; i++)
        if (strcasecmp(key_rows[i].key, goes_on ? nodes : key) == 0)
            return &key_rows[i];
    return NULL;
}
