/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of etcd's gateway. The gateway leaves out what is zero, empty or false, so an absent member is not
 * an error. Texts are decoded into one piece of memory, which is made large enough before: base64 is longer
 * than what it says, so the length of the answer is enough.
 */
#include "base/base64.h"
#include "base/json.h"
#include "store/etcd/wire.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The numbers by which gRPC names what went wrong. */
enum {
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_FAILED_PRECONDITION = 9,
    GRPC_OUT_OF_RANGE = 11,
    GRPC_UNAVAILABLE = 14,
    GRPC_UNAUTHENTICATED = 16
};

/* How etcd refuses a call with the header "hasleader" before it looks at it. "Unavailable" alone says that of
 * calls that it has begun, too. */
static const char no_leader[] = "etcdserver: no leader";

void wire_answer_fini(struct wire_answer *a)
{
    free(a->found);
    free(a->kvs);
    text_fini(&a->own);
    *a = (struct wire_answer){0};
}

const struct wire_kv *wire_first(const struct wire_answer *a, size_t operation)
{
    if (operation >= a->n_found || a->found[operation].n == 0)
        return NULL;
    return &a->kvs[a->found[operation].first];
}

/* Decodes into `own`, which has room: earlier texts stay where they are. NULL: not base64, or a zero byte in
 * it. */
static const char *value_decode(struct text *own, const char *in, size_t *len)
{
    const char *first = own->s;
    size_t before = own->len;
    if (!base64_take(in, strlen(in), own))
        return NULL;
    assert(own->s == first && "there was room");
    *len = own->len - before;
    if (memchr(own->s + before, '\0', *len))
        return NULL;
    own->len++; /* its zero */
    return own->s + before;
}

static int number_take(const json_t *o, const char *key, uint64_t *out, struct err *e)
{
    const json_t *v = json_object_get(o, key);
    *out = 0;
    if (!v)
        return 0;
    if (json_is_integer(v) && json_integer_value(v) >= 0)
        *out = (uint64_t)json_integer_value(v);
    else if (!json_is_string(v) || text_parse_u64(json_string_value(v), 0, UINT64_MAX, out, NULL) < 0)
        return err_set(e, -EPROTO, "etcd's answer has no number in \"%s\"", key);
    return 0;
}

static int text_take_key(const json_t *o, const char *key, size_t max, struct text *own, const char **out,
                         size_t *len, struct err *e)
{
    const json_t *v = json_object_get(o, key);
    if (v && !json_is_string(v))
        return err_set(e, -EPROTO, "etcd's answer has no text in \"%s\"", key);
    if (v && json_string_length(v) / 4 * 3 > max + 2)
        return err_set(e, -EPROTO, "etcd's answer has more than %zu bytes in \"%s\"", max, key);
    *out = value_decode(own, v ? json_string_value(v) : "", len);
    return *out ? 0 : err_set(e, -EPROTO, "etcd's answer has no text in base64 in \"%s\"", key);
}

static int header_read(const json_t *o, struct wire_answer *a, struct err *e)
{
    const json_t *header = json_object_get(o, "header");
    if (!json_is_object(header))
        return err_set(e, -EPROTO, "etcd's answer has no header");
    int r = number_take(header, "cluster_id", &a->cluster, e);
    return r ? r : number_take(header, "revision", &a->revision, e);
}

static int kv_read(const json_t *o, bool deleted, struct wire_answer *a, struct err *e)
{
    if (!json_is_object(o) || a->n_kvs == WIRE_KEYS_MAX)
        return err_set(e, -EPROTO, "etcd's answer has something that is no key, or too many");
    if ((a->n_kvs & (a->n_kvs - 1)) == 0)
        a->kvs = mem_grow(a->kvs, (a->n_kvs ? a->n_kvs * 2 : 1) * sizeof *a->kvs);
    struct wire_kv *kv = &a->kvs[a->n_kvs];
    size_t key_len;
    *kv = (struct wire_kv){0};
    int r = text_take_key(o, "key", WIRE_KEY_BYTES_MAX, &a->own, &kv->key, &key_len, e);
    if (!r && !deleted)
        r = text_take_key(o, "value", WIRE_VALUE_BYTES_MAX, &a->own, &kv->value, &kv->len, e);
    if (!r)
        r = number_take(o, "create_revision", &kv->created, e);
    if (!r)
        r = number_take(o, "mod_revision", &kv->modified, e);
    a->n_kvs += r == 0;
    return r;
}

static struct wire_found *found_add(struct wire_answer *a)
{
    a->found = mem_grow(a->found, (a->n_found + 1) * sizeof *a->found);
    a->found[a->n_found] = (struct wire_found){.first = a->n_kvs};
    return &a->found[a->n_found++];
}

/* o: what a range found; NULL: the operation was none. */
static int found_read(const json_t *o, struct wire_answer *a, struct err *e)
{
    struct wire_found *found = found_add(a);
    const json_t *list = json_object_get(o, "kvs"), *kv;
    size_t i;
    int r = 0;
    json_array_foreach (list, i, kv) {
        r = r ? r : kv_read(kv, false, a, e);
    }
    found->n = a->n_kvs - found->first;
    found->more = json_is_true(json_object_get(o, "more"));
    return r;
}

/* Parses, and makes room for all that can be decoded of it. */
static json_t *answer_begin(const char *bytes, size_t len, struct wire_answer *a, struct err *e)
{
    struct err why = {0};
    *a = (struct wire_answer){0};
    json_t *o = json_read(bytes, len, &why);
    if (!o || !json_is_object(o)) {
        err_set(e, -EPROTO, "etcd's answer is no JSON object%s%s", why.code ? ": " : "", why.msg);
        json_decref(o);
        return NULL;
    }
    text_room(&a->own, len + 1); /* and each text has at least its quotes for its zero */
    return o;
}

static int answer_end(struct wire_answer *a, int r)
{
    if (r)
        wire_answer_fini(a);
    return r;
}

int wire_range_read(const char *bytes, size_t len, struct wire_answer *a, struct err *e)
{
    CLEANUP_JSON json_t *o = answer_begin(bytes, len, a, e);
    int r = o ? header_read(o, a, e) : -EPROTO;
    return answer_end(a, r ? r : found_read(o, a, e));
}

int wire_txn_read(const char *bytes, size_t len, struct wire_answer *a, struct err *e)
{
    CLEANUP_JSON json_t *o = answer_begin(bytes, len, a, e);
    int r = o ? header_read(o, a, e) : -EPROTO;
    const json_t *list = json_object_get(o, "responses"), *one;
    size_t i;
    json_array_foreach (list, i, one) {
        r = r ? r : found_read(json_object_get(one, "response_range"), a, e);
    }
    a->succeeded = json_is_true(json_object_get(o, "succeeded"));
    return answer_end(a, r);
}

void wire_events_fini(struct wire_events *v)
{
    wire_answer_fini(&v->answer);
}

/* A stream that etcd ends says so in an object of the gateway, whose names differ between versions. */
static int stream_refusal(const json_t *error, struct err *e)
{
    uint64_t code = 0;
    if (number_take(error, "grpc_code", &code, NULL) || (!code && number_take(error, "code", &code, NULL)))
        code = 0;
    return err_set(e, code == GRPC_OUT_OF_RANGE ? -ERANGE : -EAGAIN, "etcd has ended the watch: %.200s",
                   json_text(error, "message"));
}

static int watch_refusal(const json_t *result, struct err *e)
{
    uint64_t compacted = 0;
    int r = number_take(result, "compact_revision", &compacted, e);
    if (r)
        return r;
    if (compacted)
        return err_set(e, -ERANGE, "etcd's history begins at its revision %llu",
                       (unsigned long long)compacted);
    return err_set(e, -EAGAIN, "etcd has ended the watch: %.200s", json_text(result, "cancel_reason"));
}

static int event_read(const json_t *event, struct wire_answer *a, struct err *e)
{
    return kv_read(json_object_get(event, "kv"), strcmp(json_text(event, "type"), "DELETE") == 0, a, e);
}

int wire_events_read(const char *bytes, size_t len, struct wire_events *v, struct err *e)
{
    struct wire_answer *a = &v->answer;
    *v = (struct wire_events){0};
    CLEANUP_JSON json_t *o = answer_begin(bytes, len, a, e);
    const json_t *result = json_object_get(o, "result"), *error = json_object_get(o, "error");
    const json_t *list = json_object_get(result, "events"), *event;
    size_t i;
    int r = !o ? -EPROTO : error ? stream_refusal(error, e) : header_read(result, a, e);
    if (!r && json_is_true(json_object_get(result, "canceled")))
        r = watch_refusal(result, e);
    json_array_foreach (list, i, event) {
        r = r ? r : event_read(event, a, e);
    }
    v->created = json_is_true(json_object_get(result, "created"));
    v->continues = json_is_true(json_object_get(result, "fragment"));
    return answer_end(a, r);
}

int wire_refusal(int status, const char *bytes, size_t len, bool *definite, struct err *e)
{
    CLEANUP_JSON json_t *o = json_read(bytes, len, NULL);
    uint64_t code = 0;
    const char *words = json_text(o, json_object_get(o, "message") ? "message" : "error");
    if (!json_is_object(o) || number_take(o, "code", &code, NULL))
        code = 0;
    /* "No space" is none: etcd 3.4 and 3.5 give this answer to a transaction that they carried out, when it
     * is the one that went beyond the quota. */
    *definite = code == GRPC_INVALID_ARGUMENT || code == GRPC_FAILED_PRECONDITION ||
                code == GRPC_PERMISSION_DENIED || code == GRPC_UNAUTHENTICATED || code == GRPC_OUT_OF_RANGE ||
                (code == GRPC_UNAVAILABLE && strcmp(words, no_leader) == 0);
    switch (code) {
    case GRPC_INVALID_ARGUMENT:
    case GRPC_FAILED_PRECONDITION: return err_set(e, -EINVAL, "etcd refuses it: %.200s", words);
    case GRPC_PERMISSION_DENIED:
    case GRPC_UNAUTHENTICATED: return err_set(e, -EACCES, "etcd does not allow it: %.200s", words);
    case GRPC_RESOURCE_EXHAUSTED: return err_set(e, -ENOSPC, "etcd has no room: %.200s", words);
    case GRPC_OUT_OF_RANGE: return err_set(e, -ERANGE, "etcd does not have that revision: %.200s", words);
    default:
        return err_set(e, -EAGAIN, "etcd cannot answer (HTTP status %d)%s%.200s", status, *words ? ": " : "",
                       words);
    }
}

static json_t *object_read(const char *bytes, size_t len, struct err *e)
{
    json_t *o = json_read(bytes, len, NULL);
    if (json_is_object(o))
        return o;
    json_decref(o);
    err_set(e, -EPROTO, "etcd's answer is no JSON object");
    return NULL;
}

int wire_status_read(const char *bytes, size_t len, struct wire_status *s, struct err *e)
{
    CLEANUP_JSON json_t *o = object_read(bytes, len, e);
    *s = (struct wire_status){0};
    int r = o ? number_take(o, "leader", &s->leader, e) : -EPROTO;
    text_line(s->version, sizeof s->version, json_text(o, "version"));
    r = r ? r : number_take(json_object_get(o, "header"), "member_id", &s->member, e);
    r = r ? r : number_take(o, "dbSize", &s->bytes, e);
    return r ? r : number_take(o, "dbSizeInUse", &s->bytes_used, e);
}

int wire_members_read(const char *bytes, size_t len, struct wire_member *out, size_t max, size_t *n,
                      struct err *e)
{
    CLEANUP_JSON json_t *o = object_read(bytes, len, e);
    const json_t *list = json_object_get(o, "members"), *one;
    size_t i;
    int r = o ? 0 : -EPROTO;
    *n = 0;
    json_array_foreach (list, i, one) {
        if (r || *n == max)
            break;
        r = number_take(one, "ID", &out[*n].id, e);
        text_line(out[*n].name, sizeof out[*n].name, json_text(one, "name"));
        *n += 1;
    }
    return r;
}

int wire_alarms_read(const char *bytes, size_t len, bool *no_space, bool *corrupt, struct err *e)
{
    CLEANUP_JSON json_t *o = object_read(bytes, len, e);
    const json_t *list = json_object_get(o, "alarms"), *one;
    size_t i;
    *no_space = *corrupt = false;
    json_array_foreach (list, i, one) {
        *no_space = *no_space || strcmp(json_text(one, "alarm"), "NOSPACE") == 0;
        *corrupt = *corrupt || strcmp(json_text(one, "alarm"), "CORRUPT") == 0;
    }
    return o ? 0 : -EPROTO;
}
