/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_FAIR_FAIR_H
#define FETTLE_FAIR_FAIR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Fair service at a door: who gets a place, who gives way, and whose turn it is. A party is the unit that is
 * served: a user of this machine, the holder of a certificate, the subject of a token, or an address. More
 * connections do not give a party more of the service, and an administrator never waits behind others.
 *
 * Knows no socket and no clock. The caller decides how long a turn is and what is done in it.
 */

enum { PARTY_NAME_BYTES = 288 };

struct party {
    char name[PARTY_NAME_BYTES]; /* "uid 1000", "operator ann", "address 192.0.2.7" */
    bool privileged;             /* an administrator */
};

/* --- places ---------------------------------------------------------------------------------- */

struct slots_limits {
    size_t all;     /* places at this door */
    size_t each;    /* of these, the most for one party */
    size_t reserve; /* of all, kept for the privileged */
};

/* The places at one door. */
struct slots;
struct slots *slots_create(const struct slots_limits *limits);
void slots_destroy(struct slots *s);

/* Takes a place for a party: 0, or -EAGAIN with a sentence when the party has its share or no place is left
 * for it. Privileged parties have no share, because nobody else can use up their places. */
int slots_take(struct slots *s, const struct party *p, struct err *e);
/* Gives back one of its places. */
void slots_give(struct slots *s, const struct party *p);
/* Makes one place of a party another's. -EAGAIN with a sentence when that one has its share; nothing changes
 * then. */
int slots_move(struct slots *s, const struct party *from, const struct party *to, struct err *e);

/* --- crowds ---------------------------------------------------------------------------------- */

/* A newcomer who may have to give way. Embed it in the object that it stands for, with its owner set and the
 * rest zeroed; it is then in no crowd. */
struct guest {
    void *owner;
    struct company *company; /* the guests of its name; NULL while it is in no crowd */
    struct guest *prev, *next;
};

struct crowd_limits {
    size_t all;  /* the most guests in this crowd */
    size_t each; /* of these, the most of one name; at least 1 */
};

/* Guests that are admitted before anybody can tell whether they should be. A crowd refuses no newcomer:
 * silent connections would keep everybody out. Beyond a limit the guest that has waited longest gives way,
 * since it is the least likely to go on. */
struct crowd;
struct crowd *crowd_create(const struct crowd_limits *limits);
/* Sets the limits for later guests. Nobody gives way at once. */
void crowd_limit(struct crowd *c, const struct crowd_limits *limits);
/* Call after the last guest left. */
void crowd_destroy(struct crowd *c);
/* Admits a guest under a name; it leaves its earlier crowd. Returns the owner of the guest that has to give
 * way and has left: the oldest of this name when the name has more than its share, otherwise the oldest of
 * the name that has most. NULL while there is room. Never the newcomer. */
void *crowd_enter(struct crowd *c, struct guest *g, const char *name);
/* No-op for a guest in no crowd. */
void crowd_leave(struct guest *g);

/* --- turns ----------------------------------------------------------------------------------- */

/* Something that waits for service. Embed it in the object that it stands for; zeroed, it does not wait. */
struct turn {
    void *owner;
    struct queue *queue; /* its party's queue; NULL while it does not wait */
    struct turn *prev, *next;
};

/* All that wait. The privileged come first. Within them, and within the others, parties take turns, however
 * many turns one of them waits for. The turns of one party come in the order in which they were added. */
struct turns;
struct turns *turns_create(void);
/* Call after the last turn was taken or removed. */
void turns_destroy(struct turns *t);
void turns_add(struct turns *t, struct turn *turn, const struct party *p);
/* The next turn, which no longer waits; NULL for none. */
struct turn *turns_take(struct turns *t);
/* No-op for a turn that does not wait. */
void turns_remove(struct turns *t, struct turn *turn);
bool turns_empty(const struct turns *t);

#endif
