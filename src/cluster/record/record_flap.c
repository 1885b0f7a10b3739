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
