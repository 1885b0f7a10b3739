/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_ACT_H
#define FETTLE_HEALTH_ACT_H

#include "health/result.h"

#include <stdbool.h>

/*
 * The action that a line of the kernel log calls for (act.tbl): from nothing, over a reset of the device and
 * a reboot of the node, to the replacement of hardware.
 */

enum act {
#define ACT(symbol, name, result, ends, what) ACT_##symbol,
#include "health/act.tbl"
#undef ACT
    ACTS
};
const char *act_name(enum act a);
const char *act_what(enum act a);
bool act_parse(const char *name, enum act *out);
/* The result of a line with this action, where the tables do not give another. */
enum result act_result(enum act a);
/* How a finding with this action ends: when it is no longer reported; by a remedy or another boot as well; or
 * by another boot only. */
enum act_end { ACT_ENDS_TIME, ACT_ENDS_REMEDY, ACT_ENDS_BOOT };
enum act_end act_end(enum act a);

#endif
