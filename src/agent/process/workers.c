/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/process/workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { KEPT_MAX = 2 };

struct worker {
    struct worker *next;
    struct workers *all;
    char *target; /* NULL: it has answered, and waits for the next question or ends */
    bool stale;   /* it is not asked again */
    struct child *child;
    bool running;      /* its done is still to be called */
    struct mono since; /* its child was started */
    child_work_fn *work;
    child_done_fn *done;
    void *arg;
};

struct workers {
    uv_loop_t *loop;
    child_answer_fn *answer;
    void *answer_arg;
    struct worker *list;
    unsigned running;
};

struct workers *workers_create(uv_loop_t *loop, child_answer_fn *answer, void *arg)
{
    struct workers *w = mem_alloc(sizeof *w);
    w->loop = loop;
    w->answer = answer;
    w->answer_arg = arg;
    return w;
}

static void remove_worker(struct worker *k)
{
    struct workers *w = k->all;
    LL_DELETE(w->list, k);
    w->running -= k->running;
    child_destroy(k->child);
    free(k->target);
    free(k);
}

void workers_destroy(struct workers *w)
{
    if (!w)
        return;
    while (w->list)
        remove_worker(w->list);
    free(w);
}

static struct worker *workers_find(const struct workers *w, const char *target)
{
    struct worker *k;
    LL_FOREACH (w->list, k)
        if (k->target && strcmp(k->target, target) == 0)
            return k;
    return NULL;
}

static struct worker *find_waiting(const struct workers *w)
{
    struct worker *k;
    LL_FOREACH (w->list, k)
        if (!k->target && child_waits(k->child))
            return k;
    return NULL;
}

static unsigned count_waiting(const struct workers *w)
{
    const struct worker *k;
    unsigned n = 0;
    LL_FOREACH (w->list, k)
        n += !k->target && child_waits(k->child);
    return n;
}

static struct worker *workers_add(struct workers *w)
{
    struct worker *k = mem_alloc(sizeof *k);
    k->all = w;
    k->child = child_create(w->loop, WORKERS_BYTES_MAX);
    LL_PREPEND(w->list, k);
    return k;
}

static int worker_run(void *arg, struct text *out, struct err *e)
{
    const struct worker *k = arg;
    return k->work(k->arg, out, e);
}

/* Two are due at the same time every now and then; more than two need not stay. A worker whose child has gone
 * is of no more use: the next look at the target makes a new one. */
static void on_done(void *arg, char *text, size_t len, const struct err *why)
{
    struct worker *k = arg;
    k->running = false;
    k->all->running--;
    if (child_waits(k->child)) {
        if (k->stale || count_waiting(k->all) >= KEPT_MAX)
            child_dismiss(k->child);
        free(STEAL(k->target));
    }
    k->done(k->arg, text, len, why);
}

static void remove_idle(struct workers *w)
{
    struct worker *k, *next;
    LL_FOREACH_SAFE(w->list, k, next)
    if (!k->running && !child_exists(k->child))
        remove_worker(k);
}

/* NULL: there can be none now. */
static struct worker *take_free(struct workers *w, const char *target, bool question, int *r, struct err *e)
{
    char since[32];
    struct mono now = mono_now();
    remove_idle(w);
    struct worker *k = workers_find(w, target);
    if (k && !k->running)
        *r = err_set(e, -EBUSY, "%s still hanging since %s", target,
                     span_human(mono_sub(now, k->since), since));
    else if (k || w->running >= WORKERS_AT_ONCE)
        *r = err_set(e, -EAGAIN, "as many looks are under way as may be");
    if (*r)
        return NULL;
    k = question ? find_waiting(w) : NULL;
    k = k ? k : workers_add(w);
    k->target = mem_dup(target);
    k->since = now;
    return k;
}

static int workers_began(struct worker *k, int r)
{
    if (r) {
        remove_worker(k);
        return r == -EBUSY || r == -EAGAIN ? -ENOMEM : r; /* which mean something else here */
    }
    k->running = true;
    k->all->running++;
    return 0;
}

int workers_run(struct workers *w, const char *target, struct span deadline, child_work_fn *fn,
                child_done_fn *done, void *arg, struct err *e)
{
    int r = 0;
    struct worker *k = take_free(w, target, false, &r, e);
    if (!k)
        return r;
    k->work = fn;
    k->done = done;
    k->arg = arg;
    return workers_began(k, child_run(k->child, deadline, worker_run, on_done, k, e));
}

int workers_ask(struct workers *w, const char *target, struct span deadline, const char *question,
                child_done_fn *done, void *arg, struct err *e)
{
    int r = 0;
    struct worker *k = take_free(w, target, true, &r, e);
    if (!k)
        return r;
    k->done = done;
    k->arg = arg;
    return workers_began(k, child_ask(k->child, deadline, w->answer, w->answer_arg, question, on_done, k, e));
}

void workers_renew(struct workers *w)
{
    struct worker *k;
    LL_FOREACH (w->list, k) {
        k->stale = true;
        child_dismiss(k->child);
    }
}

void workers_cancel(struct workers *w, const void *arg, child_done_fn *done, void *done_arg)
{
    struct worker *k;
    LL_FOREACH (w->list, k) {
        if (!k->running || k->arg != arg)
            continue;
        k->done = done;
        k->arg = done_arg;
        child_kill(k->child);
    }
}
