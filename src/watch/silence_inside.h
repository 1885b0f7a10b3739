/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_SILENCE_INSIDE_H
#define FETTLE_WATCH_SILENCE_INSIDE_H

#include "watch/watch.h"

/*
 * Silence: who is late, who goes down, and when too many are silent at once. Its state is w->silence.
 */

enum { DUE_TICKS = 1024, DUE_NONE = -1 };

/* When a member is looked at next, and how it counts for the alarm. */
struct due {
    int64_t tick;        /* DUE_NONE: not by itself */
    uint32_t prev, next; /* of those of the same tick, modulo DUE_TICKS; UINT32_MAX: none */
    bool watched, quiet;
    bool fallen; /* it is among those that are to be taken down */
};

struct silence {
    struct due *due;           /* by member id */
    uint32_t wheel[DUE_TICKS]; /* the first member of each; UINT32_MAX: none */
    int64_t tick;              /* the last that came, */
    int64_t ticked;            /* and the last whose members are looked at */
    bool round;                /* it is time to tell, once all are looked at */
    size_t watched, quiet;     /* for the alarm: in service, and of them not heard of late */
    size_t n_fallen, fallen_cap;
    uint32_t *fallen;           /* members to be taken down, found in ticks before */
    struct hostlist late, live; /* to be told */
    bool alarm;                 /* of mass silence */
    struct mono calm; /* when the last one ended: nobody is taken down for a full window from then */
    size_t alarm_quiet, alarm_watched; /* as it began, or changed */
};

void silence_create(struct watch *w);
void silence_destroy(struct watch *w);
void silence_grow(struct watch *w, size_t from, size_t n); /* as conformity_grow */
/* Something that decides when m falls silent is another: also in each sweep. */
void silence_look(struct watch *w, const struct member *m);
/* That m is heard changes when it is looked at next: silence_look is to be called. */
static inline bool silence_heeds(const struct silence *s, const struct member *m)
{
    return s->due[m->id].tick == DUE_NONE || s->due[m->id].quiet;
}
/* In each tick: has taken down who was found silent in ticks before. */
void silence_tick(struct watch *w, struct mono now);
/* Looks at so many at most of those that are due, and returns at how many it did. */
size_t silence_step(struct watch *w, struct mono now, size_t nodes);
/* m, which was late or silent, is heard again: the event stream is told. */
void silence_ended(struct watch *w, const struct member *m);
bool silence_is_mass(const struct watch *w); /* the alarm of mass silence stands */
/* Since when it does not; at first, when the watch began. */
struct mono silence_calm(const struct watch *w);
/* Judges mass silence. */
void silence_end_sweep(struct watch *w);

#endif
