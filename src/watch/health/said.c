/* SPDX-License-Identifier: Apache-2.0 */
/* How the result of a check is taken over into the health of its node. */
#include "watch/health/health.h"
#include "watch/health/health_state_inside.h"
#include "watch/view/view.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
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
    watch_touch(w, m, ASPECT_CHECKS);
    saying_fini(&h.saying);
}

/* --- as a follower is told ----------------------------------------------------------------------- */

static void write_details(const struct saying *s, enum result r, struct text *t)
{
    CLEANUP_FREE struct verdict *v = mem_alloc(sizeof *v);
    CLEANUP_TEXT struct text is = {0};
    v->result = r;
    if (s && s->text && !s->blind)
        snprintf(v->text, sizeof v->text, "%s", s->text);
    v->more = s ? s->more : 0;
    v->n = s ? s->n : 0;
    if (s && s->n)
        memcpy(v->findings, s->findings, s->n * sizeof *s->findings);
    verdict_write(v, &is);
    text_add_bytes(t, is.s + 1, is.len - 2); /* its members */
    if (s && s->blind) {
        text_add(t, ",\"blind\":");
        text_add_json(t, s->text);
    }
}

void said_write(const struct watch *w, struct mono now, const struct health_state *v, size_t i,
                struct text *t)
{
    assert(was_said(v, i));
    const struct saying *s = saying_find(v, i);
    const int64_t age_ms = span_to_ms(mono_sub(now, said_looked(w, v, i)));
    text_add(t, "{\"check\":");
    text_add_json(t, check_at(w, i)->name);
    text_printf(t, ",\"age_ms\":%" PRId64 ",", age_ms > 0 ? age_ms : 0);
    if (s)
        text_printf(t, "\"since_ms\":%" PRId64 ",\"told_ms\":%" PRId64 ",",
                    span_to_ms(mono_sub(now, s->since)), span_to_ms(mono_sub(now, s->told)));
    write_details(s, (enum result)((v->said[i] & SAID_RESULT) - 1), t);
    text_add_char(t, '}');
}

void said_told(struct health_state *v, size_t i, struct mono since, struct mono told)
{
    for (size_t k = 0; k < v->n_sayings; k++) {
        if (v->sayings[k].check != i)
            continue;
        v->sayings[k].since = since;
        v->sayings[k].told = told;
    }
}
