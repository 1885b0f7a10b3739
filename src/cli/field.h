/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_FIELD_H
#define FETTLE_CLI_FIELD_H

#include "base/err.h"
#include "base/text.h"
#include "fettle.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The fields of a record as a person names and reads them: those of nodes here, of all others in record.h.
 */

enum field {
#define FIELD(symbol, name, kind, heading, unit, settable, what) FIELD_##symbol,
#include "node/field.tbl"
#undef FIELD
    FIELDS
};

/* The kinds of record.tbl. */
enum field_kind {
    KIND_TEXT,
    KIND_NUMBER,
    KIND_MILLI,
    KIND_FLAG,
    KIND_LIST,
    KIND_TIME,
    KIND_SPAN,
    KIND_AGE,
    KIND_COUNTS,
    KIND_SHARE,
    KIND_COST,
    KIND_VALUE,
};

struct element;
typedef void make_fn(const struct element *i, struct text *out);

struct field_info {
    const char *name;
    enum field_kind kind;
    const char *heading, *unit;
    bool settable;
    const char *what;
    const char *from; /* NULL: the member of its own name */
    make_fn *make;    /* makes the text instead; or NULL */
};
extern const struct field_info node_fields[FIELDS];
const struct field_info *field_info(enum field f);

/* Which of n fields has this name or heading, in any case. -EINVAL names the nearest that is known. */
int field_find(const struct field_info *fields, size_t n, const char *name, size_t len, size_t *out,
               struct err *e);
/* The same of a node's. */
int field_parse(const char *name, size_t len, enum field *out, struct err *e);

/* True for what stands at the right of its column. */
bool field_is_number(const struct field_info *f);

/* What one record has in one field: a value of the answer, or a text that was made. NULL and NULL: nothing.
 */
struct cell {
    const struct fettle_value *value;
    char *made;
};

static inline enum fettle_kind cell_kind(const struct cell *c)
{
    return c->made ? FETTLE_TEXT : fettle_value_kind(c->value);
}

static inline const char *cell_text(const struct cell *c)
{
    return c->made ? c->made : fettle_value_text(c->value);
}

/* The value in thousandths of what is shown: numbers, times, and ages in milliseconds. -EINVAL when it is
 * none. */
int field_milli(const struct field_info *f, const struct cell *c, int64_t *out);

/* Adds the value for people: "yes", "3m12s", "2026-11-20T20:41:57Z", "1,3"; nothing for null. */
void field_show(const struct field_info *f, const struct cell *c, struct text *out);

/* Adds the value for programs: as the interface gives it, a list with commas between. out->s is not NULL
 * after it. */
void field_raw(const struct field_info *f, const struct cell *c, struct text *out);

/* Adds the value as JSON. */
void field_json(const struct field_info *f, const struct cell *c, struct text *out);

#endif
