/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_HEARING_INSIDE_H
#define FETTLE_WATCH_HEARING_INSIDE_H

#include "watch/view/view.h"
#include "watch/watch.h"

/*
 * What nodes tell of their checks. Its state is w->hearing.
 */

struct hearing {
    char list[CHECKLIST_HASH_BYTES_MAX + 1]; /* of the checks as agents are told them; "" not known */
};

#endif
