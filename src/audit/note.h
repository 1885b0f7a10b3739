/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AUDIT_NOTE_H
#define FETTLE_AUDIT_NOTE_H

#include "audit/tree.h"
#include "base/text.h"

/*
 * Signed notes (c2sp.org/signed-note) with Ed25519, and what a log signs: its checkpoint
 * (c2sp.org/tlog-checkpoint). A note is read and written here; signatures are made and verified by others
 * (link/notary.h), so nothing that note_read gives is true before.
 */

enum {
    NOTE_BYTES_MAX = 128 << 10,
    NOTE_NAME_BYTES_MAX = 200, /* of a key, and of an origin */
    NOTE_SIGNATURE_BYTES = 64,
    NOTE_PUBLIC_BYTES = 32
};

/* A key by which notes are believed. */
struct note_key {
    char name[NOTE_NAME_BYTES_MAX + 1];
    uint32_t id;
    unsigned char public[NOTE_PUBLIC_BYTES];
};

/* Whether a name may stand in a note: printable ASCII without blanks and plus. */
bool note_name_is_good(const char *name);
/* A key of this name, with its id. The name is good. */
void note_key_init(struct note_key *k, const char *name,
                   const unsigned char public[static NOTE_PUBLIC_BYTES]);
/* "NAME+ID+BASE64", as verifiers of Go's checksum database take it. -EINVAL for any other text. */
int note_key_parse(const char *s, struct note_key *out, struct err *e);
void note_key_format(const struct note_key *k, struct text *out);

/* Adds the blank line and the signature to a text, which ends with a newline: a note. */
void note_sign(struct text *text, const struct note_key *k,
               const unsigned char signature[static NOTE_SIGNATURE_BYTES]);

/* A note as it was read: the signed text, borrowed, and what this key is said to have signed it with. */
struct signed_note {
    const char *text;
    size_t len;
    unsigned char signature[NOTE_SIGNATURE_BYTES];
};
/* -EINVAL when the bytes are not a note, or the key has signed it twice; -ENOKEY without a signature of this
 * key. */
int note_read(const char *bytes, size_t len, const struct note_key *k, struct signed_note *out,
              struct err *e);

/* The head of a log. */
struct checkpoint {
    char origin[NOTE_NAME_BYTES_MAX + 1];
    uint64_t size;
    struct tree_hash root;
};
/* The text that is signed. */
void checkpoint_format(const struct checkpoint *c, struct text *out);
/* -EINVAL when it is not a checkpoint. Lines after the third are passed over. */
int checkpoint_parse(const char *text, size_t len, struct checkpoint *out, struct err *e);

/* The other text that a log signs: its entries before this one are no longer kept. It has two lines, so it is
 * never a checkpoint. */
void minimum_format(const char *origin, uint64_t index, struct text *out);
int minimum_parse(const char *text, size_t len, const char *origin, uint64_t *index, struct err *e);

#endif
