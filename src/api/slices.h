/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_SLICES_H
#define FETTLE_API_SLICES_H

#include "api/call.h"
#include "base/hostlist.h"
#include "base/table.h"

/*
 * An answer that may take longer than others should wait: it is made in slices of a millisecond, each at the
 * next turn of the party that asks (http_again). Inside this folder.
 *
 * Which nodes it looks at is as it was at the beginning; each node is as it is when it is looked at.
 */

/* First member of what an answer keeps, which comes from mem_alloc. */
struct slices {
    struct call call;        /* as it was asked, but for now and wall, which are of this slice, and actor */
    struct marking marking;  /* of those that a host list names; its walk is there while the list is read */
    struct member **members; /* once they are walked, in the order of the table; `at` is the next */
    size_t n, at;
    struct text text; /* the end of the answer; what comes before it was given away */
    /* A piece of work far below a millisecond; false: that was the last one. */
    bool (*step)(struct slices *s);
    struct err why; /* set by a step with which the answer ends as a refusal */
    void (*fini)(
        struct slices *s); /* what else is kept; not the whole, nor what stands here. NULL: nothing */
    /* It rests on classes or checks, which a reload makes anew: it is refused when one comes in between. */
    bool of_configuration;
    unsigned configured;

    struct hostfolder *folder; /* of the names that are being folded */
    size_t folded;
};

/* s as it comes from mem_alloc, for an answer that keeps nothing else. */
struct slices *slices_keep(const struct slices *s);
/* Answers by s, which it takes over; step and fini are set, and text as far as it is there. CALL_LATER. */
int call_slices(struct call *c, struct slices *s);

/* What is walked are the nodes that a host list names, or NULL: all. The list is read, in slices, before the
 * first step, or the answer is the refusal of a name that no node has. -EINVAL for no host list. */
int slices_choose(struct slices *s, const struct call *c, const char *list, struct err *e);
/* Looks at some more of the nodes, which are those of the first time. False when all were. */
bool slices_walk(struct slices *s, void (*each)(struct slices *s, const struct member *m));

/* Names that belong together. Zero-initialise. */
struct pile {
    size_t n, cap;
    const char **names;
};
void pile_add(struct pile *p, const char *name);
void pile_fini(struct pile *p);

/* Piles of the names of nodes that are in one cohort, and of one kind besides. A cohort's number may be given
 * to another one between two slices: its fingerprint is what tells them apart. */
struct bin_key {
    struct fingerprint cohort; /* zeroes: none */
    uint32_t kind;
};
struct bin {
    struct bin_key key;
    uint32_t number; /* that the cohort had; COHORT_NONE for none */
    struct pile pile;
    UT_hash_handle hh;
};
struct bins {
    size_t n;
    struct bin *table; /* hh.next is the one that came after */
};
/* The one of this cohort, or of none, and kind, made when there is none. */
struct bin *bins_get(struct bins *b, const struct cohort *k, uint32_t kind);
void bins_fini(struct bins *b);
/* All of them, b->n, in an order. The caller frees it. */
struct bin **bins_sort(const struct bins *b, int (*by)(const void *, const void *));

/* Puts some more names of a pile into the list that is being folded. When all are there it appends the list
 * to the text, as a JSON string, and returns true. */
bool slices_fold(struct slices *s, const struct pile *p);

#endif
