/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_ARCHIVE_ARCHIVE_H
#define FETTLE_ARCHIVE_ARCHIVE_H

#include "audit/note.h"
#include "audit/tile.h"
#include "base/clock.h"

/*
 * A log as a directory of files, which needs nobody to be read: what a web server would give as
 * c2sp.org/tlog-tiles.
 *
 *   log.vkey            the key of the log, in the form of note_key_format
 *   checkpoint          the head of what is here
 *   tile/L/N            tiles; tile/L/N.p/W of the head's right edge
 *   tile/entries/N      bundles: the segments that a retention removes
 *   checkpoints/SIZE    earlier heads
 *   minimum             a signed note: the first entry that is still kept, once a retention removed some
 *
 * Files are written once: a file that is there is never replaced by another content. The checkpoint, the
 * minimum and the partial tiles of the right edge alone follow the log.
 */

struct archive;

/* Opens the archive of this log, and makes the directory (its parent exists). -EEXIST when the directory has
 * another log. */
int archive_open(const char *dir, const struct note_key *key, struct archive **out, struct err *e);
/* Opens an archive to read it, and believes its own key. -ENOENT when there is none. */
int archive_read(const char *dir, struct archive **out, struct err *e);
void archive_close(struct archive *a);

const struct note_key *archive_key(const struct archive *a);
/* Believes this key, and no longer its own. */
void archive_believe(struct archive *a, const struct note_key *key);

/* Reads and verifies a checkpoint of this key. -ENOKEY and -EKEYREJECTED, as notary_verify. */
int archive_checkpoint(const char *bytes, size_t len, const struct note_key *k, struct checkpoint *out,
                       struct err *e);

/* The head, verified; `note` (may be NULL) gets its text. An empty tree when there is none yet: -ENOENT. */
int archive_head(const struct archive *a, struct checkpoint *head, struct text *note, struct err *e);
/* The first entry that is kept. */
int archive_minimum(const struct archive *a, uint64_t *index, struct text *note, struct err *e);

/* Reads a tile or a bundle as its bytes. A partial one is also taken from the beginning of the full one.
 * -ENOENT when it is not there, -EILSEQ when it has another length. */
int archive_tile(const struct archive *a, const struct tile *t, struct text *out, struct err *e);
/* A reader of nodes, for tree.h, of the tiles that belong to a tree of this size. */
struct archive_reader {
    const struct archive *archive;
    uint64_t size;
    struct tile tile; /* that was read last; its width is 0 before */
    struct tree_hash hashes[TILE_WIDTH];
};
struct tree_reader archive_reader(struct archive_reader *r);

/* Gives the bytes of a tile or bundle: of a tree that has it. -ENOENT of a bundle whose entries the log does
 * not keep any more. */
typedef int archive_fetch_fn(void *arg, const struct tile *t, struct text *out, struct err *e);
struct archive_source {
    archive_fetch_fn *fetch;
    void *arg;
};

/* Goes on to this head: fetches what the archive lacks, and writes it durably; the head last. `remember`
 * keeps it in checkpoints/. -EKEYREJECTED and -ENOKEY when it is not signed by the key, -EILSEQ when what was
 * fetched is not what the head says, or the archive's own head is not its beginning: then nothing follows. */
int archive_go_on(struct archive *a, const struct text *note, bool remember,
                  const struct archive_source *from, struct err *e);

/* Takes over what the log says of entries that it no longer keeps. */
int archive_take_minimum(struct archive *a, const struct text *note, struct err *e);

/* Removes the oldest bundle when its last entry is of before this moment. `sign` makes a note of the text
 * (notary_sign). *removed says whether it did. */
typedef int archive_sign_fn(void *arg, struct text *text, struct err *e);
int archive_forget(struct archive *a, struct wall before, archive_sign_fn *sign, void *arg, bool *removed,
                   struct err *e);

#endif
