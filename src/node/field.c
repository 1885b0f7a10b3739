/* SPDX-License-Identifier: Apache-2.0 */
#include "node/field.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <strings.h>

static const struct field_row rows[FIELDS] = {
#define FIELD(symbol, name, kind, heading, unit, settable, what) \
    [FIELD_##symbol] = {name, FIELD_IS_##kind, heading, unit, settable, what},
#include "node/field.tbl"
#undef FIELD
};

const struct field_row *field_get(enum field f)
{
    return &rows[f];
}

int field_find(const char *name, enum field *out, struct err *e)
{
    assert(name && out);
    const char *names[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        names[i] = rows[i].name;
        if (strcasecmp(names[i], name) == 0) {
            *out = (enum field)i;
            return 0;
        }
    }
    const char *near = text_nearest(name, names, FIELDS);
    if (near)
        return err_set(e, -EINVAL, "unknown field \"%s\"; the nearest known is \"%s\"", name, near);
    return err_set(e, -EINVAL, "unknown field \"%s\"", name);
}
