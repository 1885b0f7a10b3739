/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_FIELD_H
#define FETTLE_CLI_FIELD_H

#include "base/err.h"
#include "base/text.h"
#include "fettle.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The fields of a node as a person names and reads them.
 */

enum field {
#define FIELD(symbol, name, kind, heading, unit, settable, what) FIELD_##symbol,
#include "node/field.tbl"
#undef FIELD
    FIELDS
};

enum field_kind { KIND_TEXT, KIND_NUMBER, KIND_MILLI, KIND_FLAG, KIND_LIST, KIND_TIME, KIND_SPAN };

struct field_info {
    const char *name;
    enum field_kind kind;
    const char *heading, *unit;
    bool settable;
    const char *what;
};
const struct field_info *field_info(enum field f);

/* The field of this name or heading, in any case. -EINVAL names the nearest that is known. */
int field_parse(const char *name, size_t len, enum field *out, struct err *e);

/* True for what stands at the right of its column. */
bool field_is_number(enum field f);

/* Adds the value for people: "yes", "3m12s", "2026-11-20T20:41:57Z", "1,3"; nothing for null. */
void field_show(enum field f, const struct fettle_value *v, struct text *out);

/* Adds the value for programs: as the interface gives it, a list with commas between. out->s is not NULL
 * after it. */
void field_raw(const struct fettle_value *v, struct text *out);

#endif
