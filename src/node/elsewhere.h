/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_ELSEWHERE_H
#define FETTLE_NODE_ELSEWHERE_H

#include "base/clock.h"
#include "base/text.h"

#include <stdbool.h>

/*
 * Whether somebody other than Fettle holds a node: the fifth fact beside liveness, health, conformance and
 * work. An administrator's drain in Slurm, a lock in OpenCHAMI, or an interlock at the BMC counts as much as
 * a drain that was made with fettle. While such a hold stands, or while it is not known whether one does,
 * Fettle does nothing destructive to the node.
 */

/* Where a person or another service may hold it. */
enum elsewhere_where { ELSEWHERE_SLURM, ELSEWHERE_OCHAMI, ELSEWHERE_BMC, ELSEWHERES };
const char *elsewhere_where_name(enum elsewhere_where w); /* "slurm" */

/* In order of what counts more when several say something. */
enum elsewhere_state { ELSEWHERE_NOBODY, ELSEWHERE_UNKNOWN, ELSEWHERE_HELD };
const char *elsewhere_state_name(enum elsewhere_state s); /* "held" */

/* Zero-initialised: nobody. One that was set owns its texts. */
struct elsewhere {
    enum elsewhere_where where;
    enum elsewhere_state state;
    bool out;          /* no new work may land on the node for what is said there, whoever said it: slurmctld
                          drains nodes by itself, too */
    struct wall since; /* unknown: since when; held or out: likewise, as far as known; ns 0: not known */
    const char *how;   /* held or out: "drained", "reserved"; else NULL */
    const char *by;    /* the user who did; NULL when it is not known */
    const char *why;   /* their own words, or a reservation's name; NULL without */
};

void elsewhere_fini(struct elsewhere *e);
/* Takes over a copy of what is known now. A state that lasts keeps its earlier `since` where the new one has
 * none. False when nothing changed. */
bool elsewhere_set(struct elsewhere *e, const struct elsewhere *now);
/* Who holds it, in words: "slurm: drained by ann: new memory"; that it is not known, and since when; nothing
 * for nobody. */
void elsewhere_say(const struct elsewhere *e, struct text *t);
/* The same for a node that is out, also where nobody holds it: "slurm: down: Not responding". */
void elsewhere_say_out(const struct elsewhere *e, struct text *t);

#endif
