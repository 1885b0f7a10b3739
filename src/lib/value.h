/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LIB_VALUE_H
#define FETTLE_LIB_VALUE_H

#include "base/err.h"
#include "fettle.h"

#include <stddef.h>

/*
 * The JSON of an answer as the values of fettle.h: read strictly, in one pass, in place.
 */

enum { VALUE_DEPTH_MAX = 32 };

/* Takes over `bytes` (from malloc, with room for one more byte than len), even when it fails. -EPROTO with a
 * sentence when they are not one JSON object or array of valid UTF-8, nest deeper than VALUE_DEPTH_MAX, or
 * hold a zero character; -ENOMEM. */
int answer_read(char *bytes, size_t len, struct fettle_answer **out, struct err *e);

#endif
