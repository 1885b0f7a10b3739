/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_ELSEWHERE_H
#define FETTLE_NODE_ELSEWHERE_H

#include "base/clock.h"
#include "base/text.h"

#include <stdbool.h>

/*
 * Whether anybody other than Fettle holds a node: the fifth fact beside liveness, health, conformance and
 * work. An administrator's drain in Slurm, a lock in OpenCHAMI, or an interlock at the BMC counts as much as
 * a drain that was made with fettle. While such a hold stands, or while it is unknown whether one does,
 * Fettle does nothing destructive to the node.
 */

/* The systems in which a person or another service may hold a node. */
enum elsewhere_where { ELSEWHERE_SLURM, ELSEWHERE_OCHAMI, ELSEWHERE_BMC, ELSEWHERES };
const char *elsewhere_where_name(enum elsewhere_where w); /* "slurm" */

/* In rising order: the highest of several counts. */
enum elsewhere_state { ELSEWHERE_NOBODY, ELSEWHERE_UNKNOWN, ELSEWHERE_HELD };
const char *elsewhere_state_name(enum elsewhere_state s); /* "held" */

/* Zero-initialised: nobody holds it. Owns its texts once it was set. */
struct elsewhere {
    enum elsewhere_where where;
    enum elsewhere_state state;
    bool out;          /* the system there accepts no new work for the node, whoever decided it: slurmctld
                          also drains nodes by itself */
    struct wall since; /* since when it is unknown, held or out, as far as that is known; ns 0: not known */
    const char *how;   /* held or out: "drained", "reserved"; else NULL */
    const char *by;    /* the user who holds it; NULL when unknown */
    const char *why;   /* the holder's own words, or a reservation's name; NULL without */
    char *texts;       /* the three, once they are owned; else NULL */
};

void elsewhere_fini(struct elsewhere *e);
/* Takes over a copy of what is known now. A state that lasts keeps its earlier `since` when the new one has
 * none. False when nothing changed. */
bool elsewhere_set(struct elsewhere *e, const struct elsewhere *now);
/* Adds the holder in words: "slurm: drained by ann: new memory"; or that it is unknown, and since when. Adds
 * nothing when nobody holds the node. */
void elsewhere_say(const struct elsewhere *e, struct text *t);
/* The same for a node that is out, even when nobody holds it: "slurm: down: Not responding". */
void elsewhere_say_out(const struct elsewhere *e, struct text *t);

#endif
