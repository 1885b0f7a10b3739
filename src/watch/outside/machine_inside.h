/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_MACHINE_INSIDE_H
#define FETTLE_WATCH_OUTSIDE_MACHINE_INSIDE_H

#include "watch/view/view.h"

/*
 * Which machine has a node's name. The state is w->machines.
 */

struct machines {
    size_t n;
    struct machine_noted {
        const struct member *m;
        struct machine_news is;
    } * news; /* the machines to be written down at the end of the sweep */
};

#endif
