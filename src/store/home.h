/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_HOME_H
#define FETTLE_STORE_HOME_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The directory of an embedded store: which process may use it, and whether it has, or had, a state.
 *
 *   state.db      the database, complete from the moment it has this name
 *   journal.db    the older entries of the journal, once there are many
 *   *.db.new      a database being made; nobody was told of it, so it is made again
 *   restore.unfinished  a copy is being put here; the directory was empty before
 *   state.lock    locked by the one process that uses the directory. Its text is the mark: the last
 *                 term and revision that were known to be durable. A state that is missing or older
 *                 than its mark has lost something. To go on without the lost data, remove this file.
 *
 * DIR-begun/state, outside the directory, says that a state was begun in it (begun.h).
 */

/* An open file, as stat(2) identifies it. */
struct home_file {
    dev_t device;
    ino_t inode;
};

enum home_db { HOME_STATE, HOME_JOURNAL, HOME_DBS };
enum { HOME_FILES = 5 };

struct home {
    char *db;              /* the path of state.db */
    char *journal;         /* the path of journal.db */
    char *fresh[HOME_DBS]; /* paths of databases being made */
    char *dir;
    bool has_journal;                   /* journal.db exists */
    struct home_file files[HOME_FILES]; /* the first n_files are watched since home_watch */
    size_t n_files;
    int dir_fd;
    int lock_fd;
    bool marked; /* a mark was found, with this term and revision */
    uint64_t term;
    uint64_t revision;
};

/* Makes the directory if needed (mode 0700; its parent must exist), takes the lock, and says in *found
 * whether there is a state. -EBUSY: another process has the lock; -EILSEQ: the state is gone, empty or not a
 * state, or the mark cannot be read; else -errno. h needs home_fini only after 0. */
int home_init(struct home *h, const char *dir, bool *found, struct err *e);
void home_fini(struct home *h);

/* Makes the directory if needed and takes the lock, for a state that is put there from a copy. The directory
 * has to be empty, but for what an unfinished attempt left, which is removed. The mark says that there was a
 * state, until home_publish: nothing else begins one here. -EBUSY: another process has the lock; -EEXIST: the
 * directory has files, and nothing was changed; -EACCES: others may read it; else -errno. */
int home_init_empty(struct home *h, const char *dir, struct err *e);
/* The attempt is over: takes what it has made away again. */
void home_give_up(struct home *h);
/* The state has its name. */
int home_filled(struct home *h, struct err *e);

/* Empties fresh[which] and makes it, mode 0600. */
int home_prepare(struct home *h, enum home_db which, struct err *e);

/* Gives fresh[which], written and synced, its final name, durably. */
int home_publish(struct home *h, enum home_db which, struct err *e);

/* Sets the mark. Call it after the marked revision is durable. The mark itself becomes durable at the
 * kernel's discretion: after a power failure it may lag, but never runs ahead. */
int home_mark(struct home *h, uint64_t term, uint64_t revision, struct err *e);

/* Makes the mark durable. */
int home_sync(struct home *h, struct err *e);

/* Makes it durable that the logs were cut. */
int home_sync_logs(struct home *h, struct err *e);

/* Remembers which files state.db, its log and state.lock are, when all are open; with `journal`, journal.db
 * and its log as well. */
int home_watch(struct home *h, bool journal, struct err *e);

/* -ESTALE when one of these files was removed or replaced since home_watch. */
int home_check(const struct home *h, struct err *e);

#endif
