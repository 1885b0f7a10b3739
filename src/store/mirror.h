/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_MIRROR_H
#define FETTLE_STORE_MIRROR_H

#include "store/change.h"
#include "store/store.h"

/*
 * The journal of a store that several controllers share, as one of them has it on its own disk
 * (doc/adr/0073). It is fed with commits in their order, and knows up to which revision it has them all. The
 * files are those of the embedded engine, without records of the state.
 *
 * It is no promise to anybody: the shared store has each commit. So commits are not synced one by one, and a
 * mirror that lags after a power failure is fed again. One that is damaged, of another state, or ahead of the
 * shared store is moved aside (to DIR-aside) and begun anew.
 *
 * Calls block, and come one at a time.
 */

struct mirror;

/* Revisions whose entries it could not get. */
struct mirror_gap {
    uint64_t from, to; /* 0: none */
};

/* A mirror in the directory, which is not opened yet, of the store with this id. */
struct mirror *mirror_create(const char *dir, const char *of);
void mirror_destroy(struct mirror *m);

/* Opens it, and makes it when there is none. The store stands at `head`. One that is open is left alone.
 * *anew: why the one that was there was moved aside; code 0: it was not. -ENOSPC, -EACCES, -EBUSY: it cannot
 * be opened now; try again. */
int mirror_open(struct mirror *m, uint64_t head, struct err *anew, struct err *e);
/* Moves it aside, for this reason, and opens a new one. Errors as in mirror_open. */
int mirror_renew(struct mirror *m, const struct err *why, struct err *e);

/* For reading and for store_tidy, until the next call; NULL while it is not open. */
struct store *mirror_store(struct mirror *m);

/* Everything up to this revision is there, but for what is missing or was not kept. */
uint64_t mirror_revision(const struct mirror *m);
struct mirror_gap mirror_missing(const struct mirror *m);

/* Adds the entries of commits, oldest first. Those that it has already are skipped. Revisions between the
 * last that it has and the first of the list are missing from then on. After an error nothing was added:
 * -ENOSPC the disk is full; after any other it is not open any more. */
int mirror_add(struct mirror *m, const struct store_change *list, struct err *e);

/* Makes of a copy of the mirror in this directory (store_copy) one of the whole store: with all its records,
 * and this term. -errno: the copy is of no use. */
int mirror_complete(const char *dir, uint64_t term, const struct store_op *records, size_t n, struct err *e);

/* Whether the newest entries are those of this commit, as the store has them. True as well when it has
 * another newest revision. */
bool mirror_is(struct mirror *m, const struct store_change *c);

#endif
