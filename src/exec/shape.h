/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_EXEC_SHAPE_H
#define FETTLE_EXEC_SHAPE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The permitted calls of Slurm's programs: every word is in slurm.tbl, or of a kind that slurm.tbl names.
 */

/* Checks n words, followed by NULL, which begin with the program's name. 0, and whether the call may change
 * anything; -EPERM for a call that is not in the table. */
int shape_check(const char *const *words, size_t n, bool *changes, struct err *e);

#endif
