/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/committer.h"

#include "base/log.h"
#include "base/loop.h"
#include "controller/commit/commit_inside.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

enum {
    JOBS_MAX = 10000,
    CHECK_S = 1,
    SETTLE_MS = 1 /* in a turn, for the consequences of a commit */
};

/* --- a batch is put together ----------------------------------------------------------------- */

static void leave_queue(struct committer *k, struct job *j)
{
    DL_DELETE2(k->waiting, j, prev_job, next_job);
    k->n_waiting--;
}

static void refuse_latecomers(struct committer *k)
{
    struct err why;
    err_set(&why, -EAGAIN, "%d changes are waiting for the store", JOBS_MAX);
    jobs_refuse(STEAL(k->refused), k->revision, &why);
}

static void refuse_waiting(struct committer *k, const char *sentence)
{
    struct err why;
    err_set(&why, -EAGAIN, "%s", sentence);
    k->n_waiting = 0;
    jobs_refuse(STEAL(k->waiting), k->revision, &why);
}

/* Notes the decision on a part of a dry job; the next part follows. False when that was the last. */
static bool committer_judge(struct job *j, struct decision *d)
{
    hostlist_add_all(&j->changed, &d->changed);
    if (!j->entry_text)
        j->entry_text = STEAL(d->text);
    bool more = d->n_ops > 0 && d->next < j->cmd->nodes->n;
    j->from = d->next;
    return more;
}

/* Ends the first waiting job when its request was carried out before, or has the id of another one. */
static bool recall_first(struct committer *k)
{
    struct job *j = k->waiting;
    struct err why = {0};
    const int rc = job_recall(j, k->cluster, &why);
    if (rc == 0)
        return false;
    leave_queue(k, j);
    job_finish(j, rc > 0 ? j->recalled_at : k->revision, rc < 0 ? rc : 0, &why);
    return true;
}

/* Decides the first waiting job. False when the job has to wait for the next batch. */
static bool take_first(struct committer *k)
{
    struct job *j = k->waiting;
    struct decision d = {0};
    struct err why = {0};
    if (batch_asks(&k->batch, j))
        return false; /* the same request, asked for twice: its second answer is that of the first */
    if (recall_first(k))
        return true;
    int rc = cluster_decide(k->cluster, j->cmd, j->from, &d, &why);
    if (batch_meets(&k->batch, k->cluster, j, rc == 0 ? &d : NULL)) {
        decision_fini(&d);
        return false; /* it rests on something that this batch is about to change: decide it again afterwards
                       */
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
    bool good = batch_fits(&k->batch, k->cluster, j, &d, &bytes);
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

static void on_found(void *arg, struct store_change *c)
{
    struct committer *k = arg;
    DL_APPEND(k->resolved.found, c);
}

/* Runs in the thread, with the lock held. */
static void store_ask(struct committer *k)
{
    k->resolved.why = (struct err){0};
    k->resolved.rc = store_resolve(k->store, k->revision, on_found, k, &k->resolved.why);
}

static void committer_commit(uv_work_t *work)
{
    struct committer *k = work->data;
    struct batch *b = &k->batch;
    const struct store_batch what = {b->n_ops, b->ops, b->n_entries, b->entries};
    pthread_mutex_lock(&k->store_lock);
    b->rc = store_commit(k->store, k->term, &what, &b->revision, &b->why);
    if (b->rc == STORE_UNKNOWN)
        store_ask(k);
    pthread_mutex_unlock(&k->store_lock);
}

static void committer_apply(struct committer *k, const struct commit_view *v)
{
    LOOP_DOES("application of a commit");
    struct err e;
    for (size_t i = 0; i < v->batch.n_ops; i++) {
        if (cluster_put(k->cluster, v->batch.ops[i].key, v->batch.ops[i].value, &e) < 0) {
            /* The record is committed, so the state and the store differ. The only way out is to end, and to
             * begin again from the store. */
            log_error("a committed record is refused: %s", e.msg);
            abort();
        }
    }
    k->revision = v->revision;
    k->commits++;
    mirroring_feed(k, v);
    telling_begin(&k->telling, v);
}

/* Applies the next commit by another controller. False: there is none. */
static bool follow_next(struct committer *k)
{
    struct store_change *c = k->follow;
    if (!c)
        return false;
    DL_DELETE(k->follow, c);
    telling_end(&k->telling);
    if (c->revision <= k->revision) {
        change_destroy(c);
        return true;
    }
    struct followed *f = followed_create(c);
    committer_apply(k, &f->view);
    k->telling.followed = f;
    return true;
}

/* Answers one job, or lets it go on in the next batch, before all others, when some of its nodes are left.
 * False: no job is left. */
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
    telling_end(&k->telling);
    batch_clear(&k->batch);
    DL_CONCAT2(k->settling.again, k->waiting, prev_job, next_job);
    k->waiting = STEAL(k->settling.again);
    k->busy = false;
    committer_pump(k);
}

/* Settles a piece at least. */
static void settle_until(struct committer *k, struct mono until)
{
    while (telling_next(&k->telling, &k->events) || follow_next(k) || answer_one(k))
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

/* Takes in what the store reported when it was asked. */
static void store_heard(struct committer *k)
{
    k->unsure = k->resolved.rc < 0;
    DL_CONCAT(k->follow, k->resolved.found);
    k->resolved.found = NULL;
    if (k->resolved.rc != -ERANGE || k->deposed)
        return;
    k->deposed = true; /* asking again would give the same answer for ever */
    k->events.on_deposed(k->events.arg, &k->resolved.why);
}

static void on_committed(uv_work_t *work, int status)
{
    struct committer *k = work->data;
    struct batch *b = &k->batch;
    struct mono until = loop_share(span_ms(SETTLE_MS));
    committer_measure(k);
    const struct commit_view view = batch_view(b);
    if (b->rc == 0)
        committer_apply(k, &view);
    if (b->rc == STORE_UNKNOWN) {
        batch_resolve(b, k->resolved.rc, k->resolved.found);
        store_heard(k);
    }
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

/* A tidying step between commits. When commands wait, too, the two take turns. */
static void committer_step(uv_work_t *work)
{
    struct committer *k = work->data;
    k->step.why = (struct err){0};
    pthread_mutex_lock(&k->store_lock);
    k->step.rc = store_tidy(k->store, &k->step.keep, wall_now(), &k->step.more, &k->step.why);
    if (k->step.rc == STORE_UNKNOWN)
        store_ask(k);
    if (k->step.rc == 0 && !k->mirroring.mirror)
        store_first(k->store, &k->step.first, &k->step.why);
    pthread_mutex_unlock(&k->store_lock);
}

static void on_stepped(uv_work_t *work, int status)
{
    struct committer *k = work->data;
    k->busy = false;
    if (k->step.rc == STORE_UNKNOWN)
        store_heard(k);
    k->tidy = k->step.more;
    if (!k->mirroring.mirror)
        k->journal_first = k->step.first;
    free(STEAL(k->step.directory));
    committer_tell_journal(k);
    committer_pump(k);
}

static void committer_resolve(uv_work_t *work)
{
    struct committer *k = work->data;
    pthread_mutex_lock(&k->store_lock);
    store_ask(k);
    pthread_mutex_unlock(&k->store_lock);
}

static void on_resolved(uv_work_t *work, int status)
{
    struct committer *k = work->data;
    k->busy = false;
    note_store(k, k->resolved.rc < 0 ? &k->resolved.why : NULL);
    store_heard(k);
    committer_pump(k);
}

/* --- a copy, in steps between commits ---------------------------------------------------------- */

static void copy_end(struct committer *k, const struct err *why)
{
    copied_fn *fn = k->copy.fn;
    free(STEAL(k->copy.dir));
    fn(k->copy.arg, why ? NULL : &k->copy.copied, cluster_digest(k->cluster), why);
}

static void copy_give_up(struct committer *k, const char *sentence)
{
    struct err why;
    if (!k->copy.dir)
        return;
    if (k->mirroring.mirror)
        mirroring_copy_end(&k->mirroring);
    pthread_mutex_lock(&k->store_lock);
    store_copy_end(k->store);
    pthread_mutex_unlock(&k->store_lock);
    err_set(&why, -EAGAIN, "%s", sentence);
    copy_end(k, &why);
}

static void committer_copy_step(uv_work_t *work)
{
    struct committer *k = work->data;
    k->copy.why = (struct err){0};
    if (k->mirroring.mirror) {
        mirroring_copy(k, k->copy.dir, &k->copy.copied, &k->copy.why);
        return;
    }
    pthread_mutex_lock(&k->store_lock);
    store_copy(k->store, k->copy.dir, &k->copy.copied, &k->copy.why);
    pthread_mutex_unlock(&k->store_lock);
}

static void on_copy_step(uv_work_t *work, int status)
{
    struct committer *k = work->data;
    struct err *why = &k->copy.why;
    k->busy = false;
    if (!why->code && k->copy.copied.done && k->copy.copied.revision != k->revision)
        err_set(why, -EAGAIN, "the state is not the one that was copied"); /* another controller committed */
    if (why->code || k->copy.copied.done)
        copy_end(k, why->code ? why : NULL);
    committer_pump(k);
}

void committer_copy(struct committer *k, const char *dir, copied_fn *fn, void *arg)
{
    assert(!k->copy.dir && "one copy at a time");
    k->copy.dir = mem_dup(dir);
    k->copy.fn = fn;
    k->copy.arg = arg;
    k->copy.copied = (struct store_copied){0};
    uv_async_send(&k->wake);
}

/* A step of the work beside commits, when there is one. */
static bool step_begin(struct committer *k)
{
    k->stepped = (k->copy.dir || k->tidy) && !(k->stepped && k->waiting);
    if (!k->stepped)
        return false;
    k->busy = true;
    if (k->copy.dir) {
        uv_queue_work(k->loop, &k->work, committer_copy_step, on_copy_step);
        return true;
    }
    k->step.keep = k->keep;
    if (k->mirroring.mirror) {
        /* Each controller exports what leaves its mirror; what that has may leave the store. */
        k->step.keep.directory = NULL;
        k->step.keep.stays_from = k->mirroring.revision + 1;
    }
    k->step.keep.directory = k->step.directory = mem_dup(k->step.keep.directory);
    uv_queue_work(k->loop, &k->work, committer_step, on_stepped);
    return true;
}

/* With the commands of a single client, one after another, the hand-over to the thread would be most of the
 * wait. The worker keeps a slow disk from stopping the loop, so it is always used. */
static void committer_pump(struct committer *k)
{
    LOOP_DOES("decisions");
    if (k->busy || k->closing)
        return;
    if (k->follow) {
        k->busy = true;
        uv_idle_start(&k->settle, on_settle);
        return;
    }
    if (k->deposed || k->term == 0) {
        copy_give_up(k, "another controller leads");
        refuse_waiting(k, "another controller leads");
        return;
    }
    if (k->asks) {
        k->asks = false;
        k->busy = true;
        uv_queue_work(k->loop, &k->work, committer_resolve, on_resolved);
        return;
    }
    if (k->unsure) {
        refuse_waiting(k, "the store does not know the outcome of the last change yet");
        return;
    }
    if (step_begin(k))
        return;
    k->batch.number++;
    while (k->waiting && take_first(k))
        ;
    if (k->batch.n_entries == 0)
        return;
    batch_seal(&k->batch, k->cluster, k->revision + 1);
    k->busy = true;
    k->batch.began = mono_now();
    uv_queue_work(k->loop, &k->work, committer_commit, on_committed);
}

/* --- checks of the files, while nothing is committed ------------------------------------------- */

static void committer_check(uv_work_t *work)
{
    struct committer *k = work->data;
    k->check = (struct err){0};
    pthread_mutex_lock(&k->store_lock);
    store_check(k->store, &k->check);
    pthread_mutex_unlock(&k->store_lock);
}

/* When the files are back, that only ends the error of missing files. */
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
    mirroring_pump(k);
    if (k->busy || k->closing || k->deposed || k->term == 0 ||
        mono_sub(now, k->checked).ns < span_s(CHECK_S).ns)
        return;
    k->checked = now;
    k->busy = true;
    if (k->unsure)
        uv_queue_work(k->loop, &k->work, committer_resolve, on_resolved);
    else
        uv_queue_work(k->loop, &k->work, committer_check, on_checked);
}

void committer_lead(struct committer *k, uint64_t term)
{
    assert(term > 0 && k->term == 0);
    k->term = term;
    k->unsure = k->asks = true;
    uv_async_send(&k->wake);
}

void committer_depose(struct committer *k)
{
    k->deposed = true;
    uv_async_send(&k->wake);
}

void committer_follow(struct committer *k, struct store_change *c)
{
    DL_APPEND(k->follow, c);
    uv_async_send(&k->wake);
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
    changes_destroy(k->follow);
    mirroring_fini(&k->mirroring);
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
    while (k->busy || k->mirroring.busy)
        uv_run(k->loop, UV_RUN_ONCE);
    copy_give_up(k, "the controller is stopping");
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
