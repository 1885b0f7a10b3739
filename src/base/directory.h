/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_DIRECTORY_H
#define FETTLE_BASE_DIRECTORY_H

/* Removes the directory `name` in the directory `at` (AT_FDCWD: the present one), and the files in it. A link
 * is not followed, and a directory in it stays. 0, or -errno; -ENOENT: there is none. */
int directory_remove(int at, const char *name);

#endif
