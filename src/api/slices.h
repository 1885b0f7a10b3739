/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_SLICES_H
#define FETTLE_API_SLICES_H

#include "api/call.h"
#include "base/hostlist.h"
#include "base/table.h"

/*
 * An answer that takes longer than others should wait: it is made in slices of a millisecond, each at the
 * next turn of the party that asks (http_again). Inside this folder.
 *
 * The set of nodes is that of the beginning; each node is shown as it is when it is visited.
 */

/* The first member of an answer's state, which comes from mem_alloc. */
struct slices {
    struct call call;        /* the call; its now and wall are those of this slice, and actor is NULL */
    struct marking marking;  /* the nodes that a host list names; its walk exists while the list is read */
    struct member **members; /* once they are gathered, in the order of the table; `at` is the next */
    size_t n, at;
    struct text text; /* the end of the answer; earlier text was given away */
    /* A piece of work far below a millisecond; false: that was the last one. */
    bool (*step)(struct slices *s);
    struct err why;                 /* set by a step: the answer is this error */
    void (*fini)(struct slices *s); /* frees the answer's other state, but neither the whole nor the members
                                       here. NULL: nothing */
    /* It depends on classes or checks, which a reload makes anew: a reload in between refuses it. */
    bool of_configuration;
    unsigned configured;

    struct hostfolder *folder; /* folds the present names */
    size_t folded;
};

/* A copy of s from mem_alloc, for an answer without other state. */
struct slices *slices_keep(const struct slices *s);
/* Answers by s, which it takes over; step and fini are set, and text if it has begun. CALL_LATER. */
int call_slices(struct call *c, struct slices *s);

/* Visits the nodes of a host list, or NULL: all. The list is read, in slices, before the first step; an
 * unknown name is refused. -EINVAL for a malformed list. */
int slices_choose(struct slices *s, const struct call *c, const char *list, struct err *e);
/* Visits some more of the nodes, in the first walk's order. False when all were visited. */
bool slices_walk(struct slices *s, void (*each)(struct slices *s, const struct member *m));

/* Names that belong together. Zero-initialise. */
struct pile {
    size_t n, cap;
    const char **names;
};
void pile_add(struct pile *p, const char *name);
void pile_fini(struct pile *p);

/* Piles of the names of nodes in one cohort and of one kind. A cohort's number may be reused between two
 * slices, so its fingerprint is the key. */
struct bin_key {
    struct fingerprint cohort; /* zeroes: no cohort */
    uint32_t kind;
};
struct bin {
    struct bin_key key;
    uint32_t number; /* the cohort's number then; COHORT_NONE for none */
    struct pile pile;
    UT_hash_handle hh;
};
struct bins {
    size_t n;
    struct bin *table; /* in order of creation */
};
/* The pile of this cohort (or none) and kind, made when there is none. */
struct bin *bins_get(struct bins *b, const struct cohort *k, uint32_t kind);
void bins_fini(struct bins *b);
/* All b->n of them, sorted. The caller frees it. */
struct bin **bins_sort(const struct bins *b, int (*by)(const void *, const void *));

/* Folds some more names of a pile. When all are folded it appends the list to the text, as a JSON string, and
 * returns true. */
bool slices_fold(struct slices *s, const struct pile *p);

#endif
