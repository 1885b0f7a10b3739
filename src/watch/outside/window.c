/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maintenance windows of the scheduler. While a node lies in one, somebody works on it, and Fettle does
 * nothing to it. What the scheduler said last counts at once. It is also written down, so that it counts
 * after a restart until the scheduler was read. A failed read changes nothing.
 *
 * When the window is over, a node that waited in a repair goes on. A node in service first goes through
 * provisioning, as far as the budgets allow, unless its checks have all passed on its present boot: the work
 * on it may have left it in any state.
 */
#include "watch/outside/outside.h"
#include "watch/outside/shell.h"
#include "watch/outside/window_inside.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/view.h"

#include <stdlib.h>
#include <string.h>

static const char by[] = "Slurm";

void watch_window(struct watch *w, struct member *m, const char *why)
{
    struct observed *o = watch_of(w, m);
    bool was = window_of(w, m) != NULL;
    if (!o->window_known || (o->window ? !why || strcmp(o->window, why) != 0 : why != NULL)) {
        free(o->window);
        o->window = mem_dup(why);
        watch_touch(w, m, ASPECT_OUTSIDE);
    }
    o->window_known = true;
    if (was == (why != NULL))
        return;
    if (was)
        o->freed = watch_awake(w, w->last_tick);
    row_refresh(w, m);
    health_changed(w, m);
}

/* Notes m under the name of its window until the end of the sweep. */
static void window_note(struct watch *w, const struct member *m, const char *why)
{
    struct windows *all = w->windows;
    size_t i = 0;
    while (i < all->n &&
           !(why && all->news[i].why ? strcmp(why, all->news[i].why) == 0 : why == all->news[i].why))
        i++;
    if (i == all->n) {
        all->news = mem_grow(all->news, (all->n + 1) * sizeof *all->news);
        all->news[all->n++] = (struct window_news){.why = mem_dup(why)};
    }
    hostlist_add(&all->news[i].nodes, m->name);
}

bool window_look(struct watch *w, const struct member *m)
{
    const struct observed *o = watch_of(w, m);
    const struct maintenance *is = member_window(m);
    const char *why = m->listed ? o->window : NULL;
    if (!o->window_known || (why ? is && strcmp(is->why, why) == 0 : !is))
        return false;
    window_note(w, m, why);
    return !why && m->listed;
}

void windows_end_sweep(struct watch *w)
{
    for (size_t i = 0; i < w->windows->n; i++) {
        const struct window_news *news = &w->windows->news[i];
        w->sink.propose(
            w->sink.arg,
            &(struct command){.kind = COMMAND_WINDOW, .nodes = &news->nodes, .window = {by, news->why}});
    }
    windows_destroy(w);
}

void windows_destroy(struct watch *w)
{
    for (size_t i = 0; i < w->windows->n; i++) {
        free(w->windows->news[i].why);
        hostlist_fini(&w->windows->news[i].nodes);
    }
    free(w->windows->news);
    *w->windows = (struct windows){0};
}
