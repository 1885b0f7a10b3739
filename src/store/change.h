/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_CHANGE_H
#define FETTLE_STORE_CHANGE_H

#include "store/store.h"

/*
 * A commit as it was read from the store: one that another process made, or one of our own whose outcome was
 * not known. It has its own memory.
 */

struct store_change {
    uint64_t revision;
    struct store_batch batch; /* borrowed from the change */
    struct store_op *ops;
    struct store_entry *entries;
    char **own; /* to which both point */
    size_t n_own;
    struct store_change *prev, *next; /* for the owner's list */
};

struct store_change *change_create(uint64_t revision);
void change_destroy(struct store_change *c);
void changes_destroy(struct store_change *list);

/* Copies; value NULL deletes the key. */
void change_add_op(struct store_change *c, const char *key, const char *value);
void change_add_entry(struct store_change *c, const struct store_entry *entry);

/* Whether it is the commit of this batch: the same records and the same entries. */
bool change_is(const struct store_change *c, const struct store_batch *b);

#endif
