/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine/NAME: which machine has the name, and which ones had it before.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RESTLESS_S = 3600 };

static int read_name(const json_t *o, char out[static MACHINE_NAME_BYTES_MAX + 1], struct err *e)
{
    if (record_word(o, "machine", out, MACHINE_NAME_BYTES_MAX, e) < 0)
        return -EINVAL;
    return machine_name_ok(out) ? 0 : err_set(e, -EINVAL, "\"%s\" tells no machine from another", out);
}

static int read_before(const json_t *list, struct machine_record *out, struct err *e)
{
    static const char *const keys[] = {"machine", "until"};
    if (!json_is_array(list) || json_array_size(list) > MACHINES_KEPT_MAX)
        return err_set(e, -EINVAL, "\"before\" is no array of at most %d", MACHINES_KEPT_MAX);
    for (; out->n_before < json_array_size(list); out->n_before++) {
        const json_t *o = json_array_get(list, out->n_before);
        uint64_t until;
        if (!json_is_object(o))
            return err_set(e, -EINVAL, "before %zu: no object", out->n_before + 1);
        if (json_only_keys(o, keys, 2, e) < 0 || read_name(o, out->before[out->n_before].machine, e) < 0 ||
            record_time(o, "until", &until, e) < 0)
            return err_wrap(e, -EINVAL, "before %zu", out->n_before + 1);
        out->before[out->n_before].until.ns = (int64_t)until;
    }
    return 0;
}

static int machine_record_read(const json_t *o, struct machine_record *out, struct err *e)
{
    static const char *const keys[] = {"machine", "since", "before"};
    uint64_t since;
    *out = (struct machine_record){0};
    if (json_only_keys(o, keys, 3, e) < 0 || read_name(o, out->machine, e) < 0 ||
        record_time(o, "since", &since, e) < 0 || read_before(json_object_get(o, "before"), out, e) < 0)
        return -EINVAL;
    out->since.ns = (int64_t)since;
    return 0;
}

char *machine_record_write(const struct machine_record *i)
{
    struct text t = {0};
    text_add(&t, "{\"machine\":");
    text_add_json(&t, i->machine);
    text_printf(&t, ",\"since\":\"%lld\",\"before\":[", (long long)i->since.ns);
    for (size_t k = 0; k < i->n_before; k++) {
        text_add(&t, k ? ",{\"machine\":" : "{\"machine\":");
        text_add_json(&t, i->before[k].machine);
        text_printf(&t, ",\"until\":\"%lld\"}", (long long)i->before[k].until.ns);
    }
    text_add(&t, "]}");
    return text_take(&t);
}

void machine_record_change(struct machine_record *i, const char *machine, struct wall at)
{
    assert(i->n_before <= MACHINES_KEPT_MAX && strlen(machine) <= MACHINE_NAME_BYTES_MAX);
    size_t n = i->n_before < MACHINES_KEPT_MAX ? i->n_before : MACHINES_KEPT_MAX - 1;
    memmove(i->before + 1, i->before, n * sizeof *i->before);
    memcpy(i->before[0].machine, i->machine, sizeof i->machine);
    i->before[0].until = at;
    i->n_before = n + 1;
    memcpy(i->machine, machine, strlen(machine) + 1);
    i->since = at;
}

/* A clock that was set back makes nothing recent for ever. */
static bool is_recent(struct wall at, struct wall now)
{
    int64_t ago = now.ns - at.ns, limit = RESTLESS_S * INT64_C(1000000000);
    return ago < limit && ago > -limit;
}

bool machine_restless(const struct machine_record *i, const char *machine, struct wall now)
{
    size_t recent = 0;
    for (size_t k = 0; k < i->n_before; k++) {
        if (!is_recent(i->before[k].until, now))
            continue;
        if (strcmp(i->before[k].machine, machine) == 0)
            return true;
        recent++;
    }
    return recent == MACHINES_KEPT_MAX;
}

/* --- of members ------------------------------------------------------------------------------- */

const struct machine_record *member_machine(const struct member *m)
{
    return m->machine;
}

static uint64_t machine_sum(const struct member *m)
{
    if (!m->machine)
        return 0;
    CLEANUP_FREE char *record = machine_record_write(m->machine);
    return record_sum(m->name, record);
}

static void take_machine(struct cluster *c, struct member *m, const struct machine_record *i)
{
    c->sum -= machine_sum(m);
    free(STEAL(m->machine));
    if (i) {
        m->machine = mem_alloc(sizeof *i);
        *m->machine = *i;
    }
    c->sum += machine_sum(m);
}

void member_forget_machine(struct cluster *c, struct member *m)
{
    take_machine(c, m, NULL);
}

int put_machine(struct cluster *c, const char *name, const char *value, struct err *e)
{
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            take_machine(c, m, NULL);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct machine_record i;
    if (!o || machine_record_read(o, &i, e) < 0)
        return -EILSEQ;
    take_machine(c, cluster_meet(c, name), &i);
    return 0;
}
