/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/trials.h"

#include "base/loop.h"

#include <stdlib.h>

struct trials {
    struct watch *watch;
    struct actors *actors;
};

/* A run whose answer is waited for. */
struct waiting {
    struct trials *t;
    uint64_t run;
};

struct trials *trials_create(struct watch *w, struct actors *a)
{
    struct trials *t = mem_alloc(sizeof *t);
    *t = (struct trials){w, a};
    return t;
}

void trials_destroy(struct trials *t)
{
    free(t);
}

static void on_verdict(void *arg, struct member *m, const json_t *said, const struct err *why)
{
    struct waiting *k = arg;
    CLEANUP_FREE struct verdict *v = mem_alloc(sizeof *v);
    bool read = said && verdict_read(said, v, NULL) == 0;
    watch_tried(k->t->watch, k->run, read ? v : NULL, why ? why->msg : "");
    free(k);
}

static void on_run(void *arg, struct member *m, const struct trial_run *r)
{
    struct trials *t = arg;
    struct err e = {0};
    if (r->stop) {
        actors_end(t->actors, m, r->check);
        return;
    }
    struct waiting *k = mem_alloc(sizeof *k);
    *k = (struct waiting){t, r->run};
    const struct actors_ask ask = {r->check, r->deadline, r->nodes, r->rank};
    if (actors_check(t->actors, m, &ask, on_verdict, k, &e) == 0)
        return;
    watch_tried(t->watch, r->run, NULL, e.msg);
    free(k);
}

void trials_turn(struct trials *t, struct mono now)
{
    LOOP_DOES("trials");
    watch_trials(t->watch, now, on_run, t);
}
