/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a member that follow from its records. */
#include "cluster/state/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const claim_kind_names[CLAIM_KINDS] = {
#define CLAIM(symbol, name, who, what, todo) [CLAIM_##symbol] = name,
#include "cluster/state/claim.tbl"
#undef CLAIM
};

const char *claim_kind_name(enum claim_kind k)
{
    assert(k < CLAIM_KINDS);
    return claim_kind_names[k];
}

bool kind_drains(enum claim_kind kind)
{
    return kind == CLAIM_DRAIN || kind == CLAIM_DRIFT || kind == CLAIM_REPAIR || kind == CLAIM_TRIAL ||
           kind == CLAIM_WIPE;
}

bool claim_drains(const struct claim *claim)
{
    return kind_drains(claim->kind);
}

bool member_held_by(const struct member *m, enum claim_kind kind)
{
    for (size_t i = 0; i < m->n_claims; i++)
        if (m->claims[i].claim->kind == kind)
            return true;
    return false;
}

bool member_unwiped(const struct member *m)
{
    return member_held_by(m, CLAIM_WIPE) && !m->wiped;
}

bool member_came_up(const struct member *m, const char *boot)
{
    return !m->admitted || (*m->boot && strcmp(m->boot, boot) != 0);
}

const struct repair *member_repairs(const struct member *m)
{
    return m->past ? m->past->repair : NULL;
}

const struct repair *member_treated(const struct member *m)
{
    const struct repair *r = member_repairs(m);
    return r && r->step != STEP_NONE ? r : NULL;
}

const struct repair *member_repair(const struct member *m)
{
    const struct repair *r = member_treated(m);
    return r && r->step != STEP_TEND ? r : NULL;
}

bool member_is_new(const struct member *m)
{
    const struct repair *r = member_repair(m);
    return r && (r->came_up || strcmp(r->problem, "provision") == 0 || !m->admitted ||
                 m->admitted_at.ns >= r->began.ns);
}

struct agreed member_agreed(const struct member *m)
{
    const struct repair *r = member_repair(m);
    struct agreed a = {.listed = m->listed,
                       .admitted = m->admitted,
                       .drained = true,
                       .returning = m->held_outside,
                       .step = r ? r->step : STEP_NONE};
    for (size_t i = 0; i < m->n_claims; i++) {
        const struct hold *hold = &m->claims[i];
        a.down |= hold->claim->kind == CLAIM_DOWN;
        a.silent |= hold->claim->kind == CLAIM_SILENT;
        a.overdue |= hold->claim->kind == CLAIM_OVERDUE;
        a.returning &= hold->claim->kind == CLAIM_SILENT;
        a.drain |= claim_drains(hold->claim);
        a.drained &= !claim_drains(hold->claim) || hold->drained;
    }
    a.drained &= a.drain;
    return a;
}

void member_claims(const struct member *m, struct text *t)
{
    assert(m && t);
    for (size_t i = 0; i < m->n_claims; i++) {
        const struct claim *claim = m->claims[i].claim;
        if (claim->kind == CLAIM_SILENT)
            continue;
        if (t->len)
            text_add(t, "; ");
        text_printf(t, "%s by %s: %s", claim_kind_name(claim->kind), claim->owner, claim->reason);
    }
}
