/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_ARCHIVE_TREEFILE_H
#define FETTLE_ARCHIVE_TREEFILE_H

#include "audit/note.h"
#include "audit/tile.h"

/*
 * The tree of a growing log on the disk of its controller, and the key that signs its heads. A directory:
 *
 *   key         the private key (link/notary.h), made with the directory
 *   checkpoint  the head: a signed note. What is behind its size in the other files does not count
 *   places      for each leaf, where its entry is in the journal: revision and place in it
 *   nodes-L     the nodes of tile level L, the 256 hashes of a tile and then those inside of it
 *
 * Leaves are added in memory, and count when treefile_sync returns. A process that ends before finds the tree
 * of the last sync, and adds the same leaves again. One thread adds; others may read at the same time what
 * the head has.
 */

struct treefile;

/* Where an entry is in the journal. */
struct treefile_place {
    uint64_t revision, n;
};

/* Opens the tree in the directory, and makes it, with a key of this name, when there is no directory. Reads
 * the head and the nodes at the tree's end. -EILSEQ when a file is gone, the head is not of this key, or the
 * nodes are not those of the head; else -errno. */
int treefile_open(const char *dir, const char *name, struct treefile **out, struct err *e);
void treefile_close(struct treefile *t);

const struct note_key *treefile_key(const struct treefile *t);

/* Signs a text (notary_sign). */
int treefile_sign(const struct treefile *t, struct text *text, struct err *e);

/* The head that was synced last. `note` (may be NULL) is emptied, and gets its text. */
void treefile_head(struct treefile *t, struct checkpoint *head, struct text *note);

/* Where the last leaf's entry is, leaves that were not synced included; 0 and 0 without any leaf. */
struct treefile_place treefile_last(const struct treefile *t);

/* Adds a leaf. The place is behind that of the last. An error leaves the tree as it was at the last sync. */
int treefile_add(struct treefile *t, const struct treefile_place *place, const struct tree_hash *leaf,
                 struct err *e);
/* Makes the added leaves durable, and the head that of all of them. */
int treefile_sync(struct treefile *t, struct err *e);

/* A reader of nodes, for tree.h; of leaves that the head has. */
struct tree_reader treefile_reader(struct treefile *t);
/* The hashes of a tile: tile->width of them. It is in the head's tree. */
int treefile_tile(struct treefile *t, const struct tile *tile, struct tree_hash *out, struct err *e);

int treefile_place(struct treefile *t, uint64_t index, struct treefile_place *out, struct err *e);
/* Finds the leaf of an entry among the first `size`. -ENOENT: it has none. */
int treefile_find(struct treefile *t, uint64_t size, const struct treefile_place *place, uint64_t *index,
                  struct err *e);

#endif
