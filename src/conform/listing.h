/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONFORM_LISTING_H
#define FETTLE_CONFORM_LISTING_H

#include "conform/component.h"

/*
 * Lists of components by their fingerprint: ten thousand equal nodes share one. A component that is in many
 * lists is kept once, so that lists which differ in a few components cost one pointer for each component. A
 * listing may be known by its fingerprint alone, until somebody sends its content.
 *
 * A listing lives while somebody holds a reference.
 */

enum { LISTINGS_BYTES_MAX = 512 << 20 }; /* of all contents; beyond it a listing is refused */

struct listing {
    struct fingerprint id;
    bool known; /* n and components are valid */
    uint32_t refs;
    uint32_t n;
    uint32_t n_unknown;            /* components that could not be read */
    struct component **components; /* sorted by name; interned: equal pointers are equal */
};

struct listings;
struct listings *listings_create(void);
void listings_destroy(struct listings *l);

/* The listing with this fingerprint, with a reference for the caller. Creates one (not known) when there is
 * none. */
struct listing *listings_get(struct listings *l, const struct fingerprint *id);
/* NULL when nobody holds it. Takes no reference. */
struct listing *listings_find(const struct listings *l, const struct fingerprint *id);
struct listing *listing_ref(struct listing *g);
/* NULL is fine. */
void listing_unref(struct listings *l, struct listing *g);

/* Fills in the content of a listing; does nothing when it is known already. c is sorted. -EBADMSG when c does
 * not have the listing's fingerprint: the sender lies. -ENOSPC above LISTINGS_BYTES_MAX. */
int listing_fill(struct listings *l, struct listing *g, const struct components *c, struct err *e);

/* Joins a node's own list with the one from its BMC, both known, into one listing with a reference for the
 * caller. Components of COMPONENT_REDFISH in the node's own list are ignored. NULL when the result is too
 * large: -E2BIG as in components_add, -ENOSPC as in listing_fill. */
struct listing *listings_join(struct listings *l, const struct listing *own, const struct listing *redfish,
                              struct err *e);

/* The component of this name of a known listing; NULL when it has none. */
const struct component *listing_find(const struct listing *g, const char *name);
/* What is known about a name: its component; or, when it has none, an unknown component "PREFIX.*" that
 * covers it (nothing below PREFIX could be read); NULL: absent. */
const struct component *listing_look(const struct listing *g, const char *name);
/* As components_format. */
void listing_format(const struct listing *g, struct text *t);

size_t listings_count(const struct listings *l); /* known ones */
size_t listings_bytes(const struct listings *l);

#endif
