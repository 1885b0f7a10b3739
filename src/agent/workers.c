/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct worker {
    struct worker *next;
    struct workers *all;
    char *target;
    struct child *child;
    bool running;      /* its done is still to be called */
    struct mono since; /* its child was started */
    child_work_fn *work;
    child_done_fn *done;
    void *arg;
};

struct workers {
    uv_loop_t *loop;
    struct worker *list;
    unsigned running;
};

struct workers *workers_create(uv_loop_t *loop)
{
    struct workers *w = mem_alloc(sizeof *w);
    w->loop = loop;
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

static struct worker *find(const struct workers *w, const char *target)
{
    struct worker *k;
    LL_FOREACH (w->list, k)
        if (strcmp(k->target, target) == 0)
            return k;
    return NULL;
}

static struct worker *add(struct workers *w, const char *target)
{
    struct worker *k = mem_alloc(sizeof *k);
    k->all = w;
    k->target = mem_dup(target);
    k->child = child_create(w->loop, WORKERS_BYTES_MAX);
    LL_PREPEND(w->list, k);
    return k;
}

static int work(void *arg, struct text *out, struct err *e)
{
    const struct worker *k = arg;
    return k->work(k->arg, out, e);
}

/* A worker whose child has gone is of no more use: the next look at the target makes a new one. */
static void on_done(void *arg, char *text, size_t len, const struct err *why)
{
    struct worker *k = arg;
    k->running = false;
    k->all->running--;
    k->done(k->arg, text, len, why);
}

static void remove_idle(struct workers *w)
{
    struct worker *k, *next;
    LL_FOREACH_SAFE(w->list, k, next)
    if (!k->running && !child_exists(k->child))
        remove_worker(k);
}

int workers_run(struct workers *w, const char *target, struct span deadline, child_work_fn *fn,
                child_done_fn *done, void *arg, struct err *e)
{
    char since[32];
    struct mono now = mono_now();
    remove_idle(w);
    struct worker *k = find(w, target);
    if (k && !k->running)
        return err_set(e, -EBUSY, "%s still hanging since %s", target,
                       span_human(mono_sub(now, k->since), since));
    if (k || w->running >= WORKERS_AT_ONCE)
        return err_set(e, -EAGAIN, "as many looks are under way as may be");
    k = add(w, target);
    k->work = fn;
    k->done = done;
    k->arg = arg;
    k->since = now;
    int r = child_run(k->child, deadline, work, on_done, k, e);
    if (r) {
        remove_worker(k);
        return r == -EBUSY || r == -EAGAIN ? -ENOMEM : r; /* which mean something else here */
    }
    k->running = true;
    w->running++;
    return 0;
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
