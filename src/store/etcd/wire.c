/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/wire.h"

#include "base/base64.h"

#include <inttypes.h>
#include <string.h>

/* Adds the bytes in base64, in quotes. */
static void add_base64(struct text *out, const char *bytes, size_t len)
{
    text_add_char(out, '"');
    base64_add(out, bytes, len);
    text_add_char(out, '"');
}

static void add_key(struct text *out, const char *name, const char *key)
{
    text_printf(out, "\"%s\":", name);
    add_base64(out, key, strlen(key));
}

static void begin_item(struct text *list, const char *kind)
{
    text_add(list, list->len ? ",{" : "{");
    if (kind)
        text_printf(list, "\"%s\":{", kind);
}

void wire_txn_fini(struct wire_txn *t)
{
    text_fini(&t->compare);
    text_fini(&t->success);
    text_fini(&t->failure);
}

void wire_compare_value(struct wire_txn *t, const char *key, const char *value)
{
    begin_item(&t->compare, NULL);
    add_key(&t->compare, "key", key);
    text_add(&t->compare, ",\"target\":\"VALUE\",");
    add_key(&t->compare, "value", value);
    text_add(&t->compare, "}");
}

void wire_compare_created(struct wire_txn *t, const char *key, uint64_t revision)
{
    begin_item(&t->compare, NULL);
    add_key(&t->compare, "key", key);
    text_printf(&t->compare, ",\"target\":\"CREATE\",\"create_revision\":\"%" PRIu64 "\"}", revision);
}

void wire_compare_modified(struct wire_txn *t, const char *key, uint64_t revision)
{
    begin_item(&t->compare, NULL);
    add_key(&t->compare, "key", key);
    text_printf(&t->compare, ",\"target\":\"MOD\",\"mod_revision\":\"%" PRIu64 "\"}", revision);
}

void wire_put(struct text *list, const char *key, const char *value, size_t len)
{
    begin_item(list, "request_put");
    add_key(list, "key", key);
    text_add(list, ",\"value\":");
    add_base64(list, value, len);
    text_add(list, "}}");
}

static void add_keys(struct text *list, const char *key, const char *end)
{
    add_key(list, "key", key);
    if (!end)
        return;
    text_add(list, ",");
    add_key(list, "range_end", end);
}

void wire_delete(struct text *list, const char *key, const char *end)
{
    begin_item(list, "request_delete_range");
    add_keys(list, key, end);
    text_add(list, "}}");
}

void wire_get(struct text *list, const char *key, const char *end)
{
    begin_item(list, "request_range");
    add_keys(list, key, end);
    text_add(list, "}}");
}

static void add_list(struct text *out, const char *name, const struct text *list)
{
    text_printf(out, "\"%s\":[", name);
    text_add_bytes(out, list->len ? list->s : "", list->len);
    text_add(out, "]");
}

void wire_txn_write(const struct wire_txn *t, struct text *out)
{
    text_add(out, "{");
    add_list(out, "compare", &t->compare);
    text_add(out, ",");
    add_list(out, "success", &t->success);
    text_add(out, ",");
    add_list(out, "failure", &t->failure);
    text_add(out, "}");
}

void wire_range_write(const char *key, const char *end, uint64_t revision, uint64_t limit, struct text *out)
{
    text_add(out, "{");
    add_keys(out, key, end);
    if (revision)
        text_printf(out, ",\"revision\":\"%" PRIu64 "\"", revision);
    if (limit)
        text_printf(out, ",\"limit\":\"%" PRIu64 "\"", limit);
    text_add(out, "}");
}

void wire_watch_write(const char *key, const char *end, uint64_t revision, struct text *out)
{
    text_add(out, "{\"create_request\":{");
    add_keys(out, key, end);
    text_printf(out, ",\"start_revision\":\"%" PRIu64 "\",\"progress_notify\":true,\"fragment\":true}}",
                revision);
}

void wire_compact_write(uint64_t revision, struct text *out)
{
    text_printf(out, "{\"revision\":\"%" PRIu64 "\"}", revision);
}
