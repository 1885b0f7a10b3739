/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_PRESENCE_PRESENCE_H
#define FETTLE_WATCH_PRESENCE_PRESENCE_H

#include "watch/presence/shell.h"
#include "watch/view/view.h"

/*
 * Presence: which node is late, which one is silent and goes down, and when too many are silent at once. A
 * member waits in a wheel of ticks for the moment at which its silence means something else. It owns the
 * wheel, and proposes SILENT.
 */

void silence_create(struct watch *w);
void silence_destroy(struct watch *w);
void silence_grow(struct watch *w, size_t from, size_t n); /* as conformity_grow */
/* Something that decides when m falls silent is another: also in each sweep. */
void silence_look(struct watch *w, const struct member *m);
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
/* That m is heard changes when it is looked at next: silence_look is to be called. */
bool silence_heeds(const struct watch *w, const struct member *m);

#endif
