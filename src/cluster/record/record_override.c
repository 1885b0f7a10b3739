/* SPDX-License-Identifier: Apache-2.0 */
/*
 * override/NAME: a person took the node back, or said that it stays in service, with what was wrong then.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct override *member_override(const struct member *m)
{
    return m->past ? m->past->override : NULL;
}

bool override_covers(const struct override *o, const char *group, enum result severity)
{
    for (size_t i = 0; i < o->n; i++)
        if (strcmp(o->of[i].group, group) == 0 && severity <= o->of[i].severity)
            return true;
    return false;
}

void override_say(const struct override *o, struct text *t)
{
    for (size_t i = 0; i < o->n; i++)
        text_printf(t, "%s%s%s%s (%s)", i ? ", " : "", o->of[i].fault, *o->of[i].group ? " " : "",
                    o->of[i].group, result_name(o->of[i].severity));
}

/* --- the record ------------------------------------------------------------------------------- */

static void write_string(struct text *t, const char *key, const char *value)
{
    text_printf(t, "\"%s\":", key);
    text_add_json(t, value);
    text_add_char(t, ',');
}

char *override_record(const struct override *o)
{
    struct text t = {0};
    text_add_char(&t, '{');
    write_string(&t, "by", o->by);
    write_string(&t, "source", o->source);
    write_string(&t, "why", o->why);
    text_printf(&t, "\"at\":\"%lld\",\"spent_s\":%llu,\"of\":[", (long long)o->at.ns,
                (unsigned long long)o->spent_s);
    for (size_t i = 0; i < o->n; i++) {
        text_add(&t, i ? ",{" : "{");
        write_string(&t, "group", o->of[i].group);
        write_string(&t, "fault", o->of[i].fault);
        text_printf(&t, "\"severity\":\"%s\"}", result_name(o->of[i].severity));
    }
    text_add(&t, "]}");
    return text_take(&t);
}

static int read_of(const json_t *list, struct override *out, struct err *e)
{
    static const char *const keys[] = {"group", "fault", "severity"};
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > INCIDENTS_OPEN_MAX)
        return err_set(e, -EINVAL, "\"of\" is no array of at most %d", INCIDENTS_OPEN_MAX);
    out->of = mem_alloc((n + 1) * sizeof *out->of);
    for (; out->n < n; out->n++) {
        const json_t *o = json_array_get(list, out->n);
        struct override_of *to = &out->of[out->n];
        if (!json_is_object(o))
            return err_set(e, -EINVAL, "fault %zu is no object", out->n + 1);
        if (json_only_keys(o, keys, 3, e) < 0 ||
            record_word(o, "group", to->group, FINDING_DEVICE_BYTES_MAX, e) < 0 ||
            record_word(o, "fault", to->fault, FAULT_BYTES_MAX, e) < 0 ||
            record_result(o, "severity", &to->severity, e) < 0)
            return err_wrap(e, -EINVAL, "of %zu", out->n + 1);
    }
    return 0;
}

static void override_free(struct override *o)
{
    if (!o)
        return;
    free(o->by);
    free(o->source);
    free(o->why);
    free(o->of);
    free(o);
}

/* NULL with a sentence; else the caller's. */
static struct override *override_read(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"by", "source", "at", "why", "spent_s", "of"};
    const char *by, *source, *why;
    uint64_t at;
    struct override *out = mem_alloc(sizeof *out);
    if (json_only_keys(o, keys, 6, e) < 0 || json_take_clause(o, "by", REASON_BYTES_MAX, &by, e) < 0 ||
        json_take_clause(o, "source", REASON_BYTES_MAX, &source, e) < 0 ||
        json_take_clause(o, "why", REASON_BYTES_MAX, &why, e) < 0 || record_time(o, "at", &at, e) < 0 ||
        json_take_u64(o, "spent_s", UINT32_MAX, &out->spent_s, e) < 0 ||
        read_of(json_object_get(o, "of"), out, e) < 0) {
        override_free(out);
        return NULL;
    }
    out->by = mem_dup(by);
    out->source = mem_dup(source);
    out->why = mem_dup(why);
    out->at.ns = (int64_t)at;
    return out;
}

/* --- of members ------------------------------------------------------------------------------- */

static uint64_t override_sum(const struct member *m)
{
    if (!member_override(m))
        return 0;
    CLEANUP_TEXT struct text key = {0};
    CLEANUP_FREE char *record = override_record(member_override(m));
    text_printf(&key, "override/%s", m->name);
    return record_sum(key.s, record);
}

/* Takes o over. */
static void record_override_take(struct cluster *c, struct member *m, struct override *o)
{
    if (!m->past && !o)
        return;
    c->sum -= override_sum(m);
    struct past *p = member_past(m);
    override_free(p->override);
    p->override = o;
    c->sum += override_sum(m);
    past_trim(m);
}

void member_forget_override(struct cluster *c, struct member *m)
{
    record_override_take(c, m, NULL);
}

int put_override(struct cluster *c, const char *name, const char *value, struct err *e)
{
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            record_override_take(c, m, NULL);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct override *x = o ? override_read(o, e) : NULL;
    if (!x)
        return -EILSEQ;
    record_override_take(c, cluster_meet(c, name), x);
    return 0;
}
