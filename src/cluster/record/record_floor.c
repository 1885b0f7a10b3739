/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor/CLASS CHECK: results of a benchmark on nodes of a class, the latest first. A record is read whole
 * before anything changes.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void floor_node_fini(struct floor_node *n)
{
    free(n->name);
    free(n->values);
}

static void floor_fini(struct floor *f)
{
    for (size_t i = 0; i < f->n; i++)
        floor_node_fini(&f->nodes[i]);
    free(f->nodes);
    free(f->key);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* {"bandwidth MB/s":12345} */
static int floor_values_read(const json_t *o, struct floor_node *out, struct err *e)
{
    const char *what;
    const json_t *value;
    if (!json_is_object(o) || json_object_size(o) == 0 || json_object_size(o) > FLOOR_MEASURES_MAX)
        return err_set(e, -EINVAL, "what it came to is no object of 1 to %d", FLOOR_MEASURES_MAX);
    out->values = mem_alloc(json_object_size(o) * sizeof *out->values);
    JSON_OBJECT_EACH (o, what, value) {
        struct floor_value *v = &out->values[out->n++];
        size_t len = strlen(what);
        if (len == 0 || len > FLOOR_WHAT_BYTES_MAX || !text_is_clean(what))
            return err_set(e, -EINVAL, "\"%.80s\" is no measure", what);
        if (!json_is_integer(value) || json_integer_value(value) < 0 ||
            json_integer_value(value) > FLOOR_VALUE_MAX)
            return err_set(e, -EINVAL, "%s: no value from 0 to %" PRId64, what, FLOOR_VALUE_MAX);
        memcpy(v->what, what, len + 1);
        v->value = json_integer_value(value);
    }
    return 0;
}

static int read_node(const json_t *o, struct floor *out, struct err *e)
{
    static const char *const keys[] = {"node", "values"};
    const char *name;
    struct floor_node *n = &out->nodes[out->n++];
    if (json_only_keys(o, keys, 2, e) < 0 || json_take_string(o, "node", &name, e) < 0 ||
        record_name_check(name, e) < 0)
        return -EINVAL;
    n->name = mem_dup(name);
    for (size_t i = 0; i + 1 < out->n; i++)
        if (strcmp(out->nodes[i].name, name) == 0)
            return err_set(e, -EINVAL, "node \"%s\" is there twice", name);
    return floor_values_read(json_object_get(o, "values"), n, e);
}

static int read_floor(const json_t *o, struct floor *out, struct err *e)
{
    static const char *const keys[] = {"at", "sum", "nodes"};
    const json_t *nodes = json_object_get(o, "nodes");
    uint64_t at;
    if (json_only_keys(o, keys, 3, e) < 0 || record_time(o, "at", &at, e) < 0 ||
        record_hex(o, "sum", &out->sum, e) < 0)
        return -EINVAL;
    out->at.ns = (int64_t)at;
    if (json_array_size(nodes) == 0 || json_array_size(nodes) > FLOOR_NODES_MAX)
        return err_set(e, -EINVAL, "\"nodes\" is no array of 1 to %d", FLOOR_NODES_MAX);
    out->nodes = mem_alloc(json_array_size(nodes) * sizeof *out->nodes);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (read_node(json_array_get(nodes, i), out, e) < 0)
            return err_wrap(e, -EINVAL, "node %zu", i + 1);
    return 0;
}

/* "CLASS CHECK" */
static int check_key(const char *key, struct err *e)
{
    const char *blank = strchr(key, ' ');
    size_t class = blank ? (size_t)(blank - key) : 0, check = blank ? strlen(blank + 1) : 0;
    bool good = class > 0 && class <= CLASS_NAME_BYTES_MAX && check > 0 && check <= CHECK_NAME_BYTES_MAX &&
                !strchr(blank + 1, ' ') && text_is_clean(key);
    return good ? 0 : err_set(e, -EILSEQ, "\"%.120s\" is no class and check", key);
}

/* --- writing ---------------------------------------------------------------------------------- */

char *floor_record(const struct floor *f)
{
    assert(f->n <= FLOOR_NODES_MAX);
    struct text t = {0};
    text_printf(&t, "{\"at\":\"%lld\",\"sum\":\"%016" PRIx64 "\",\"nodes\":[", (long long)f->at.ns, f->sum);
    for (size_t i = 0; i < f->n; i++) {
        const struct floor_node *n = &f->nodes[i];
        text_add(&t, i ? ",{\"node\":" : "{\"node\":");
        text_add_json(&t, n->name);
        for (size_t k = 0; k < n->n; k++) {
            text_add(&t, k ? "," : ",\"values\":{");
            text_add_json(&t, n->values[k].what);
            text_printf(&t, ":%" PRId64, n->values[k].value);
        }
        text_add(&t, "}}");
    }
    text_add(&t, "]}");
    return text_take(&t);
}

/* --- of the cluster --------------------------------------------------------------------------- */

static struct floor_slot *find_floor(const struct cluster *c, const char *key)
{
    struct floor_slot *s;
    HASH_FIND_STR(c->floors, key, s);
    return s;
}

static uint64_t floor_sum(const struct floor *f)
{
    CLEANUP_FREE char *record = floor_record(f);
    return record_sum(f->key, record);
}

static void floor_drop(struct cluster *c, struct floor_slot *s)
{
    if (!s)
        return;
    c->sum -= floor_sum(&s->f);
    HASH_DEL(c->floors, s);
    floor_fini(&s->f);
    free(s);
}

int put_floor(struct cluster *c, const char *key, const char *value, struct err *e)
{
    if (!value) {
        floor_drop(c, find_floor(c, key));
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct floor read = {0};
    if (!o || check_key(key, e) < 0 || read_floor(o, &read, e) < 0) {
        floor_fini(&read);
        return -EILSEQ;
    }
    floor_drop(c, find_floor(c, key));
    struct floor_slot *s = mem_alloc(sizeof *s);
    s->f = read;
    s->f.key = mem_dup(key);
    HASH_ADD_KEYPTR(hh, c->floors, s->f.key, strlen(s->f.key), s);
    c->sum += floor_sum(&s->f);
    return 0;
}

void floors_forget(struct cluster *c)
{
    struct floor_slot *s, *next;
    HASH_ITER (hh, c->floors, s, next)
        floor_drop(c, s);
}

const struct floor *cluster_floor(const struct cluster *c, const char *class, const char *check)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "%s %s", class, check);
    const struct floor_slot *s = find_floor(c, key.s);
    return s ? &s->f : NULL;
}
