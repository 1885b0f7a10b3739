/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_ACT_H
#define FETTLE_HEALTH_ACT_H

#include "health/result.h"

#include <stdbool.h>

/*
 * What a line of the kernel log asks for (act.tbl): from nothing, over a reset of the device and a reboot of
 * the node, to the replacement of hardware.
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
/* What it comes to where the tables say nothing else. */
enum result act_result(enum act a);
/* What ends a finding that asks for it: that nothing more is said of it; a remedy too, or another boot; or
 * another boot alone. */
enum act_end { ACT_ENDS_TIME, ACT_ENDS_REMEDY, ACT_ENDS_BOOT };
enum act_end act_end(enum act a);

#endif
