/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HOLD_HOLD_H
#define FETTLE_WATCH_HOLD_HOLD_H

#include "watch/hold/shell.h"
#include "watch/view/view.h"

/*
 * Whether somebody other than Fettle holds a node, and what the scheduler says runs there. It owns what is to
 * be read again before something is done to a node. Nothing destructive is done to a node that somebody
 * holds.
 */

/* Whether nobody but Fettle holds m, as far as is known: 0, or -EAGAIN with who does. Asked before anything
 * destructive. */
int held_check(const struct watch *w, const struct member *m, struct err *e);
/* The same right before it is acted on, `now` being the clock's; -ESTALE: the scheduler has to be read first.
 */
int held_check_now(struct watch *w, struct mono now, const struct member *m, struct err *e);
/* The latter alone: -ESTALE where somebody who can say who holds it, or what runs on it, is to be read first.
 */
int held_read_now(struct watch *w, struct mono now, const struct member *m, struct err *e);
/* Says in f what others say of m for new work. */
void held_fitness(const struct watch *w, const struct member *m, struct fitness *f);
/* Somebody holds it, in the scheduler, in OpenCHAMI or at its BMC. */
bool held_elsewhere(const struct watch *w, const struct member *m);
/* Somebody holds it, works on it, or has set it aside in its repair. */
bool is_somebodys(const struct watch *w, const struct member *m);
/* Has OpenCHAMI read of m when that is due. */
void held_look(struct watch *w, struct mono now, const struct member *m);
void held_create(struct watch *w);
void held_destroy(struct watch *w);

#endif
