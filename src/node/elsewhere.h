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
const char *elsewhere_where_name(enum elsewhere_where w);

enum elsewhere_state { ELSEWHERE_NOBODY, ELSEWHERE_UNKNOWN, ELSEWHERE_HELD };

/* Zero-initialised: nobody. One that was set owns its texts. */
struct elsewhere {
    enum elsewhere_where where;
    enum elsewhere_state state;
    struct wall since; /* unknown: since when; held: since when, as far as it is known; ns 0: not known */
    const char *how;   /* held: "drained in Slurm", "reserved in Slurm"; else NULL */
    const char *by;    /* the user who did; NULL when it is not known */
    const char *why;   /* their own words, or a reservation's name; NULL without */
};

void elsewhere_fini(struct elsewhere *e);
/* Takes over a copy of what is known now. A state that lasts keeps its earlier `since` where the new one has
 * none. False when nothing changed. */
bool elsewhere_set(struct elsewhere *e, const struct elsewhere *now);
/* In words: "drained in Slurm by ann: new memory"; that it is not known, and since when; nothing for nobody.
 */
void elsewhere_say(const struct elsewhere *e, struct text *t);

#endif
