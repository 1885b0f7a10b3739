/* SPDX-License-Identifier: Apache-2.0 */
/* The policies, terms of the score and passes of a choice, as their tables name them. */
#include "place/place_inside.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

const struct place_policy_row place_policies[PLACE_POLICIES] = {
#define PLACE_POLICY(symbol, name, sameness, topology, soundness, room, hard, what) \
    {name, {sameness, topology, soundness, room}, hard},
#include "place/policy.tbl"
#undef PLACE_POLICY
};

const char *place_policy_name(enum place_policy p)
{
    assert((size_t)p < sizeof place_policies / sizeof *place_policies);
    return place_policies[p].name;
}

int place_policy_parse(const char *name, enum place_policy *out, struct err *e)
{
    assert(name && out);
    CLEANUP_TEXT struct text words = {0};
    for (int p = 0; p < PLACE_POLICIES; p++) {
        if (strcmp(place_policies[p].name, name) == 0) {
            *out = (enum place_policy)p;
            return 0;
        }
        text_printf(&words, "%s%s", p ? ", " : "", place_policies[p].name);
    }
    return err_set(e, -EINVAL, "no policy \"%.80s\"; there are %s", name, words.s);
}

static const char *const terms[PLACE_TERMS] = {
#define PLACE_TERM(symbol, name, what) name,
#include "place/term.tbl"
#undef PLACE_TERM
};

const char *place_term_name(enum place_term t)
{
    assert((size_t)t < sizeof terms / sizeof *terms);
    return terms[t];
}

static const struct {
    const char *name, *what;
} passes[PASSES] = {
#define PLACE_PASS(symbol, name, what) {name, what},
#include "place/pass.tbl"
#undef PLACE_PASS
};

const char *place_pass_name(enum place_pass p)
{
    assert((size_t)p < sizeof passes / sizeof *passes);
    return passes[p].name;
}

const char *place_pass_what(enum place_pass p)
{
    assert((size_t)p < sizeof passes / sizeof *passes);
    return passes[p].what;
}
