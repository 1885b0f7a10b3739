/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_PRIVATE_H
#define FETTLE_BASE_PRIVATE_H

#include "base/err.h"

/*
 * Whether keys and state on the disk are this process's own. A daemon asks this at its start and refuses to
 * run when they are not: what others could read is no secret any more, and what others could write is not to
 * be believed. The sentence has the command that mends it.
 */

enum private_access {
    PRIVATE_TO_READ = 077, /* nobody else may read or write it: keys, state */
    PRIVATE_TO_WRITE = 022 /* others may read it: certificates, directories */
};

/* 0 when the file or directory belongs to this process's user or to root, and its mode, which includes the
 * mask of an access list, gives nobody else this access. Links are followed. -EACCES when it does not; -errno
 * when it cannot be looked at. */
int private_check(const char *path, enum private_access access, struct err *e);

/* The same for a directory and the files in it, not below it: nobody else may write the directory, or read or
 * write a file; files whose name, without a ".new" at its end, matches one of the patterns of fnmatch(3) (a
 * list that ends with NULL) may be read. Sockets and other special files are not looked at. A directory that
 * does not exist is all right.
 */
int private_check_dir(const char *dir, const char *const *readable, struct err *e);

#endif
