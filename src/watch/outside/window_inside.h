/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_WINDOW_INSIDE_H
#define FETTLE_WATCH_OUTSIDE_WINDOW_INSIDE_H

#include "watch/view/view.h"

/*
 * Maintenance windows of the scheduler. The state is w->windows.
 */

struct windows {
    size_t n;
    struct window_news {
        char *why; /* NULL: the window is over */
        struct hostlist nodes;
    } * news; /* the windows to be written down at the end of the sweep */
};

#endif
