/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_DRIFT_H
#define FETTLE_CLUSTER_DRIFT_H

#include "base/clock.h"
#include "base/text.h"
#include "cluster/state/member.h"
#include "conform/class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A node that is not what it should be, and the reboots that are to mend that.
 */

enum drift_state {
    DRIFT_OPEN,     /* to be remedied */
    DRIFT_PERSISTS, /* it came back from a boot and is still drifted */
    DRIFT_OVERDUE,  /* not remedied in time: down */
    DRIFT_REMEDIED  /* verified to be right again; waits for a person's approval */
};
const char *drift_state_name(enum drift_state s); /* "open" */

enum { DRIFT_NAMED_MAX = 16 };

/* A node that is not what its class's baseline says. */
struct drift {
    char *class;
    uint32_t version;            /* the version of the baseline */
    struct fingerprint expected; /* the baseline's */
    struct fingerprint actual;   /* the node's */
    enum severity severity;      /* the worst */
    char *named;                 /* the components, worst first, at most 16, with ", " between */
    uint32_t count;              /* of all components that differ */
    struct wall since;
    char boot[37]; /* on which it was found, or last found to persist */
    enum drift_state state;
};

enum { FLAPS_KEPT_MAX = 2, FLAP_WITHIN_S = 3600 };

/* Earlier drifts of a node that went within FLAP_WITHIN_S of their beginning. */
struct flaps {
    size_t n;
    struct wall since[FLAPS_KEPT_MAX]; /* their beginnings, oldest first */
};

/* The node's drift that stands is the third that began within FLAP_WITHIN_S, by the clock of the controllers
 * that found them. Its end counts only when the node has been right for a while (RESTORED, `rested`). */
bool member_flaps(const struct member *m);
/* *out: what is kept when the drift d ends at this moment. */
void flaps_after(const struct member *m, const struct drift *d, struct wall at, struct flaps *out);

enum { REBOOTS_A_WEEK_MAX = 3, REBOOTS_KEPT_MAX = 8 };

/* The effect's record of a node that was to be rebooted. */
struct reboots {
    size_t n;
    struct wall at[REBOOTS_KEPT_MAX]; /* when one was asked for, oldest first */
    char boot[37];                    /* that is to end; "" when none is wanted */
};

/* How often a reboot of the node was asked for within the 7 days before now. */
unsigned cluster_reboots(const struct member *m, struct wall now);
/* One is wanted of this boot now. */
bool cluster_reboot_wanted(const struct member *m, const char *boot);

/* "kernel.release, 2 more" of the names of `count` components. */
void drift_summary(const char *named, uint32_t count, struct text *t);
/* All of the names, and how many components more. */
void drift_components(const char *named, uint32_t count, struct text *t);
/* "list_0123456789ab", without end. */
void fingerprint_say(const struct fingerprint *id, struct text *t);

#endif
