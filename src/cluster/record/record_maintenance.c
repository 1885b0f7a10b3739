/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maintenance/NAME: somebody is about to work on the machine, or to take it away. window/NAME: the node
 * lies in a maintenance window of others, such as a reservation in the scheduler. Both have the same members,
 * except that the first may ask for a restart. The two are independent.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdlib.h>

enum kind { MAINTENANCE, WINDOW };

char *maintenance_record(const char *by, struct wall at, const char *why, bool restart)
{
    struct text t = {0};
    text_add(&t, "{\"by\":");
    text_add_json(&t, by);
    text_printf(&t, ",\"at\":\"%lld\",\"why\":", (long long)at.ns);
    text_add_json(&t, why);
    text_add(&t, restart ? ",\"restart\":true}" : "}");
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

bool member_restarts(const struct member *m)
{
    const struct maintenance *x = member_maintenance(m);
    return x && x->restart;
}

const struct maintenance *member_window(const struct member *m)
{
    return m->past ? m->past->window : NULL;
}

/* Over the record's whole key, because both kinds may have the same words. */
static uint64_t maintenance_sum(const struct member *m, enum kind k, const struct maintenance *x)
{
    CLEANUP_TEXT struct text key = {0};
    if (!x)
        return 0;
    CLEANUP_FREE char *record = maintenance_record(x->by, x->at, x->why, x->restart);
    text_printf(&key, "%s/%s", k == WINDOW ? "window" : "maintenance", m->name);
    return record_sum(key.s, record);
}

static struct maintenance **record_maintenance_slot(struct past *p, enum kind k)
{
    return k == WINDOW ? &p->window : &p->maintenance;
}

/* Takes x over. */
static void record_maintenance_take(struct cluster *c, struct member *m, enum kind k, struct maintenance *x)
{
    if (!m->past && !x)
        return;
    struct maintenance **at = record_maintenance_slot(member_past(m), k);
    c->sum -= maintenance_sum(m, k, *at);
    maintenance_free(*at);
    *at = x;
    c->sum += maintenance_sum(m, k, x);
    past_trim(m);
}

void member_forget_maintenance(struct cluster *c, struct member *m)
{
    record_maintenance_take(c, m, MAINTENANCE, NULL);
    record_maintenance_take(c, m, WINDOW, NULL);
}

static int record_maintenance_put(struct cluster *c, enum kind k, const char *name, const char *value,
                                  struct err *e)
{
    static const char *const keys[] = {"by", "at", "why", "restart"};
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            record_maintenance_take(c, m, k, NULL);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    const char *by, *why;
    uint64_t at;
    bool restart = false;
    if (!o || json_only_keys(o, keys, k == MAINTENANCE ? 4 : 3, e) < 0 ||
        (json_object_get(o, "restart") && json_take_bool(o, "restart", &restart, e) < 0) ||
        json_take_string(o, "by", &by, e) < 0 || record_time(o, "at", &at, e) < 0 ||
        json_take_clause(o, "why", REASON_BYTES_MAX, &why, e) < 0)
        return -EILSEQ;
    struct maintenance *x = mem_alloc(sizeof *x);
    *x = (struct maintenance){mem_dup(by), {(int64_t)at}, mem_dup(why), restart};
    record_maintenance_take(c, cluster_meet(c, name), k, x);
    return 0;
}

int put_maintenance(struct cluster *c, const char *name, const char *value, struct err *e)
{
    return record_maintenance_put(c, MAINTENANCE, name, value, e);
}

int put_window(struct cluster *c, const char *name, const char *value, struct err *e)
{
    return record_maintenance_put(c, WINDOW, name, value, e);
}
