/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_WINDOW_INSIDE_H
#define FETTLE_WATCH_WINDOW_INSIDE_H

#include "watch/watch.h"

/*
 * Maintenance windows that the scheduler keeps. Its state is w->windows.
 */

/* The maintenance window of the scheduler's that m lies in, in words: hands off. NULL: in none. Borrowed. */
const char *window_of(const struct watch *w, const struct member *m);
/* In each sweep, for every member: notes what is to be written down. */
void window_look(struct watch *w, struct mono now, const struct member *m);
void windows_end_sweep(struct watch *w);
void windows_destroy(struct watch *w);

struct windows {
    json_t *news; /* by their words, nodes of which it is to be written down; NULL for none */
};

#endif
