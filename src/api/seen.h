/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_SEEN_H
#define FETTLE_API_SEEN_H

#include "base/json.h"
#include "cluster/cluster.h"

/*
 * The fingerprints of a node, newest first: the present one and those that its record remembers. Inside this
 * folder.
 *
 * The record stores with each earlier fingerprint what changed from it to the next one; here each entry has
 * what changed when it came.
 */

enum { SEEN_ENTRIES_MAX = 64 }; /* far more than a record remembers */

struct seen_entry {
    struct wall at; /* valid since then */
    char fingerprint[FINGERPRINT_HEX + 1];
    struct component_names named; /* components that changed when it came; none when that is unknown */
    uint32_t count;               /* how many changed; 0 for the oldest */
};

/* seen_init fills it from a member, which may never have been seen (n is 0); seen_fini. */
struct seen {
    size_t n;
    struct seen_entry entries[SEEN_ENTRIES_MAX];
};
void seen_init(struct seen *s, const struct member *m);
void seen_fini(struct seen *s);

/* When the component last changed; false when that is unknown. */
bool seen_changed(const struct seen *s, const char *component, struct wall *at);

#endif
