/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"

/* When the checker's turn comes, and which check is first in it. */

struct item *checker_most_overdue(const struct checker *c)
{
    struct item *first = NULL;
    for (size_t i = 0; i < c->list.checks.n; i++) {
        struct item *k = c->items[i];
        if (!k->waits && !k->under_way && (!first || k->due.ns < first->due.ns))
            first = k;
    }
    return first;
}

void checker_arm(struct checker *c)
{
    struct item *k = checker_most_overdue(c);
    if (c->in_turn || c->destroyed)
        return;
    if (!k || k->due.ns == CHECKER_NEVER) {
        uv_timer_stop(&c->turn);
        return;
    }
    int64_t wait_ns = mono_sub(k->due, mono_now()).ns;
    uv_update_time(c->loop); /* from which the timer counts */
    uv_timer_start(&c->turn, c->on_turn, wait_ns > 0 ? (uint64_t)((wait_ns + 999999) / 1000000) : 0, 0);
}

/* There may be room for a child now. */
void checker_try_waiting(struct checker *c)
{
    for (size_t i = 0; i < c->list.checks.n; i++)
        c->items[i]->waits = false;
    checker_arm(c);
}

/* A check that is under way, or was looked at a moment ago, is looked at once more. */
void checker_look_within(struct checker *c, enum probe probe, int64_t ms)
{
    struct mono at = mono_add(mono_now(), span_ms(ms));
    for (size_t i = 0; i < c->list.checks.n; i++)
        if (c->items[i]->check->probe == probe) {
            c->items[i]->hinted = true;
            item_make_due(c->items[i], at);
        }
    checker_arm(c);
}

bool checker_is_idle(const struct checker *c)
{
    return !c->work && c->n_jobs == 0;
}

bool checker_is_quiet(const struct checker *c)
{
    for (size_t i = 0; i < c->list.checks.n; i++) {
        const struct item *k = c->items[i];
        bool tests = k->check->when & (CHECK_DEMAND | CHECK_EXTENSIVE) && !(k->check->when & CHECK_PERIODIC);
        if (k->under_way && tests)
            return false;
    }
    return checker_is_idle(c);
}
