/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"

#include <stdlib.h>
#include <string.h>

/* The node's work: as it was read, and sooner, as prolog and epilog say. */

enum { JOB_MS = 60000 /* a job that no reading shows is forgotten after this time */ };

static void end_idle_looks(struct checker *c)
{
    struct mono now = mono_now();
    for (size_t i = 0; i < c->list.checks.n; i++) {
        struct item *k = c->items[i];
        if (!(k->check->when & CHECK_IDLE) || !k->under_way || k->asked)
            continue;
        item_end_apart(k);
        item_rest(k, now);
    }
    checker_try_waiting(c);
}

void checker_forget_jobs(struct checker *c)
{
    while (c->n_jobs > 0)
        free(c->jobs[--c->n_jobs]);
}

void checker_clock(struct checker *c, struct wall controller)
{
    c->clock = (struct look_clock){controller, mono_now()};
}

void checker_idle(struct checker *c, bool idle)
{
    bool was_idle = checker_is_idle(c);
    c->work = !idle;
    if (idle && mono_sub(mono_now(), c->job_at).ns > span_ms(JOB_MS).ns)
        checker_forget_jobs(c); /* an epilog that never came */
    if (was_idle && !checker_is_idle(c))
        end_idle_looks(c);
}

static size_t find_job(const struct checker *c, const char *id)
{
    size_t i = 0;
    while (i < c->n_jobs && strcmp(c->jobs[i], id) != 0)
        i++;
    return i;
}

void checker_job(struct checker *c, const char *id, bool begins)
{
    bool was_idle = checker_is_idle(c);
    size_t i = find_job(c, id);
    if (begins && i == c->n_jobs && i < CHECKER_JOBS_MAX)
        c->jobs[c->n_jobs++] = mem_dup(id);
    if (!begins && i < c->n_jobs) {
        free(c->jobs[i]);
        c->jobs[i] = c->jobs[--c->n_jobs];
    }
    if (begins)
        c->job_at = mono_now();
    if (was_idle && !checker_is_idle(c))
        end_idle_looks(c);
}
