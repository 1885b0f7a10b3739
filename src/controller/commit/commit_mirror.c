/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mirror of the journal (store/mirror.h) follows what the committer applies. A commit leaves a copy of
 * its entries here, and a thread writes all that wait as one transaction. While the mirror lacks more than
 * that (after the start, and after its disk refused something), nothing is kept for it: it reads what it
 * lacks from the store, in steps, until it has the newest commit.
 *
 * No commit waits for the mirror. Two locks: one is held while the mirror is used, the other for moments.
 */
#include "base/log.h"
#include "controller/commit/commit_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <utlist.h>

enum {
    FETCH_ENTRIES = 500,
    FEED_MAX = 1000, /* commits that wait; behind them it reads from the store */
    AGAIN_S = 1
};

/* --- in any thread --------------------------------------------------------------------------- */

/* What waits; the caller owns it. */
static struct store_change *feed_take(struct mirroring *m)
{
    pthread_mutex_lock(&m->feed_lock);
    struct store_change *list = STEAL(m->feed);
    m->n_feed = 0;
    pthread_mutex_unlock(&m->feed_lock);
    return list;
}

/* From now on, or no longer, it reads from the store. It catches up only with the newest commit. */
static void behind_set(struct mirroring *m, bool behind)
{
    pthread_mutex_lock(&m->feed_lock);
    m->behind = behind || mirror_revision(m->mirror) < m->head;
    pthread_mutex_unlock(&m->feed_lock);
}

static bool behind_is(struct mirroring *m)
{
    pthread_mutex_lock(&m->feed_lock);
    bool is = m->behind;
    pthread_mutex_unlock(&m->feed_lock);
    return is;
}

/* Writes what waits. With the lock held, and the mirror open. */
static int feed_write(struct mirroring *m, struct err *e)
{
    struct store_change *list = feed_take(m), *c = list;
    int r = 0;
    while (c && c->revision <= mirror_revision(m->mirror))
        c = c->next;
    if (c && c->revision > mirror_revision(m->mirror) + 1)
        behind_set(m, true);
    else if (c)
        r = mirror_add(m->mirror, c, e);
    if (r)
        behind_set(m, true);
    changes_destroy(list);
    return r;
}

int mirroring_read(struct mirroring *m, struct store **from, struct err *e)
{
    if (mirror_store(m->mirror))
        feed_write(m, NULL);
    *from = mirror_store(m->mirror);
    if (*from && !behind_is(m))
        return 0;
    return err_set(e, -EAGAIN,
                   "this controller's copy of the journal is not complete yet (revision %" PRIu64
                   "); ask again, or ask another controller",
                   mirror_revision(m->mirror));
}

void mirroring_hurt(struct mirroring *m, const struct err *why)
{
    if (why->code == -EILSEQ && !m->damage.code)
        m->damage = *why;
}

/* --- in the mirror's thread ------------------------------------------------------------------- */

static int entry_collect(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct store_change **list = arg;
    struct store_change *last = *list ? (*list)->prev : NULL;
    if (!last || last->revision != revision) {
        last = change_create(revision);
        DL_APPEND(*list, last);
    }
    change_add_entry(last, entry);
    return 0;
}

/* A mirror is compared once, at its newest commit: etcd may have been restored, and have gone on differently.
 */
static int fetched_add(struct mirroring *m, const struct store_change *list, bool *any, struct err *e)
{
    struct err why;
    uint64_t before = mirror_revision(m->mirror);
    if (!m->compared && list && !mirror_is(m->mirror, list)) {
        err_set(&why, -EILSEQ, "its revision %" PRIu64 " is not the one that etcd has", before);
        m->step.anew = why;
        *any = true;
        return mirror_renew(m->mirror, &why, e);
    }
    m->compared = true;
    int r = mirror_add(m->mirror, list, e);
    *any = r == 0 && mirror_revision(m->mirror) > before;
    return r;
}

/* Reads some of what is missing. *more: it may lack others. */
static int mirroring_fetch(struct committer *k, bool *more, struct err *e)
{
    struct mirroring *m = &k->mirroring;
    struct store_change *list = NULL;
    pthread_mutex_lock(&m->lock);
    uint64_t after = mirror_revision(m->mirror);
    pthread_mutex_unlock(&m->lock);
    if (!m->compared && after > 0)
        after--;
    pthread_mutex_lock(&k->store_lock);
    int r = store_journal(k->store, after, FETCH_ENTRIES, entry_collect, &list, e);
    pthread_mutex_unlock(&k->store_lock);
    pthread_mutex_lock(&m->lock);
    if (r == 0)
        r = fetched_add(m, list, more, e);
    behind_set(m, r || *more);
    *more = *more || (r == 0 && behind_is(m));
    pthread_mutex_unlock(&m->lock);
    changes_destroy(list);
    return r;
}

/* Something in its older part is not what was written. It begins anew when etcd has at least as much, and
 * keeps what it has otherwise. */
static int damage_mend(struct committer *k, struct err *e)
{
    struct mirroring *m = &k->mirroring;
    uint64_t theirs = 0, own = 0;
    if (!m->damage.code || !mirror_store(m->mirror))
        return 0;
    const struct err why = m->damage;
    m->damage = (struct err){0};
    pthread_mutex_lock(&k->store_lock);
    int r = store_first(k->store, &theirs, e);
    pthread_mutex_unlock(&k->store_lock);
    if (r == 0)
        r = store_first(mirror_store(m->mirror), &own, e);
    if (r || theirs > own)
        return r;
    m->step.anew = why;
    m->compared = false;
    behind_set(m, true);
    return mirror_renew(m->mirror, &why, e);
}

static int mirroring_open(struct committer *k, struct err *e)
{
    struct mirroring *m = &k->mirroring;
    if (mirror_store(m->mirror))
        return damage_mend(k, e);
    m->compared = false;
    behind_set(m, true);
    return mirror_open(m->mirror, m->step.head, &m->step.anew, e);
}

/* What the loop wants to know. */
static void mirroring_look(struct mirroring *m)
{
    m->step.revision = mirror_revision(m->mirror);
    m->step.missing = mirror_missing(m->mirror);
    m->step.complete = mirror_store(m->mirror) && !behind_is(m);
    if (mirror_store(m->mirror))
        store_first(mirror_store(m->mirror), &m->step.first, NULL);
}

static void mirroring_step(uv_work_t *work)
{
    struct committer *k = work->data;
    struct mirroring *m = &k->mirroring;
    struct err *e = &m->step.why;
    m->step.why = m->step.anew = (struct err){0};
    m->step.more = false;
    pthread_mutex_lock(&m->lock);
    int r = mirroring_open(k, e);
    if (r == 0)
        r = feed_write(m, e);
    pthread_mutex_unlock(&m->lock);
    if (r == 0 && behind_is(m))
        r = mirroring_fetch(k, &m->step.more, e);
    pthread_mutex_lock(&m->lock);
    if (r == 0 && m->step.tidies && !m->copying && mirror_store(m->mirror))
        r = store_tidy(mirror_store(m->mirror), &m->step.keep, wall_now(), &m->step.tidy, e);
    mirroring_look(m);
    pthread_mutex_unlock(&m->lock);
    if (r == 0)
        *e = (struct err){0};
}

/* --- a copy, in the committer's thread between commits ------------------------------------------ */

struct records {
    struct store_op *ops;
    struct {
        char *key, *value;
    } * own; /* to which the ops point */
    size_t n, cap;
};

static int record_keep(void *arg, const char *key, const char *value, struct err *e)
{
    struct records *r = arg;
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1024;
        r->ops = mem_grow(r->ops, r->cap * sizeof *r->ops);
        r->own = mem_grow(r->own, r->cap * sizeof *r->own);
    }
    r->own[r->n].key = mem_dup(key);
    r->own[r->n].value = mem_dup(value);
    r->ops[r->n] = (struct store_op){r->own[r->n].key, r->own[r->n].value};
    r->n++;
    return 0;
}

static void records_fini(struct records *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->own[i].key);
        free(r->own[i].value);
    }
    free(r->own);
    free(r->ops);
}

/* The mirror was copied. The records are those of the store, which nobody changes meanwhile. */
static int copy_complete(struct committer *k, const char *dir, struct store_copied *copied, struct err *e)
{
    struct records records = {.n = 0};
    uint64_t revision = 0;
    pthread_mutex_lock(&k->store_lock);
    int r = store_load(k->store, record_keep, &records, &revision, e);
    pthread_mutex_unlock(&k->store_lock);
    if (r == 0 && revision != copied->revision)
        r = err_set(e, -EAGAIN,
                    "the journal that was copied ends at revision %" PRIu64 ", the state at %" PRIu64,
                    copied->revision, revision);
    if (r == 0)
        r = mirror_complete(dir, k->term, records.ops, records.n, e);
    copied->term = k->term;
    copied->done = r == 0;
    records_fini(&records);
    return r;
}

int mirroring_copy(struct committer *k, const char *dir, struct store_copied *copied, struct err *e)
{
    struct mirroring *m = &k->mirroring;
    struct store *from = NULL;
    pthread_mutex_lock(&m->lock);
    int r = mirroring_read(m, &from, e);
    if (r == 0)
        r = store_copy(from, dir, copied, e);
    m->copying = r == 0 && !copied->done;
    pthread_mutex_unlock(&m->lock);
    if (r || !copied->done)
        return r;
    copied->done = false;
    return copy_complete(k, dir, copied, e);
}

void mirroring_copy_end(struct mirroring *m)
{
    pthread_mutex_lock(&m->lock);
    if (mirror_store(m->mirror))
        store_copy_end(mirror_store(m->mirror));
    m->copying = false;
    pthread_mutex_unlock(&m->lock);
}

/* --- on the loop ------------------------------------------------------------------------------ */

static void step_log(struct mirroring *m)
{
    const struct mirror_gap *gap = &m->step.missing;
    if (m->step.anew.code)
        log_warn("the copy of the journal begins anew, and the old one is moved aside: %s", m->step.anew.msg);
    if (gap->to != m->missing.to && gap->to)
        log_warn("the copy of the journal lacks the revisions %" PRIu64 " to %" PRIu64
                 ", which etcd does not have any more",
                 gap->from, gap->to);
}

void committer_tell_journal(struct committer *k)
{
    const struct err *why = k->mirroring.why.code ? &k->mirroring.why : &k->step.why;
    k->events.on_journal(k->events.arg, why->code ? why : NULL);
}

static void on_mirrored(uv_work_t *work, int status)
{
    struct committer *k = work->data;
    struct mirroring *m = &k->mirroring;
    m->busy = false;
    free(STEAL(m->step.directory));
    step_log(m);
    m->why = m->step.why;
    m->missing = m->step.missing;
    m->revision = m->step.revision;
    m->complete = m->step.complete;
    k->journal_first = m->step.first;
    committer_tell_journal(k);
    mirroring_pump(k);
}

static bool mirroring_due(struct committer *k)
{
    struct mirroring *m = &k->mirroring;
    bool second = mono_sub(mono_now(), m->began).ns >= span_s(AGAIN_S).ns;
    if (m->busy || k->closing)
        return false;
    pthread_mutex_lock(&m->feed_lock);
    bool any = m->feed;
    pthread_mutex_unlock(&m->feed_lock);
    return second || (m->why.code == 0 && (any || m->step.more || m->step.tidy));
}

void mirroring_pump(struct committer *k)
{
    struct mirroring *m = &k->mirroring;
    if (!m->mirror || !mirroring_due(k))
        return;
    struct mono now = mono_now();
    m->busy = true;
    m->step.tidies = m->step.tidy || mono_sub(now, m->tidied).ns >= span_s(AGAIN_S).ns;
    if (m->step.tidies)
        m->tidied = now;
    m->began = now;
    /* A commit may be told before it is applied. */
    m->step.head = m->revision > k->revision ? m->revision : k->revision;
    m->step.keep = k->keep;
    m->step.keep.directory = m->step.directory = mem_dup(k->keep.directory);
    uv_queue_work(k->loop, &m->work, mirroring_step, on_mirrored);
}

void mirroring_feed(struct committer *k, const struct commit_view *v)
{
    struct mirroring *m = &k->mirroring;
    if (!m->mirror)
        return;
    pthread_mutex_lock(&m->feed_lock);
    m->head = v->revision;
    m->behind = m->behind || m->n_feed == FEED_MAX;
    if (!m->behind) {
        struct store_change *c = change_create(v->revision);
        for (size_t i = 0; i < v->batch.n_entries; i++)
            change_add_entry(c, &v->batch.entries[i]);
        DL_APPEND(m->feed, c);
        m->n_feed++;
    }
    pthread_mutex_unlock(&m->feed_lock);
    mirroring_pump(k);
}

void committer_mirror(struct committer *k, struct mirror *mirror)
{
    struct mirroring *m = &k->mirroring;
    m->mirror = mirror;
    m->behind = true;
    m->head = k->revision;
    m->work.data = k;
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->feed_lock, NULL);
    k->journal_first = 0;
    mirroring_pump(k);
}

void mirroring_fini(struct mirroring *m)
{
    if (!m->mirror)
        return;
    changes_destroy(m->feed);
    mirror_destroy(m->mirror);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->feed_lock);
}

bool committer_mirrored(const struct committer *k, struct committer_mirrored *out)
{
    const struct mirroring *m = &k->mirroring;
    if (!m->mirror)
        return false;
    *out = (struct committer_mirrored){m->complete, m->revision, k->journal_first, m->missing};
    return true;
}
