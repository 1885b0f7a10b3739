/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BACKUP_MADE_TEST_H
#define FETTLE_BACKUP_MADE_TEST_H

#include "backup/backup.h"
#include "store/fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A state with an origin and an authority, and a directory of backups, for the tests of this folder. */
struct made {
    char *state, *shelf; /* the two directories */
    struct store *store;
    uint64_t term, revision;
    struct manifest manifest; /* of the last backup */
    char name[BACKUP_NAME_BYTES_MAX + 1];
    char *path; /* of the last backup */
    struct err e;
};

#define MADE_ORIGIN "00112233445566ff"

int made_start(void **state);
int made_end(void **state);
/* Commits one more record. */
void made_put(struct made *t, const char *key);
/* Copies the store, and makes a backup at this second. The outcome of the first step that was refused. */
int made_backup(struct made *t, int64_t second);
/* The same, up to what backup_finish needs. */
int made_begin(struct made *t, struct backup **b);
void made_says(const struct err *e, int code, const char *words);
/* How many names the directory has. */
unsigned made_names(const char *dir);

#endif
