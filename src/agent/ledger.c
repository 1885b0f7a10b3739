/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/ledger.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/*
 * A row per node of the share and one for the collector itself. A row says what was heard, and in
 * two bits what the controller has still to be told: `heard` since the last batch, and `changed`.
 * `missing` counts the rows that were not heard since then; at zero the batch is due.
 *
 * Rows are visited in the order of the share, so that equal events give equal bytes.
 */

static const struct span PATIENCE = {10 * 1000000000LL}; /* in place of an interval of zero */
static const struct span ASKED = {30 * 1000000000LL};    /* until one that does not answer is passed over */

struct pending {
    struct pending *next;
    char hash[BODY_WORD_BYTES_MAX + 1];
    char *members;
};

struct row {
    char *name;
    UT_hash_handle hh;
    bool kept;    /* while a share is taken: it is in the new one */
    bool known;   /* has said hello, ever */
    bool live;    /* has a link now */
    bool heard;   /* since the last batch */
    bool changed; /* boot, instance, work or hash, since the last batch */
    bool gone;    /* its link went since the last batch */
    bool duplicate;
    bool wanted; /* its inventory, and it was not asked yet */
    bool asked;  /* and it has not answered */
    struct mono last, asked_at;
    uint64_t seq, uptime_s;
    char boot[BODY_WORD_BYTES_MAX + 1];
    char instance[BODY_WORD_BYTES_MAX + 1];
    char version[BODY_WORD_BYTES_MAX + 1];
    char hash[BODY_WORD_BYTES_MAX + 1];
    char *work; /* NULL: no heartbeat yet */
    struct pending *inventories;
};

struct ledger {
    struct row *rows;
    struct row *self;
    uint64_t epoch, seq;
    struct span interval;
    struct mono last_batch;
    bool began;
    bool gone; /* some row's link is, since that was told */
    size_t missing, asked, pending_bytes;
};

static void drop_pending(struct ledger *l, struct row *r)
{
    while (r->inventories) {
        struct pending *p = r->inventories;
        r->inventories = p->next;
        l->pending_bytes -= strlen(p->members);
        free(p->members);
        free(p);
    }
}

static void set_heard(struct ledger *l, struct row *r, bool heard)
{
    if (r->heard && !heard)
        l->missing++;
    else if (!r->heard && heard)
        l->missing--;
    r->heard = heard;
}

static void set_asked(struct ledger *l, struct row *r, bool asked)
{
    if (asked && !r->asked)
        l->asked++;
    else if (!asked && r->asked)
        l->asked--;
    r->asked = asked;
}

static struct row *find(const struct ledger *l, const char *name)
{
    struct row *r;
    HASH_FIND_STR(l->rows, name, r);
    return r;
}

static struct row *add(struct ledger *l, const char *name)
{
    struct row *r = mem_alloc(sizeof *r);
    r->name = mem_dup(name);
    HASH_ADD_KEYPTR(hh, l->rows, r->name, strlen(r->name), r);
    l->missing++;
    return r;
}

static void remove_row(struct ledger *l, struct row *r)
{
    set_heard(l, r, true);
    set_asked(l, r, false);
    drop_pending(l, r);
    HASH_DEL(l->rows, r);
    free(r->work);
    free(r->name);
    free(r);
}

struct ledger *ledger_create(const char *self, const char *instance)
{
    struct ledger *l = mem_alloc(sizeof *l);
    l->interval = PATIENCE;
    l->self = add(l, self);
    l->self->live = true;
    snprintf(l->self->instance, sizeof l->self->instance, "%s", instance);
    return l;
}

void ledger_destroy(struct ledger *l)
{
    if (!l)
        return;
    struct row *r, *next;
    HASH_ITER (hh, l->rows, r, next)
        remove_row(l, r);
    free(l);
}

void ledger_share(struct ledger *l, struct mono now, uint64_t epoch, const struct hostlist *nodes)
{
    struct row *r, *next;
    HASH_ITER (hh, l->rows, r, next)
        r->kept = r == l->self;
    for (size_t i = 0; i < nodes->n; i++) {
        r = find(l, nodes->names[i]);
        if (!r)
            r = add(l, nodes->names[i]);
        r->kept = true;
    }
    HASH_ITER (hh, l->rows, r, next)
        if (!r->kept)
            remove_row(l, r);
    l->epoch = epoch;
    if (!l->began)
        l->last_batch = now;
    l->began = true;
}

void ledger_interval(struct ledger *l, struct span interval)
{
    l->interval = interval.ns > 0 ? interval : PATIENCE;
}

uint64_t ledger_epoch(const struct ledger *l)
{
    return l->epoch;
}

bool ledger_has(const struct ledger *l, const char *name)
{
    const struct row *r = find(l, name);
    return r && r != l->self;
}

size_t ledger_count(const struct ledger *l)
{
    return HASH_COUNT(l->rows) - 1;
}

/* Names of the rows for which `which` holds, borrowed; the caller frees the array. */
static const char **names_of(const struct ledger *l, bool which(const struct ledger *, const struct row *),
                             size_t *n)
{
    const char **names = mem_alloc(HASH_COUNT(l->rows) * sizeof *names);
    *n = 0;
    for (const struct row *r = l->rows; r; r = r->hh.next)
        if (which(l, r))
            names[(*n)++] = r->name;
    return names;
}

static bool is_member(const struct ledger *l, const struct row *r)
{
    return r != l->self;
}

static bool is_heard(const struct ledger *l, const struct row *r)
{
    return r->heard;
}

char *ledger_nodes(const struct ledger *l)
{
    size_t n;
    const char **names = names_of(l, is_member, &n);
    char *folded = hostlist_fold(names, n);
    free(names);
    return folded;
}

/* The one before may go when it has been silent for three intervals: a node whose power went has
 * sent no farewell. */
static bool is_alive(const struct ledger *l, const struct row *r, struct mono now)
{
    return r == l->self || (r->live && mono_sub(now, r->last).ns < 3 * l->interval.ns);
}

int ledger_hello(struct ledger *l, struct mono now, const struct body_hello *hello, struct err *e)
{
    struct row *r = find(l, hello->name);
    if (!r)
        return err_set(e, -EACCES, "node \"%s\" does not report to this collector", hello->name);
    bool same = strcmp(r->instance, hello->instance) == 0 && r != l->self;
    if (!same && is_alive(l, r, now)) {
        r->duplicate = true;
        return err_set(e, -EBUSY, "another agent with the name \"%s\" is alive", hello->name);
    }
    int replaces = r->live;
    if (!same) {
        r->seq = 0;
        drop_pending(l, r);
    }
    if (!same || strcmp(r->boot, hello->boot) != 0 || strcmp(r->hash, hello->inventory) != 0 || r->gone)
        r->changed = true;
    r->known = r->live = true;
    r->gone = false;
    r->last = now;
    set_asked(l, r, false);
    memcpy(r->boot, hello->boot, sizeof r->boot);
    memcpy(r->instance, hello->instance, sizeof r->instance);
    memcpy(r->version, hello->version, sizeof r->version);
    memcpy(r->hash, hello->inventory, sizeof r->hash);
    return replaces;
}

bool ledger_heartbeat(struct ledger *l, struct mono now, const char *name, struct body_heartbeat *h)
{
    struct row *r = find(l, name);
    if (!r || r == l->self || !r->live || strcmp(r->instance, h->instance) != 0 ||
        strcmp(r->boot, h->boot) != 0 || h->seq <= r->seq)
        return false;
    r->seq = h->seq;
    r->uptime_s = h->uptime_s;
    r->last = now;
    if (!r->work || strcmp(r->work, h->work) != 0)
        r->changed = true;
    free(r->work);
    r->work = STEAL(h->work);
    set_heard(l, r, true);
    return true;
}

bool ledger_inventory(struct ledger *l, const char *name, struct body_inventory *report)
{
    struct row *r = find(l, name);
    if (!r || r == l->self || !r->live || strcmp(r->instance, report->instance) != 0)
        return false;
    set_asked(l, r, false);
    memcpy(r->hash, report->hash, sizeof r->hash);
    size_t bytes = strlen(report->members);
    if (l->pending_bytes + bytes > LEDGER_PENDING_BYTES_MAX) {
        drop_pending(l, r); /* what was to come before it is of no use without it */
        r->changed = true;  /* by the hash the controller knows that it lacks something */
        return false;
    }
    struct pending *p = mem_alloc(sizeof *p), **end = &r->inventories;
    memcpy(p->hash, report->hash, sizeof p->hash);
    p->members = STEAL(report->members);
    l->pending_bytes += bytes;
    while (*end)
        end = &(*end)->next;
    *end = p;
    return true;
}

void ledger_gone(struct ledger *l, const char *name, const char *instance)
{
    struct row *r = find(l, name);
    if (!r || r == l->self || !r->live || strcmp(r->instance, instance) != 0)
        return;
    r->live = false;
    r->gone = r->changed = l->gone = true;
    set_asked(l, r, false);
}

void ledger_self(struct ledger *l)
{
    set_heard(l, l->self, true);
}

void ledger_want(struct ledger *l, const struct hostlist *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct row *r = find(l, nodes->names[i]);
        if (r && r != l->self) {
            r->wanted = true;
            r->changed |= r->known; /* what was said of it may not have been taken */
        }
    }
}

const char *ledger_ask(struct ledger *l, struct mono now)
{
    for (struct row *r = l->rows; r; r = r->hh.next)
        if (r->asked && mono_sub(now, r->asked_at).ns >= ASKED.ns)
            set_asked(l, r, false);
    if (l->asked >= LEDGER_ASKED_MAX)
        return NULL;
    for (struct row *r = l->rows; r; r = r->hh.next) {
        if (!r->wanted || !r->live || r->asked)
            continue;
        r->wanted = false;
        set_asked(l, r, true);
        r->asked_at = now;
        return r->name;
    }
    return NULL;
}

/* What was heard while nobody listened is old: it must revive no node. */
void ledger_forget_told(struct ledger *l, struct mono now)
{
    for (struct row *r = l->rows; r; r = r->hh.next) {
        r->changed |= r->known;
        r->gone = r->known && !r->live;
        r->wanted = false;
        set_heard(l, r, false);
        drop_pending(l, r);
    }
    l->last_batch = now;
}

struct mono ledger_deadline(const struct ledger *l)
{
    return mono_add(l->last_batch, (struct span){l->interval.ns + l->interval.ns / 2});
}

bool ledger_due(const struct ledger *l, struct mono now)
{
    return l->missing == 0 || mono_sub(now, ledger_deadline(l)).ns >= 0;
}

bool ledger_has_news(const struct ledger *l)
{
    return l->gone || l->pending_bytes > 0;
}

/* One frame being written: a list of nodes heard, then an array. */
struct part {
    struct ledger *l;
    uint16_t port;
    ledger_emit_fn *emit;
    void *arg;
    char *heard;
    const char *array; /* the member that is open; NULL while none is */
    bool written;      /* a frame has gone out */
    struct text body;
};

static void part_begin(struct part *p)
{
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

/* Who was heard, in as many frames as it takes: a folded list is never longer than its names and a
 * comma for each. */
static void add_heard(struct part *p)
{
    size_t n;
    const char **names = names_of(p->l, is_heard, &n);
    for (size_t from = 0, i = 0; i < n; from = i) {
        part_end(p);
        for (size_t bytes = 0; i < n && (i == from || bytes + strlen(names[i]) < BODY_PART_BYTES_MAX / 2);
             i++)
            bytes += strlen(names[i]) + 1;
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
    text_add(&one, r->gone ? ",\"gone\":true}" : "}");
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
    p->l->gone = false;
}

static void add_inventories(struct part *p)
{
    for (struct row *r = p->l->rows; r; r = r->hh.next) {
        for (const struct pending *i = r->inventories; i; i = i->next) {
            CLEANUP_TEXT struct text one = {0};
            text_printf(&one, "{\"name\":\"%s\",\"instance\":\"%s\",\"hash\":\"%s\",%s}", r->name,
                        r->instance, i->hash, i->members);
            part_add(p, "inventories", &one);
        }
        drop_pending(p->l, r);
    }
}

void ledger_batch_news(struct ledger *l, uint16_t port, ledger_emit_fn *emit, void *arg)
{
    struct part p = {.l = l, .port = port, .emit = emit, .arg = arg};
    add_changed(&p);
    add_inventories(&p);
    part_end(&p);
    text_fini(&p.body);
}

void ledger_batch(struct ledger *l, struct mono now, uint16_t port, ledger_emit_fn *emit, void *arg)
{
    struct part p = {.l = l, .port = port, .emit = emit, .arg = arg};
    add_heard(&p);
    add_changed(&p);
    add_inventories(&p);
    if (!p.body.len && !p.written)
        part_begin(&p); /* nobody was heard: that is news, too */
    part_end(&p);
    text_fini(&p.body);
    for (struct row *r = l->rows; r; r = r->hh.next)
        set_heard(l, r, false);
    l->last_batch = now;
}
