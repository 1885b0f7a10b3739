/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_H
#define FETTLE_DRIVER_SLURM_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "driver/slurm_reason.h"

#include <stdbool.h>
#include <uv.h>

/*
 * The driver of Slurm: the one writer. It reads all nodes with one `scontrol -o show node`, compares with
 * what is agreed, and writes what differs with one scontrol for all nodes that need the same; before it
 * writes it reads those again, and after it. What Fettle wants of a node is asked for each time
 * (sink.wanted); what Fettle has written there is a record, effect/slurm.NAME, which says so before the
 * write. A driver that was killed at any moment finds out from both what is left to do.
 *
 * The rules (doc/spec/slurm.md):
 * - A reason of this Fettle's ends with its mark (slurm_reason.h) and is known by it, whatever Slurm appends.
 * - Nothing is written over somebody else's reason; the node is co-claimed, and stays out.
 * - UNDRAIN takes back, never RESUME; and only a drain whose reason is Fettle's.
 * - A node that a person resumed is not drained again for the same claim (sink.overridden).
 * - A reservation that a person deleted is not made again for the same examination.
 * - An answer that is empty, cut off, late, an error, or has a state that is not known is no answer:
 *   nothing is written and the work is unknown.
 * - What Fettle once wrote and wants no more (an orphan of a crash) is taken back.
 * - What somebody wrote in the moment of a write of ours, and was lost by it, is put back.
 * - A node in a maintenance reservation of somebody else's is not drained by Fettle's own decision.
 */

struct slurm_conf {
    const char *scontrol;  /* path of the program; "" or NULL: no Slurm */
    const char *conf_file; /* SLURM_CONF for it; NULL: the environment's */
    struct span every;     /* between two readings when nothing happens; 5 s */
    struct span deadline;  /* of one call; 10 s */
    const char *user;      /* for whom reservations are; "root" */
    const char *owner; /* which Fettle this is: letters and digits, 12 at most; by it a reason or reservation
                          of this one is told from another Fettle's */
};

/* What is wanted of a node. */
struct slurm_want {
    bool drain;             /* also with reserve: what is wanted where there is no reservation */
    struct slurm_mark mark; /* the claim that asks for it, and its problem */
    char reason[200];       /* words: "xid.79 gpu 0000:9b:00: GPU has fallen off the bus" */
    bool own;               /* Fettle's own decision: in somebody's maintenance window it waits */
    bool avoid;             /* others are to be preferred to it: its weight in Slurm is larger */
    bool reserve; /* the reservation suspicious-node-NAME.OWNER is to keep other work out; the node is not
                     drained then, or nothing could run in it */
};

/* What Slurm says of a node. */
struct slurm_node {
    const char *name;
    bool known; /* every word of its state was understood */
    bool alone; /* of no reading of all nodes: nothing follows of those that are not told */
    bool drain, fail, busy, completing, down, responding, reserved, rebooting, powering;
    bool guarded; /* this Fettle's own reservation of it stands, as was read after its state */
    /* How its state keeps new work away: "drained", "down", "failing", "rebooting", "not in service"; NULL:
     * it does not, or by a drain of this Fettle's. */
    const char *out;
    bool ours;               /* its reason is this Fettle's */
    bool held;               /* it is out by somebody other than this Fettle and Slurm itself */
    struct wall set_at;      /* when the reason was set, as far as Slurm says; else ns 0 */
    const char *reservation; /* an active one of somebody else's that it lies in; NULL: none */
    bool vague;              /* of the reservations one was not understood: it may lie in one */
    const char *state;       /* as it stands, "IDLE+DRAIN" */
    const char *reason;      /* "" for none, with Slurm's "[root@2026-...]" cut off */
    const char *by;          /* who set the reason; "" */
};

/* A reservation with the flag MAINT that is active and not this Fettle's. */
struct slurm_maintenance {
    const char *name;
    struct hostlist nodes;
};

struct slurm_sink {
    void *arg;
    void (*wanted)(void *arg, const char *node, struct slurm_want *out);
    /* As ochami_sink's result: key "effect/slurm.NAME", done its new value, "null" when nothing of Fettle's
     * is there any more. */
    void (*result)(void *arg, const char *key, const char *done);
    /* A reading of all nodes: each node of it in turn, in several turns of the loop; then once with NULL. A
     * reading that failed: the same, known false for all. Between two of them nodes come alone. A node of
     * which something is wanted, and that the reading does not have, is not known, until Slurm says in so
     * many words that it has no such node. */
    void (*saw)(void *arg, const struct slurm_node *n);
    /* All such reservations, of each reading in which they could be read in full. */
    void (*maintained)(void *arg, const struct slurm_maintenance *list, size_t n);
    /* A person took back what Fettle had drained for this claim: the result that follows says so. who: "",
     * scontrol does not say. */
    void (*overridden)(void *arg, const char *node, const char *claim, const char *who);
    /* A person deleted the reservation of the examination for this claim: the node is drained again. */
    void (*refused)(void *arg, const char *node, const char *claim);
    /* Somebody wrote this reason to the node in the moment of a write of Fettle's, which undid that: it was
     * put back in their words, or could not be (why). */
    void (*restored)(void *arg, const char *node, const char *reason, const struct err *why);
    /* Slurm does not answer, or does not do what it is told: told each time. NULL: that is over. */
    void (*trouble)(void *arg, const struct err *why);
};

struct slurm;
struct slurm *slurm_create(uv_loop_t *loop, const struct slurm_conf *conf, const struct slurm_sink *sink);
/* Kills the calls that are under way. */
void slurm_destroy(struct slurm *s);
void slurm_configure(struct slurm *s, const struct slurm_conf *conf);
/* An effect's record, new or changed; value NULL: it is gone. Other keys are ignored. */
void slurm_effect(struct slurm *s, const char *key, const char *value);
/* Something is about to be done to this node: who holds it, its reservations too, is read now and told. */
void slurm_look(struct slurm *s, const char *node);
/* What is wanted of these nodes may have changed: look now, not at the next turn. */
void slurm_changed(struct slurm *s, const struct hostlist *nodes);
/* Slurm was asked for this node by name, and said that it has no such node. */
bool slurm_lacks(const struct slurm *s, const char *node);
size_t slurm_waiting(const struct slurm *s); /* nodes of which Slurm does not say yet what is wanted */

#endif
