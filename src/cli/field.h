/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_FIELD_H
#define FETTLE_CLI_FIELD_H

#include "base/err.h"
#include "base/text.h"
#include "fettle.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The fields of a record, as people name and read them: those of nodes here, all others in record.h.
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
    const char *from; /* NULL: the member with the field's own name */
    make_fn *make;    /* makes the text instead; or NULL */
};
extern const struct field_info node_fields[FIELDS];
const struct field_info *field_info(enum field f);

/* Finds a field by name or heading among n, in any case. -EINVAL names the nearest known one. */
int field_find(const struct field_info *fields, size_t n, const char *name, size_t len, size_t *out,
               struct err *e);
/* The same for a node's field. */
int field_parse(const char *name, size_t len, enum field *out, struct err *e);

/* True for a right-aligned column. */
bool field_is_number(const struct field_info *f);

/* The value of a field in a record: a value of the answer, or a text that was made. Both NULL: empty. */
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

/* The value in thousandths of the shown unit: numbers, times, and ages in milliseconds. -EINVAL when it is
 * not a number. */
int field_milli(const struct field_info *f, const struct cell *c, int64_t *out);

/* Adds the value for people: "yes", "3m12s", "2026-11-20T20:41:57Z", "1,3"; nothing for null. */
void field_show(const struct field_info *f, const struct cell *c, struct text *out);

/* Adds the value for programs: as in the API, lists separated by commas. out->s is not NULL afterwards. */
void field_raw(const struct field_info *f, const struct cell *c, struct text *out);

/* Adds the value as JSON. */
void field_json(const struct field_info *f, const struct cell *c, struct text *out);

#endif
