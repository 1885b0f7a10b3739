/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_SELECTION_H
#define FETTLE_API_SELECTION_H

#include "base/err.h"
#include "node/field.h"

/* Which fields, in which order. */
struct selection {
    size_t n;
    enum field fields[FIELDS];
};

/* Reads "Name,State" (any case); NULL is every field. -EINVAL for an empty name, an unknown one (with the
 * nearest) and one that occurs twice. */
int selection_parse(const char *text, struct selection *s, struct err *e);

#endif
