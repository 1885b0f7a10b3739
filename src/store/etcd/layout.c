/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries are written as netstrings ("4:root,"), seven for each entry. JSON would make a text of control
 * characters six times as long, which a batch within its limits must not become, and would not keep bytes
 * that are no UTF-8.
 */
#include "store/etcd/layout.h"

#include "base/json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ENTRY_TEXTS = 7 };

const char *layout_after(const char *key, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(key, prefix, len) == 0 ? key + len : NULL;
}

static int layout_damaged(const char *key, struct err *e)
{
    return err_set(e, -EILSEQ, "key %.80s in etcd was not written by Fettle", key);
}

char *layout_journal_key(uint64_t revision, char buf[static LAYOUT_JOURNAL_BYTES])
{
    snprintf(buf, LAYOUT_JOURNAL_BYTES, LAYOUT_JOURNAL "%020" PRIu64, revision);
    return buf;
}

int layout_journal_read(const char *key, uint64_t *revision, struct err *e)
{
    const char *digits = layout_after(key, LAYOUT_JOURNAL);
    if (!digits || strlen(digits) != 20 || text_parse_u64(digits, 1, INT64_MAX, revision, NULL) < 0)
        return layout_damaged(key, e);
    return 0;
}

static bool mark_is(const char *s)
{
    return strlen(s) == LAYOUT_MARK_BYTES - 1 && strspn(s, "0123456789abcdef") == LAYOUT_MARK_BYTES - 1;
}

char *layout_head_write(const struct layout_head *h, char buf[static LAYOUT_HEAD_BYTES])
{
    snprintf(buf, LAYOUT_HEAD_BYTES, "%" PRIu64 " %s", h->revision, h->mark);
    return buf;
}

int layout_head_read(const struct wire_kv *kv, struct layout_head *h, struct err *e)
{
    char number[21];
    const char *blank = memchr(kv->value, ' ', kv->len);
    size_t len = blank ? (size_t)(blank - kv->value) : sizeof number;
    if (len >= sizeof number || !mark_is(blank + 1))
        return layout_damaged(kv->key, e);
    memcpy(number, kv->value, len);
    number[len] = '\0';
    if (text_parse_u64(number, 0, INT64_MAX, &h->revision, NULL) < 0)
        return layout_damaged(kv->key, e);
    memcpy(h->mark, blank + 1, sizeof h->mark);
    return 0;
}

static void add_netstring(struct text *out, const char *s)
{
    size_t len = s ? strlen(s) : 0;
    text_add_u64(out, len);
    text_add_char(out, ':');
    text_add_bytes(out, s ? s : "", len);
    text_add_char(out, ',');
}

void layout_entries_write(const char *mark, const struct store_batch *b, struct text *out)
{
    add_netstring(out, mark);
    for (size_t i = 0; i < b->n_entries; i++) {
        const struct store_entry *entry = &b->entries[i];
        char at[24];
        snprintf(at, sizeof at, "%" PRId64, entry->at.ns);
        const char *const texts[ENTRY_TEXTS] = {at,          entry->actor, entry->what,  entry->nodes,
                                                entry->text, entry->about, entry->fields};
        for (size_t j = 0; j < ENTRY_TEXTS; j++)
            add_netstring(out, texts[j]);
    }
}

/* Copies the next text with a zero behind it into `own`, which has room. NULL: there is none. */
static const char *netstring_read(const char **at, const char *end, struct text *own)
{
    size_t len = 0;
    const char *s = *at;
    if (s == end || !isdigit((unsigned char)*s) || (*s == '0' && end - s > 1 && s[1] != ':'))
        return NULL;
    for (; s < end && isdigit((unsigned char)*s); s++) {
        len = len * 10 + (size_t)(*s - '0');
        if (len > WIRE_VALUE_BYTES_MAX)
            return NULL;
    }
    if (end - s < 2 || *s != ':' || (size_t)(end - s) - 2 < len || s[1 + len] != ',')
        return NULL;
    char *to = own->s + own->len;
    memcpy(to, s + 1, len);
    to[len] = '\0';
    own->len += len + 1;
    *at = s + len + 2;
    return to;
}

static bool entry_read(const char **at, const char *end, struct text *own, struct store_entry *entry)
{
    const char *texts[ENTRY_TEXTS];
    uint64_t ns = 0;
    for (size_t i = 0; i < ENTRY_TEXTS; i++) {
        texts[i] = netstring_read(at, end, own);
        if (!texts[i])
            return false;
    }
    const char *digits = texts[0][0] == '-' ? texts[0] + 1 : texts[0];
    if (text_parse_u64(digits, 0, INT64_MAX, &ns, NULL) < 0)
        return false;
    *entry = (struct store_entry){.at = {digits == texts[0] ? (int64_t)ns : -(int64_t)ns},
                                  .actor = texts[1],
                                  .what = texts[2],
                                  .nodes = texts[3],
                                  .text = texts[4],
                                  .about = texts[5],
                                  .fields = texts[6]};
    return true;
}

int layout_entries_read(const struct wire_kv *kv, uint64_t revision, char *mark, store_journal_fn *fn,
                        void *arg, struct err *e)
{
    CLEANUP_TEXT struct text own = {0};
    const char *at = kv->value, *end = at + kv->len;
    text_room(&own, kv->len); /* a netstring is longer than its text and a zero */
    const char *found = netstring_read(&at, end, &own);
    if (!found || !mark_is(found))
        return layout_damaged(kv->key, e);
    memcpy(mark, found, LAYOUT_MARK_BYTES);
    for (size_t n = 0; at < end; n++) {
        struct store_entry entry;
        if (n == STORE_ENTRIES_MAX || !entry_read(&at, end, &own, &entry))
            return layout_damaged(kv->key, e);
        int r = fn(arg, revision, &entry, e);
        if (r)
            return r;
    }
    return 0;
}

void layout_cluster_write(const struct layout_cluster *c, struct text *out)
{
    text_printf(out, "{\"id\":\"%s\",\"term_base\":%" PRIu64 "}", c->id, c->term_base);
}

/* The object that the value is; NULL when it is none. */
static json_t *object_of(const struct wire_kv *kv)
{
    json_t *o = json_read(kv->value, kv->len, NULL);
    if (json_is_object(o))
        return o;
    json_decref(o);
    return NULL;
}

static bool clause_take(const json_t *o, const char *key, char *out, size_t size)
{
    const char *s;
    if (json_take_clause(o, key, size - 1, &s, NULL) < 0)
        return false;
    memcpy(out, s, strlen(s) + 1);
    return true;
}

int layout_cluster_read(const struct wire_kv *kv, struct layout_cluster *c, struct err *e)
{
    CLEANUP_JSON json_t *o = object_of(kv);
    if (!o || !clause_take(o, "id", c->id, sizeof c->id) || !c->id[0] ||
        c->id[strspn(c->id, "0123456789abcdef-")] != '\0' ||
        json_take_u64(o, "term_base", INT64_MAX / 2, &c->term_base, NULL) < 0)
        return layout_damaged(kv->key, e);
    return 0;
}

void layout_told_write(const struct layout_told *t, struct text *out)
{
    text_add_member(out, "name", t->name);
    text_add_member(out, "address", t->address);
    if (t->agents[0])
        text_add_member(out, "agents", t->agents);
    text_add_member(out, "instance", t->instance);
    text_printf(out,
                ",\"count\":%" PRIu64 ",\"lease_ms\":%" PRIu64 ",\"revision\":%" PRIu64 ",\"at_ns\":%" PRId64,
                t->count, t->lease_ms, t->revision, t->at.ns);
    if (t->audit[0])
        text_add_member(out, "audit", t->audit);
    if (t->level)
        text_printf(out, ",\"level\":%" PRIu64, t->level);
    text_add_char(out, '}');
}

int layout_told_read(const struct wire_kv *kv, struct layout_told *t, struct err *e)
{
    CLEANUP_JSON json_t *o = object_of(kv);
    uint64_t at = 0;
    *t = (struct layout_told){0};
    if (!o || !clause_take(o, "name", t->name, sizeof t->name) ||
        !clause_take(o, "address", t->address, sizeof t->address) ||
        (json_object_get(o, "agents") && !clause_take(o, "agents", t->agents, sizeof t->agents)) ||
        !clause_take(o, "instance", t->instance, sizeof t->instance) ||
        json_take_u64(o, "count", INT64_MAX, &t->count, NULL) < 0 ||
        json_take_u64(o, "lease_ms", 3600000, &t->lease_ms, NULL) < 0 ||
        json_take_u64(o, "revision", INT64_MAX, &t->revision, NULL) < 0 ||
        json_take_u64(o, "at_ns", INT64_MAX, &at, NULL) < 0 ||
        (json_object_get(o, "audit") && !clause_take(o, "audit", t->audit, sizeof t->audit)) ||
        (json_object_get(o, "level") && json_take_u64(o, "level", INT64_MAX, &t->level, NULL) < 0))
        return layout_damaged(kv->key, e);
    t->at.ns = (int64_t)at;
    return 0;
}
