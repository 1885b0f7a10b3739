/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_ARCHIVE_FIXTURE_TEST_H
#define FETTLE_ARCHIVE_FIXTURE_TEST_H

#include "archive/archive.h"
#include "archive/treefile.h"

/* A log with a made-up journal, and directories of their own. Nothing here returns when it cannot do its
 * work. */

#define ORIGIN "fettle/0123456789abcdef"

char *fixture_dir(void); /* under /tmp */
void fixture_remove(char *dir);
char *fixture_path(const char *dir, const char *name);
void fixture_read(const char *path, struct text *out);
void fixture_write(const char *path, const void *bytes, size_t len);
/* Adds the paths of all files below the directory, a line each, in their order. */
void fixture_files(const char *dir, struct text *out);

/* The bytes of entry i: two in each revision, one a second. `other` (may be NULL) is in the text of entry 5.
 */
void fixture_entry(uint64_t i, const char *other, struct text *out);
struct treefile_place fixture_place(uint64_t i);
/* Adds entries up to `size` to the tree, and syncs. */
void fixture_grow(struct treefile *t, uint64_t size, const char *other);

/* The tiles of a tree, with the bundles of its entries. */
struct fixture_log {
    struct treefile *tree;
    const char *other;
    uint64_t minimum; /* bundles before it are not kept */
    unsigned fetched;
};
struct archive_source fixture_source(struct fixture_log *l);
/* Copies the log, as it is, into the directory. */
int fixture_export(struct fixture_log *l, const char *dir, bool remember, struct err *e);

#endif
