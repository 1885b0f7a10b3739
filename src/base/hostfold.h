/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_HOSTFOLD_H
#define FETTLE_BASE_HOSTFOLD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Inside of hostlist: gathers the rows of numbers of one pattern into blocks. A block is a range for each
 * dimension and stands for every combination of its numbers.
 */

struct hostfold_range {
    const uint64_t *numbers; /* sorted, each once */
    size_t n;
};

/* blocks times dims ranges, block by block, in nodeset's order. */
struct hostfold {
    size_t blocks, dims;
    struct hostfold_range *ranges;
    uint64_t *pool;
};

/* rows: n rows of dims numbers each, sorted, each once. n and dims are at least 1. */
void hostfold_init(struct hostfold *f, const uint64_t *rows, size_t n, size_t dims);
void hostfold_fini(struct hostfold *f);

#endif
