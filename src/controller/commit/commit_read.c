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

int committer_journal(struct committer *k, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                      struct err *e)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += JOURNAL_WAIT_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&k->store_lock, &until) != 0)
        return err_set(e, -EAGAIN, "the store is busy");
    int rc = store_journal(k->store, after, max, fn, arg, e);
    pthread_mutex_unlock(&k->store_lock);
    return rc;
}

int committer_journal_wait(struct committer *k, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                           struct err *e)
{
    pthread_mutex_lock(&k->store_lock);
    int rc = store_journal(k->store, after, max, fn, arg, e);
    pthread_mutex_unlock(&k->store_lock);
    return rc;
}

int committer_journal_back(struct committer *k, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                           struct err *e)
{
    pthread_mutex_lock(&k->store_lock);
    int rc = store_journal_back(k->store, before, max, fn, arg, e);
    pthread_mutex_unlock(&k->store_lock);
    return rc;
}
