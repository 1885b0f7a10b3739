/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/committer.h"

#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"

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

/* A command on its way. */
struct job {
    struct command cmd; /* its strings are copies */
    struct hostlist nodes;
    size_t from; /* nodes before this index are committed */
    size_t next; /* after the batch that it is in */
    struct hostlist changed;
    char *claim;
    struct store_entry entry;
    char *entry_nodes, *entry_text, *entry_about;
    outcome_fn *fn;
    void *arg;
    struct job *prev_job, *next_job;
};

struct batch {
    struct job *jobs;
    unsigned met; /* bits 1 << enum command_meets of the commands in it */
    size_t n_ops, n_entries, bytes;
    struct store_op ops[STORE_OPS_MAX];
    struct store_entry entries[STORE_ENTRIES_MAX];
    struct hostlist changed[STORE_ENTRIES_MAX]; /* by each entry */
    int rc;
    struct err why;
    uint64_t revision;
    struct mono began;
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
    uint64_t batch_number;
    uint64_t *marks; /* by member id: the last batch that names it */
    size_t n_marks;
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

/* --- jobs ------------------------------------------------------------------------------------ */

/* The result of an effect is about the node that its key names. */
static void name_effect_node(struct job *j)
{
    CLEANUP_JSON json_t *set = json_read(j->cmd.set, strlen(j->cmd.set), NULL);
    const char *key;
    if (json_take_string(set, "key", &key, NULL) == 0 && effect_node(key))
        hostlist_add(&j->nodes, effect_node(key));
}

static struct job *job_create(const struct command *cmd, outcome_fn *fn, void *arg)
{
    struct job *j = mem_alloc(sizeof *j);
    j->cmd = *cmd;
    j->cmd.actor = mem_dup(cmd->actor);
    j->cmd.claim = mem_dup(cmd->claim);
    j->cmd.reason = mem_dup(cmd->reason);
    j->cmd.set = mem_dup(cmd->set);
    j->cmd.token = mem_dup(cmd->token);
    for (size_t i = 0; cmd->nodes && i < cmd->nodes->n; i++)
        hostlist_add(&j->nodes, cmd->nodes->names[i]);
    if (cmd->kind == COMMAND_EFFECT && j->nodes.n == 0)
        name_effect_node(j);
    j->cmd.nodes = &j->nodes;
    j->fn = fn;
    j->arg = arg;
    return j;
}

static void job_entry_fini(struct job *j)
{
    free(j->entry_nodes);
    free(j->entry_text);
    free(j->entry_about);
    j->entry_nodes = j->entry_text = j->entry_about = NULL;
}

static void job_destroy(struct job *j)
{
    free((char *)(uintptr_t)j->cmd.actor);
    free((char *)(uintptr_t)j->cmd.claim);
    free((char *)(uintptr_t)j->cmd.reason);
    free((char *)(uintptr_t)j->cmd.set);
    free((char *)(uintptr_t)j->cmd.token);
    hostlist_fini(&j->nodes);
    hostlist_fini(&j->changed);
    free(j->claim);
    job_entry_fini(j);
    free(j);
}

static void job_finish(struct committer *k, struct job *j, int rc, const struct err *why)
{
    struct outcome o = {.rc = rc,
                        .revision = k->revision,
                        .changed = &j->changed,
                        .folded = j->from == 0 ? j->entry_nodes : NULL, /* else of the last part */
                        .claim = j->claim,
                        .would = rc == 0 && j->cmd.dry ? j->entry_text : NULL,
                        .why = rc < 0 ? why : NULL};
    j->fn(j->arg, &o);
    job_destroy(j);
}

/* --- a batch is put together ----------------------------------------------------------------- */

static void grow_marks(struct committer *k)
{
    size_t n = cluster_count(k->cluster);
    if (n > k->n_marks) {
        k->marks = mem_grow(k->marks, n * sizeof *k->marks);
        memset(k->marks + k->n_marks, 0, (n - k->n_marks) * sizeof *k->marks);
        k->n_marks = n;
    }
}

static bool any_is_marked(const struct committer *k, char *const *names, size_t n)
{
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct member *m = cluster_find_next(k->cluster, &place, names[i]);
        if (m && k->marks[m->id] == k->batch_number)
            return true;
    }
    return false;
}

static void committer_mark(struct committer *k, char *const *names, size_t n)
{
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct member *m = cluster_find_next(k->cluster, &place, names[i]);
        if (m)
            k->marks[m->id] = k->batch_number;
    }
}

/* True when the batch names one of the command's nodes before index `to` already: of a long command,
 * those that this part of it is about; and those that it changes (a claim is made for all at once). */
static bool names_overlap(struct committer *k, const struct job *j, size_t to, const struct hostlist *changed)
{
    if (k->batch.n_entries == 0)
        return false;
    grow_marks(k);
    return (to > j->from && any_is_marked(k, j->nodes.names + j->from, to - j->from)) ||
           any_is_marked(k, changed->names, changed->n);
}

/* For those that wait for a place in the same batch. */
static void mark_names(struct committer *k, const struct job *j, const struct hostlist *changed)
{
    if (!k->waiting)
        return;
    grow_marks(k);
    if (j->next > j->from)
        committer_mark(k, j->nodes.names + j->from, j->next - j->from);
    committer_mark(k, changed->names, changed->n);
}

/* What is shared by nodes is not seen by their names. A command has no place in a batch with those whose
 * outcome it would change, or that would change its own. */
static bool kinds_overlap(const struct batch *b, enum command_kind kind)
{
    enum { BASELINES = 1 << COMMAND_MEETS_BASELINES, COMPARES = 1 << COMMAND_MEETS_COMPARES };
    enum { SWITCHES = 1 << COMMAND_MEETS_SWITCHES, OBEYS = 1 << COMMAND_MEETS_OBEYS };
    static const unsigned apart_from[] = {
        [COMMAND_MEETS_NODES] = 0,
        [COMMAND_MEETS_BASELINES] = BASELINES | COMPARES,
        [COMMAND_MEETS_COMPARES] = BASELINES,
        [COMMAND_MEETS_SWITCHES] = SWITCHES | OBEYS,
        [COMMAND_MEETS_OBEYS] = SWITCHES,
        [COMMAND_MEETS_CAUSES] = 1 << COMMAND_MEETS_CAUSES,
    };
    return (b->met & apart_from[command_meets(kind)]) != 0;
}

static bool committer_fits(const struct batch *b, const struct decision *d, const char *nodes, size_t *bytes)
{
    *bytes = strlen(nodes) + (d->text ? strlen(d->text) : 0) + 256;
    for (size_t i = 0; i < d->n_ops; i++)
        *bytes += strlen(d->ops[i].key) + (d->ops[i].value ? strlen(d->ops[i].value) : 0);
    if (b->n_ops + d->n_ops > STORE_OPS_MAX || b->n_entries == STORE_ENTRIES_MAX)
        return false;
    if (b->bytes + *bytes > STORE_BATCH_BYTES_MAX && b->n_entries > 0)
        return false;
    for (size_t i = 0; i < d->n_ops; i++)
        for (size_t j = 0; j < b->n_ops; j++)
            if (strcmp(d->ops[i].key, b->ops[j].key) == 0)
                return false;
    return true;
}

/* Moves the decision's records into the batch, and the job with them. */
static void take_in(struct committer *k, struct job *j, struct decision *d, char *nodes, size_t bytes)
{
    struct batch *b = &k->batch;
    for (size_t i = 0; i < d->n_ops; i++)
        b->ops[b->n_ops++] = (struct store_op){STEAL(d->ops[i].key), STEAL(d->ops[i].value)};
    b->bytes += bytes;
    j->next = d->next;
    j->entry_nodes = nodes;
    j->entry_text = STEAL(d->text);
    j->entry_about = text_take(&d->about);
    j->entry = (struct store_entry){.at = j->cmd.at,
                                    .actor = j->cmd.actor,
                                    .what = command_name(j->cmd.kind),
                                    .nodes = j->entry_nodes,
                                    .text = j->entry_text,
                                    .about = j->entry_about};
    b->entries[b->n_entries] = j->entry;
    hostlist_add_all(&j->changed, &d->changed);
    DL_APPEND2(b->jobs, j, prev_job, next_job);
    b->met |= 1U << command_meets(j->cmd.kind);
    mark_names(k, j, &d->changed);
    b->changed[b->n_entries++] = d->changed;
    d->changed = (struct hostlist){0};
}

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
    job_finish(k, j, -EAGAIN, why);
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
    bool more = d->n_ops > 0 && d->next < j->nodes.n;
    j->from = d->next;
    return more;
}

/* Decides the first waiting job. False when it has to wait for the next batch. */
static bool take_first(struct committer *k)
{
    struct job *j = k->waiting;
    struct decision d = {0};
    struct err why = {0};
    int rc = cluster_decide(k->cluster, &j->cmd, j->from, &d, &why);
    if (kinds_overlap(&k->batch, j->cmd.kind) ||
        names_overlap(k, j, rc == 0 ? d.next : j->nodes.n, &d.changed)) {
        decision_fini(&d);
        return false; /* decided on what the batch is about to change: again, after it */
    }
    if (rc == 0 && d.claim) {
        free(j->claim);
        j->claim = STEAL(d.claim);
    }
    if (rc == 0 && j->cmd.dry && committer_judge(j, &d)) {
        decision_fini(&d);
        return true;
    }
    if (rc < 0 || d.n_ops == 0 || j->cmd.dry) {
        leave_queue(k, j);
        job_finish(k, j, rc, &why);
        decision_fini(&d);
        return true;
    }
    char *nodes = hostlist_fold((const char *const *)d.changed.names, d.changed.n);
    size_t bytes;
    bool good = committer_fits(&k->batch, &d, nodes, &bytes);
    if (good) {
        leave_queue(k, j);
        take_in(k, j, &d, nodes, bytes);
    } else {
        free(nodes);
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

static void batch_fini(struct batch *b)
{
    for (size_t i = 0; i < b->n_ops; i++) {
        free((char *)(uintptr_t)b->ops[i].key);
        free((char *)(uintptr_t)b->ops[i].value);
    }
    for (size_t i = 0; i < b->n_entries; i++)
        hostlist_fini(&b->changed[i]);
    b->n_ops = b->n_entries = b->bytes = 0;
    b->met = 0;
}

/* Tells of one entry, or of some of the nodes that it changed. False: all were told. */
static bool tell_some(struct committer *k)
{
    LOOP_DOES("what follows from a commit");
    struct batch *b = &k->batch;
    size_t i = k->settling.entry, at = k->settling.told;
    if (k->settling.rc < 0 || i == b->n_entries)
        return false;
    if (at == 0)
        k->events.on_entry(k->events.arg, &b->entries[i], &b->changed[i], b->revision);
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
    if (k->settling.rc == 0 && j->next < j->nodes.n) {
        j->from = j->next;
        job_entry_fini(j);
        DL_APPEND2(k->settling.again, j, prev_job, next_job);
        k->n_waiting++;
    } else {
        job_finish(k, j, k->settling.rc, &k->settling.why);
    }
    return true;
}

static void committer_settled(struct committer *k)
{
    uv_idle_stop(&k->settle);
    batch_fini(&k->batch);
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
    k->batch_number++;
    while (k->waiting && take_first(k))
        ;
    if (k->batch.n_entries == 0)
        return;
    k->busy = true;
    k->batch.began = mono_now();
    uv_queue_work(k->loop, &k->work, committer_commit, on_committed);
}

/* --- a look at the files, when nothing is committed ------------------------------------------- */

static void check(uv_work_t *work)
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
    uv_queue_work(k->loop, &k->work, check, on_checked);
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
    free(k->marks);
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
    struct job *j = job_create(cmd, fn, arg);
    if (command_makes_id(cmd->kind) && !cmd->claim && cmd->dry) {
        j->cmd.claim = mem_dup("new");
    } else if (command_makes_id(cmd->kind) && !cmd->claim) {
        struct text id = {0};
        text_printf(&id, "%llu.%llu", (unsigned long long)k->term, (unsigned long long)++k->claims);
        j->cmd.claim = text_take(&id);
    }
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
