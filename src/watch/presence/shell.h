/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_PRESENCE_SHELL_H
#define FETTLE_WATCH_PRESENCE_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells ask about silence.
 */

struct watch;

/* True while the alarm of mass silence stands. *silent of *all nodes are silent. */
bool watch_alarm(const struct watch *w, size_t *silent, size_t *all);

#endif
