/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/field.h"

#include "base/clock.h"
#include "cli/print.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <time.h>

const struct field_info node_fields[FIELDS] = {
#define FIELD(symbol, name, kind, heading, unit, settable, what) \
    {name, KIND_##kind, heading, unit, settable, what, NULL, NULL},
#include "node/field.tbl"
#undef FIELD
};

const struct field_info *field_info(enum field f)
{
    return &node_fields[f];
}

/* ---- by name ---- */

static bool is_word(const char *word, const char *name, size_t len)
{
    return strlen(word) == len && strncasecmp(word, name, len) == 0;
}

int field_find(const struct field_info *fields, size_t n, const char *name, size_t len, size_t *out,
               struct err *e)
{
    const char *names[FIELDS];
    assert(n <= FIELDS);
    for (size_t i = 0; i < n; i++) {
        names[i] = fields[i].name;
        if (is_word(names[i], name, len)) {
            *out = i;
            return 0;
        }
    }
    for (size_t i = 0; i < n; i++) { /* the heading of the column, as a reader types it */
        if (is_word(fields[i].heading, name, len)) {
            *out = i;
            return 0;
        }
    }
    CLEANUP_FREE char *word = mem_dup_len(name, len);
    const char *near = text_nearest(word, names, n);
    if (near)
        return err_set(e, -EINVAL, "unknown field \"%s\"; the nearest known is \"%s\"", word, near);
    return err_set(e, -EINVAL, "unknown field \"%s\"; \"-o help\" lists them", word);
}

int field_parse(const char *name, size_t len, enum field *out, struct err *e)
{
    size_t i = 0;
    int r = field_find(node_fields, FIELDS, name, len, &i, e);
    if (r == 0)
        *out = (enum field)i;
    return r;
}

bool field_is_number(const struct field_info *f)
{
    return f->kind == KIND_NUMBER || f->kind == KIND_MILLI || f->kind == KIND_SPAN || f->kind == KIND_AGE ||
           f->kind == KIND_SHARE || f->kind == KIND_COST;
}

/* ---- numbers ---- */

/* Seconds since the moment, by this machine's clock. */
static int age_s(const struct cell *c, int64_t *out)
{
    struct tm tm = {0};
    const char *s = cell_text(c);
    if (!s || !strptime(s, "%Y-%m-%dT%H:%M:%S", &tm))
        return -EINVAL;
    int64_t age = wall_now().ns / 1000000000 - timegm(&tm);
    *out = age > 0 ? age : 0;
    return 0;
}

int field_milli(const struct field_info *f, const struct cell *c, int64_t *out)
{
    int64_t n;
    if (f->kind == KIND_AGE) {
        int r = age_s(c, &n);
        if (r == 0)
            *out = n * 1000;
        return r;
    }
    if (f->kind == KIND_SHARE || f->kind == KIND_COST) {
        int r = fettle_value_number(c->value, &n);
        if (r == 0)
            *out = f->kind == KIND_SHARE ? n / 10 : n;
        return r;
    }
    uint64_t made = 0;
    if (c->made && text_parse_milli(c->made, &made, NULL) == 0) {
        *out = (int64_t)made;
        return 0;
    }
    return fettle_value_milli(c->value, out);
}

/* ---- for programs ---- */

/* Millionths as percent, thousandths of a minute as minutes; with all digits. */
static bool add_scaled(const struct field_info *f, const struct cell *c, struct text *out)
{
    int64_t n;
    if ((f->kind != KIND_SHARE && f->kind != KIND_COST) || fettle_value_number(c->value, &n) < 0)
        return false;
    if (f->kind == KIND_SHARE)
        text_printf(out, "%" PRId64 ".%04" PRId64, n / 10000, n % 10000);
    else
        text_printf(out, "%" PRId64 ".%03" PRId64, n / 1000, n % 1000);
    return true;
}

static void add_element(const struct fettle_value *v, struct text *out)
{
    const char *s = fettle_value_text(v);
    if (s)
        text_add(out, s);
    else
        print_json(out, v);
}

void field_raw(const struct field_info *f, const struct cell *c, struct text *out)
{
    text_add(out, "");
    if (add_scaled(f, c, out))
        return;
    if (f->kind == KIND_VALUE || cell_kind(c) != FETTLE_ARRAY) {
        const char *s = cell_text(c);
        if (s)
            text_add(out, s);
        else if (c->value && cell_kind(c) != FETTLE_NULL)
            print_json(out, c->value);
        return;
    }
    for (const struct fettle_value *v = fettle_value_first(c->value), *first = v; v;
         v = fettle_value_next(v)) {
        text_add(out, v == first ? "" : ",");
        add_element(v, out);
    }
}

void field_json(const struct field_info *f, const struct cell *c, struct text *out)
{
    if (add_scaled(f, c, out))
        return;
    if (c->made && f->kind == KIND_NUMBER)
        text_add(out, c->made);
    else if (c->made)
        print_json_string(out, c->made);
    else
        print_json(out, c->value);
}

/* ---- for people ---- */

static void show_time(int64_t seconds, struct text *out)
{
    time_t t = (time_t)seconds;
    struct tm tm;
    char buf[64];
    if (gmtime_r(&t, &tm) && strftime(buf, sizeof buf, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
        text_add(out, buf);
    else
        text_printf(out, "%lld", (long long)seconds);
}

/* "ok 12, fatal 1" */
static void show_counts(const struct fettle_value *v, struct text *out)
{
    for (const struct fettle_value *i = fettle_value_first(v), *first = i; i; i = fettle_value_next(i)) {
        const char *key = fettle_value_key(i), *n = fettle_value_text(i);
        text_printf(out, "%s%s %s", i == first ? "" : ", ", key ? key : "?", n ? n : "?");
    }
}

static bool show_span(const struct field_info *f, const struct cell *c, struct text *out)
{
    static const int64_t SECONDS_MAX = INT64_C(9000000000);
    char buf[32];
    int64_t n;
    if ((f->kind != KIND_SPAN && f->kind != KIND_AGE) || field_milli(f, c, &n) < 0 || n < 0 ||
        n / 1000 >= SECONDS_MAX)
        return false;
    text_add(out, span_human(span_ms(n), buf));
    return true;
}

/* With one digit, which is enough for people. */
static bool show_scaled(const struct field_info *f, const struct cell *c, struct text *out)
{
    int64_t n;
    if ((f->kind != KIND_SHARE && f->kind != KIND_COST) || field_milli(f, c, &n) < 0)
        return false;
    text_printf(out, "%" PRId64 ".%" PRId64 "%s", n / 1000, n % 1000 / 100, f->kind == KIND_SHARE ? "%" : "");
    return true;
}

void field_show(const struct field_info *f, const struct cell *c, struct text *out)
{
    int64_t n;
    if (show_span(f, c, out) || show_scaled(f, c, out))
        return;
    if (f->kind == KIND_FLAG && cell_kind(c) == FETTLE_BOOL)
        text_add(out, fettle_value_true(c->value) ? "yes" : "no");
    else if (f->kind == KIND_TIME && fettle_value_number(c->value, &n) == 0)
        show_time(n, out);
    else if (f->kind == KIND_COUNTS && cell_kind(c) == FETTLE_OBJECT)
        show_counts(c->value, out);
    else
        field_raw(f, c, out);
}
