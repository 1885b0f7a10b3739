/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_WINDOW_INSIDE_H
#define FETTLE_WATCH_OUTSIDE_WINDOW_INSIDE_H

#include "watch/view/view.h"

/*
 * Maintenance windows that the scheduler keeps. Its state is w->windows.
 */

struct windows {
    json_t *news; /* by their words, nodes of which it is to be written down; NULL for none */
};

#endif
