/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_HOME_H
#define FETTLE_STORE_HOME_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The directory of an embedded store: who may be in it, and whether there is, or was, a state.
 *
 *   state.db      the database, complete from the moment it has this name
 *   journal.db    the older entries of the journal, once there were many
 *   *.db.new      a database being made; nobody was told of it, so it is made again
 *   state.lock    locked by the one process that uses the directory. Its text is the mark: the last
 *                 term and revision that were known to be durable. A state that is missing or stands
 *                 before its mark has lost something, and whoever wants to go on all the same says
 *                 so by removing this file.
 *
 * DIR-begun/state, outside the directory, says that a state was begun in it (begun.h).
 */

/* A file that is open, as stat(2) knows it. */
struct home_file {
    dev_t device;
    ino_t inode;
};

enum home_db { HOME_STATE, HOME_JOURNAL, HOME_DBS };
enum { HOME_FILES = 5 };

struct home {
    char *db;              /* path of state.db */
    char *journal;         /* path of journal.db */
    char *fresh[HOME_DBS]; /* of what is being made */
    char *dir;
    bool has_journal;                   /* there is a journal.db */
    struct home_file files[HOME_FILES]; /* the first n_files are open, since home_watch */
    size_t n_files;
    int dir_fd;
    int lock_fd;
    bool marked; /* a mark was found, with this term and revision */
    uint64_t term;
    uint64_t revision;
};

/* Makes the directory when it is not there (mode 0700; its parent must be), takes the lock, and says
 * in *found whether there is a state. -EBUSY another process has the lock; -EILSEQ the state is gone,
 * empty or something else, or the mark cannot be read; else -errno. h needs home_fini only after 0. */
int home_init(struct home *h, const char *dir, bool *found, struct err *e);
void home_fini(struct home *h);

/* Empties fresh[which] and makes it, mode 0600. */
int home_prepare(struct home *h, enum home_db which, struct err *e);

/* fresh[which], written and synced, gets its name, durably. */
int home_publish(struct home *h, enum home_db which, struct err *e);

/* Sets the mark, after the fact that it marks is durable. The mark itself becomes durable when the
 * kernel likes: it lags after a power failure and never runs ahead. */
int home_mark(struct home *h, uint64_t term, uint64_t revision, struct err *e);

/* Makes the mark durable. */
int home_sync(struct home *h, struct err *e);

/* Makes it durable that the logs were cut. */
int home_sync_logs(struct home *h, struct err *e);

/* Remembers which files state.db, its log and state.lock are, when all are open; with `journal`, journal.db
 * and its log as well. */
int home_watch(struct home *h, bool journal, struct err *e);

/* -ESTALE when one of them was removed or replaced since home_watch. */
int home_check(const struct home *h, struct err *e);

#endif
