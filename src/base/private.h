/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_PRIVATE_H
#define FETTLE_BASE_PRIVATE_H

#include "base/err.h"

/*
 * Checks that keys and state on the disk belong to this process alone. A daemon checks at its start and
 * refuses to run otherwise: a key that others could read is no longer a secret, and a file that others could
 * write cannot be trusted. The sentence has the command that repairs it.
 */

enum private_access {
    PRIVATE_TO_READ = 077, /* nobody else may read or write it: keys, state */
    PRIVATE_TO_WRITE = 022 /* others may read it: certificates, directories */
};

/* 0 when the file or directory belongs to this process's user or to root, and its mode, which includes the
 * mask of an access list, gives nobody else this access. Links are followed. -EACCES when it does not; -errno
 * when it cannot be looked at. */
int private_check(const char *path, enum private_access access, struct err *e);

/* Opens a file with a secret for reading, if nobody else may read or write it. The descriptor itself is
 * judged, so that no other file can come in between. Returns the descriptor, which the caller closes; -EACCES
 * as private_check, -EINVAL for what is not a file, -errno when it cannot be opened. */
int private_open(const char *path, struct err *e);

/* Like private_check, for a directory and the files directly in it. Nobody else may write the directory, or
 * read or write a file. Exceptions: others may read files whose name, without a final ".new", matches one of
 * the fnmatch(3) patterns in the NULL-terminated list `readable`. Sockets and other special files are
 * skipped. 0 for a directory that does not exist. */
int private_check_dir(const char *dir, const char *const *readable, struct err *e);

#endif
