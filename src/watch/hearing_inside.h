/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEARING_INSIDE_H
#define FETTLE_WATCH_HEARING_INSIDE_H

#include "watch/view/view.h"
#include "watch/watch.h"

/*
 * The results of checks that nodes send. The state is w->hearing.
 */

struct hearing {
    char list[CHECKLIST_HASH_BYTES_MAX +
              1]; /* the hash of the check list that agents get; "" when it is not known */
};

#endif
