/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_MACHINE_INSIDE_H
#define FETTLE_WATCH_MACHINE_INSIDE_H

#include "watch/watch.h"

/*
 * Which machine answers by a name. Its state is w->machines.
 */

/* In each sweep, for a listed member: notes which machine it is, and proposes what follows from another one.
 */
void machine_look(struct watch *w, struct mono now, const struct member *m);
void machines_end_sweep(struct watch *w);
void machines_destroy(struct watch *w);
/* False while a machine is recorded, and this session's inventory is not here. */
bool machine_seen(const struct watch *w, const struct member *m);
/* -EAGAIN while it is not known that the machine that answers is the recorded one, or when it is another. 0
 * also when nothing tells it from others: nothing follows from that. */
int machine_check(const struct watch *w, const struct member *m, struct err *e);
/* The surest name of the machine that answers; NULL while it is unknown. Borrowed. */
const char *machine_here(const struct watch *w, const struct member *m);
/* Whether the machine that answers had the name already, now or before; also when that is not known any more,
 * because as many had it since as are remembered. */
bool machine_may_be_known(const struct watch *w, const struct member *m);

struct machines {
    json_t *news; /* machines that are to be written down at the end of the sweep; NULL for none */
};

#endif
