/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ENGINE_H
#define FETTLE_STORE_ENGINE_H

#include "store/store.h"

#include <stdbool.h>

/*
 * The interface of an engine behind a store. An engine embeds `struct store` as its first member and sees
 * only batches within the limits of store.h. Each function keeps the promise of its namesake there.
 */
struct store_engine {
    void (*close)(struct store *s);
    int (*campaign)(struct store *s, uint64_t *term, struct err *e);
    int (*load)(struct store *s, store_record_fn *fn, void *arg, uint64_t *revision, struct err *e);
    int (*commit)(struct store *s, uint64_t term, const struct store_batch *b, uint64_t *revision,
                  struct err *e);
    int (*resolve)(struct store *s, uint64_t after, store_change_fn *fn, void *arg, struct err *e);
    int (*journal)(struct store *s, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                   struct err *e);
    int (*journal_back)(struct store *s, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                        struct err *e);
    int (*tidy)(struct store *s, const struct store_keep *keep, struct wall now, bool *more, struct err *e);
    int (*first)(struct store *s, uint64_t *revision, struct err *e);
    int (*check)(struct store *s, struct err *e);
    int (*copy)(struct store *s, const char *dir, struct store_copied *copied, struct err *e);
    void (*copy_end)(struct store *s);
};

struct store {
    const struct store_engine *engine;
};

#endif
