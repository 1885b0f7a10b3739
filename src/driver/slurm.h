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
 * The driver of Slurm: the only writer. It reads all nodes with one `scontrol -o show node`, compares them
 * with the agreed state, and writes the differences with one scontrol for all nodes that need the same. It
 * reads these nodes again before the write and after it. sink.wanted gives the wanted state of a node each
 * time. A record, effect/slurm.NAME, says what Fettle has written there, and says so before the write. After
 * a kill at any moment, the driver finds out from both what is left to do.
 *
 * The rules (doc/spec/slurm.md):
 * - A reason of this Fettle ends with its mark (slurm_reason.h) and is recognised by it, whatever Slurm
 *   appends.
 * - Nothing is written over somebody else's reason; the node is co-claimed, and stays out.
 * - UNDRAIN takes back, never RESUME; and only a drain whose reason is Fettle's.
 * - A node that a person resumed is not drained again for the same claim (sink.overridden).
 * - A reservation that a person deleted is not made again for the same examination.
 * - An answer that is empty, cut off, late, an error, or contains an unknown state is no answer: nothing is
 *   written and the work is unknown.
 * - A hold that Fettle once wrote and no longer wants (an orphan of a crash) is taken back.
 * - What a person wrote at the moment of our write, and lost by it, is restored.
 * - Fettle's own decisions do not drain a node in somebody else's maintenance reservation.
 */

struct slurm_conf {
    const char *scontrol;  /* path of the program; "" or NULL: no Slurm */
    const char *conf_file; /* SLURM_CONF for it; NULL: the one in the environment */
    struct span every;     /* between two readings when nothing happens; 5 s */
    struct span deadline;  /* for one call; 10 s */
    const char *user;      /* the user of reservations; "root" */
    const char *owner; /* identifies this Fettle: at most 12 letters and digits; distinguishes its reasons and
                          reservations from those of another Fettle */
};

/* The wanted state of a node. */
struct slurm_want {
    bool drain;             /* set with reserve too: drain where there is no reservation */
    struct slurm_mark mark; /* the claim behind it, and its problem */
    char reason[200];       /* words: "xid.79 gpu 0000:9b:00: GPU has fallen off the bus" */
    bool own;               /* Fettle's own decision: it waits during somebody's maintenance */
    bool avoid;             /* prefer other nodes: its weight in Slurm is raised */
    bool reserve; /* the reservation suspicious-node-NAME.OWNER keeps other work out; the node is not drained
                     then, or nothing could run in it */
};

/* What Slurm says about a node. */
struct slurm_node {
    const char *name;
    bool known; /* every word of its state was understood */
    bool alone; /* not part of a reading of all nodes: conclude nothing about nodes that are not reported */
    bool drain, fail, busy, completing, down, responding, reserved, rebooting, powering;
    bool guarded; /* this Fettle's own reservation of it stands, read after its state */
    /* How its state keeps new work away: "drained", "down", "failing", "rebooting", "not in service"; NULL:
     * it does not, or only by a drain of this Fettle. */
    const char *out;
    bool ours;               /* its reason is this Fettle's */
    bool held;               /* held by somebody other than this Fettle and Slurm itself */
    struct wall set_at;      /* when the reason was set, as far as Slurm says; otherwise ns 0 */
    const char *reservation; /* an active reservation of somebody else that includes it; NULL: none */
    bool vague;              /* a reservation was not understood: it may include the node */
    const char *state;       /* unchanged, "IDLE+DRAIN" */
    const char *reason;      /* "" for none, with Slurm's "[root@2026-...]" cut off */
    const char *by;          /* the user who set the reason; may be "" */
};

/* An active reservation with the flag MAINT that is not this Fettle's. */
struct slurm_maintenance {
    const char *name;
    struct hostlist nodes;
};

struct slurm_sink {
    void *arg;
    void (*wanted)(void *arg, const char *node, struct slurm_want *out);
    /* As the result of ochami_sink: key "effect/slurm.NAME", done its new value, "null" when nothing of
     * Fettle's is there any more. */
    void (*result)(void *arg, const char *key, const char *done);
    /* A reading of all nodes: each node in turn, over several turns of the loop; then once with NULL. After a
     * failed reading the same, with known false for all. Between two readings nodes come alone. A wanted node
     * that is missing from the reading is unknown, until Slurm says explicitly that it has no such node. */
    void (*saw)(void *arg, const struct slurm_node *n);
    /* All such reservations, after each reading that read them in full. */
    void (*maintained)(void *arg, const struct slurm_maintenance *list, size_t n);
    /* A person took back Fettle's drain for this claim; the result that follows says so. who may be "":
     * scontrol does not say. */
    void (*overridden)(void *arg, const char *node, const char *claim, const char *who);
    /* A person deleted the reservation of the examination for this claim: the node is drained again. */
    void (*refused)(void *arg, const char *node, const char *claim);
    /* Somebody wrote this reason to the node at the moment of a write of Fettle's, which overwrote it. It was
     * restored in their words, or could not be (why). */
    void (*restored)(void *arg, const char *node, const char *reason, const struct err *why);
    /* Slurm does not answer, or does not obey: called each time. NULL: it works again. */
    void (*trouble)(void *arg, const struct err *why);
};

struct slurm;
struct slurm *slurm_create(uv_loop_t *loop, const struct slurm_conf *conf, const struct slurm_sink *sink);
/* Kills calls that are under way. */
void slurm_destroy(struct slurm *s);
void slurm_configure(struct slurm *s, const struct slurm_conf *conf);
/* A new or changed record of an effect; value NULL: it is gone. Other keys are ignored. */
void slurm_effect(struct slurm *s, const char *key, const char *value);
/* Something is about to be done to this node: its holders and reservations are read now and reported. */
void slurm_look(struct slurm *s, const char *node);
/* The wanted state of these nodes may have changed: look now, not at the next turn. */
void slurm_changed(struct slurm *s, const struct hostlist *nodes);
/* Slurm was asked for this node by name, and said that it has no such node. */
bool slurm_lacks(const struct slurm *s, const char *node);
size_t slurm_waiting(const struct slurm *s); /* nodes whose state in Slurm is not the wanted one yet */

#endif
