/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_SEEN_H
#define FETTLE_API_SEEN_H

#include "base/json.h"
#include "cluster/cluster.h"

/*
 * What a node was seen to be, newest first: the present fingerprint and those that its record
 * remembers. Inside this folder.
 *
 * The record says of each earlier fingerprint what changed from it to the next one; here each entry
 * has what changed when it came.
 */

enum { SEEN_ENTRIES_MAX = 64 }; /* far more than a record remembers */

struct seen_entry {
    struct wall at; /* since then */
    char fingerprint[FINGERPRINT_HEX + 1];
    const char *named; /* components that changed when it came, ", " between; borrowed; "" when not known */
    uint32_t count;    /* of all that changed; 0 for the oldest */
};

/* The next of such names: its length, and *list at the one after it. 0 after the last. */
size_t seen_next_name(const char **list, const char **name);

/* Filled by seen_init from a member, which may have been seen never (n is 0); seen_fini. */
struct seen {
    size_t n;
    struct seen_entry entries[SEEN_ENTRIES_MAX];
    json_t *record;
};
void seen_init(struct seen *s, const struct member *m);
void seen_fini(struct seen *s);

/* When the component last changed; false when that is not known. */
bool seen_changed(const struct seen *s, const char *component, struct wall *at);

#endif
