/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_FIXTURE_TEST_H
#define FETTLE_STORE_FIXTURE_TEST_H

#include "base/text.h"
#include "store/store.h"

/* What the tests of the store share. Nothing here returns when it cannot do its work. */

/* A new directory under /tmp; fixture_remove takes it away with all that is in it and frees it. */
char *fixture_dir(void);
void fixture_remove(char *dir);

/* "DIR/NAME"; the caller frees it. */
char *fixture_path(const char *dir, const char *name);

/* A file's bytes in and out. Reading what is not there gives no bytes. */
void fixture_read(const char *path, struct text *out);
void fixture_write(const char *path, const void *bytes, size_t len);

/* Opens the store, which must succeed. */
struct store *fixture_open(const char *dir);

/* Commits one record and one entry that tells of it. */
int fixture_put(struct store *s, uint64_t term, const char *key, const char *value, uint64_t *revision,
                struct err *e);

/* Writes everything that the store gives into out, a line each; the same content, the same text. */
int fixture_dump(struct store *s, struct text *out, struct err *e);

#endif
