/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maintenance/NAME: somebody is about to work on the machine, or to take it away.
 */
#include "cluster/state.h"

#include <errno.h>
#include <stdlib.h>

char *maintenance_record(const char *by, struct wall at, const char *why)
{
    struct text t = {0};
    text_add(&t, "{\"by\":");
    text_add_json(&t, by);
    text_printf(&t, ",\"at\":\"%lld\",\"why\":", (long long)at.ns);
    text_add_json(&t, why);
    text_add_char(&t, '}');
    return text_take(&t);
}

static void maintenance_free(struct maintenance *x)
{
    if (!x)
        return;
    free(x->by);
    free(x->why);
    free(x);
}

const struct maintenance *member_maintenance(const struct member *m)
{
    return m->past ? m->past->maintenance : NULL;
}

static uint64_t maintenance_sum(const struct member *m)
{
    const struct maintenance *x = member_maintenance(m);
    if (!x)
        return 0;
    CLEANUP_FREE char *record = maintenance_record(x->by, x->at, x->why);
    return record_sum(m->name, record);
}

/* Takes x over. */
static void take_maintenance(struct cluster *c, struct member *m, struct maintenance *x)
{
    c->sum -= maintenance_sum(m);
    if (m->past)
        maintenance_free(STEAL(m->past->maintenance));
    if (x)
        member_past(m)->maintenance = x;
    past_trim(m);
    c->sum += maintenance_sum(m);
}

void member_forget_maintenance(struct cluster *c, struct member *m)
{
    take_maintenance(c, m, NULL);
}

int put_maintenance(struct cluster *c, const char *name, const char *value, struct err *e)
{
    static const char *const keys[] = {"by", "at", "why"};
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            take_maintenance(c, m, NULL);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    const char *by, *why;
    uint64_t at;
    if (!o || json_only_keys(o, keys, 3, e) < 0 || json_take_string(o, "by", &by, e) < 0 ||
        record_time(o, "at", &at, e) < 0 || record_clause(o, "why", REASON_BYTES_MAX, &why, e) < 0)
        return -EILSEQ;
    struct maintenance *x = mem_alloc(sizeof *x);
    *x = (struct maintenance){mem_dup(by), {(int64_t)at}, mem_dup(why)};
    take_maintenance(c, cluster_meet(c, name), x);
    return 0;
}
