/* SPDX-License-Identifier: Apache-2.0 */
#include "node/elsewhere.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *elsewhere_where_name(enum elsewhere_where w)
{
    static const char *const names[ELSEWHERES] = {"Slurm", "OpenCHAMI", "its BMC"};
    return names[w];
}

void elsewhere_fini(struct elsewhere *e)
{
    free((char *)(uintptr_t)e->how);
    free((char *)(uintptr_t)e->by);
    free((char *)(uintptr_t)e->why);
    *e = (struct elsewhere){.where = e->where};
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool elsewhere_set(struct elsewhere *e, const struct elsewhere *now)
{
    bool lasts = e->state == now->state && is_same(e->how, now->how) && is_same(e->by, now->by) &&
                 is_same(e->why, now->why);
    if (lasts && (now->since.ns == 0 || now->since.ns == e->since.ns || now->state == ELSEWHERE_UNKNOWN))
        return false;
    struct elsewhere copy = {now->where,        now->state,       now->since,
                             mem_dup(now->how), mem_dup(now->by), mem_dup(now->why)};
    elsewhere_fini(e);
    *e = copy;
    return true;
}

void elsewhere_say(const struct elsewhere *e, struct text *t)
{
    char at[32];
    if (e->state == ELSEWHERE_UNKNOWN) {
        text_printf(t, "whether somebody holds it in %s is not known", elsewhere_where_name(e->where));
        if (e->since.ns)
            text_printf(t, " since %s", wall_format(e->since, at));
    } else if (e->state == ELSEWHERE_HELD) {
        text_printf(t, "%s%s%s%s%s", e->how, e->by ? " by " : "", e->by ? e->by : "", e->why ? ": " : "",
                    e->why ? e->why : "");
    }
}
