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

struct machines {
    json_t *news; /* machines that are to be written down at the end of the sweep; NULL for none */
};

#endif
