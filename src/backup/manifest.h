/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BACKUP_MANIFEST_H
#define FETTLE_BACKUP_MANIFEST_H

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The manifest of a backup: which state it has, and each file with its length and SHA-256. The manifest has
 * a sum of itself. The sum finds damage; it does not keep out somebody who writes both.
 */

#define MANIFEST_NAME "manifest.json"

enum {
    MANIFEST_FORMAT = 1,
    MANIFEST_FILES_MAX = 4,
    MANIFEST_BYTES_MAX = 16 << 10,
    MANIFEST_WORD_BYTES_MAX = 64
};

struct manifest_file {
    char name[MANIFEST_WORD_BYTES_MAX + 1];
    uint64_t bytes;
    char sha256[65];
};

struct manifest {
    struct wall at; /* when it was made */
    char version[MANIFEST_WORD_BYTES_MAX + 1];
    char cluster[MANIFEST_WORD_BYTES_MAX + 1]; /* the origin of the state */
    char digest[MANIFEST_WORD_BYTES_MAX + 1];  /* of the state, as `fettle status` has it */
    uint64_t term, revision;
    size_t n;
    struct manifest_file files[MANIFEST_FILES_MAX];
};

/* The names that a backup may have, and whether each one does. NULL ends the list. */
struct manifest_name {
    const char *name;
    bool always;
};
extern const struct manifest_name manifest_names[];

void manifest_write(const struct manifest *m, struct text *out);

/* -EILSEQ with a sentence: it is not what was written, of a newer format, or lacks a file. */
int manifest_parse(const char *bytes, size_t len, struct manifest *out, struct err *e);

/* The bytes of all files together. */
uint64_t manifest_bytes(const struct manifest *m);

#endif
