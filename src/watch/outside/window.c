/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maintenance windows that the scheduler keeps: while a node lies in one, somebody works on it, and Fettle
 * keeps its hands off. What the scheduler said last counts at once; it is written down so that it counts
 * after a restart, too, until the scheduler was read. What could not be read changes nothing.
 *
 * When it is over, a node that waited in a repair goes on. One that is in service goes through provisioning
 * first, as far as the budgets go, where its checks have not all passed on its present boot: whoever worked
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
    o->window_known = true;
    if (!o->window || !why || strcmp(o->window, why) != 0) {
        free(o->window);
        o->window = mem_dup(why);
    }
    if (was == (why != NULL))
        return;
    if (was)
        o->freed = watch_awake(w, w->last_tick);
    row_refresh(w, m);
    health_changed(w, m);
}

/* Nodes that call for the same words, until the end of the sweep. */
static void window_note(struct watch *w, const struct member *m, const char *why)
{
    if (!w->windows->news)
        w->windows->news = json_object();
    json_t *nodes = json_object_get(w->windows->news, why ? why : "");
    if (!nodes) {
        nodes = json_array();
        json_object_set_new(w->windows->news, why ? why : "", nodes);
    }
    json_array_append_new(nodes, json_string(m->name));
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
    CLEANUP_JSON json_t *all = STEAL(w->windows->news);
    const char *why;
    json_t *names, *name;
    size_t i;
    json_object_foreach (all, why, names) {
        CLEANUP_HOSTLIST struct hostlist nodes = {0};
        CLEANUP_JSON json_t *set = json_pack("{s:s,s:s?}", "by", by, "why", *why ? why : NULL);
        CLEANUP_FREE char *text = json_write(set);
        json_array_foreach (names, i, name)
            hostlist_add(&nodes, json_string_value(name));
        w->sink.propose(w->sink.arg, &(struct command){.kind = COMMAND_WINDOW, .nodes = &nodes, .set = text});
    }
}

void windows_destroy(struct watch *w)
{
    json_decref(w->windows->news);
}
