/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front of every engine. Batches are judged here, once, so that no engine takes one that another would
 * refuse. A batch with the same key twice is refused because etcd refuses it.
 */
#include "store/engine.h"

#include <errno.h>
#include <string.h>

enum { KEY_BYTES_MAX = 512 };

static int key_check(const char *key, struct err *e)
{
    size_t len = strlen(key);
    if (len > KEY_BYTES_MAX)
        return err_set(e, -E2BIG, "key \"%.40s...\" is %zu bytes long, the limit is %d", key, len,
                       KEY_BYTES_MAX);
    if (len == 0)
        return err_set(e, -EINVAL, "a key is empty");
    for (const char *p = key; *p; p++)
        if (*p < ' ' || *p > '~')
            return err_set(e, -EINVAL, "a key has byte 0x%02x, which is not printable ASCII",
                           (unsigned char)*p);
    return 0;
}

/* Adds the length of s to what the batch takes. */
static void add_bytes(size_t *bytes, const char *s)
{
    size_t len = strlen(s);
    *bytes = len > STORE_BATCH_BYTES_MAX ? STORE_BATCH_BYTES_MAX + 1 : *bytes + len;
}

static int ops_check(const struct store_batch *b, size_t *bytes, struct err *e)
{
    for (size_t i = 0; i < b->n_ops; i++) {
        const struct store_op *op = &b->ops[i];
        int r = key_check(op->key, e);
        if (r)
            return r;
        for (size_t j = 0; j < i; j++)
            if (strcmp(op->key, b->ops[j].key) == 0)
                return err_set(e, -EINVAL, "key \"%s\" stands twice in one batch", op->key);
        add_bytes(bytes, op->key);
        if (op->value)
            add_bytes(bytes, op->value);
        if (*bytes > STORE_BATCH_BYTES_MAX)
            break;
    }
    return 0;
}

static int batch_check(const struct store_batch *b, struct err *e)
{
    if (b->n_ops > STORE_OPS_MAX)
        return err_set(e, -E2BIG, "a batch of %zu records, the limit is %d", b->n_ops, STORE_OPS_MAX);
    if (b->n_entries > STORE_ENTRIES_MAX)
        return err_set(e, -E2BIG, "a batch of %zu journal entries, the limit is %d", b->n_entries,
                       STORE_ENTRIES_MAX);
    size_t bytes = 0;
    int r = ops_check(b, &bytes, e);
    if (r)
        return r;
    for (size_t i = 0; i < b->n_entries && bytes <= STORE_BATCH_BYTES_MAX; i++) {
        const struct store_entry *entry = &b->entries[i];
        add_bytes(&bytes, entry->actor);
        add_bytes(&bytes, entry->what);
        add_bytes(&bytes, entry->nodes);
        add_bytes(&bytes, entry->text);
        add_bytes(&bytes, entry->about ? entry->about : "");
        add_bytes(&bytes, entry->fields ? entry->fields : "");
    }
    if (bytes > STORE_BATCH_BYTES_MAX)
        return err_set(e, -E2BIG, "a batch of more than %d bytes", STORE_BATCH_BYTES_MAX);
    return 0;
}

void store_close(struct store *s)
{
    if (s)
        s->engine->close(s);
}

int store_campaign(struct store *s, uint64_t *term, struct err *e)
{
    return s->engine->campaign(s, term, e);
}

int store_load(struct store *s, store_record_fn *fn, void *arg, uint64_t *revision, struct err *e)
{
    return s->engine->load(s, fn, arg, revision, e);
}

int store_commit(struct store *s, uint64_t term, const struct store_batch *b, uint64_t *revision,
                 struct err *e)
{
    int r = batch_check(b, e);
    if (r)
        return r;
    return s->engine->commit(s, term, b, revision, e);
}

int store_resolve(struct store *s, uint64_t after, store_change_fn *fn, void *arg, struct err *e)
{
    return s->engine->resolve(s, after, fn, arg, e);
}

int store_check(struct store *s, struct err *e)
{
    return s->engine->check(s, e);
}

int store_journal(struct store *s, uint64_t after, size_t max, store_journal_fn *fn, void *arg, struct err *e)
{
    return s->engine->journal(s, after, max, fn, arg, e);
}

int store_journal_back(struct store *s, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                       struct err *e)
{
    return s->engine->journal_back(s, before, max, fn, arg, e);
}

int store_tidy(struct store *s, const struct store_keep *keep, struct wall now, bool *more, struct err *e)
{
    return s->engine->tidy(s, keep, now, more, e);
}

int store_first(struct store *s, uint64_t *revision, struct err *e)
{
    return s->engine->first(s, revision, e);
}

int store_copy(struct store *s, const char *dir, struct store_copied *copied, struct err *e)
{
    if (!s->engine->copy)
        return err_set(e, -EOPNOTSUPP, "a store in etcd is copied by its controllers (fettle backup create)");
    return s->engine->copy(s, dir, copied, e);
}

void store_copy_end(struct store *s)
{
    if (s->engine->copy_end)
        s->engine->copy_end(s);
}
