/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mirror.h"

#include "base/directory.h"
#include "base/text.h"
#include "store/begun.h"
#include "store/sqlite.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a mirror knows of itself, in the place of the state's records. */
#define KEY_OF "mirror/of"
#define KEY_MISSING "mirror/missing"
enum { GAP_BYTES = 48 };

struct mirror {
    char *dir, *of;
    struct store *store; /* NULL: it is not open */
    uint64_t revision;
    struct mirror_gap missing;
};

struct mirror *mirror_create(const char *dir, const char *of)
{
    struct mirror *m = mem_alloc(sizeof *m);
    m->dir = mem_dup(dir);
    m->of = mem_dup(of);
    return m;
}

static void mirror_shut(struct mirror *m)
{
    store_close(STEAL(m->store));
    m->revision = 0;
    m->missing = (struct mirror_gap){0};
}

void mirror_destroy(struct mirror *m)
{
    if (!m)
        return;
    mirror_shut(m);
    free(m->dir);
    free(m->of);
    free(m);
}

struct store *mirror_store(struct mirror *m)
{
    return m->store;
}

uint64_t mirror_revision(const struct mirror *m)
{
    return m->revision;
}

struct mirror_gap mirror_missing(const struct mirror *m)
{
    return m->missing;
}

/* --- writing --------------------------------------------------------------------------------- */

static struct sqlite *sqlite_of(const struct mirror *m)
{
    assert(m->store && m->store->engine == &sqlite_engine && "a mirror that is open");
    return (struct sqlite *)m->store;
}

static int meta_put(struct sqlite *s, uint64_t term, uint64_t revision, struct err *e)
{
    const struct meta_row meta = {term, revision};
    meta_bind(s->stmt[QUERY_META_PUT], &meta);
    return sqlite_run(s, QUERY_META_PUT, e);
}

/* One transaction: commits behind the present revision, and what the mirror knows of itself. */
static int mirror_write(struct mirror *m, const struct store_change *list, const struct store_op *own,
                        struct err *e)
{
    struct sqlite *s = sqlite_of(m);
    uint64_t revision = m->revision, entries = 0;
    int r = sqlite_usable(s, e);
    if (!r)
        r = sqlite_run(s, QUERY_BEGIN, e);
    for (const struct store_change *c = list; c && !r; c = c->next) {
        const struct store_batch b = {.n_entries = c->batch.n_entries, .entries = c->batch.entries};
        if (c->revision <= revision)
            continue;
        r = sqlite_apply(s, &b, c->revision, e);
        revision = c->revision;
        entries += b.n_entries;
    }
    const struct store_batch records = {.n_ops = 1, .ops = own};
    if (!r && own)
        r = sqlite_apply(s, &records, revision, e);
    if (!r)
        r = meta_put(s, 0, revision, e);
    if (!r)
        r = sqlite_run(s, QUERY_COMMIT, e);
    if (!sqlite3_get_autocommit(s->db))
        sqlite_run(s, QUERY_ROLLBACK, NULL);
    if (!r) {
        m->revision = revision;
        s->recent += entries;
    } else if (r != -ENOSPC) {
        mirror_shut(m);
    }
    return r;
}

static const struct store_change *first_new(const struct mirror *m, const struct store_change *list)
{
    while (list && list->revision <= m->revision)
        list = list->next;
    return list;
}

int mirror_add(struct mirror *m, const struct store_change *list, struct err *e)
{
    const struct store_change *first = first_new(m, list);
    char text[GAP_BYTES];
    if (!first)
        return 0;
    if (first->revision == m->revision + 1)
        return mirror_write(m, first, NULL, e);
    const struct mirror_gap gap = {m->missing.from ? m->missing.from : m->revision + 1, first->revision - 1};
    snprintf(text, sizeof text, "%" PRIu64 "-%" PRIu64, gap.from, gap.to);
    int r = mirror_write(m, first, &(struct store_op){KEY_MISSING, text}, e);
    if (!r)
        m->missing = gap;
    return r;
}

/* --- opening --------------------------------------------------------------------------------- */

struct found {
    char *of;
    struct mirror_gap missing;
    bool odd; /* it has something that no mirror has */
};

static int on_record(void *arg, const char *key, const char *value, struct err *e)
{
    struct found *f = arg;
    if (strcmp(key, KEY_OF) == 0)
        f->of = mem_dup(value);
    else if (strcmp(key, KEY_MISSING) != 0 ||
             sscanf(value, "%20" SCNu64 "-%20" SCNu64, &f->missing.from, &f->missing.to) != 2)
        f->odd = true;
    return 0;
}

/* -EILSEQ: it is of no use. */
static int mirror_judge(struct mirror *m, uint64_t head, struct err *e)
{
    CLEANUP_FREE char *of = NULL;
    struct found f = {.of = NULL};
    uint64_t revision = 0;
    int r = store_load(m->store, on_record, &f, &revision, e);
    of = f.of;
    if (r)
        return r;
    if (f.odd || (!of && revision))
        return err_set(e, -EILSEQ, "%s is no copy of a journal", m->dir);
    if (of && strcmp(of, m->of) != 0)
        return err_set(e, -EILSEQ, "%s is a copy of another state's journal", m->dir);
    if (revision > head)
        return err_set(e, -EILSEQ, "%s has entries up to revision %" PRIu64 ", and etcd stands at %" PRIu64,
                       m->dir, revision, head);
    m->revision = revision;
    m->missing = f.missing;
    return of ? 0 : mirror_write(m, NULL, &(struct store_op){KEY_OF, m->of}, e);
}

/* Whether there was one before decides nothing here. */
static void note_remove(const struct mirror *m)
{
    CLEANUP_FREE char *note = begun_find(m->dir);
    if (!note)
        return;
    unlink(note);
    rmdir(dirname(note));
}

/* A commit that a power failure takes back is fetched again. */
static int mirror_try(struct mirror *m, uint64_t head, struct err *e)
{
    int r = store_open_sqlite(m->dir, &m->store, e);
    note_remove(m);
    if (!r)
        r = sqlite_exec(sqlite_of(m)->db, m->dir, "PRAGMA main.synchronous = NORMAL", e);
    if (!r)
        r = mirror_judge(m, head, e);
    if (r)
        mirror_shut(m);
    return r;
}

/* What may have entries that etcd does not have any more is kept, once. */
static int move_aside(const struct mirror *m, struct err *e)
{
    CLEANUP_TEXT struct text aside = {0};
    text_printf(&aside, "%s-aside", m->dir);
    directory_remove(AT_FDCWD, aside.s);
    if (rename(m->dir, aside.s) < 0 && errno != ENOENT)
        return err_set(e, -errno, "cannot move %s aside: %s", m->dir, strerror(errno));
    return 0;
}

int mirror_renew(struct mirror *m, const struct err *why, struct err *e)
{
    mirror_shut(m);
    int r = move_aside(m, e);
    if (!r)
        r = mirror_try(m, UINT64_MAX, e);
    return r ? err_wrap(e, r, "%s", why->msg) : 0;
}

int mirror_open(struct mirror *m, uint64_t head, struct err *anew, struct err *e)
{
    struct err why = {0};
    *anew = (struct err){0};
    if (m->store)
        return 0;
    int r = mirror_try(m, head, &why);
    if (r == -EILSEQ) {
        *anew = why;
        return mirror_renew(m, &why, e);
    }
    if (r && e)
        *e = why;
    return r;
}

/* --- a copy of the whole store ----------------------------------------------------------------- */

/* Nobody counts on the copy before it is whole, as in sqlite_copy.c. */
static const char copy_settings[] = "PRAGMA locking_mode = EXCLUSIVE;"
                                    "PRAGMA journal_mode = OFF;"
                                    "PRAGMA synchronous = OFF;";

static int records_put(struct sqlite *s, uint64_t term, const struct store_batch *records, struct err *e)
{
    static const struct store_op own[] = {{KEY_OF, NULL}, {KEY_MISSING, NULL}};
    const struct store_batch gone = {.n_ops = 2, .ops = own};
    struct meta_row meta = {0};
    int r = sqlite_meta(s, &meta, e);
    if (!r)
        r = sqlite_run(s, QUERY_BEGIN, e);
    if (!r)
        r = sqlite_apply(s, &gone, meta.revision, e);
    if (!r)
        r = sqlite_apply(s, records, meta.revision, e);
    if (!r)
        r = meta_put(s, term, meta.revision, e);
    return r ? r : sqlite_run(s, QUERY_COMMIT, e);
}

int mirror_complete(const char *dir, uint64_t term, const struct store_op *records, size_t n, struct err *e)
{
    const struct store_batch is = {.n_ops = n, .ops = records};
    CLEANUP_TEXT struct text path = {0};
    struct sqlite s = {.store.engine = &sqlite_engine};
    text_printf(&path, "%s/state.db", dir);
    s.home.db = path.s;
    int r = sqlite_connect(path.s, copy_settings, &s.db, e);
    if (!r)
        r = sqlite_prepare(&s, 0, QUERY_PAST, e);
    if (!r)
        r = records_put(&s, term, &is, e);
    sqlite_disconnect(&s);
    return r;
}

/* --- comparison ------------------------------------------------------------------------------ */

static int entry_keep(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct store_change *c = arg;
    if (revision == c->revision)
        change_add_entry(c, entry);
    return 0;
}

bool mirror_is(struct mirror *m, const struct store_change *c)
{
    const struct store_batch theirs = {.n_entries = c->batch.n_entries, .entries = c->batch.entries};
    if (!m->store || c->revision != m->revision)
        return true;
    struct store_change *own = change_create(m->revision);
    bool same = store_journal(m->store, m->revision - 1, STORE_ENTRIES_MAX, entry_keep, own, NULL) == 0 &&
                change_is(own, &theirs);
    change_destroy(own);
    return same;
}
