/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_BEGUN_H
#define FETTLE_STORE_BEGUN_H

#include "base/err.h"

/*
 * The note that a state was begun in a directory. It lies outside that directory, in DIR-begun/state, so that
 * it is still there when the whole directory was removed, or when the disk that belongs there is not mounted.
 * A person who means to begin anew removes it.
 */

/* The path of the note, to be freed; NULL when there is none. */
char *begun_find(const char *dir);

/* Makes the note, durably, when there is none; also DIR-begun, when its parent lets it. */
int begun_note(const char *dir, struct err *e);

#endif
