/* SPDX-License-Identifier: Apache-2.0 */
#include "api/selection.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

int selection_parse(const char *text, struct selection *s, struct err *e)
{
    *s = (struct selection){0};
    bool chosen[FIELDS] = {false};
    if (!text) {
        for (int i = 0; i < FIELDS; i++)
            s->fields[s->n++] = (enum field)i;
        return 0;
    }
    CLEANUP_FREE char *copy = mem_dup(text);
    char *rest = copy;
    for (char *name; (name = strsep(&rest, ","));) {
        enum field f;
        if (*name == '\0')
            return err_set(e, -EINVAL, "\"fields\" has an empty name");
        int rc = field_find(name, &f, e);
        if (rc < 0)
            return rc;
        if (chosen[f])
            return err_set(e, -EINVAL, "\"fields\" names %s twice", field_get(f)->name);
        chosen[f] = true;
        s->fields[s->n++] = f;
    }
    return 0;
}
