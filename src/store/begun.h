/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_BEGUN_H
#define FETTLE_STORE_BEGUN_H

#include "base/err.h"

/*
 * The note that a state was begun in a directory. It lies outside that directory, in DIR-begun/state, so that
 * it is still there when the whole directory was removed, or when its disk is not mounted. To begin anew on
 * purpose, remove the note.
 */

/* The path of the note, which the caller frees; NULL when there is none. */
char *begun_find(const char *dir);

/* Makes the note, durably, unless it exists; also DIR-begun, when its parent permits. */
int begun_note(const char *dir, struct err *e);

#endif
