/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HOLD_HOLD_H
#define FETTLE_WATCH_HOLD_HOLD_H

#include "watch/hold/shell.h"
#include "watch/view/view.h"

/*
 * Whether somebody other than Fettle holds a node, and what the scheduler says about its work. This room owns
 * the list of what is to be read again before something is done to a node. Nothing destructive is done to a
 * node that somebody holds.
 */

/* Whether, as far as is known, only Fettle holds m: 0, or -EAGAIN with the holder. Asked before anything
 * destructive. */
int held_check(const struct watch *w, const struct member *m, struct err *e);
/* The same right before something is done to m; `now` is the clock's time. -ESTALE: the scheduler has to be
 * read first. */
int held_check_now(struct watch *w, struct mono now, const struct member *m, struct err *e);
/* Only the last part: -ESTALE when a system that knows about holds or work on m has to be read first. */
int held_read_now(struct watch *w, struct mono now, const struct member *m, struct err *e);
/* Notes in f what other systems say about new work on m. */
void held_fitness(const struct watch *w, const struct member *m, struct fitness *f);
/* Somebody holds m in the scheduler, in OpenCHAMI or at its BMC. */
bool held_elsewhere(const struct watch *w, const struct member *m);
/* Somebody holds m, works on it, or has set it aside in its repair. */
bool is_somebodys(const struct watch *w, const struct member *m);
/* Has OpenCHAMI read for m when that is due. */
void held_look(struct watch *w, struct mono now, const struct member *m);
void held_create(struct watch *w);
void held_destroy(struct watch *w);

#endif
