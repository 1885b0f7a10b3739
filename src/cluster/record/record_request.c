/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request/REVISION: the requests that a commit carried out, those of all its commands in one record, so that
 * a commit writes one record more, however many commands it has.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { REVISION_DIGITS = 20, MADE_KEYS = 8, MADE_MAX = 1024 };

char *request_key(uint64_t revision)
{
    struct text t = {0};
    text_printf(&t, "%0*llu", REVISION_DIGITS, (unsigned long long)revision);
    return text_take(&t);
}

/* --- out of the state -------------------------------------------------------------------------- */

static void part_fini(struct request_part *p)
{
    free(p->node);
    free(p->changed);
    free(p->claim);
}

/* Forgets what this commit did for the request, and the request when no record speaks of it any more. */
static void slot_leave(struct cluster *c, struct request_slot *s, uint64_t revision)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->r.n; i++) {
        if (s->r.parts[i].revision == revision)
            part_fini(&s->r.parts[i]);
        else
            s->r.parts[kept++] = s->r.parts[i];
    }
    s->r.n = kept;
    if (--s->refs > 0)
        return;
    HASH_DEL(c->requests, s);
    free(s->id);
    free(s->r.by);
    free(s->r.asks);
    free(s->r.parts);
    free(s);
}

static void record_leave(struct cluster *c, struct request_record *r)
{
    for (size_t i = 0; i < r->n; i++)
        slot_leave(c, r->of[i], r->revision);
    DL_DELETE(c->request_records, r);
    c->n_request_parts -= r->n;
    c->request_bytes -= r->bytes;
    c->sum -= r->sum;
    free(r->of);
    free(r);
}

/* --- into the state ---------------------------------------------------------------------------- */

static int part_compare(const struct request_part *a, const struct request_part *b)
{
    const int d = strcmp(a->node, b->node);
    return d ? d : (a->revision > b->revision) - (a->revision < b->revision);
}

static struct request_slot *slot_meet(struct cluster *c, const char *id)
{
    struct request_slot *s;
    HASH_FIND_STR(c->requests, id, s);
    if (s)
        return s;
    s = mem_alloc(sizeof *s);
    s->id = mem_dup(id);
    HASH_ADD_KEYPTR(hh, c->requests, s->id, strlen(s->id), s);
    return s;
}

static void slot_add(struct request_slot *s, const struct request_made *m)
{
    const struct request_part part = {.revision = m->revision,
                                      .node = mem_dup(m->node),
                                      .next = m->next,
                                      .of = m->of,
                                      .changed = mem_dup(m->changed),
                                      .claim = mem_dup(m->claim)};
    free(s->r.by);
    free(s->r.asks);
    s->r.by = mem_dup(m->by);
    s->r.asks = mem_dup(m->asks);
    s->r.parts = mem_grow(s->r.parts, (s->r.n + 1) * sizeof *s->r.parts);
    size_t at = s->r.n++;
    for (; at > 0 && part_compare(&s->r.parts[at - 1], &part) > 0; at--)
        s->r.parts[at] = s->r.parts[at - 1];
    s->r.parts[at] = part;
    s->refs++;
}

/* Records are loaded and committed in the order of their revisions. */
static void record_link(struct cluster *c, struct request_record *r)
{
    struct request_record *at = c->request_records ? c->request_records->prev : NULL;
    while (at && at->revision > r->revision)
        at = at == c->request_records ? NULL : at->prev;
    if (at)
        DL_APPEND_ELEM(c->request_records, at, r);
    else
        DL_PREPEND(c->request_records, r);
}

static const char *made_optional(const json_t *o, const char *key)
{
    return json_object_get(o, key) ? json_text(o, key) : NULL;
}

static int made_read(const json_t *o, struct request_made *m, struct err *e)
{
    static const char *const keys[MADE_KEYS] = {"id", "by", "asks", "node", "next", "of", "changed", "claim"};
    char claim[CLAIM_ID_BYTES_MAX + 1], changed[REQUEST_CHANGED_BYTES_MAX + 1];
    uint64_t next, of;
    if (json_only_keys(o, keys, MADE_KEYS, e) < 0 || json_take_string(o, "id", &m->id, e) < 0 ||
        json_take_clause(o, "by", REQUEST_BY_BYTES_MAX, &m->by, e) < 0 ||
        json_take_clause(o, "asks", REQUEST_ASKS_BYTES, &m->asks, e) < 0 ||
        json_take_u64(o, "next", REQUEST_NODES_MAX, &next, e) < 0 ||
        json_take_u64(o, "of", REQUEST_NODES_MAX, &of, e) < 0)
        return -EILSEQ;
    m->node = json_text(o, "node");
    m->changed = made_optional(o, "changed");
    m->claim = made_optional(o, "claim");
    m->next = (size_t)next;
    m->of = (size_t)of;
    if (!request_id_ok(m->id))
        return err_set(e, -EILSEQ, "\"%.80s\" is no id of a request", m->id);
    if ((*m->node && record_name_check(m->node, e) < 0) ||
        (json_object_get(o, "changed") &&
         record_word(o, "changed", changed, REQUEST_CHANGED_BYTES_MAX, e) < 0) ||
        (json_object_get(o, "claim") && record_word(o, "claim", claim, CLAIM_ID_BYTES_MAX, e) < 0))
        return -EILSEQ;
    return 0;
}

/* Fills `made`, which has room for as many as `list` has. */
static int made_read_all(const json_t *list, uint64_t revision, struct request_made *made, struct err *e)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        if (!json_is_object(o))
            return err_set(e, -EILSEQ, "a request that is no object");
        if (made_read(o, &made[i], e) < 0)
            return -EILSEQ;
        made[i].revision = revision;
    }
    return 0;
}

static int record_check(const json_t *o, struct wall *at, struct err *e)
{
    static const char *const keys[] = {"at", "made"};
    uint64_t ns;
    if (json_only_keys(o, keys, 2, e) < 0 || record_time(o, "at", &ns, e) < 0)
        return -EILSEQ;
    at->ns = (int64_t)ns;
    const size_t n = json_array_size(json_object_get(o, "made"));
    if (n == 0 || n > MADE_MAX)
        return err_set(e, -EILSEQ, "\"made\" is no list of 1 to %d requests", MADE_MAX);
    return 0;
}

static void record_add(struct cluster *c, uint64_t revision, struct wall at, const char *value,
                       const struct request_made *made, size_t n)
{
    CLEANUP_FREE char *digits = request_key(revision);
    CLEANUP_TEXT struct text key = {0};
    struct request_record *r = mem_alloc(sizeof *r);
    text_printf(&key, "request/%s", digits);
    *r = (struct request_record){.revision = revision,
                                 .at = at,
                                 .sum = record_sum(key.s, value),
                                 .bytes = key.len + strlen(value),
                                 .n = n,
                                 .of = mem_alloc(n * sizeof(struct request_slot *))};
    for (size_t i = 0; i < n; i++) {
        r->of[i] = slot_meet(c, made[i].id);
        slot_add(r->of[i], &made[i]);
    }
    record_link(c, r);
    c->n_request_parts += n;
    c->request_bytes += r->bytes;
    c->sum += r->sum;
}

/* The oldest leaves, and the newest comes: neither is searched for. */
static struct request_record *record_find(const struct cluster *c, uint64_t revision)
{
    struct request_record *r = c->request_records;
    if (!r || revision > r->prev->revision)
        return NULL;
    while (r && r->revision < revision)
        r = r->next;
    return r && r->revision == revision ? r : NULL;
}

int put_request(struct cluster *c, const char *name, const char *value, struct err *e)
{
    uint64_t revision;
    struct wall at = {0};
    if (strlen(name) != REVISION_DIGITS || strspn(name, "0123456789") != REVISION_DIGITS ||
        text_parse_u64(name + strspn(name, "0"), 1, INT64_MAX, &revision, e) < 0)
        return err_set(e, -EILSEQ, "it is no revision of %d digits", REVISION_DIGITS);
    CLEANUP_JSON json_t *o = value ? record_object(value, e) : NULL;
    if (value && (!o || record_check(o, &at, e) < 0))
        return -EILSEQ;
    const json_t *list = o ? json_object_get(o, "made") : NULL;
    const size_t n = json_array_size(list);
    CLEANUP_FREE struct request_made *made = mem_alloc((n + 1) * sizeof *made);
    if (made_read_all(list, revision, made, e) < 0)
        return -EILSEQ;
    struct request_record *before = record_find(c, revision);
    if (before)
        record_leave(c, before);
    if (value)
        record_add(c, revision, at, value, made, n);
    return 0;
}

void requests_forget(struct cluster *c)
{
    while (c->request_records)
        record_leave(c, c->request_records);
}

/* --- as text ------------------------------------------------------------------------------------ */

void request_made_write(const struct request_made *m, struct text *t)
{
    text_add(t, "{\"id\":");
    text_add_json(t, m->id);
    text_add(t, ",\"by\":");
    text_add_json(t, m->by);
    text_printf(t, ",\"asks\":\"%s\"", m->asks);
    if (*m->node)
        text_add_member(t, "node", m->node);
    text_printf(t, ",\"next\":%zu,\"of\":%zu", m->next, m->of);
    if (m->changed)
        text_add_member(t, "changed", m->changed);
    if (m->claim)
        text_add_member(t, "claim", m->claim);
    text_add_char(t, '}');
}
