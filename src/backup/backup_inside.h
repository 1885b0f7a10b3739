/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BACKUP_BACKUP_INSIDE_H
#define FETTLE_BACKUP_BACKUP_INSIDE_H

#include "backup/backup.h"

#include <sys/types.h>

/* Directories of backups (shelf.c), below everything else of this folder. */

#define BACKUP_UNFINISHED "unfinished"

/* "DIR/NAME"; the caller frees it. */
char *shelf_path(const char *dir, const char *name);
/* -errno with "PATH: why". */
int shelf_failed(const char *path, struct err *e);
/* Opens and locks a directory of backups; both are the caller's to close. */
int shelf_open(const char *directory, int *dir, int *lock, struct err *e);
/* Removes a directory that has files alone, durably. -errno; nothing to remove is no error. */
int shelf_remove(int dir, const char *name);
/* Reads the manifest of the backup in the directory `path`. */
int shelf_manifest(const char *path, struct manifest *m, struct err *e);
/* As backup_retain. */
int shelf_retain(int dir, const char *directory, const char *cluster, size_t keep, struct err *e);
/* Removes what killed processes left. */
int shelf_tidy(int dir, const char *directory, struct err *e);

/* Writes all that `from` has to `to`, from where they stand, and syncs it. -errno. */
int shelf_copy(int from, int to);

#endif
