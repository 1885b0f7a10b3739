/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this leader itself saw of drift. A node that drifts is remembered for as long as its drift is
 * recorded, and for an hour after that was proposed. The time for the remedy runs by the watch's own clock
 * from the first look at the record, so that a clock that is set does not make a day of a minute.
 */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/drifting_inside.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <stdlib.h>

enum { REWRITE_REST_S = 3600, FLAP_REST_S = 1800 };

struct drifting *drifting_find(const struct watch *w, const struct member *m)
{
    struct drifting *s;
    HASH_FIND(hh, w->driftings->all, &m->id, sizeof m->id, s);
    return s;
}

struct drifting *drifting_of(struct watch *w, const struct member *m)
{
    struct drifting *s = drifting_find(w, m);
    if (s)
        return s;
    s = mem_alloc(sizeof *s);
    s->member = m->id;
    HASH_ADD(hh, w->driftings->all, member, sizeof s->member, s);
    return s;
}

static void note_drifted(struct drifting *s, struct mono now, const struct drift *d)
{
    s->found = s->found || !d || d->state == DRIFT_REMEDIED;
    s->good = false;
    if (s->here)
        return; /* it was unknown meanwhile, and need not have gone */
    s->here = true;
    s->came = now;
}

static void note_conformant(struct drifting *s, struct mono now)
{
    s->here = false;
    s->good_since = s->good ? s->good_since : now;
    s->good = true;
}

void drifting_note(struct watch *w, struct mono now, const struct member *m, enum conformance is)
{
    const struct drift *d = drift_of(m);
    struct drifting *s = d || is == CONFORMANCE_DRIFTED ? drifting_of(w, m) : drifting_find(w, m);
    if (!s)
        return;
    switch (is) {
    case CONFORMANCE_DRIFTED: note_drifted(s, now, d); break;
    case CONFORMANCE_CONFORMANT: note_conformant(s, now); break;
    case CONFORMANCE_UNKNOWN: s->good = false; break;
    }
}

bool drifting_rested(const struct watch *w, struct mono now, const struct member *m)
{
    const struct drifting *s = drifting_find(w, m);
    return s && s->good && !within(now, s->good_since, FLAP_REST_S);
}

static void drifting_date(const struct watch *w, struct mono now, const struct drift *d, struct drifting *s)
{
    int64_t age = s->found ? 0 : w->wall.ns - d->since.ns;
    s->found = false;
    s->dated = true;
    s->since = d->since;
    s->dated_at = now;
    s->since_at = (struct mono){now.ns - (age > 0 ? age : 0)};
    s->reboot = false;
}

void drifting_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct drift *d = drift_of(m);
    struct drifting *s = d ? drifting_of(w, m) : drifting_find(w, m);
    if (!s)
        return;
    if (s->written && !within(now, s->written_at, REWRITE_REST_S)) {
        s->written = false;
        s->rewrites = 0;
    }
    if (d && (!s->dated || s->since.ns != d->since.ns))
        drifting_date(w, now, d, s);
    if (d || s->here || s->written)
        return;
    HASH_DEL(w->driftings->all, s);
    free(s);
}

void driftings_destroy(struct watch *w)
{
    struct drifting *s, *next;
    HASH_ITER (hh, w->driftings->all, s, next) {
        HASH_DEL(w->driftings->all, s);
        free(s);
    }
}
