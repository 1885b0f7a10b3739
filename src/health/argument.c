/* SPDX-License-Identifier: Apache-2.0 */
#include "health/argument.h"

#include "health/plugin.h"
#include "health/tool.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAY, MUST };

static const struct {
    const char *probe, *key;
    enum argument_form form;
    int64_t least, most;
    bool must;
    const char *what;
} rows[] = {
#define ARGUMENT(probe, key, form, least, most, need, what) \
    {probe, key, ARGUMENT_##form, least, most, need == MUST, what},
#include "health/argument.tbl"
#undef ARGUMENT
};

static void argument_fill(enum probe p, struct argument *a)
{
    a->form = ARGUMENT_TEXT;
    a->must = false;
    a->what = "";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].probe, probe_row(p)->name) != 0 || strcmp(rows[i].key, a->key) != 0)
            continue;
        a->form = rows[i].form;
        a->least = rows[i].least;
        a->most = rows[i].most;
        a->must = rows[i].must;
        a->what = rows[i].what;
    }
}

bool argument_at(enum probe p, size_t i, struct argument *out)
{
    const char *key = probe_row(p)->keys;
    for (; i > 0 && *key; i--) {
        key += strcspn(key, ",");
        key += *key == ',';
    }
    snprintf(out->key, sizeof out->key, "%.*s", (int)strcspn(key, ","), key);
    argument_fill(p, out);
    return *key != '\0';
}

bool argument_find(enum probe p, const char *key, struct argument *out)
{
    for (size_t i = 0; argument_at(p, i, out); i++)
        if (strcasecmp(out->key, key) == 0)
            return true;
    return false;
}

/* --- forms --------------------------------------------------------------------------------------- */

int argument_percent(const char *value, unsigned *out, struct err *e)
{
    assert(value && out);
    size_t len = strlen(value);
    CLEANUP_FREE char *digits = mem_dup_len(value, len > 0 && value[len - 1] == '%' ? len - 1 : len);
    uint64_t n;
    if (text_parse_u64(digits, 0, 100, &n, NULL) < 0)
        return err_set(e, -EINVAL, "\"%.80s\" is not a number from 0 to 100 %%", value);
    *out = (unsigned)n;
    return 0;
}

/* The number of bytes that one of "", "B", "k", "kB", "KiB" and so on stands for; 0 for anything else. */
static uint64_t unit_bytes(const char *unit)
{
    static const char letters[] = "kMGTP";
    if (*unit == '\0' || strcasecmp(unit, "B") == 0)
        return 1;
    const char *letter = *unit == 'K' ? letters : strchr(letters, *unit);
    const char *rest = unit + 1;
    if (!letter || (*rest && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0 && strcmp(rest, "i") != 0))
        return 0;
    uint64_t n = 1;
    for (ptrdiff_t i = 0; i <= letter - letters; i++)
        n *= *rest == 'i' ? 1024 : 1000;
    return n;
}

int argument_bytes(const char *value, uint64_t *out, struct err *e)
{
    assert(value && out);
    size_t digits = strspn(value, "0123456789");
    uint64_t per = unit_bytes(value + digits), n;
    CLEANUP_FREE char *number = mem_dup_len(value, digits);
    if (per == 0 || text_parse_u64(number, 0, INT64_MAX / per, &n, NULL) < 0)
        return err_set(e, -EINVAL, "\"%.80s\" is not a number of bytes (1024, 500MB or 4GiB)", value);
    *out = n * per;
    return 0;
}

int argument_number(const char *value, int64_t *out, struct err *e)
{
    assert(value && out);
    bool minus = *value == '-';
    uint64_t n;
    if (text_parse_u64(value + minus, 0, INT64_MAX, &n, NULL) < 0)
        return err_set(e, -EINVAL, "\"%.80s\" is not a whole number", value);
    *out = minus ? -(int64_t)n : (int64_t)n;
    return 0;
}

/* --- whether a value is good --------------------------------------------------------------------- */

static int check_path(const char *value, struct err *e)
{
    return *value == '/' ? 0 : err_set(e, -EINVAL, "\"%.80s\" is no absolute path", value);
}

static int check_number(const struct argument *a, const char *value, struct err *e)
{
    int64_t n;
    int rc = argument_number(value, &n, e);
    if (rc == 0 && (n < a->least || n > a->most))
        return err_set(e, -EINVAL, "\"%.80s\" is not a number from %" PRId64 " to %" PRId64, value, a->least,
                       a->most);
    return rc;
}

static int check_span(const struct argument *a, const char *value, struct err *e)
{
    struct span s;
    char least[32], most[32];
    int rc = span_parse(value, &s, e);
    if (rc == 0 && (s.ns < span_ms(a->least).ns || s.ns > span_ms(a->most).ns))
        return err_set(e, -EINVAL, "\"%.80s\" is not a time from %s to %s", value,
                       span_format(span_ms(a->least), least), span_format(span_ms(a->most), most));
    return rc;
}

static int check_metric(const char *value, struct err *e)
{
    enum metric m;
    return metric_parse(value, &m) ? 0 : err_set(e, -EINVAL, "\"%.80s\" is no format of metrics", value);
}

static int check_tool(const char *value, struct err *e)
{
    enum tool t;
    return tool_parse(value, &t) ? 0
                                 : err_set(e, -EINVAL, "\"%.80s\" is no tool whose output is known", value);
}

int argument_check(const struct argument *a, const char *value, struct err *e)
{
    unsigned percent;
    uint64_t bytes;
    switch (a->form) {
    case ARGUMENT_TEXT: return 0;
    case ARGUMENT_PATH: return check_path(value, e);
    case ARGUMENT_NUMBER: return check_number(a, value, e);
    case ARGUMENT_PERCENT: return argument_percent(value, &percent, e);
    case ARGUMENT_BYTES: return argument_bytes(value, &bytes, e);
    case ARGUMENT_SHARE:
        return strchr(value, '%') ? argument_percent(value, &percent, e) : argument_bytes(value, &bytes, e);
    case ARGUMENT_SPAN: return check_span(a, value, e);
    case ARGUMENT_METRIC: return check_metric(value, e);
    case ARGUMENT_TOOL: return check_tool(value, e);
    }
    return 0;
}

/* --- whether two are in order -------------------------------------------------------------------- */

enum { LESS, MORE };

static const struct {
    const char *probe, *key;
    int how;
    const char *other;
} orders[] = {
#define ORDER(probe, key, how, other) {probe, key, how, other},
#include "health/order.tbl"
#undef ORDER
};

/* Converts both values to amounts, when they have one unit. */
static bool argument_amounts(const struct argument *form, const char *a, const char *b, uint64_t *x,
                             uint64_t *y)
{
    unsigned m, n;
    bool percent = form->form == ARGUMENT_PERCENT || (strchr(a, '%') && strchr(b, '%'));
    if (percent && argument_percent(a, &m, NULL) == 0 && argument_percent(b, &n, NULL) == 0) {
        *x = m;
        *y = n;
        return true;
    }
    return !percent && !strchr(a, '%') && !strchr(b, '%') && argument_bytes(a, x, NULL) == 0 &&
           argument_bytes(b, y, NULL) == 0;
}

int argument_order(enum probe p, argument_value_fn *value, const void *arg, struct err *e)
{
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct argument form;
        uint64_t x, y;
        const char *a = value(arg, orders[i].key), *b = value(arg, orders[i].other);
        if (strcmp(orders[i].probe, probe_row(p)->name) != 0 || !a || !b ||
            !argument_find(p, orders[i].key, &form) || !argument_amounts(&form, a, b, &x, &y))
            continue;
        if (orders[i].how == MORE ? x < y : x > y)
            return err_set(e, -EINVAL, "%s (%s) is %s than %s (%s): the warning would never be given",
                           orders[i].key, a, orders[i].how == MORE ? "less" : "more", orders[i].other, b);
    }
    return 0;
}
