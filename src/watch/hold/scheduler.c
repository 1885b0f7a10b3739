/* SPDX-License-Identifier: Apache-2.0 */
/* What the scheduler says about a node: the work on it, and whether it gets new work. */
#include "watch/hold/shell.h"
#include "watch/view/observed.h"
#include "watch/view/view.h"

void watch_scheduler(struct watch *w, struct member *m, enum work work, bool completing)
{
    struct observed *o = watch_of(w, m);
    enum work is = completing && work != WORK_UNKNOWN ? WORK_BUSY : work;
    if (o->scheduler && o->scheduled == is)
        return;
    o->scheduler = true;
    o->scheduled = is;
    watch_touch(w, m, ASPECT_OUTSIDE);
    row_refresh(w, m);
    if (member_repair(m))
        health_changed(w, m);
}

void watch_scheduler_word(struct watch *w, struct member *m, const struct scheduler_word *says)
{
    scheduler_word_set(&watch_of(w, m)->word, says);
    watch_touch(w, m, ASPECT_OUTSIDE);
}

void watch_slurmd(struct watch *w, struct member *m, enum slurmd is)
{
    struct observed *o = watch_of(w, m);
    if (o->slurmd != is)
        watch_touch(w, m, ASPECT_OUTSIDE);
    o->slurmd = is;
}

void watch_away(struct watch *w, struct member *m, bool away)
{
    struct observed *o = watch_of(w, m);
    if (o->away != away)
        watch_touch(w, m, ASPECT_OUTSIDE);
    o->away = away;
}

void watch_unscheduled(struct watch *w, struct member *m)
{
    struct observed *o = watch_of(w, m);
    if (!o->scheduler)
        return;
    o->scheduler = o->away = false;
    o->slurmd = SLURMD_UNKNOWN;
    scheduler_word_fini(&o->word);
    elsewhere_set(&o->elsewhere[ELSEWHERE_SLURM].is, &(struct elsewhere){0});
    watch_touch(w, m, ASPECT_OUTSIDE);
    row_refresh(w, m);
    if (member_repair(m))
        health_changed(w, m);
}
