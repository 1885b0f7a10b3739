/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd, as its gateway shows it: one sequence of transactions, whatever happens to members and links. All
 * that was ever written is kept; the keys of a revision are found by reading it from the start, which is fast
 * enough for histories of some minutes.
 */
#include "quorum.h"

#include "base/base64.h"
#include "base/err.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GRPC_INVALID_ARGUMENT = 3, GRPC_OUT_OF_RANGE = 11 };

struct kv {
    const char *key, *value;
    size_t len;
    uint64_t created, modified;
};

/* Keys in their order. */
struct keys {
    struct kv *all;
    size_t n, cap;
};

static struct etcd_event *events;
static size_t n_events, cap_events;
static struct keys present;
static uint64_t revision, compacted;

void etcd_begin(void)
{
    revision = 1;
    compacted = 0;
}

void etcd_end(void)
{
    for (size_t i = 0; i < n_events; i++) {
        free(events[i].key);
        free(events[i].value);
    }
    free(events);
    free(present.all);
    events = NULL;
    present = (struct keys){0};
    n_events = cap_events = 0;
}

size_t etcd_events(const struct etcd_event **out)
{
    *out = events;
    return n_events;
}

uint64_t etcd_revision(void)
{
    return revision;
}

uint64_t etcd_compacted(void)
{
    return compacted;
}

void etcd_compact(uint64_t to)
{
    compacted = to > compacted ? to : compacted;
}

/* --- keys -------------------------------------------------------------------------------------- */

/* The first key that is not less. */
static size_t keys_place(const struct keys *k, const char *key)
{
    size_t low = 0, high = k->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(k->all[mid].key, key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct kv *keys_find(const struct keys *k, const char *key)
{
    size_t i = keys_place(k, key);
    return i < k->n && strcmp(k->all[i].key, key) == 0 ? &k->all[i] : NULL;
}

static void keys_take(struct keys *k, const struct etcd_event *e)
{
    size_t i = keys_place(k, e->key);
    bool is_there = i < k->n && strcmp(k->all[i].key, e->key) == 0;
    if (!e->value) {
        memmove(&k->all[i], &k->all[i + 1], (k->n - i - 1) * sizeof *k->all);
        k->n--;
        return;
    }
    if (!is_there) {
        if (k->n == k->cap)
            k->all = mem_grow(k->all, (k->cap = k->cap ? 2 * k->cap : 64) * sizeof *k->all);
        memmove(&k->all[i + 1], &k->all[i], (k->n - i) * sizeof *k->all);
        k->n++;
    }
    k->all[i] = (struct kv){e->key, e->value, e->len, e->created, e->revision};
}

uint64_t etcd_created_of(const char *key)
{
    const struct kv *kv = keys_find(&present, key);
    return kv ? kv->created : 0;
}

static void event_add(const char *key, const char *value, size_t len)
{
    const struct kv *before = keys_find(&present, key);
    if (n_events == cap_events)
        events = mem_grow(events, (cap_events = cap_events ? 2 * cap_events : 256) * sizeof *events);
    struct etcd_event *e = &events[n_events++];
    *e = (struct etcd_event){.revision = revision + 1,
                             .key = mem_dup(key),
                             .value = value ? mem_dup(value) : NULL,
                             .len = len,
                             .created = before ? before->created : revision + 1};
    keys_take(&present, e);
}

/* --- requests ---------------------------------------------------------------------------------- */

static char *bytes_of(const json_t *o, const char *name, size_t *len)
{
    const char *s = json_text(o, name);
    struct text t = {0};
    if (!base64_take(s, strlen(s), &t))
        abort();
    if (len)
        *len = t.len;
    return text_take(&t);
}

static uint64_t number_of(const json_t *o, const char *name)
{
    return strtoull(json_text(o, name), NULL, 10);
}

static void header_add(struct text *out)
{
    text_printf(out, "\"header\":{\"cluster_id\":\"7\",\"member_id\":\"1\",\"revision\":\"%" PRIu64 "\"}",
                revision);
}

static void kv_add(const struct kv *kv, struct text *out)
{
    text_add(out, "{\"key\":\"");
    base64_add(out, kv->key, strlen(kv->key));
    text_printf(out,
                "\",\"create_revision\":\"%" PRIu64 "\",\"mod_revision\":\"%" PRIu64
                "\",\"version\":\"1\",\"value\":\"",
                kv->created, kv->modified);
    base64_add(out, kv->value, kv->len);
    text_add(out, "\"}");
}

/* What a range finds, without the braces and the header. */
static void range_find(const struct keys *k, const json_t *o, struct text *out)
{
    CLEANUP_FREE char *key = bytes_of(o, "key", NULL), *end = bytes_of(o, "range_end", NULL);
    uint64_t limit = number_of(o, "limit"), found = 0;
    bool more = false;
    text_add(out, "\"kvs\":[");
    for (size_t i = keys_place(k, key); i < k->n && !more; i++) {
        if (*end ? strcmp(k->all[i].key, end) >= 0 : strcmp(k->all[i].key, key) != 0)
            break;
        more = limit && found == limit;
        if (more)
            break;
        text_add(out, found++ ? "," : "");
        kv_add(&k->all[i], out);
    }
    text_printf(out, "]%s,\"count\":\"%" PRIu64 "\"", more ? ",\"more\":true" : "", found);
}

int etcd_error(int code, const char *message, struct text *answer)
{
    text_printf(answer, "{\"error\":\"%s\",\"message\":\"%s\",\"code\":%d}", message, message, code);
    return code == GRPC_INVALID_ARGUMENT || code == GRPC_OUT_OF_RANGE ? 400 : 503;
}

static int range_carry_out(const json_t *o, struct text *answer)
{
    uint64_t at = number_of(o, "revision");
    struct keys then = {0};
    if (at && at < compacted)
        return etcd_error(GRPC_OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted",
                          answer);
    for (size_t i = 0; at && i < n_events && events[i].revision <= at; i++)
        keys_take(&then, &events[i]);
    text_add(answer, "{");
    header_add(answer);
    text_add(answer, ",");
    range_find(at ? &then : &present, o, answer);
    text_add(answer, "}");
    free(then.all);
    return 200;
}

static bool compare_holds(const json_t *o)
{
    CLEANUP_FREE char *key = bytes_of(o, "key", NULL), *value = bytes_of(o, "value", NULL);
    const struct kv *kv = keys_find(&present, key);
    const char *target = json_text(o, "target");
    if (strcmp(target, "VALUE") == 0)
        return kv && strcmp(kv->value, value) == 0;
    if (strcmp(target, "CREATE") == 0)
        return (kv ? kv->created : 0) == number_of(o, "create_revision");
    return (kv ? kv->modified : 0) == number_of(o, "mod_revision");
}

static void delete_carry_out(const json_t *o)
{
    CLEANUP_FREE char *key = bytes_of(o, "key", NULL), *end = bytes_of(o, "range_end", NULL);
    for (size_t i; (i = keys_place(&present, key)) < present.n;) {
        const char *is = present.all[i].key;
        if (*end ? strcmp(is, end) >= 0 : strcmp(is, key) != 0)
            break;
        event_add(is, NULL, 0);
    }
}

static void operation_carry_out(const json_t *o, struct text *answer)
{
    const json_t *range = json_object_get(o, "request_range"), *put = json_object_get(o, "request_put");
    if (range) {
        text_add(answer, "{\"response_range\":{");
        range_find(&present, range, answer);
        text_add(answer, "}}");
    } else if (put) {
        size_t len;
        CLEANUP_FREE char *key = bytes_of(put, "key", NULL), *value = bytes_of(put, "value", &len);
        event_add(key, value, len);
        text_add(answer, "{\"response_put\":{}}");
    } else {
        delete_carry_out(json_object_get(o, "request_delete_range"));
        text_add(answer, "{\"response_delete_range\":{}}");
    }
}

static int txn_carry_out(const json_t *o, struct text *answer)
{
    CLEANUP_TEXT struct text responses = {0};
    const json_t *one;
    size_t i, before = n_events;
    bool holds = true;
    json_array_foreach (json_object_get(o, "compare"), i, one)
        holds = holds && compare_holds(one);
    json_array_foreach (json_object_get(o, holds ? "success" : "failure"), i, one) {
        text_add(&responses, i ? "," : "");
        operation_carry_out(one, &responses);
    }
    revision += n_events > before;
    text_add(answer, "{");
    header_add(answer);
    text_printf(answer, "%s,\"responses\":[%s]}", holds ? ",\"succeeded\":true" : "",
                responses.len ? responses.s : "");
    return 200;
}

int etcd_carry_out(const char *call, const char *body, struct text *answer)
{
    CLEANUP_JSON json_t *o = json_read(body, strlen(body), NULL);
    if (strcmp(call, "/v3/kv/txn") == 0)
        return txn_carry_out(o, answer);
    if (strcmp(call, "/v3/kv/range") == 0)
        return range_carry_out(o, answer);
    if (strcmp(call, "/v3/kv/compaction") == 0) {
        if (number_of(o, "revision") < compacted)
            return etcd_error(GRPC_OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted",
                              answer);
        etcd_compact(number_of(o, "revision"));
    }
    /* Of its health nothing is asked but the space that it has used, and its alarms. */
    text_add(answer, "{");
    header_add(answer);
    text_add(answer, "}");
    return 200;
}
