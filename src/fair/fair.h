/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_FAIR_FAIR_H
#define FETTLE_FAIR_FAIR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Fair service at a door: who gets a place, who has to give way, and whose turn it is. A party is whoever is
 * served: a user of this machine, the holder of a certificate, or an address. It has no more of the service
 * for having more connections, and an administrator never waits behind others.
 *
 * Knows no socket and no clock. How long a turn is, and what is done in it, is the business of whoever
 * serves.
 */

enum { PARTY_NAME_BYTES = 288 };

struct party {
    char name[PARTY_NAME_BYTES]; /* "uid 1000", "operator ann", "address 192.0.2.7" */
    bool privileged;             /* an administrator */
};

/* --- places ---------------------------------------------------------------------------------- */

struct slots_limits {
    size_t all;     /* places at this door */
    size_t each;    /* of them, for one party */
    size_t reserve; /* of all, for the privileged alone */
};

/* The places at one door. */
struct slots;
struct slots *slots_create(const struct slots_limits *limits);
void slots_destroy(struct slots *s);

/* Takes a place for a party: 0, or -EAGAIN with a sentence when it has its share or when no place is left
 * that it may have. Its share does not bind the privileged: nobody else can use it up. */
int slots_take(struct slots *s, const struct party *p, struct err *e);
/* Gives one of its places back. */
void slots_give(struct slots *s, const struct party *p);

/* --- crowds ---------------------------------------------------------------------------------- */

/* Somebody who came in and may have to give way. Embedded in what it stands for, with its owner set; zeroed
 * but for that, it is in no crowd. */
struct guest {
    void *owner;
    struct company *company; /* those of its name; NULL while it is in no crowd */
    struct guest *prev, *next;
};

struct crowd_limits {
    size_t all;  /* guests in this crowd */
    size_t each; /* of them, of one name; at least 1 */
};

/* Those who are let in before anybody can tell whether they should be. A crowd refuses no newcomer: silent
 * connections would keep everybody out. Beyond a limit the guest that has waited longest gives way, since it
 * will hardly come to anything any more. */
struct crowd;
struct crowd *crowd_create(const struct crowd_limits *limits);
/* Other limits for those who come from now on. Nobody has to give way at once. */
void crowd_limit(struct crowd *c, const struct crowd_limits *limits);
/* After the last guest left. */
void crowd_destroy(struct crowd *c);
/* Lets a guest in under a name; it leaves the crowd that it was in. Returns the owner of the guest that has
 * to give way and has left: the oldest one of this name when the name has more than its share, otherwise of
 * the name that has most. NULL while there is room. It is never the newcomer's. */
void *crowd_enter(struct crowd *c, struct guest *g, const char *name);
/* No-op for one that is in no crowd. */
void crowd_leave(struct guest *g);

/* --- turns ----------------------------------------------------------------------------------- */

/* Something that waits to be served. Embedded in what it stands for; zeroed, it waits nowhere. */
struct turn {
    void *owner;
    struct queue *queue; /* the party's; NULL while it does not wait */
    struct turn *prev, *next;
};

/* All that wait. The privileged come first; within them, and within the others, parties take turns, whatever
 * the number of things that one of them waits for; things of one party come in the order in which they were
 * added. */
struct turns;
struct turns *turns_create(void);
/* After the last turn was taken or removed. */
void turns_destroy(struct turns *t);
void turns_add(struct turns *t, struct turn *turn, const struct party *p);
/* The next one, which does not wait any more; NULL for none. */
struct turn *turns_take(struct turns *t);
/* No-op for one that does not wait. */
void turns_remove(struct turns *t, struct turn *turn);
bool turns_empty(const struct turns *t);

#endif
