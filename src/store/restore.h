/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_RESTORE_H
#define FETTLE_STORE_RESTORE_H

#include "store/store.h"

/*
 * A copy of a store (store_copy) that no process has open: what it says of itself, and how it becomes the
 * state of a directory again.
 */

/* What the copy's state.db says. */
struct restore_look {
    uint64_t term, revision;
};

/* Reads the state.db at this path without changing it. `fn` gets every record of a copy in the present
 * format, which is checked as at a start; of an older one only the term and the revision are read. -EILSEQ:
 * it is damaged, no state, or of a newer format; else -errno. */
int restore_look(const char *path, store_record_fn *fn, void *arg, struct restore_look *out, struct err *e);

/* A directory that is to get a state. */
struct restore;

/* Makes the directory if needed (its parent must exist), and takes its lock. -EBUSY: a controller has it;
 * -EEXIST: it is not empty, and is left alone; -EACCES: others may read it; else -errno. */
int restore_begin(const char *dir, struct restore **out, struct err *e);

/* Makes the file NAME, mode 0600, of the owner of the directory. The caller writes and closes *fd. Names are
 * state.db, journal.db, ca.pem and ca.key. */
int restore_file(struct restore *r, const char *name, int *fd, struct err *e);

/* All files are written and synced. Checks the state as at a start, commits the batch as its next revision
 * under the given term, and gives it its name, last and durably. After an error, restore_close takes
 * everything away. */
int restore_end(struct restore *r, uint64_t term, const struct store_batch *b, uint64_t *revision,
                struct err *e);

/* Frees; without restore_end before, the directory is empty again. */
void restore_close(struct restore *r);

#endif
