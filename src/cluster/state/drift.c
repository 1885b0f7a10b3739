/* SPDX-License-Identifier: Apache-2.0 */
/* Drift that comes and goes; fingerprints and components in a sentence. */
#include "cluster/state/state.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void drift_summary(const char *named, uint32_t count, struct text *t)
{
    size_t first = (size_t)(strstr(named, ", ") ? strstr(named, ", ") - named : (ptrdiff_t)strlen(named));
    text_add_bytes(t, named, first);
    uint32_t more = first && count ? count - 1 : count;
    if (more)
        text_printf(t, "%s%u more", first ? ", " : "", more);
}

bool member_flaps(const struct member *m)
{
    const struct drift *d = member_drift(m);
    const struct flaps *f = m->past ? m->past->flaps : NULL;
    return d && d->state != DRIFT_REMEDIED && f && f->n == FLAPS_KEPT_MAX &&
           d->since.ns - f->since[0].ns <= span_s(FLAP_WITHIN_S).ns;
}

/* A time after `at` is kept: the clock was set back, and more damping does no harm. */
void flaps_after(const struct member *m, const struct drift *d, struct wall at, struct flaps *out)
{
    const struct flaps *before = m->past ? m->past->flaps : NULL;
    struct wall all[FLAPS_KEPT_MAX + 1];
    size_t n = before ? before->n : 0;
    assert(n <= FLAPS_KEPT_MAX);
    for (size_t i = 0; i < n; i++)
        all[i] = before->since[i];
    all[n++] = d->since;
    *out = (struct flaps){0};
    for (size_t i = n > FLAPS_KEPT_MAX ? n - FLAPS_KEPT_MAX : 0; i < n; i++)
        if (at.ns - all[i].ns <= span_s(FLAP_WITHIN_S).ns)
            out->since[out->n++] = all[i];
}

void fingerprint_say(const struct fingerprint *id, struct text *t)
{
    char name[FINGERPRINT_SHORT_BYTES];
    text_add(t, fingerprint_list(id, name));
}
