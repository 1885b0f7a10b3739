/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_FIELD_H
#define FETTLE_NODE_FIELD_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The fields of a node: names, kinds and units, all from field.tbl.
 */

enum field {
#define FIELD(symbol, name, kind, heading, unit, settable, what) FIELD_##symbol,
#include "node/field.tbl"
#undef FIELD
    FIELDS
};

enum field_kind {
    FIELD_IS_TEXT,
    FIELD_IS_NUMBER,
    FIELD_IS_MILLI, /* a decimal number, kept in thousandths */
    FIELD_IS_FLAG,
    FIELD_IS_LIST,
    FIELD_IS_TIME, /* seconds since 1970 */
    FIELD_IS_SPAN  /* seconds */
};

struct field_row {
    const char *name;
    enum field_kind kind;
    const char *heading;
    const char *unit;
    bool settable;
    const char *what;
};

const struct field_row *field_get(enum field f);

/* Finds the field with this name, in any case. -EINVAL with the nearest known name otherwise. */
int field_find(const char *name, enum field *out, struct err *e);

#endif
