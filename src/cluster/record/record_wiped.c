/* SPDX-License-Identifier: Apache-2.0 */
/* wiped/NAME: the node was wiped since a person released it, and how that is known. */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdlib.h>

enum { WIPED_KEYS = 3 };

char *wiped_record(struct wall at, const char *remedy, const char *operation)
{
    struct text t = {0};
    text_printf(&t, "{\"at\":\"%lld\",\"remedy\":", (long long)at.ns);
    text_add_json(&t, remedy);
    text_add(&t, ",\"operation\":");
    text_add_json(&t, operation);
    text_add_char(&t, '}');
    return text_take(&t);
}

static uint64_t wiped_sum(const struct member *m)
{
    CLEANUP_TEXT struct text key = {0};
    if (!m->wiped)
        return 0;
    text_printf(&key, "wiped/%s", m->name);
    return record_sum(key.s, m->wiped);
}

static int wiped_check(const json_t *o, struct err *e)
{
    static const char *const keys[WIPED_KEYS] = {"at", "remedy", "operation"};
    char remedy[REMEDY_NAME_BYTES_MAX + 1];
    uint64_t at;
    bool good = json_only_keys(o, keys, WIPED_KEYS, e) == 0 && record_time(o, "at", &at, e) == 0 &&
                record_word(o, "remedy", remedy, REMEDY_NAME_BYTES_MAX, e) == 0 &&
                record_id(o, "operation", true, e) == 0;
    return good ? 0 : -EILSEQ;
}

int put_wiped(struct cluster *c, const char *name, const char *value, struct err *e)
{
    CLEANUP_JSON json_t *o = value ? record_object(value, e) : NULL;
    if (record_name_check(name, e) < 0 || (value && !o) || (o && wiped_check(o, e) < 0))
        return -EILSEQ;
    struct member *m = o ? cluster_meet(c, name) : cluster_find(c, name);
    if (!m)
        return 0;
    c->sum -= wiped_sum(m);
    free(m->wiped);
    m->wiped = mem_dup(value);
    c->sum += wiped_sum(m);
    return 0;
}
