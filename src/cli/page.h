/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_PAGE_H
#define FETTLE_CLI_PAGE_H

#include "base/text.h"

#include <stdbool.h>

/*
 * What is longer than the terminal is shown a page at a time, by the program in PAGER; less without.
 */

/* True when it was shown so. False when standard output is no terminal or has room for it, PAGER is empty or
 * "cat", or there is no such program: the caller writes the text then. */
bool page_show(const struct text *out);

#endif
