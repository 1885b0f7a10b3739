/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_PRESENCE_PRESENCE_H
#define FETTLE_WATCH_PRESENCE_PRESENCE_H

#include "watch/presence/shell.h"
#include "watch/view/view.h"

/*
 * Presence: which nodes are late, which are silent and go down, and when too many are silent at once. A
 * member waits in a wheel of ticks for the moment at which its silence reaches the next threshold. This room
 * owns the wheel, and proposes SILENT.
 */

void silence_create(struct watch *w);
void silence_destroy(struct watch *w);
void silence_grow(struct watch *w, size_t from, size_t n); /* as conformity_grow */
/* Something changed that decides when m falls silent. Also called in each sweep. */
void silence_look(struct watch *w, const struct member *m);
/* In each tick: takes down the nodes that were found silent in earlier ticks. */
void silence_tick(struct watch *w, struct mono now);
/* Looks at members that are due, `nodes` at most. Returns at how many it looked. */
size_t silence_step(struct watch *w, struct mono now, size_t nodes);
/* m was late or silent and is heard again: the event stream is told. */
void silence_ended(struct watch *w, const struct member *m);
bool silence_is_mass(const struct watch *w); /* the alarm of mass silence stands */
/* Since when the alarm does not stand; at first, when the watch began. */
struct mono silence_calm(const struct watch *w);
/* Judges mass silence. */
void silence_end_sweep(struct watch *w);
/* Whether a heartbeat of m changes when it is looked at next: then silence_look has to be called. */
bool silence_heeds(const struct watch *w, const struct member *m);

#endif
