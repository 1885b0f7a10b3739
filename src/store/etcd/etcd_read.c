/* SPDX-License-Identifier: Apache-2.0 */
#include "store/change.h"
#include "store/etcd/etcd_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Records are some hundred bytes long, or 64 KiB. */
enum { PAGE_RECORDS = 4000, PAGE_REVISIONS = 256 };

static int records_tell(const struct wire_answer *a, store_record_fn *fn, void *arg, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < a->n_kvs && !r; i++)
        r = fn(arg, layout_after(a->kvs[i].key, LAYOUT_RECORD), a->kvs[i].value, e);
    return r;
}

/* All records as they were at etcd's revision `at`. */
static int records_load(struct etcd *s, uint64_t at, store_record_fn *fn, void *arg, struct err *e)
{
    CLEANUP_TEXT struct text from = {0};
    uint64_t limit = PAGE_RECORDS;
    bool more = true;
    int r = 0;
    text_add(&from, LAYOUT_RECORD);
    while (more && !r) {
        CLEANUP_ANSWER struct wire_answer a = {0};
        r = etcd_page(s, from.s, LAYOUT_RECORD_END, at, &limit, &a, e);
        for (size_t i = 0; i < a.n_kvs && !r; i++)
            if (!layout_after(a.kvs[i].key, LAYOUT_RECORD))
                r = err_set(e, -EILSEQ, "etcd answers with a key that was not asked for");
        if (!r)
            r = records_tell(&a, fn, arg, e);
        more = a.n_found && a.found[0].more && a.n_kvs;
        text_clear(&from);
        if (more) {
            text_add(&from, a.kvs[a.n_kvs - 1].key);
            text_add_char(&from, ' '); /* no key has a byte that is less */
        }
    }
    return r;
}

int etcd_load(struct store *store, store_record_fn *fn, void *arg, uint64_t *revision, struct err *e)
{
    struct etcd *s = (struct etcd *)store;
    uint64_t at = 0;
    int r = s->unsure.is ? etcd_fence(s, e) : 0;
    if (!r)
        r = etcd_head(s, &s->head, &at, e);
    if (!r)
        r = records_load(s, at, fn, arg, e);
    if (r == -ERANGE)
        r = err_wrap(e, -EAGAIN, "the records changed while they were read");
    if (!r)
        etcd_unsure_fini(s);
    if (!r)
        *revision = s->head.revision;
    return r;
}

static int page_read(struct etcd *s, uint64_t from, uint64_t to, uint64_t *limit, struct wire_answer *a,
                     struct err *e)
{
    char key[LAYOUT_JOURNAL_BYTES], end[LAYOUT_JOURNAL_BYTES];
    return etcd_page(s, layout_journal_key(from, key), layout_journal_key(to, end), 0, limit, a, e);
}

static int entry_count(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    ++*(size_t *)arg;
    return 0;
}

/* How many entries the revision of this key has. */
static int revision_read(const struct wire_kv *kv, uint64_t *revision, size_t *n, struct err *e)
{
    char mark[LAYOUT_MARK_BYTES];
    *n = 0;
    int r = layout_journal_read(kv->key, revision, e);
    return r ? r : layout_entries_read(kv, *revision, mark, entry_count, n, e);
}

static int revision_tell(const struct wire_kv *kv, uint64_t revision, store_journal_fn *fn, void *arg,
                         struct err *e)
{
    char mark[LAYOUT_MARK_BYTES];
    return layout_entries_read(kv, revision, mark, fn, arg, e);
}

/* Tells whole revisions while there is room for them, in *left; *any: one was told. *full: no more are due.
 */
static int page_tell(const struct wire_answer *a, size_t *left, bool *any, bool *full, store_journal_fn *fn,
                     void *arg, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < a->n_kvs && !r && !*full; i++) {
        uint64_t revision;
        size_t n;
        r = revision_read(&a->kvs[i], &revision, &n, e);
        *full = !r && *any && n > *left;
        if (r || *full)
            break;
        r = revision_tell(&a->kvs[i], revision, fn, arg, e);
        *any = *any || n > 0;
        *left -= n < *left ? n : *left;
    }
    return r;
}

int etcd_journal(struct store *store, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                 struct err *e)
{
    struct etcd *s = (struct etcd *)store;
    size_t left = max;
    bool any = false, full = false, more = after < INT64_MAX;
    int r = 0;
    while (more && !full && !r) {
        CLEANUP_ANSWER struct wire_answer a = {0};
        uint64_t limit = PAGE_REVISIONS;
        r = page_read(s, after + 1, INT64_MAX, &limit, &a, e);
        if (!r)
            r = page_tell(&a, &left, &any, &full, fn, arg, e);
        more = !r && a.n_found && a.found[0].more && a.n_kvs;
        if (more)
            r = layout_journal_read(a.kvs[a.n_kvs - 1].key, &after, e);
    }
    return r;
}

static int entry_keep(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    change_add_entry(arg, entry);
    return 0;
}

/* The entries of one revision, newest first. */
static int revision_tell_back(const struct wire_kv *kv, size_t *told, store_journal_fn *fn, void *arg,
                              struct err *e)
{
    char mark[LAYOUT_MARK_BYTES];
    struct store_change *c = change_create(0);
    int r = layout_journal_read(kv->key, &c->revision, e);
    if (!r)
        r = layout_entries_read(kv, c->revision, mark, entry_keep, c, e);
    for (size_t i = c->batch.n_entries; i > 0 && !r; i--, ++*told)
        r = fn(arg, c->revision, &c->entries[i - 1], e);
    change_destroy(c);
    return r;
}

/* etcd sorts all keys of a range before it gives the last ones, so the range is made small: every commit has
 * a key. */
static int back_step(struct etcd *s, uint64_t *before, size_t *told, size_t max, store_journal_fn *fn,
                     void *arg, struct err *e)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    uint64_t pages = max - *told < PAGE_REVISIONS ? max - *told : PAGE_REVISIONS;
    uint64_t from = *before > pages ? *before - pages : 1, limit = pages;
    int r = page_read(s, from, *before, &limit, &a, e);
    if (!r && limit < pages) { /* too long for one answer: the last of them */
        wire_answer_fini(&a);
        from = *before > limit ? *before - limit : 1;
        r = page_read(s, from, *before, &limit, &a, e);
    }
    for (size_t i = a.n_kvs; i > 0 && !r && *told < max; i--)
        r = revision_tell_back(&a.kvs[i - 1], told, fn, arg, e);
    *before = from;
    return r;
}

int etcd_journal_back(struct store *store, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                      struct err *e)
{
    struct etcd *s = (struct etcd *)store;
    struct layout_head head = {0};
    uint64_t first = 0, at;
    size_t told = 0;
    int r = etcd_first(store, &first, e);
    if (!r)
        r = etcd_head(s, &head, &at, e);
    if (!r && head.revision + 1 < before)
        before = head.revision + 1;
    while (!r && first && before > first && told < max)
        r = back_step(s, &before, &told, max, fn, arg, e);
    return r;
}

int etcd_first(struct store *store, uint64_t *revision, struct err *e)
{
    struct etcd *s = (struct etcd *)store;
    uint64_t from = 1, at;
    *revision = s->first;
    for (bool more = !s->first; more;) {
        CLEANUP_ANSWER struct wire_answer a = {0};
        uint64_t limit = PAGE_REVISIONS / 8;
        int r = page_read(s, from, INT64_MAX, &limit, &a, e);
        for (size_t i = 0; i < a.n_kvs && !r; i++) {
            size_t n;
            r = revision_read(&a.kvs[i], &at, &n, e);
            from = r ? from : at + 1;
            if (!r && n) {
                *revision = s->first = at;
                return 0;
            }
        }
        if (r)
            return r;
        more = a.n_found && a.found[0].more && a.n_kvs;
    }
    return 0;
}
