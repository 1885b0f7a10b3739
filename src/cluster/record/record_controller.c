/* SPDX-License-Identifier: Apache-2.0 */
/* controller/NAME: a controller that a person admitted or removed. */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct controller_slot {
    struct controller_record r; /* with its strings */
    uint64_t sum;
    UT_hash_handle hh;
};

int controller_name_check(const char *name, struct err *e)
{
    if (!hostlist_name_ok(name) || strlen(name) > CONTROLLER_NAME_BYTES_MAX)
        return err_set(e, -EINVAL, "\"%.80s\" is not the name of a controller", name);
    return 0;
}

bool controller_key_ok(const char *key)
{
    return strlen(key) == CONTROLLER_KEY_BYTES && strspn(key, "0123456789abcdef") == CONTROLLER_KEY_BYTES;
}

char *controller_record_write(const struct controller_record *r)
{
    struct text t = {0};
    text_printf(&t, "{\"at\":\"%lld\",\"by\":", (long long)r->at.ns);
    text_add_json(&t, r->by);
    if (r->why) {
        text_add(&t, ",\"why\":");
        text_add_json(&t, r->why);
    } else {
        text_printf(&t, ",\"key\":\"%s\",\"envelope\":", r->key);
        text_add_json(&t, r->envelope);
    }
    text_add_char(&t, '}');
    return text_take(&t);
}

static void controller_record_fini(struct controller_record *r)
{
    free(r->name);
    free(r->by);
    free(r->key);
    free(r->envelope);
    free(r->why);
}

static int admission_read(const json_t *o, struct controller_record *out, struct err *e)
{
    const char *key, *envelope;
    if (json_take_string(o, "key", &key, e) < 0 ||
        json_take_clause(o, "envelope", CONTROLLER_ENVELOPE_BYTES_MAX, &envelope, e) < 0)
        return -EILSEQ;
    if (!controller_key_ok(key))
        return err_set(e, -EILSEQ, "\"key\" is no public key");
    out->key = mem_dup(key);
    out->envelope = mem_dup(envelope);
    return 0;
}

/* *out is the caller's to give to controller_record_fini, also after an error. */
static int controller_read(const json_t *o, struct controller_record *out, struct err *e)
{
    static const char *const admitted[] = {"at", "by", "key", "envelope"}, *const removed[] = {"at", "by",
                                                                                               "why"};
    bool is_removed = json_object_get(o, "why");
    const char *by, *why;
    uint64_t at;
    if (json_only_keys(o, is_removed ? removed : admitted, is_removed ? 3 : 4, e) < 0 ||
        record_time(o, "at", &at, e) < 0 || json_take_clause(o, "by", REASON_BYTES_MAX, &by, e) < 0)
        return -EILSEQ;
    out->at.ns = (int64_t)at;
    out->by = mem_dup(by);
    if (!is_removed)
        return admission_read(o, out, e);
    if (json_take_clause(o, "why", REASON_BYTES_MAX, &why, e) < 0)
        return -EILSEQ;
    out->why = mem_dup(why);
    return 0;
}

static int compare_names(const struct controller_slot *a, const struct controller_slot *b)
{
    return strcmp(a->r.name, b->r.name);
}

static struct controller_slot *controller_slot(const struct cluster *c, const char *name)
{
    struct controller_slot *s;
    HASH_FIND_STR(c->controllers, name, s);
    return s;
}

static void controller_drop(struct cluster *c, struct controller_slot *s)
{
    if (!s)
        return;
    HASH_DEL(c->controllers, s);
    c->sum -= s->sum;
    controller_record_fini(&s->r);
    free(s);
}

int put_controller(struct cluster *c, const char *name, const char *value, struct err *e)
{
    struct controller_record r = {0};
    if (controller_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        controller_drop(c, controller_slot(c, name));
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    if (!o || controller_read(o, &r, e) < 0) {
        controller_record_fini(&r);
        return -EILSEQ;
    }
    controller_drop(c, controller_slot(c, name));
    struct controller_slot *s = mem_alloc(sizeof *s);
    CLEANUP_FREE char *record = controller_record_write(&r);
    s->r = r;
    s->r.name = mem_dup(name);
    s->sum = record_sum(name, record);
    c->sum += s->sum;
    HASH_ADD_KEYPTR(hh, c->controllers, s->r.name, strlen(s->r.name), s);
    HASH_SORT(c->controllers, compare_names);
    return 0;
}

const struct controller_record *cluster_controller(const struct cluster *c, const char *name)
{
    const struct controller_slot *s = controller_slot(c, name);
    return s ? &s->r : NULL;
}

void cluster_each_controller(const struct cluster *c, controller_record_fn *fn, void *arg)
{
    for (const struct controller_slot *s = c->controllers; s; s = s->hh.next)
        fn(arg, &s->r);
}

size_t cluster_controllers(const struct cluster *c)
{
    return HASH_COUNT(c->controllers);
}

void controllers_forget(struct cluster *c)
{
    while (c->controllers)
        controller_drop(c, c->controllers);
}
