/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/committer.h"

#include "base/log.h"
#include "base/loop.h"
#include "controller/commit/commit_inside.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

enum {
    JOBS_MAX = 10000,
    JOURNAL_WAIT_MS = 20,
    CHECK_S = 1,
    SETTLE_MS = 1,     /* of a turn, for what follows from a commit, */
    TOLD_AT_ONCE = 200 /* with so many nodes at a time */
};

struct committer {
    uv_loop_t *loop;
    uv_async_t wake;
    uv_work_t work;
    bool busy, closing, deposed;
    bool tidy;   /* a step beside commits is due */
    bool tidied; /* the last thing that was done was one */
    int failing; /* the code of what the store refused last; 0: it works */
    struct cluster *cluster;
    struct store *store;
    pthread_mutex_t store_lock;
    uint64_t term, revision, claims, commits;
    struct committer_events events;
    struct job *waiting;
    size_t n_waiting;
    struct job *refused; /* came when too many were waiting */
    struct batch batch;
    uv_idle_t settle; /* active while what follows from a commit goes on in the turns to come */
    struct {
        size_t entry, told; /* the next entry, and so many of its nodes */
        struct job *jobs;   /* to be answered, */
        struct job *again;  /* and those that go on in the next batch */
        int rc;
        struct err why;
    } settling;
    double ms_max, ms_max_before; /* this minute's and the last's */
    struct mono minute, checked;
    struct err check; /* what the look under way found */
    struct store_keep keep;
    char *keep_directory;
    uint64_t journal_first;
    struct {
        bool more;
        struct store_keep keep;
        char *directory;
        uint64_t first;
        struct err why;
    } step;
};

/* --- a batch is put together ----------------------------------------------------------------- */

static void leave_queue(struct committer *k, struct job *j)
{
    DL_DELETE2(k->waiting, j, prev_job, next_job);
    k->n_waiting--;
}

/* The list is the caller's alone: what comes while these are answered is not among them. */
static void committer_refuse(struct committer *k, struct job *jobs, const struct err *why)
{
    struct job *j, *tmp;
    DL_FOREACH_SAFE2(jobs, j, tmp, next_job)
    job_finish(j, k->revision, -EAGAIN, why);
}

static void refuse_latecomers(struct committer *k)
{
    struct err why;
    err_set(&why, -EAGAIN, "%d changes are waiting for the store", JOBS_MAX);
    committer_refuse(k, STEAL(k->refused), &why);
}

static void refuse_waiting(struct committer *k, const char *sentence)
{
    struct err why;
    err_set(&why, -EAGAIN, "%s", sentence);
    k->n_waiting = 0;
    committer_refuse(k, STEAL(k->waiting), &why);
}

/* A part of a dry job is decided: the rest of it is next. False when that was the last. */
static bool committer_judge(struct job *j, struct decision *d)
{
    hostlist_add_all(&j->changed, &d->changed);
    if (!j->entry_text)
        j->entry_text = STEAL(d->text);
    bool more = d->n_ops > 0 && d->next < j->cmd->nodes->n;
    j->from = d->next;
    return more;
}

/* Decides the first waiting job. False when it has to wait for the next batch. */
static bool take_first(struct committer *k)
{
    struct job *j = k->waiting;
    struct decision d = {0};
    struct err why = {0};
    int rc = cluster_decide(k->cluster, j->cmd, j->from, &d, &why);
    if (batch_meets(&k->batch, k->cluster, j, rc == 0 ? &d : NULL)) {
        decision_fini(&d);
        return false; /* decided on what the batch is about to change: again, after it */
    }
    if (rc == 0 && d.claim) {
        free(j->claim);
        j->claim = STEAL(d.claim);
    }
    if (rc == 0 && j->cmd->dry && committer_judge(j, &d)) {
        decision_fini(&d);
        return true;
    }
    if (rc < 0 || d.n_ops == 0 || j->cmd->dry) {
        leave_queue(k, j);
        job_finish(j, k->revision, rc, &why);
        decision_fini(&d);
        return true;
    }
    size_t bytes;
    job_entry_write(j, &d);
    bool good = batch_fits(&k->batch, j, &d, &bytes);
    if (good) {
        leave_queue(k, j);
        batch_take(&k->batch, j, &d, bytes);
        if (k->waiting)
            batch_mark(&k->batch, k->cluster, j);
    } else {
        job_entry_fini(j);
    }
    decision_fini(&d);
    return good;
}

/* --- the commit ------------------------------------------------------------------------------ */

static void committer_pump(struct committer *k);

static void committer_commit(uv_work_t *work)
{
    struct committer *k = work->data;
    struct batch *b = &k->batch;
    const struct store_batch what = {b->n_ops, b->ops, b->n_entries, b->entries};
    pthread_mutex_lock(&k->store_lock);
    b->rc = store_commit(k->store, k->term, &what, &b->revision, &b->why);
    pthread_mutex_unlock(&k->store_lock);
}

static void committer_measure(struct committer *k)
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

static void committer_apply(struct committer *k, struct batch *b)
{
    LOOP_DOES("application of a commit");
    struct err e;
    for (size_t i = 0; i < b->n_ops; i++) {
        if (cluster_put(k->cluster, b->ops[i].key, b->ops[i].value, &e) < 0) {
            /* We wrote it ourselves a moment ago. State and store differ: the only way out is to
             * end and begin from the store. */
            log_error("a record of our own is refused: %s", e.msg);
            abort();
        }
    }
    k->revision = b->revision;
    k->commits++;
}

/* Tells of one entry, or of some of the nodes that it changed. False: all were told. */
static bool tell_some(struct committer *k)
{
    LOOP_DOES("what follows from a commit");
    struct batch *b = &k->batch;
    size_t i = k->settling.entry, at = k->settling.told;
    if (k->settling.rc < 0 || i == b->n_entries)
        return false;
    const struct committed c = {b->kinds[i], &b->entries[i], &b->changed[i], b->revision};
    if (at == 0)
        k->events.on_entry(k->events.arg, &c);
    size_t left = b->changed[i].n - at;
    struct hostlist some = {.names = b->changed[i].names + at,
                            .n = left < TOLD_AT_ONCE ? left : TOLD_AT_ONCE};
    if (some.n)
        k->events.on_changed(k->events.arg, &some);
    k->settling.told += some.n;
    if (some.n == left) {
        k->settling.entry++;
        k->settling.told = 0;
    }
    return true;
}

/* A job whose nodes were not all done goes on in the next batch, before all others. False: none is left. */
static bool answer_one(struct committer *k)
{
    LOOP_DOES("answers to commands");
    struct job *j = k->settling.jobs;
    if (!j)
        return false;
    DL_DELETE2(k->settling.jobs, j, prev_job, next_job);
    if (k->settling.rc == 0 && j->next < j->cmd->nodes->n) {
        j->from = j->next;
        job_entry_fini(j);
        DL_APPEND2(k->settling.again, j, prev_job, next_job);
        k->n_waiting++;
    } else {
        job_finish(j, k->revision, k->settling.rc, &k->settling.why);
    }
    return true;
}

static void committer_settled(struct committer *k)
{
    uv_idle_stop(&k->settle);
    batch_clear(&k->batch);
    DL_CONCAT2(k->settling.again, k->waiting, prev_job, next_job);
    k->waiting = STEAL(k->settling.again);
    k->busy = false;
    committer_pump(k);
}

/* At least a piece of it. */
static void settle_until(struct committer *k, struct mono until)
{
    while (tell_some(k) || answer_one(k))
        if (mono_now().ns >= until.ns)
            return;
    committer_settled(k);
}

static void on_settle(uv_idle_t *idle)
{
    settle_until(idle->data, loop_share(span_ms(SETTLE_MS)));
}

static void note_store(struct committer *k, const struct err *why)
{
    if (why || k->failing)
        k->events.on_store(k->events.arg, why);
    k->failing = why ? why->code : 0;
}

static void on_committed(uv_work_t *work, int status)
{
    struct committer *k = work->data;
    struct batch *b = &k->batch;
    struct mono until = loop_share(span_ms(SETTLE_MS));
    committer_measure(k);
    if (b->rc == 0)
        committer_apply(k, b);
    k->settling.entry = k->settling.told = 0;
    k->settling.jobs = STEAL(b->jobs);
    k->settling.rc = b->rc == -EPERM ? -EAGAIN : b->rc;
    k->settling.why = b->why;
    if (b->rc == -EPERM) {
        k->deposed = true;
        k->events.on_deposed(k->events.arg, &b->why);
    } else {
        note_store(k, b->rc < 0 ? &b->why : NULL);
    }
    uv_idle_start(&k->settle, on_settle);
    settle_until(k, until);
}

/* A step beside commits. When commands wait, too, they take turns. */
static void committer_step(uv_work_t *work)
{
    struct committer *k = work->data;
    k->step.why = (struct err){0};
    pthread_mutex_lock(&k->store_lock);
    int rc = store_tidy(k->store, &k->step.keep, wall_now(), &k->step.more, &k->step.why);
    if (rc == 0)
        store_first(k->store, &k->step.first, &k->step.why);
    pthread_mutex_unlock(&k->store_lock);
}

static void on_stepped(uv_work_t *work, int status)
{
    struct committer *k = work->data;
    k->busy = false;
    k->tidy = k->step.more;
    k->journal_first = k->step.first;
    free(STEAL(k->step.directory));
    k->events.on_journal(k->events.arg, k->step.why.code ? &k->step.why : NULL);
    committer_pump(k);
}

/* With one command after another of one client, the thread's hand-over would be most of the wait;
 * the worker is what keeps a slow disk from stopping the loop, so it is always used. */
static void committer_pump(struct committer *k)
{
    LOOP_DOES("decisions");
    if (k->busy || k->closing)
        return;
    if (k->deposed) {
        refuse_waiting(k, "another controller leads");
        return;
    }
    k->tidied = k->tidy && !(k->tidied && k->waiting);
    if (k->tidied) {
        k->busy = true;
        k->step.keep = k->keep;
        k->step.keep.directory = k->step.directory = mem_dup(k->keep.directory);
        uv_queue_work(k->loop, &k->work, committer_step, on_stepped);
        return;
    }
    k->batch.number++;
    while (k->waiting && take_first(k))
        ;
    if (k->batch.n_entries == 0)
        return;
    k->busy = true;
    k->batch.began = mono_now();
    uv_queue_work(k->loop, &k->work, committer_commit, on_committed);
}

/* --- a look at the files, when nothing is committed ------------------------------------------- */

static void committer_check(uv_work_t *work)
{
    struct committer *k = work->data;
    k->check = (struct err){0};
    pthread_mutex_lock(&k->store_lock);
    store_check(k->store, &k->check);
    pthread_mutex_unlock(&k->store_lock);
}

/* That the files are back ends only the trouble that they were gone. */
static void on_checked(uv_work_t *work, int status)
{
    struct committer *k = work->data;
    k->busy = false;
    if (k->check.code || k->failing == -ESTALE)
        note_store(k, k->check.code ? &k->check : NULL);
    k->tidy = k->check.code == 0;
    committer_pump(k);
}

void committer_turn(struct committer *k, struct mono now)
{
    if (k->busy || k->closing || k->deposed || mono_sub(now, k->checked).ns < span_s(CHECK_S).ns)
        return;
    k->checked = now;
    k->busy = true;
    uv_queue_work(k->loop, &k->work, committer_check, on_checked);
}

static void on_wake(uv_async_t *wake)
{
    refuse_latecomers(wake->data);
    committer_pump(wake->data);
}

/* --- what others call ------------------------------------------------------------------------ */

struct committer *committer_create(uv_loop_t *loop, struct cluster *c, struct store *s, uint64_t term,
                                   uint64_t revision, const struct store_keep *keep,
                                   const struct committer_events *events)
{
    struct committer *k = mem_alloc(sizeof *k);
    k->loop = loop;
    k->cluster = c;
    k->store = s;
    k->term = term;
    k->revision = revision;
    k->events = *events;
    k->minute = k->checked = mono_now();
    k->work.data = k;
    pthread_mutex_init(&k->store_lock, NULL);
    committer_keep(k, keep);
    store_first(s, &k->journal_first, NULL);
    k->step.first = k->journal_first;
    uv_async_init(loop, &k->wake, on_wake);
    uv_idle_init(loop, &k->settle);
    k->wake.data = k->settle.data = k;
    return k;
}

static void on_settle_closed(uv_handle_t *h)
{
    struct committer *k = h->data;
    pthread_mutex_destroy(&k->store_lock);
    batch_fini(&k->batch);
    free(k->keep_directory);
    free(k);
}

static void on_wake_closed(uv_handle_t *h)
{
    struct committer *k = h->data;
    uv_close((uv_handle_t *)&k->settle, on_settle_closed);
}

void committer_destroy(struct committer *k)
{
    if (!k)
        return;
    k->closing = true;
    while (k->busy)
        uv_run(k->loop, UV_RUN_ONCE);
    refuse_latecomers(k);
    refuse_waiting(k, "the controller is stopping");
    uv_close((uv_handle_t *)&k->wake, on_wake_closed);
}

void committer_submit(struct committer *k, const struct command *cmd, outcome_fn *fn, void *arg)
{
    struct command named = *cmd;
    char id[CLAIM_ID_BYTES_MAX + 1];
    if (command_makes_id(cmd->kind) && !cmd->claim) {
        if (cmd->dry)
            snprintf(id, sizeof id, "new");
        else
            snprintf(id, sizeof id, "%llu.%llu", (unsigned long long)k->term,
                     (unsigned long long)++k->claims);
        named.claim = id;
    }
    struct job *j = job_create(&named, fn, arg);
    if (k->n_waiting >= JOBS_MAX) {
        DL_APPEND2(k->refused, j, prev_job, next_job);
    } else {
        DL_APPEND2(k->waiting, j, prev_job, next_job);
        k->n_waiting++;
    }
    uv_async_send(&k->wake);
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
    free(k->keep_directory);
    k->keep = *keep;
    k->keep.directory = k->keep_directory = mem_dup(keep->directory);
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

int committer_journal_back(struct committer *k, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                           struct err *e)
{
    pthread_mutex_lock(&k->store_lock);
    int rc = store_journal_back(k->store, before, max, fn, arg, e);
    pthread_mutex_unlock(&k->store_lock);
    return rc;
}
