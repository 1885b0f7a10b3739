/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of a committer: its figures, and the journal between its commits. */
#include "base/log.h"
#include "controller/commit/commit_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { JOURNAL_WAIT_MS = 20 };

void committer_measure(struct committer *k)
{
    struct mono now = mono_now();
    double ms = (double)mono_sub(now, k->batch.began).ns / 1e6;
    if (mono_sub(now, k->minute).ns > span_s(60).ns) {
        k->ms_max_before = k->ms_max;
        k->ms_max = 0;
        k->minute = now;
    }
    if (ms > k->ms_max)
        k->ms_max = ms;
    log_debug(LOG_STORE, "revision %llu: %zu records, %zu entries, %zu bytes, %.2f ms",
              (unsigned long long)k->batch.revision, k->batch.n_ops, k->batch.n_entries, k->batch.bytes, ms);
}

uint64_t committer_revision(const struct committer *k)
{
    return k->revision;
}

uint64_t committer_count(const struct committer *k, double *ms_max)
{
    *ms_max = k->ms_max > k->ms_max_before ? k->ms_max : k->ms_max_before;
    return k->commits;
}

size_t committer_waiting(const struct committer *k)
{
    return k->n_waiting + k->batch.n_entries;
}

void committer_keep(struct committer *k, const struct store_keep *keep)
{
    uint64_t stays_from = k->keep.stays_from;
    free(k->keep_directory);
    k->keep = *keep;
    k->keep.stays_from = stays_from;
    k->keep.directory = k->keep_directory = mem_dup(keep->directory);
}

void committer_audited(struct committer *k, uint64_t stays_from)
{
    k->keep.stays_from = stays_from;
}

uint64_t committer_journal_first(const struct committer *k, const char **directory)
{
    *directory = k->keep.directory;
    return k->journal_first;
}

/* A page, forwards or backwards. */
typedef int journal_page_fn(struct store *s, uint64_t revision, size_t max, store_journal_fn *fn, void *arg,
                            struct err *e);
struct journal_page {
    journal_page_fn *read;
    uint64_t revision;
    size_t max;
    store_journal_fn *fn;
    void *arg;
};

/* What the loop waits for a lock. */
static struct timespec wait_until(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += JOURNAL_WAIT_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

/* until NULL: as long as necessary. */
static int lock_take(pthread_mutex_t *lock, const struct timespec *until, struct err *e)
{
    int failed = until ? pthread_mutex_timedlock(lock, until) : pthread_mutex_lock(lock);
    return failed ? err_set(e, -EAGAIN, "the store is busy") : 0;
}

static int page_of_store(struct committer *k, const struct journal_page *p, const struct timespec *until,
                         struct err *e)
{
    int rc = lock_take(&k->store_lock, until, e);
    if (rc < 0)
        return rc;
    rc = p->read(k->store, p->revision, p->max, p->fn, p->arg, e);
    pthread_mutex_unlock(&k->store_lock);
    return rc;
}

/* An error of the reader's own says nothing of the mirror. */
struct reader {
    const struct journal_page *page;
    int rc;
};

static int reader_take(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct reader *r = arg;
    return r->rc = r->page->fn(r->page->arg, revision, entry, e);
}

/* *complete: nothing has to be asked for elsewhere. */
static int page_of_mirror(struct committer *k, const struct journal_page *p, const struct timespec *until,
                          bool *complete, struct err *why)
{
    struct reader reader = {p, 0};
    struct store *from = NULL;
    int rc = lock_take(&k->mirroring.lock, until, why);
    if (rc < 0)
        return rc;
    rc = mirroring_read(&k->mirroring, &from, why);
    *complete = rc == 0;
    if (rc == 0)
        rc = p->read(from, p->revision, p->max, reader_take, &reader, why);
    if (rc < 0 && reader.rc == 0)
        mirroring_hurt(&k->mirroring, why);
    pthread_mutex_unlock(&k->mirroring.lock);
    return rc;
}

static int page_read(struct committer *k, const struct journal_page *p, bool on_loop, struct err *e)
{
    const struct timespec moment = wait_until(), *until = on_loop ? &moment : NULL;
    bool complete = true;
    if (!k->mirroring.mirror)
        return page_of_store(k, p, until, e);
    struct err why = {0};
    int rc = page_of_mirror(k, p, until, &complete, &why);
    if (!complete && !on_loop)
        return page_of_store(k, p, NULL, e);
    if (rc < 0 && e)
        *e = why;
    return rc;
}

int committer_journal(struct committer *k, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                      struct err *e)
{
    return page_read(k, &(struct journal_page){store_journal, after, max, fn, arg}, true, e);
}

int committer_journal_wait(struct committer *k, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                           struct err *e)
{
    return page_read(k, &(struct journal_page){store_journal, after, max, fn, arg}, false, e);
}

int committer_journal_back(struct committer *k, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                           struct err *e)
{
    return page_read(k, &(struct journal_page){store_journal_back, before, max, fn, arg}, false, e);
}
