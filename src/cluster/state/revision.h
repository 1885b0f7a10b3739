/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_STATE_REVISION_H
#define FETTLE_CLUSTER_STATE_REVISION_H

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The configuration that decides, as it is agreed: a text for each of its parts (nodes, classes, checks). A
 * text is stored in pieces, because the store limits the size of a record and of a commit:
 *
 *   config/text.HASH  {"text"}: a piece of a text. HASH is the beginning of its SHA-256.
 *   config/head       {"revision","hash","by","at","parts":[{"part","texts":[HASH]}]}: which pieces are the
 *                     configuration
 *
 * The head is committed with the last of its pieces. So a revision is agreed whole or not at all. Pieces
 * that no head names are from a revision that was not finished: the next commit of a revision uses them or
 * removes them. This file knows no part by name, and no text by its meaning.
 */

enum {
    REVISION_HASH_BYTES = 64,
    PIECE_HASH_BYTES = 32,
    PIECE_BYTES_MAX = 64 << 10 /* bytes of text; JSON takes six bytes for one at most */
};

struct revision {
    uint64_t number;                    /* counts from 1; 0: nothing is agreed yet */
    char hash[REVISION_HASH_BYTES + 1]; /* SHA-256 in hex: equal texts in equal parts have equal hashes */
    char *by;
    struct wall at;
};

/* The head and all pieces. */
struct revisions;
struct revisions *revisions_create(void);
void revisions_destroy(struct revisions *r);

/* Takes the record config/NAME; NULL removes it. -EILSEQ with a sentence for a malformed record. */
int revisions_put(struct revisions *r, const char *name, const char *value, struct err *e);
/* Its share of the cluster's digest. */
uint64_t revisions_sum(const struct revisions *r);

const struct revision *revisions_head(const struct revisions *r);
/* Adds the text of a part to *out. -ENOENT: the revision has no such part. -EILSEQ: a piece is missing. */
int revisions_text(const struct revisions *r, const char *part, struct text *out, struct err *e);

/* A piece is named by the beginning of the SHA-256 of its text. */
void revision_piece_hash(const char *text, size_t len, char out[static PIECE_HASH_BYTES + 1]);
/* Whether there is a piece with this hash, named by the head or not. */
bool revisions_have(const struct revisions *r, const char *hash);
/* Calls fn with the hash of each piece, until it returns false. */
typedef bool revision_piece_fn(void *arg, const char *hash);
void revisions_each_piece(const struct revisions *r, revision_piece_fn *fn, void *arg);

#endif
