/* SPDX-License-Identifier: Apache-2.0 */
#include "node/elsewhere.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *elsewhere_where_name(enum elsewhere_where w)
{
    static const char *const names[ELSEWHERES] = {"slurm", "ochami", "bmc"};
    assert((size_t)w < sizeof names / sizeof *names);
    return names[w];
}

const char *elsewhere_state_name(enum elsewhere_state s)
{
    static const char *const names[] = {"nobody", "unknown", "held"};
    assert((size_t)s < sizeof names / sizeof *names);
    return names[s];
}

void elsewhere_fini(struct elsewhere *e)
{
    free(e->texts);
    *e = (struct elsewhere){.where = e->where};
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool elsewhere_set(struct elsewhere *e, const struct elsewhere *now)
{
    bool lasts = e->state == now->state && e->out == now->out && is_same(e->how, now->how) &&
                 is_same(e->by, now->by) && is_same(e->why, now->why);
    if (lasts && (now->since.ns == 0 || now->since.ns == e->since.ns || now->state == ELSEWHERE_UNKNOWN))
        return false;
    struct elsewhere copy = *now;
    const char **const texts[] = {&copy.how, &copy.by, &copy.why};
    copy.texts = mem_dup_all(texts, sizeof texts / sizeof *texts);
    elsewhere_fini(e);
    *e = copy;
    return true;
}

void elsewhere_say_out(const struct elsewhere *e, struct text *t)
{
    assert(e->how);
    text_printf(t, "%s: %s%s%s%s%s", elsewhere_where_name(e->where), e->how, e->by ? " by " : "",
                e->by ? e->by : "", e->why ? ": " : "", e->why ? e->why : "");
}

void elsewhere_say(const struct elsewhere *e, struct text *t)
{
    char at[32];
    if (e->state == ELSEWHERE_UNKNOWN) {
        text_printf(t, "%s: whether somebody holds it is not known", elsewhere_where_name(e->where));
        if (e->since.ns)
            text_printf(t, " since %s", wall_format(e->since, at));
    } else if (e->state == ELSEWHERE_HELD) {
        elsewhere_say_out(e, t);
    }
}
