/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_PAGE_H
#define FETTLE_CLI_PAGE_H

#include "base/text.h"

#include <stdbool.h>

/*
 * Shows text that is longer than the terminal a page at a time, with the program in PAGER; less without.
 */

/* True when it was shown. False when standard output is not a terminal or has room for it, PAGER is empty or
 * "cat", or the program is missing: the caller then writes the text. */
bool page_show(const struct text *out);

#endif
