/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_SEARCH_H
#define FETTLE_CONTROLLER_COMMIT_SEARCH_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/*
 * Searches in the journal, from its end backwards, in a thread: one at a time, in slices between which
 * commits go on. A search ends after some time even when it is not through, and says where to go on.
 */

/* What a search looks for in the journal. */
struct journal_ask {
    const char *nodes;     /* a host list: entries that name one of them; NULL: all */
    size_t nodes_max;      /* the limit of the list's length, before its operators */
    const char *what, *by; /* the command, or its beginning before a dot; the actor; NULL: all */
    const char *about;     /* the id of a claim, an incident, a repair or an operation; NULL: all */
    struct wall since, until;
    uint64_t after, before; /* only revisions between these two */
    size_t most;            /* about this many entries */
};

struct journal_entry {
    struct wall at;
    uint64_t revision;
    uint64_t n; /* its place among the entries of the revision, from 0 */
    char *actor, *what, *nodes, *text, *about, *fields;
};

/* Newest first, of whole revisions. */
struct journal_found {
    struct journal_entry *entries;
    size_t n;
    bool ended;      /* the journal has no older ones */
    uint64_t before; /* a search before this revision finds the rest; 0: there is no rest */
};
/* Called with either of the two, which are borrowed until the callback returns. */
typedef void journal_found_fn(void *arg, const struct journal_found *found, const struct err *why);

struct committer;

struct searches;
struct searches *searches_create(uv_loop_t *loop, struct committer *k);
/* Waits for the search under way, and answers the waiting ones with -EAGAIN. Call it before the committer is
 * destroyed. */
void searches_destroy(struct searches *all);

/* Copies the ask. fn is called once, later; with -EINVAL for an invalid host list, with -EAGAIN when too many
 * searches were waiting. */
void searches_begin(struct searches *all, const struct journal_ask *ask, journal_found_fn *fn, void *arg);

#endif
