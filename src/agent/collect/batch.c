/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect/ledger_inside.h"

#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Writes the ledger's state as bodies of BATCH, and notes what the controller was told by them. */

static bool is_heard(const struct ledger *l, const struct row *r)
{
    return r->heard;
}

/* One frame being written: a list of nodes heard, then an array. */
struct part {
    struct ledger *l;
    uint16_t port;
    struct mono now;
    ledger_emit_fn *emit;
    void *arg;
    char *heard;
    const char *array; /* the member that is open; NULL while none is */
    bool written;      /* a frame has gone out */
    struct text body;
};

static void part_begin(struct part *p)
{
    assert(!p->body.len && "the frame before has gone out");
    text_printf(&p->body, "{\"epoch\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"port\":%u,\"heard\":", p->l->epoch,
                ++p->l->seq, p->port);
    text_add_json(&p->body, p->heard ? p->heard : "");
    free(p->heard);
    p->heard = NULL;
}

static void part_end(struct part *p)
{
    if (!p->body.len)
        return;
    text_add(&p->body, p->array ? "]}" : "}");
    p->array = NULL;
    p->emit(p->arg, p->body.s, p->body.len);
    p->written = true;
    text_clear(&p->body);
}

static void part_add(struct part *p, const char *array, const struct text *one)
{
    if (p->body.len && p->body.len + one->len > BODY_PART_BYTES_MAX)
        part_end(p);
    if (!p->body.len)
        part_begin(p);
    if (p->array && strcmp(p->array, array) == 0) {
        text_add_char(&p->body, ',');
    } else {
        text_printf(&p->body, "%s,\"%s\":[", p->array ? "]" : "", array);
        p->array = array;
    }
    text_add_bytes(&p->body, one->s, one->len);
}

/* A member that is a string: once in a frame. */
static void part_add_text(struct part *p, const char *key, const char *value)
{
    if (p->body.len && p->body.len + strlen(value) > BODY_PART_BYTES_MAX)
        part_end(p);
    if (!p->body.len)
        part_begin(p);
    text_printf(&p->body, "%s,\"%s\":", p->array ? "]" : "", key);
    text_add_json(&p->body, value);
    p->array = NULL;
}

/* How many names, from the one at `from`, one frame takes: a folded list is never longer than its names
 * and a comma for each. */
static size_t end_of_chunk(const char *const *names, size_t from, size_t n)
{
    size_t i = from;
    for (size_t bytes = 0; i < n && (i == from || bytes + strlen(names[i]) < BODY_PART_BYTES_MAX / 2); i++)
        bytes += strlen(names[i]) + 1;
    return i;
}

/* The nodes that were heard, in as many frames as they need. */
static void add_heard(struct part *p)
{
    size_t n;
    const char **names = ledger_names(p->l, is_heard, &n);
    for (size_t from = 0, i = 0; i < n; from = i) {
        part_end(p);
        i = end_of_chunk(names, from, n);
        p->heard = hostlist_fold(names + from, i - from);
        part_begin(p);
    }
    free(names);
}

static void add_word(struct text *t, const char *key, const char *value)
{
    text_printf(t, ",\"%s\":\"%s\"", key, value);
}

static void add_state(struct part *p, struct row *r)
{
    CLEANUP_TEXT struct text one = {0};
    text_printf(&one, "{\"name\":\"%s\"", r->name);
    add_word(&one, "boot", r->boot);
    add_word(&one, "instance", r->instance);
    text_printf(&one, ",\"seq\":%" PRIu64, r->seq);
    if (r->work)
        text_printf(&one, ",\"work\":%s", r->work);
    text_printf(&one, ",\"uptime_s\":%" PRIu64, r->uptime_s);
    add_word(&one, "version", r->version);
    if (r->hash[0])
        add_word(&one, "inventory", r->hash);
    if (r->gone)
        text_add(&one, ",\"gone\":true");
    if (r->gone && r->beat.ns)
        text_printf(&one, ",\"ago_ms\":%" PRId64, span_to_ms(row_silence(r, p->now)));
    text_add_char(&one, '}');
    part_add(p, "changed", &one);
    r->changed = r->gone = false;
}

/* A state is told with the heartbeat that it came with, or when the link is gone: hello alone does
 * not say that a node is well. */
static void add_changed(struct part *p)
{
    for (struct row *r = p->l->rows; r; r = r->hh.next) {
        if (r->gone || (r->changed && r->heard))
            add_state(p, r);
        if (!r->duplicate)
            continue;
        CLEANUP_TEXT struct text one = {0};
        text_printf(&one, "{\"name\":\"%s\",\"duplicate\":true}", r->name);
        part_add(p, "changed", &one);
        r->duplicate = false;
    }
    p->l->news = false;
}

/* After the node's state, for a fingerprint counts for the boot that it was read on. */
static bool may_tell(const struct row *r)
{
    return r->live && !r->changed;
}

static void add_fingerprints(struct part *p)
{
    char hex[FINGERPRINT_HEX + 1];
    for (struct row *r = p->l->rows; r; r = r->hh.next) {
        if (!r->fingerprint_new || !may_tell(r))
            continue;
        CLEANUP_TEXT struct text one = {0};
        text_printf(&one, "{\"name\":\"%s\"", r->name);
        add_word(&one, "fingerprint", fingerprint_format(&r->fingerprint, hex));
        add_word(&one, "boot", r->boot);
        text_add_char(&one, '}');
        part_add(p, "fingerprints", &one);
        r->fingerprint_new = r->verified = false;
    }
    p->l->fingerprints = false;
}

static bool is_verified(const struct ledger *l, const struct row *r)
{
    return r->verified && may_tell(r);
}

static void add_verified(struct part *p)
{
    size_t n;
    const char **names = ledger_names(p->l, is_verified, &n);
    for (size_t from = 0, i = 0; i < n; from = i) {
        if (from)
            part_end(p);
        i = end_of_chunk(names, from, n);
        char *folded = hostlist_fold(names + from, i - from);
        part_add_text(p, "verified", folded);
        free(folded);
    }
    free(names);
    for (struct row *r = p->l->rows; r; r = r->hh.next)
        if (is_verified(p->l, r))
            r->verified = false;
}

static void add_pending(struct part *p, const char *array, const struct row *r, const struct pending *i)
{
    CLEANUP_TEXT struct text one = {0};
    text_printf(&one, "{\"name\":\"%s\",%s}", r->name, i->members);
    part_add(p, array, &one);
}

static void add_inventories(struct part *p)
{
    for (struct row *r = p->l->rows; r; r = r->hh.next) {
        for (const struct pending *i = r->inventories.first; i; i = i->next)
            add_pending(p, "inventories", r, i);
        queue_drop(&r->inventories);
    }
}

static void add_news(struct part *p)
{
    add_changed(p);
    add_fingerprints(p);
    add_verified(p);
    add_inventories(p);
}

bool ledger_batch_components(struct ledger *l, uint16_t port, ledger_emit_fn *emit, void *arg)
{
    struct part p = {.l = l, .port = port, .emit = emit, .arg = arg};
    for (struct row *r = l->rows; l->component_bytes && r; r = r->hh.next) {
        if (!r->components.first)
            continue;
        add_pending(&p, "components", r, r->components.first);
        queue_drop_first(&r->components);
        part_end(&p);
        text_fini(&p.body);
        return true;
    }
    return false;
}

void ledger_batch_missed(struct ledger *l, uint16_t port, ledger_emit_fn *emit, void *arg)
{
    struct part p = {.l = l, .port = port, .emit = emit, .arg = arg};
    for (struct row *r = l->rows; r; r = r->hh.next) {
        if (!r->misses)
            continue;
        CLEANUP_TEXT struct text one = {0};
        text_printf(&one, "{\"name\":\"%s\",\"ago_ms\":%" PRId64 "}", r->name, span_to_ms(r->ago));
        part_add(&p, "missed", &one);
        r->misses = false;
    }
    part_end(&p);
    text_fini(&p.body);
}

void ledger_batch_news(struct ledger *l, struct mono now, uint16_t port, ledger_emit_fn *emit, void *arg)
{
    struct part p = {.l = l, .now = now, .port = port, .emit = emit, .arg = arg};
    add_news(&p);
    part_end(&p);
    text_fini(&p.body);
}

void ledger_batch(struct ledger *l, struct mono now, uint16_t port, ledger_emit_fn *emit, void *arg)
{
    struct part p = {.l = l, .now = now, .port = port, .emit = emit, .arg = arg};
    add_heard(&p);
    add_news(&p);
    if (!p.body.len && !p.written)
        part_begin(&p); /* that no node was heard is news too */
    part_end(&p);
    text_fini(&p.body);
    for (struct row *r = l->rows; r; r = r->hh.next) {
        r->missed = !r->heard;
        row_set_heard(l, r, false);
    }
    l->last_batch = now;
}
