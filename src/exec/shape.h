/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_EXEC_SHAPE_H
#define FETTLE_EXEC_SHAPE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Which calls of Slurm's programs there are: every word is one that slurm.tbl has, or of a kind that it
 * names.
 */

/* words, n of them and NULL behind the last, begin with the program's name. 0, and whether it may change
 * anything; -EPERM for a call that is none of the table. */
int shape_check(const char *const *words, size_t n, bool *changes, struct err *e);

#endif
