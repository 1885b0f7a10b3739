/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

/* Answers the callers that asked for results. */

bool item_is_fresh(const struct item *k, struct mono at)
{
    return k->check->probe == PROBE_KERNEL_LOG ||
           (k->any_look && mono_sub(at, k->looked).ns < k->check->every.ns);
}

bool question_is_settled(const struct checker *c, const struct question *q)
{
    for (size_t i = 0; i < c->list.checks.n; i++)
        if (c->items[i]->check->when & q->when && !item_is_fresh(c->items[i], q->at))
            return false;
    return true;
}

void question_answer(const struct checker *c, const struct question *q)
{
    char why_not[CHECK_NAME_BYTES_MAX + FINDING_TEXT_BYTES_MAX + 3] = "";
    for (size_t i = 0; i < c->list.checks.n && !why_not[0]; i++) {
        const struct item *k = c->items[i];
        const struct verdict *v = &k->steady.said;
        if (k->check->when & q->when && !k->check->observe && k->steady.any && result_fails(v->result))
            snprintf(why_not, sizeof why_not, "%s: %s", k->check->name, v->n ? v->findings[0].text : v->text);
    }
    q->fn(q->arg, why_not);
}

void checker_answer_questions(struct checker *c)
{
    struct question *q, *next;
    LL_FOREACH_SAFE(c->questions, q, next)
    {
        if (!question_is_settled(c, q))
            continue;
        LL_DELETE(c->questions, q);
        question_answer(c, q);
        free(q);
    }
}

void checker_answer_waiters(struct item *k, const struct verdict *v, struct span took)
{
    struct waiter *w, *next;
    LL_FOREACH_SAFE(k->c->waiters, w, next)
    {
        if (w->item != k)
            continue;
        LL_DELETE(k->c->waiters, w);
        w->fn(w->arg, v, took);
        free(w);
    }
}

void checker_cancel(struct checker *c, const void *arg)
{
    struct question *q, *next;
    struct waiter *w, *after;
    LL_FOREACH_SAFE(c->questions, q, next)
    {
        if (q->arg != arg)
            continue;
        LL_DELETE(c->questions, q);
        free(q);
    }
    LL_FOREACH_SAFE(c->waiters, w, after)
    {
        if (w->arg != arg)
            continue;
        LL_DELETE(c->waiters, w);
        free(w);
    }
}
