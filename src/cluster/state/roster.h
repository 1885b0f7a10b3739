/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_ROSTER_H
#define FETTLE_CLUSTER_ROSTER_H

#include "base/err.h"
#include "base/text.h"
#include "cluster/state/owner.h"
#include "conform/class.h"
#include "node/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Nodes, partitions and classes as they are configured.
 */

enum { PARTITION_NAME_BYTES_MAX = 47 };

struct partition {
    unsigned number;
    char *name; /* "" when it has no name; no longer than the maximum, and without a comma */
    bool is_default;
};

/* NULL when none has the name. */
const struct partition *partition_named(const struct partition *list, size_t n, const char *name);
/* NULL when none has the number. */
const struct partition *partition_numbered(const struct partition *list, size_t n, unsigned number);
enum { PARTITION_WORD_BYTES = PARTITION_NAME_BYTES_MAX + 1 };
/* What people call it: its name, or its number when it has no name. Returns buf. */
const char *partition_word(const struct partition *list, size_t n, unsigned number,
                           char buf[static PARTITION_WORD_BYTES]);
/* "batch,3" as the numbers "1,3", added to `numbers`: a word of digits is a number. -EINVAL names what is
 * neither. */
int partition_numbers(const struct partition *list, size_t n, const char *words, struct text *numbers,
                      struct err *e);

/* Nodes and partitions of the configuration. Zero-initialise; roster_fini. */
struct roster {
    size_t n;
    struct roster_node {
        char *name;
        struct spec spec;
    } * nodes;
    size_t n_partitions;
    struct partition *partitions; /* named ones, by number */
    unsigned partition_max;
    struct classes classes;
    size_t n_tenants;
    struct tenant *tenants;
    uint32_t sensitive_pool; /* the most nodes that persons may own at once */
    bool wipes;              /* a remedy is configured by which a sensitive node is wiped */
    bool tells_drift;        /* a product is configured that is told of drift */
};
void roster_fini(struct roster *r);

#endif
