/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_GOLDEN_TEST_H
#define FETTLE_API_GOLDEN_TEST_H

#include "base/text.h"

/* Compares text with test/data/api/NAME and fails the test when they differ. With FETTLE_GOLDEN=write
 * in the environment, writes it there instead: read the difference before you commit it. */
void golden_check(const char *name, const struct text *text);

#endif
