/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BACKUP_BACKUP_H
#define FETTLE_BACKUP_BACKUP_H

#include "backup/manifest.h"

/*
 * Backups of a controller's state. A backup is a directory with a manifest and what a site needs to come
 * back: the state, the older part of the journal, and the authority with its key. A directory of backups has
 * one for each time, named by that time and its revision:
 *
 *   20261126T110000Z-r1234   a backup, complete from the moment it has this name
 *   unfinished               one that is being made, or that was when the process ended
 *   discarded                one that is being removed
 *   lock                     locked by the process that makes or removes one
 *
 * All functions block on the disk, and are called in a worker thread or by a tool.
 */

#define BACKUP_NAME_BYTES_MAX 63

/* One that is being made. */
struct backup;

/* Makes the directory if needed (mode 0700; its parent must exist), locks it, and removes what others left
 * unfinished. -EBUSY: another process has the lock; -EACCES: others may use the directory; else -errno. */
int backup_begin(const char *directory, struct backup **out, struct err *e);
/* Where the copy of the store goes. */
const char *backup_path(const struct backup *b);
/* The store was copied. Adds the authority of `state_dir`, makes the manifest, and gives the backup its name,
 * durably. m has what the manifest says, without its files; afterwards also these. */
int backup_finish(struct backup *b, const char *state_dir, struct manifest *m,
                  char name[static BACKUP_NAME_BYTES_MAX + 1], struct err *e);
/* Removes the oldest backups of this cluster (the origin of its state) until `keep` are left. Others, and
 * what is no backup, stay. */
int backup_retain(struct backup *b, const char *cluster, size_t keep, struct err *e);
/* Unlocks and frees; without backup_finish before, nothing is left of it. */
void backup_close(struct backup *b);

/* A backup in a directory of backups. */
struct backup_entry {
    char name[BACKUP_NAME_BYTES_MAX + 1];
    struct err why; /* its manifest cannot be read; code 0: it can */
    struct manifest manifest;
};
enum { BACKUP_LIST_MAX = 1000 };
/* Those in the directory, the newest first; at most BACKUP_LIST_MAX. Only their manifests are read. The
 * caller frees *out. -ENOENT without the directory, else -errno. */
int backup_list(const char *directory, struct backup_entry **out, size_t *n, struct err *e);

/* Reads all of a backup. -EILSEQ with the first file that is not as the manifest says; -ENOENT: a file is
 * missing; -EACCES: others may read it; else -errno. */
int backup_verify(const char *path, struct manifest *m, struct err *e);

/* Verifies the backup and puts it into the directory of a controller that is not running. The state gets a
 * term above all that the original can have reached, by which agents and controllers know the newer one, and
 * the record backup/restored. Errors of backup_verify and restore_begin; then nothing is in the directory. */
struct backup_restored {
    struct manifest manifest; /* of the backup */
    uint64_t term, revision;  /* of the state from now on */
};
int backup_restore(const char *path, const char *state_dir, const char *actor, struct wall now,
                   struct backup_restored *out, struct err *e);

#endif
