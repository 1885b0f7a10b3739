/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_SEARCH_H
#define FETTLE_CONTROLLER_SEARCH_H

#include "api/api.h"
#include "controller/committer.h"

#include <uv.h>

/*
 * Searches in the journal, from its end backwards, in a thread: one at a time, in slices between which
 * commits go on. A search ends after some time whether it is through or not, and says where to go on.
 */
struct searches;
struct searches *searches_create(uv_loop_t *loop, struct committer *k);
/* Waits for the search under way; those that wait are answered with -EAGAIN. Before the committer. */
void searches_destroy(struct searches *s);

/* Copies the ask. fn is called once, later; with -EINVAL for no host list, with -EAGAIN
 * when too many searches were waiting. */
void searches_begin(struct searches *s, const struct journal_ask *ask, journal_found_fn *fn, void *arg);

#endif
