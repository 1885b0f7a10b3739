/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes whose drift comes and goes. A node that drifts is remembered for as long as its drift is
 * recorded, and for an hour after it came: drift that came three times within an hour flaps, and is
 * taken as gone only after half an hour without a break. What has to be remedied in time is measured by
 * the watch's own time from when the record was seen first, so that a clock that is set does not make
 * a day of a minute.
 */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/spell_inside.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <stdlib.h>
#include <string.h>

enum { FLAP_WITHIN_S = 3600, FLAP_REST_S = 1800 };

struct spell *spell_find(const struct watch *w, const struct member *m)
{
    struct spell *s;
    HASH_FIND(hh, w->spells->all, &m->id, sizeof m->id, s);
    return s;
}

struct spell *spell_of(struct watch *w, const struct member *m)
{
    struct spell *s = spell_find(w, m);
    if (s)
        return s;
    s = mem_alloc(sizeof *s);
    s->member = m->id;
    HASH_ADD(hh, w->spells->all, member, sizeof s->member, s);
    return s;
}

/* It came, if it had gone: what was unknown meanwhile need not have gone. */
static void spell_came(struct spell *s, struct mono now, struct known *k)
{
    s->good = false;
    if (s->here)
        return;
    s->here = true;
    memmove(s->came + 1, s->came, sizeof s->came - sizeof s->came[0]);
    s->came[0] = now;
    s->n += s->n < CAME_MAX;
    if (s->n == CAME_MAX && within(now, s->came[CAME_MAX - 1], FLAP_WITHIN_S))
        k->flags |= KNOWN_FLAPS;
}

void spell_note(struct watch *w, struct mono now, const struct member *m, enum conformance was,
                enum conformance is)
{
    struct spell *s = is == CONFORMANCE_DRIFTED ? spell_of(w, m) : spell_find(w, m);
    if (!s)
        return;
    if (is == CONFORMANCE_DRIFTED) {
        const struct drift *d = drift_of(m);
        s->found = s->found || !d || d->state == DRIFT_REMEDIED;
        spell_came(s, now, &w->conformity->known[m->id]);
        return;
    }
    if (is == CONFORMANCE_CONFORMANT) {
        s->here = false;
        s->good_since = s->good ? s->good_since : now;
    }
    s->good = is == CONFORMANCE_CONFORMANT;
}

/* Dates the record by the watch's own time, when it is seen first; forgets who has been well for long. */
void spell_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct drift *d = drift_of(m);
    struct known *k = &w->conformity->known[m->id];
    struct spell *s = d ? spell_of(w, m) : spell_find(w, m);
    if (!s)
        return;
    if (s->good && !within(now, s->good_since, FLAP_REST_S))
        k->flags &= (uint16_t)~KNOWN_FLAPS;
    if (s->written && !within(now, s->written_at, FLAP_WITHIN_S)) {
        s->written = false;
        s->rewrites = 0;
    }
    if (d && (!s->dated || s->since.ns != d->since.ns)) {
        int64_t age = s->found ? 0 : w->wall.ns - d->since.ns;
        s->found = false;
        s->dated = true;
        s->since = d->since;
        s->dated_at = now;
        s->since_at = (struct mono){now.ns - (age > 0 ? age : 0)};
        s->reboot = false;
    }
    if (d || s->here || (k->flags & KNOWN_FLAPS) || (s->n && within(now, s->came[0], FLAP_WITHIN_S)))
        return;
    HASH_DEL(w->spells->all, s);
    free(s);
}

void spells_destroy(struct watch *w)
{
    struct spell *s, *next;
    HASH_ITER (hh, w->spells->all, s, next) {
        HASH_DEL(w->spells->all, s);
        free(s);
    }
}
