/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/field.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const struct field_info fields[] = {
#define FIELD(symbol, name, kind, heading, unit, settable, what) \
    {name, KIND_##kind, heading, unit, settable, what},
#include "node/field.tbl"
#undef FIELD
};

const struct field_info *field_info(enum field f)
{
    return &fields[f];
}

int field_parse(const char *name, size_t len, enum field *out, struct err *e)
{
    const char *names[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        names[i] = fields[i].name;
        if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0) {
            *out = (enum field)i;
            return 0;
        }
    }
    for (size_t i = 0; i < FIELDS; i++) { /* what stands above the column, as a reader types it */
        if (strlen(fields[i].heading) == len && strncasecmp(fields[i].heading, name, len) == 0) {
            *out = (enum field)i;
            return 0;
        }
    }
    CLEANUP_FREE char *word = mem_dup_len(name, len);
    const char *near = text_nearest(word, names, FIELDS);
    if (near)
        return err_set(e, -EINVAL, "unknown field \"%s\"; the nearest known is \"%s\"", word, near);
    return err_set(e, -EINVAL, "unknown field \"%s\"", word);
}

bool field_is_number(enum field f)
{
    enum field_kind k = fields[f].kind;
    return k == KIND_NUMBER || k == KIND_MILLI || k == KIND_SPAN;
}

void field_raw(const struct fettle_value *v, struct text *out)
{
    if (fettle_value_kind(v) != FETTLE_ARRAY) {
        const char *s = fettle_value_text(v);
        text_add(out, s ? s : "");
        return;
    }
    bool first = true;
    text_add(out, "");
    for (v = fettle_value_first(v); v; v = fettle_value_next(v)) {
        const char *s = fettle_value_text(v);
        if (!first)
            text_add_char(out, ',');
        text_add(out, s ? s : "");
        first = false;
    }
}

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

void field_show(enum field f, const struct fettle_value *v, struct text *out)
{
    static const int64_t SECONDS_MAX = INT64_C(9000000000);
    enum field_kind kind = fields[f].kind;
    int64_t n;
    if (kind == KIND_FLAG && fettle_value_kind(v) == FETTLE_BOOL) {
        text_add(out, fettle_value_true(v) ? "yes" : "no");
    } else if (kind == KIND_TIME && fettle_value_number(v, &n) == 0) {
        show_time(n, out);
    } else if (kind == KIND_SPAN && fettle_value_milli(v, &n) == 0 && n >= 0 && n / 1000 < SECONDS_MAX) {
        char buf[32];
        text_add(out, span_human(span_ms(n), buf));
    } else {
        field_raw(v, out);
    }
}
