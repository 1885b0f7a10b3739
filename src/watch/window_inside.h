/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_WINDOW_INSIDE_H
#define FETTLE_WATCH_WINDOW_INSIDE_H

#include "watch/watch.h"

/*
 * Maintenance windows that the scheduler keeps. Its state is w->windows.
 */

/* In each sweep, for every member: notes what is to be written down. True when the window of m, which is
 * listed, is over, and the record does not say so yet. */
bool window_look(struct watch *w, const struct member *m);
void windows_end_sweep(struct watch *w);
void windows_destroy(struct watch *w);

struct windows {
    json_t *news; /* by their words, nodes of which it is to be written down; NULL for none */
};

#endif
