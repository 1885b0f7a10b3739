/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/commits.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

void commits_init(struct commits *c, uint64_t after)
{
    *c = (struct commits){.revision = after};
}

static void open_forget(struct commits *c)
{
    change_destroy(c->open.change);
    memset(&c->open, 0, sizeof c->open);
}

void commits_fini(struct commits *c)
{
    open_forget(c);
    text_fini(&c->line);
}

void commits_restart(struct commits *c)
{
    open_forget(c);
    text_clear(&c->line);
}

static int commit_foreign(const struct commits *c, const char *key, struct err *e)
{
    return err_set(e, -EILSEQ, "somebody else wrote key %.80s in etcd, behind revision %" PRIu64, key,
                   c->revision);
}

static int on_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    change_add_entry(arg, entry);
    return 0;
}

static struct store_change *open_change(struct commits *c)
{
    if (!c->open.change)
        c->open.change = change_create(c->revision + 1);
    return c->open.change;
}

static int record_take(struct commits *c, const char *key, const struct wire_kv *kv, struct err *e)
{
    struct store_change *change = open_change(c);
    if (change->batch.n_ops == STORE_OPS_MAX)
        return commit_foreign(c, kv->key, e);
    change_add_op(change, key, kv->value);
    return 0;
}

/* The journal's oldest keys are deleted now and then, which is no commit. */
static int journal_take(struct commits *c, const struct wire_kv *kv, struct err *e)
{
    uint64_t revision = 0;
    int r = kv->value ? layout_journal_read(kv->key, &revision, e) : 0;
    if (r || !kv->value)
        return r;
    if (revision != c->revision + 1 || c->open.mark[0])
        return commit_foreign(c, kv->key, e);
    return layout_entries_read(kv, revision, c->open.mark, on_entry, open_change(c), e);
}

/* A renewal changes the value, a change of hands the instance in it. */
static void leader_take(struct commits *c, const struct wire_kv *kv)
{
    struct layout_told told = {0};
    if (kv->value && layout_told_read(kv, &told, NULL) < 0)
        told.instance[0] = '\0';
    if (strcmp(told.instance, c->leader) != 0)
        c->led_changed = true;
    memcpy(c->leader, told.instance, sizeof c->leader);
}

void commits_begin(struct commits *c, uint64_t at, const struct wire_kv *leader)
{
    static const struct wire_kv none = {0};
    c->made_at = at;
    leader_take(c, leader ? leader : &none);
}

static int event_take(struct commits *c, const struct wire_kv *kv, struct err *e)
{
    const char *key = layout_after(kv->key, LAYOUT_RECORD);
    if (key)
        return record_take(c, key, kv, e);
    if (layout_after(kv->key, LAYOUT_JOURNAL))
        return journal_take(c, kv, e);
    if (strcmp(kv->key, LAYOUT_LEADER) == 0)
        leader_take(c, kv);
    if (strcmp(kv->key, LAYOUT_HEAD) != 0)
        return 0;
    if (!kv->value || c->open.has_head)
        return commit_foreign(c, kv->key, e);
    c->open.has_head = true;
    return layout_head_read(kv, &c->open.head, e);
}

/* The transaction has no more events. A head with the same revision is the fence of a commit whose outcome
 * was not known. */
static int transaction_end(struct commits *c, commits_fn *fn, void *arg, bool *on, struct err *e)
{
    bool moves = c->open.has_head && c->open.head.revision != c->revision;
    int r = 0;
    if (moves && (c->open.head.revision != c->revision + 1 || !c->open.change ||
                  strcmp(c->open.head.mark, c->open.mark) != 0))
        r = commit_foreign(c, LAYOUT_HEAD, e);
    else if (!moves && c->open.change)
        r = commit_foreign(c, c->open.mark[0] ? LAYOUT_JOURNAL : LAYOUT_RECORD, e);
    if (!r && moves) {
        c->revision++;
        c->made_at = c->open.at;
        memcpy(c->mark, c->open.mark, sizeof c->mark);
        *on = fn(arg, STEAL(c->open.change));
    }
    if (*on)
        open_forget(c);
    return r;
}

static int line_take(struct commits *c, const char *line, size_t len, commits_fn *fn, void *arg, bool *on,
                     struct err *e)
{
    struct wire_events v;
    int r = wire_events_read(line, len, &v, e);
    if (r)
        return r;
    for (size_t i = 0; i < v.answer.n_kvs && !r && *on; i++) {
        const struct wire_kv *kv = &v.answer.kvs[i];
        if (c->open.at && kv->modified != c->open.at)
            r = transaction_end(c, fn, arg, on, e);
        if (r || !*on)
            break;
        c->open.at = kv->modified;
        r = event_take(c, kv, e);
    }
    if (!r && *on && c->open.at && !v.continues)
        r = transaction_end(c, fn, arg, on, e);
    wire_events_fini(&v);
    return r;
}

int commits_take(struct commits *c, const char *bytes, size_t len, commits_fn *fn, void *arg, struct err *e)
{
    bool on = true;
    int r = 0;
    while (len && !r && on) {
        const char *end = memchr(bytes, '\n', len);
        size_t n = end ? (size_t)(end - bytes) : len;
        if (c->line.len + n > COMMITS_LINE_BYTES_MAX)
            return err_set(e, -E2BIG, "etcd's watch has a line of more than %d bytes",
                           COMMITS_LINE_BYTES_MAX);
        text_add_bytes(&c->line, bytes, n);
        bytes += end ? n + 1 : n;
        len -= end ? n + 1 : n;
        if (!end)
            break;
        struct text line = c->line;
        c->line = (struct text){0};
        if (line.len)
            r = line_take(c, line.s, line.len, fn, arg, &on, e);
        text_fini(&line);
    }
    return r;
}
