/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* The callers that ask for results: the actor asks for one check, Slurm's programs for those before and
 * after a job. */

static struct item *find_item(const struct checker *c, const char *name)
{
    for (size_t i = 0; i < c->list.checks.n; i++)
        if (strcmp(c->items[i]->check->name, name) == 0)
            return c->items[i];
    return NULL;
}

static int refuse_name(const struct checker *c, const char *name, struct err *e)
{
    const char *names[CHECKS_MAX];
    for (size_t i = 0; i < c->list.checks.n; i++)
        names[i] = c->items[i]->check->name;
    const char *near = text_nearest(name, names, c->list.checks.n);
    if (near)
        return err_set(e, -ENOENT, "the node runs no check \"%s\"; the nearest is \"%s\"", name, near);
    return err_set(e, -ENOENT, "the node runs no check \"%s\"", name);
}

int checker_look(struct checker *c, const char *name, struct span deadline, const struct company *with,
                 checker_look_fn *fn, void *arg, struct err *e)
{
    struct item *k = find_item(c, name);
    if (!k)
        return refuse_name(c, name, e);
    struct waiter *w = mem_alloc(sizeof *w);
    *w = (struct waiter){.item = k, .fn = fn, .arg = arg};
    LL_APPEND(c->waiters, w);
    if (!k->under_way) {
        k->deadline = deadline.ns < k->check->deadline.ns ? deadline : k->check->deadline;
        k->asked = true;
        free(k->nodes);
        k->nodes = mem_dup(with->nodes);
        k->rank = with->rank;
        item_make_due(k, mono_now());
        checker_arm(c);
    }
    return 0;
}

void checker_end(struct checker *c, const char *name)
{
    struct item *k = find_item(c, name);
    if (!k)
        return;
    item_end_apart(k);
    item_rest(k, mono_now());
    checker_arm(c);
}

static void look_for(struct checker *c, const struct question *q, struct span *within)
{
    *within = (struct span){0};
    for (size_t i = 0; i < c->list.checks.n; i++) {
        struct item *k = c->items[i];
        if (!(k->check->when & q->when) || item_is_fresh(k, q->at))
            continue;
        if (k->check->deadline.ns > within->ns)
            *within = k->check->deadline;
        k->asked = true;
        if (!k->under_way)
            item_make_due(k, q->at);
    }
}

bool checker_ask(struct checker *c, unsigned when, bool fresh, checker_ask_fn *fn, void *arg,
                 struct span *within)
{
    struct question *q = mem_alloc(sizeof *q);
    *q = (struct question){.when = when, .at = mono_now(), .fn = fn, .arg = arg};
    *within = (struct span){0};
    if (!fresh || question_is_settled(c, q)) {
        question_answer(c, q);
        free(q);
        return true;
    }
    LL_APPEND(c->questions, q);
    look_for(c, q, within);
    checker_arm(c);
    return false;
}

void checker_cured(struct checker *c, const char *words, uint64_t until)
{
    struct mono now = mono_now();
    if (c->kernel)
        kernel_forget(c->kernel, words, until);
    for (size_t i = 0; i < c->list.checks.n; i++) {
        struct item *k = c->items[i];
        if (!(k->check->when & CHECK_PERIODIC))
            continue;
        k->hinted = true;
        k->renewed = now;
        item_make_due(k, now);
    }
    checker_arm(c);
}
