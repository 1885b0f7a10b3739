/* SPDX-License-Identifier: Apache-2.0 */
/* How the result of a check is taken over into the health of its node. */
#include "watch/health/health.h"
#include "watch/health/health_state_inside.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool same_findings(const struct saying *a, const struct saying *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->findings[i].result != b->findings[i].result ||
            strcmp(a->findings[i].device, b->findings[i].device) != 0 ||
            strcmp(a->findings[i].code, b->findings[i].code) != 0)
            return false;
    return true;
}

static bool is_plain(enum result r, const struct saying *s)
{
    return r == RESULT_OK && !s->text && !s->n && !s->more;
}

void heard_keep(const struct verdict *v, struct heard *h)
{
    struct saying *s = &h->saying;
    h->result = v->result;
    s->text = *v->text ? mem_dup(v->text) : NULL;
    s->more = v->more;
    s->n = v->n;
    s->findings = mem_alloc((s->n + 1) * sizeof *s->findings);
    for (size_t i = 0; i < v->n; i++)
        s->findings[i] = v->findings[i];
}

/* Takes over the result of one check. */
void heard_believe(struct watch *w, struct mono now, struct health_state *v, struct heard *h)
{
    assert(v->said && h->place < check_count(w));
    const struct saying *was = saying_find(v, h->place);
    uint8_t said = (uint8_t)(h->result + 1);
    int64_t ds = mono_sub(now, w->created).ns / span_ms(100).ns - h->age_ms / 100;
    struct mono since = now;
    if (was && (v->said[h->place] & SAID_RESULT) == said && same_findings(was, &h->saying))
        since = was->since;
    saying_remove(v, h->place);
    v->said[h->place] = (uint8_t)((v->said[h->place] & ~SAID_RESULT) | said);
    v->looked_ds[h->place] = (int32_t)ds;
    if (is_plain(h->result, &h->saying))
        return;
    v->sayings = mem_grow(v->sayings, (v->n_sayings + 1) * sizeof *v->sayings);
    struct saying *s = &v->sayings[v->n_sayings++];
    *s = h->saying;
    s->check = (uint16_t)h->place;
    s->since = since;
    s->told = now;
    h->saying = (struct saying){0};
}

void said_note(struct watch *w, struct mono now, const struct member *m, size_t i, const struct verdict *x)
{
    struct health_state *v = health_state_of(w, m);
    struct heard h = {.place = i};
    health_state_assign(w, m, v);
    heard_keep(x, &h);
    heard_believe(w, now, v, &h);
    saying_fini(&h.saying);
}
