/* SPDX-License-Identifier: Apache-2.0 */
/* One piece of work at a time, in a thread of the loop's: a question before the next step, so that a long
 * journal that is followed for the first time keeps nobody waiting. */
#include "base/log.h"
#include "controller/audit/audit_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { WAITING_MAX = 64, EVERY_S = 1, RETAIN_S = 600, HEARD_MAX = 16 };

struct question {
    struct auditor_ask ask;
    auditor_answer_fn *fn;
    void *arg;
    struct text answer;
    struct err why;
    struct question *prev, *next;
};

struct auditor {
    struct trail trail;
    uv_loop_t *loop;
    uv_work_t work;
    bool busy, closing;
    struct question *running, *waiting; /* running NULL: a step */
    size_t n_waiting;
    struct {
        bool more; /* for the tree */
        bool lags; /* the archive: the next turn goes on with it */
        uint64_t stays_from;
        struct err why;
    } step;
    struct {
        struct heard list[HEARD_MAX]; /* the thread's while it is busy */
        size_t n;
    } heard, next_heard;
    bool due, hears;   /* a head came that no step has seen */
    uint64_t followed; /* the revision at which the last step began, plus one */
    struct mono stepped;
    struct {
        char *archive; /* another directory from the next step on; NULL: the same */
        struct span keep;
    } next;
    void *arg;
    void (*on_step)(void *arg, const struct err *why);
};

static void auditor_pump(struct auditor *a);

/* --- questions ------------------------------------------------------------------------------- */

static void question_answer(struct question *q)
{
    q->fn(q->arg, q->why.code ? NULL : &q->answer, q->why.code ? &q->why : NULL);
    text_fini(&q->answer);
    free(q);
}

static void question_run(uv_work_t *work)
{
    struct auditor *a = work->data;
    struct question *q = a->running;
    int r = trail_answer(&a->trail, &q->ask, &q->answer, &q->why);
    q->why.code = r;
}

static void on_answered(uv_work_t *work, int status)
{
    struct auditor *a = work->data;
    a->busy = false;
    question_answer(STEAL(a->running));
    auditor_pump(a);
}

void auditor_begin(struct auditor *a, const struct auditor_ask *ask, auditor_answer_fn *fn, void *arg)
{
    struct question *q = mem_alloc(sizeof *q);
    q->ask = *ask;
    q->fn = fn;
    q->arg = arg;
    if (a->n_waiting >= WAITING_MAX) {
        err_set(&q->why, -EAGAIN, "%d questions to the audit log are waiting; ask again", WAITING_MAX);
        question_answer(q);
        return;
    }
    DL_APPEND(a->waiting, q);
    a->n_waiting++;
    auditor_pump(a);
}

/* --- steps ----------------------------------------------------------------------------------- */

/* The tree first, so that an archive that cannot be written does not keep entries out of it. The archive once
 * in a turn: its files are synced one by one, on the disk that commits wait for. */
static void step_run(uv_work_t *work)
{
    struct auditor *a = work->data;
    struct trail *t = &a->trail;
    a->step.lags = false;
    a->step.why = (struct err){0};
    int r = trail_judge(t, a->heard.list, a->heard.n, &a->step.why);
    if (r == 0)
        r = trail_follow(t, &a->step.more, &a->step.why);
    if (r == 0)
        r = trail_judge(t, a->heard.list, a->heard.n, &a->step.why);
    if (r == 0 && !a->step.more)
        r = trail_archive(t, wall_now(), &a->step.lags, &a->step.why);
    if (r == 0)
        r = trail_stays_from(t, &a->step.stays_from, &a->step.why);
    a->step.why.code = r;
}

static void on_stepped(uv_work_t *work, int status)
{
    struct auditor *a = work->data;
    a->busy = false;
    a->due = a->hears || (a->step.more && a->step.why.code == 0);
    if (a->step.why.code == 0)
        committer_audited(a->trail.committer, a->step.stays_from);
    else
        a->followed = 0;
    a->on_step(a->arg, a->step.why.code ? &a->step.why : NULL);
    auditor_pump(a);
}

/* Heads that were compared already stay so. */
static void heard_take(struct auditor *a)
{
    for (size_t i = 0; i < a->next_heard.n; i++)
        for (size_t j = 0; j < a->heard.n; j++) {
            struct heard *new = &a->next_heard.list[i], *old = &a->heard.list[j];
            if (strcmp(new->controller, old->controller) == 0 && new->size == old->size &&
                tree_same(&new->root, &old->root))
                *new = *old;
        }
    memcpy(&a->heard, &a->next_heard, sizeof a->heard);
    a->hears = false;
}

static void settings_take(struct auditor *a)
{
    struct committer_mirrored m;
    heard_take(a);
    if (committer_mirrored(a->trail.committer, &m))
        a->trail.first = m.missing.to >= m.first ? m.missing.to + 1 : m.first;
    a->trail.keep = a->next.keep;
    if (!a->next.archive)
        return;
    archive_close(STEAL(a->trail.archive));
    free(a->trail.archive_dir);
    a->trail.archive_dir = STEAL(a->next.archive);
    a->trail.archived = 0;
}

static void auditor_pump(struct auditor *a)
{
    if (a->busy || a->closing || (!a->waiting && !a->due))
        return;
    a->busy = true;
    settings_take(a);
    if (a->waiting) {
        a->running = a->waiting;
        DL_DELETE(a->waiting, a->running);
        a->n_waiting--;
        uv_queue_work(a->loop, &a->work, question_run, on_answered);
    } else {
        a->followed = committer_revision(a->trail.committer) + 1;
        uv_queue_work(a->loop, &a->work, step_run, on_stepped);
    }
}

void auditor_turn(struct auditor *a, struct mono now)
{
    if (a->busy)
        return;
    struct span since = mono_sub(now, a->stepped);
    bool behind = (a->step.lags || a->followed != committer_revision(a->trail.committer) + 1) &&
                  since.ns >= span_s(EVERY_S).ns;
    if (!behind && since.ns < span_s(RETAIN_S).ns)
        return;
    a->stepped = now;
    a->due = true;
    auditor_pump(a);
}

/* --- life ------------------------------------------------------------------------------------ */

struct auditor *auditor_create(const struct auditor_setup *setup)
{
    struct auditor *a = mem_alloc(sizeof *a);
    a->loop = setup->loop;
    a->trail.committer = setup->committer;
    a->trail.tree = setup->tree;
    a->trail.archive_dir = mem_dup(setup->archive);
    a->trail.keep = a->next.keep = setup->keep;
    a->trail.is_shared = setup->is_shared;
    a->work.data = a;
    a->stepped = mono_now();
    a->arg = setup->arg;
    a->on_step = setup->on_step;
    committer_audited(setup->committer, 1); /* nothing leaves before a step has said what may */
    return a;
}

char *auditor_tell(struct auditor *a, char out[static AUDITOR_TOLD_BYTES])
{
    struct checkpoint head;
    treefile_head(a->trail.tree, &head, NULL);
    out[0] = '\0';
    return head.size ? auditor_told(&head, out) : out;
}

static struct heard *heard_place(struct auditor *a, const char *controller)
{
    for (size_t i = 0; i < a->next_heard.n; i++)
        if (strcmp(a->next_heard.list[i].controller, controller) == 0)
            return &a->next_heard.list[i];
    return a->next_heard.n < HEARD_MAX ? &a->next_heard.list[a->next_heard.n++] : NULL;
}

/* A head that this log has not reached yet is kept until it was compared, so that a log which is always
 * behind is compared, too. */
void auditor_hear(struct auditor *a, const char *controller, const char *told)
{
    struct heard h = {.size = 0};
    struct checkpoint head;
    if (!heard_read(told, &h))
        return;
    snprintf(h.controller, sizeof h.controller, "%s", controller);
    struct heard *place = heard_place(a, controller);
    treefile_head(a->trail.tree, &head, NULL);
    bool waits = place && place->size > head.size && h.size > place->size;
    if (!place || waits || (place->size == h.size && tree_same(&place->root, &h.root)))
        return;
    *place = h;
    a->hears = a->hears || h.size <= head.size;
    a->due = a->due || a->hears;
    auditor_pump(a);
}

void auditor_configure(struct auditor *a, const char *archive, struct span keep)
{
    free(a->next.archive);
    a->next.archive = mem_dup(archive);
    a->next.keep = keep;
    a->due = true;
    auditor_pump(a);
}

void auditor_destroy(struct auditor *a)
{
    struct question *q, *next;
    if (!a)
        return;
    a->closing = true;
    while (a->busy)
        uv_run(a->loop, UV_RUN_ONCE);
    DL_FOREACH_SAFE(a->waiting, q, next)
    {
        err_set(&q->why, -EAGAIN, "the controller is stopping");
        question_answer(q);
    }
    archive_close(a->trail.archive);
    treefile_close(a->trail.tree);
    free(a->trail.archive_dir);
    free(a->next.archive);
    free(a);
}
