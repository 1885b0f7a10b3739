/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_GATHER_INSIDE_H
#define FETTLE_WATCH_CONFORM_GATHER_INSIDE_H

#include "base/table.h"
#include "watch/view/view.h"

/*
 * Fingerprints and components as they come in, and which node is asked for them. The state is w->gather.
 */

enum { ASKS_MAX = 80 };

/* A question for a list. */
struct ask {
    struct fingerprint id;
    uint32_t member;
    bool used;
    bool check; /* the list is known; the question is whether the node has it */
    struct mono at;
};

/* A list whose parts have not all arrived. */
struct assembly {
    uint32_t member;
    struct fingerprint id;
    uint32_t next, parts;
    struct mono last;
    struct components list;
    UT_hash_handle hh;
};

struct gather {
    struct ask asks[ASKS_MAX];
    struct assembly *assemblies;
    size_t bytes;           /* of the assemblies */
    uint32_t cursor;        /* the member at which the next round of questions begins */
    bool wanting;           /* some list is not known */
    struct mono full_until; /* until then no list is asked for, because there is no room */

    /* At a follower: the lists that the leader told, each with a reference, and the one that is coming. */
    struct listing **told;
    size_t n_told;
    struct fingerprint coming_id;
    struct components coming;
};

void told_destroy(struct watch *w);

#endif
