/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/commit_inside.h"

#include "base/loop.h"

#include <stdlib.h>

enum { TOLD_AT_ONCE = 200 }; /* nodes */

struct followed *followed_create(struct store_change *c)
{
    size_t n = c->batch.n_entries;
    struct followed *f = mem_alloc(sizeof *f);
    f->change = c;
    f->kinds = mem_alloc((n + 1) * sizeof *f->kinds);
    f->changed = mem_alloc((n + 1) * sizeof *f->changed);
    for (size_t i = 0; i < n; i++) {
        f->kinds[i] = command_find(c->batch.entries[i].what);
        hostlist_parse(c->batch.entries[i].nodes, &f->changed[i], NULL);
    }
    f->view = (struct commit_view){
        .revision = c->revision, .batch = c->batch, .kinds = f->kinds, .changed = f->changed};
    return f;
}

void followed_destroy(struct followed *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->change->batch.n_entries; i++)
        hostlist_fini(&f->changed[i]);
    change_destroy(f->change);
    free(f->kinds);
    free(f->changed);
    free(f);
}

void telling_begin(struct telling *t, const struct commit_view *of)
{
    *t = (struct telling){.of = *of};
}

void telling_end(struct telling *t)
{
    followed_destroy(t->followed);
    *t = (struct telling){0};
}

bool telling_next(struct telling *t, const struct committer_events *events)
{
    LOOP_DOES("what follows from a commit");
    const struct commit_view *v = &t->of;
    size_t i = t->entry, at = t->told;
    if (i == v->batch.n_entries)
        return false;
    const struct committed c = {v->kinds[i], &v->batch.entries[i], &v->changed[i], v->revision};
    if (at == 0)
        events->on_entry(events->arg, &c);
    size_t left = v->changed[i].n - at;
    struct hostlist some = {.names = v->changed[i].names + at,
                            .n = left < TOLD_AT_ONCE ? left : TOLD_AT_ONCE};
    if (some.n)
        events->on_changed(events->arg, &some);
    t->told += some.n;
    if (some.n == left) {
        t->entry++;
        t->told = 0;
    }
    return true;
}
