/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flap/NAME: when earlier drifts of the node began that went within an hour. The record decides whether the
 * next drift flaps (state/drift.h). A drift that lasts longer than an hour leaves no such record.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

char *flaps_record(const struct flaps *f)
{
    struct text t = {0};
    assert(f->n > 0 && f->n <= FLAPS_KEPT_MAX);
    for (size_t i = 0; i < f->n; i++)
        text_printf(&t, "%s\"%lld\"", i ? "," : "{\"since\":[", (long long)f->since[i].ns);
    text_add(&t, "]}");
    return text_take(&t);
}

static uint64_t flaps_sum(const struct member *m)
{
    if (!m->past || !m->past->flaps)
        return 0;
    CLEANUP_FREE char *record = flaps_record(m->past->flaps);
    return record_sum(m->name, record);
}

/* f NULL: nothing is remembered. */
static void take_flaps(struct cluster *c, struct member *m, const struct flaps *f)
{
    c->sum -= flaps_sum(m);
    if (m->past)
        free(STEAL(m->past->flaps));
    if (f) {
        member_past(m)->flaps = mem_alloc(sizeof *f);
        *m->past->flaps = *f;
    }
    past_trim(m);
    c->sum += flaps_sum(m);
}

void member_forget_flaps(struct cluster *c, struct member *m)
{
    take_flaps(c, m, NULL);
}

static int flaps_read(const json_t *o, struct flaps *out, struct err *e)
{
    static const char *const keys[] = {"since"};
    const json_t *since = json_object_get(o, "since");
    size_t n = json_array_size(since);
    *out = (struct flaps){0};
    if (json_only_keys(o, keys, 1, e) < 0)
        return -EINVAL;
    if (n == 0 || n > FLAPS_KEPT_MAX)
        return err_set(e, -EINVAL, "\"since\" is no array of 1 to %d times", FLAPS_KEPT_MAX);
    for (; out->n < n; out->n++) {
        const char *at = json_string_value(json_array_get(since, out->n));
        uint64_t ns;
        if (!at || text_parse_u64(at, 0, INT64_MAX, &ns, NULL) < 0)
            return err_set(e, -EINVAL, "since: %zu is no time", out->n + 1);
        out->since[out->n].ns = (int64_t)ns;
    }
    return 0;
}

int put_flap(struct cluster *c, const char *name, const char *value, struct err *e)
{
    struct flaps f;
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            member_forget_flaps(c, m);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    if (!o || flaps_read(o, &f, e) < 0)
        return -EILSEQ;
    take_flaps(c, cluster_meet(c, name), &f);
    return 0;
}
