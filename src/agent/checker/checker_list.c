/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Which checks the node runs, and what has to be followed for them. */

static void on_mounts(void *arg)
{
    checker_look_within(arg, PROBE_FS_MOUNTED, CHECKER_HINT_MS);
}

static void on_kernel(void *arg)
{
    checker_look_within(arg, PROBE_KERNEL_LOG, 0);
}

static char *line_of(const struct check *k)
{
    struct text t = {0};
    check_format(k, NULL, &t);
    return text_take(&t);
}

/* The one of before that has the same record; it is taken out of there. */
static struct item *take_same(struct item **old, size_t n, const struct check *k)
{
    CLEANUP_FREE char *line = line_of(k);
    for (size_t i = 0; i < n; i++) {
        if (!old[i] || strcmp(old[i]->check->name, k->name) != 0)
            continue;
        CLEANUP_FREE char *was = line_of(old[i]->check);
        return strcmp(was, line) == 0 ? STEAL(old[i]) : NULL;
    }
    return NULL;
}

static void drop_waiters(struct checker *c, const struct item *k)
{
    struct waiter *w, *next;
    struct verdict v;
    verdict_cannot(&v, RESULT_UNKNOWN, "the node runs it no more");
    LL_FOREACH_SAFE(c->waiters, w, next)
    {
        if (w->item != k)
            continue;
        LL_DELETE(c->waiters, w);
        w->fn(w->arg, &v, (struct span){0});
        free(w);
    }
}

static void drop_item(struct checker *c, struct item *k)
{
    item_end_apart(k);
    drop_waiters(c, k);
    item_destroy(k);
}

static const struct check *find_probe(const struct checker *c, enum probe probe)
{
    for (size_t i = 0; i < c->list.checks.n; i++)
        if (c->items[i]->check->probe == probe)
            return c->items[i]->check;
    return NULL;
}

/* The meanings of the file that a check names, else those of the list. */
static const struct meanings *meanings_for(struct checker *c, const struct check *kernel_log)
{
    const char *path = check_arg(kernel_log, "Meanings");
    struct err e = {0};
    meanings_destroy(STEAL(c->own_meanings));
    if (path && !(c->own_meanings = meanings_read(path, &e)))
        log_error("the usual meanings count: %s", e.msg);
    return c->own_meanings ? c->own_meanings : c->list.meanings;
}

static void follow_kernel(struct checker *c)
{
    const struct check *check = find_probe(c, PROBE_KERNEL_LOG);
    const struct kernel_settings settings = {c->settings.home, c->settings.root, c->settings.boot, on_kernel,
                                             c};
    if (!check || c->settings.by_hand) {
        kernel_destroy(STEAL(c->kernel));
        return;
    }
    const struct meanings *meanings = meanings_for(c, check);
    if (c->kernel)
        kernel_mean(c->kernel, meanings);
    else
        c->kernel = kernel_create(c->loop, &settings, meanings);
}

static void follow_mounts(struct checker *c)
{
    bool wanted = !*c->settings.root && !c->settings.by_hand && find_probe(c, PROBE_FS_MOUNTED);
    if (!wanted)
        mount_hint_destroy(STEAL(c->mounts));
    else if (!c->mounts)
        c->mounts = mount_hint_create(c->loop, on_mounts, c);
}

static void make_items(struct checker *c, struct item **old, size_t n_old)
{
    size_t n = c->list.checks.n, n_fresh = 0;
    CLEANUP_FREE struct item **fresh = mem_alloc((n + 1) * sizeof *fresh);
    c->items = mem_alloc((n + 1) * sizeof *c->items);
    for (size_t i = 0; i < n; i++) {
        const struct check *record = &c->list.checks.list[i];
        struct item *same = take_same(old, n_old, record);
        c->items[i] = same ? same : (fresh[n_fresh++] = item_create(c, record));
        c->items[i]->check = record;
    }
    checker_resume(c, fresh, n_fresh);
}

void checker_set(struct checker *c, struct checklist *list)
{
    struct item **old = c->items;
    struct checklist before = c->list;
    size_t n_old = before.checks.n;
    c->list = *list;
    *list = (struct checklist){0};
    make_items(c, old, n_old);
    c->any_list = true;
    workers_renew(c->workers);
    for (size_t i = 0; i < n_old; i++)
        if (old[i])
            drop_item(c, old[i]);
    free(old);
    follow_kernel(c);
    follow_mounts(c);
    if (!find_probe(c, PROBE_NVIDIA_TEMPERATURE))
        c->gpus = (struct gpu_capacity){0};
    checklist_fini(&before);
    checker_answer_questions(c);
    checker_tell(c);
    checker_try_waiting(c);
}

const char *checker_list(const struct checker *c)
{
    return c->list.hash;
}

const struct checks *checker_checks(const struct checker *c)
{
    return &c->list.checks;
}
