/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_SCENE_TEST_H
#define FETTLE_STORE_SCENE_TEST_H

#include "store/fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * A store in a directory of its own, with a term, and the process's syncs under the test's control. fsync and
 * fdatasync are counted, and some fail when the test says so. A disk that loses what it refuses has the file
 * as it was at the last sync.
 */

struct scene {
    char *dir;
    struct store *store;
    uint64_t term;
    uint64_t revision;
    struct text dump;
    struct err e;
};

extern unsigned int syncs;
extern int sync_errno; /* not 0: every sync fails with it */
extern bool sync_loses;
extern char *sync_moves; /* the file that the next sync moves to sync_away; freed then, and NULL */
extern const char *sync_away;

int scene_start(void **state);
int scene_end(void **state);
void scene_reopen(struct scene *t);
/* Commits one record. */
int scene_put(struct scene *t, const char *key, const char *value);
/* All that the store has; valid until the next call. */
const char *scene_dump(struct scene *t);
void scene_assert_says(const struct err *e, int code, const char *words);

#endif
