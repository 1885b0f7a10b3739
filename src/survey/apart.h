/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_SURVEY_APART_H
#define FETTLE_SURVEY_APART_H

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "survey/notes.h"

#include <stddef.h>

/*
 * Work that may hang, in a forked child of its own, with a deadline. The caller waits for it: this is
 * for a process that may wait (the one that reads a survey), not for a loop.
 *
 * The child is killed with all that it started (probe/keeper.h). Its standard output is what it says; its
 * input and its errors are /dev/null, and of the parent's other descriptors it has `keep` alone. One that the
 * kernel does not let go of is left behind.
 */

typedef void apart_fn(void *arg);

/* Runs work in a child and appends its output to out, also when it fails: output before the failure
 * counts. 0 when it ended by itself with status 0; else with a sentence -EIO (status, signal), or as
 * keeper_run. keep: a descriptor, or -1. */
int apart_run(int keep, struct span deadline, size_t limit_bytes, apart_fn *work, void *arg, struct text *out,
              struct err *e);

/* For work that says notes: a line for each, "NAME=VALUE", "NAME-" (absent) or "NAME?WHY". Names are
 * without blanks and those three signs. Each line is written at once. */
void apart_say(const char *name, enum component_state state, const char *value);
/* Reads whole lines of that form and skips others. */
void apart_take(const struct text *said, struct notes *into);

/* Both: runs work and takes its notes. why: the reason to give for missing notes. */
void apart_notes(int keep, struct span deadline, apart_fn *work, void *arg, struct notes *into,
                 struct err *why);

#endif
