/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_ARCHIVE_VERIFY_H
#define FETTLE_ARCHIVE_VERIFY_H

#include "archive/archive.h"
#include "audit/proof.h"

/*
 * Verification from files alone: nothing is asked of a controller, and nothing is believed but the key.
 */

struct verified {
    struct checkpoint head;
    uint64_t from;    /* the first entry that is kept; of earlier ones the hashes alone were verified */
    size_t earlier;   /* how many earlier heads are its beginning */
    struct wall last; /* when the last entry was */
};

/* Reads all of an archive: every entry, every tile and every head. `old` (may be NULL) is a head that
 * somebody remembers: the log must have it as its beginning. -EILSEQ with the first entry, or file, that is
 * not what was logged: changed, gone, in another order, cut off, or of a log that went another way. */
int archive_verify(struct archive *a, const struct checkpoint *old, struct verified *out, struct err *e);

/* Whether a proof holds: its checkpoint is of the key, and the proof leads to it: from its entry (-ENODATA
 * when the file has none), or from the old head. *head gets the checkpoint. -EILSEQ when it does not. */
int verify_proof(const struct proof *p, const struct note_key *k, const struct checkpoint *old,
                 struct checkpoint *head, struct err *e);

#endif
