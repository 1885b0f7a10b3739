/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_GOLDEN_TEST_H
#define FETTLE_HEALTH_GOLDEN_TEST_H

#include "base/text.h"

/*
 * Files under test/data/health that have what goes in and what comes out together: play is given the file,
 * writes what goes in as it stands and what comes out anew, and both are compared. With FETTLE_GOLDEN=write
 * the file is written instead.
 */
typedef void play_fn(char *file, struct text *out);
void golden_play(const char *name, play_fn *play);

#endif
