/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HOLD_HELD_INSIDE_H
#define FETTLE_WATCH_HOLD_HELD_INSIDE_H

#include "watch/view/view.h"

/*
 * Whether somebody other than Fettle holds a node. The state is w->held.
 */

struct held {
    bool unread; /* for some node the holds are to be read again */
};

#endif
