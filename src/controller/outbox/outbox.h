/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_OUTBOX_H
#define FETTLE_CONTROLLER_OUTBOX_OUTBOX_H

#include "controller/commit/committer.h"
#include "controller/config/config.h"
#include "controller/outbox/actors.h"
#include "controller/outbox/counterpart.h"
#include "controller/outbox/powers.h"
#include "driver/operate.h"
#include "watch/watch.h"

/*
 * The outbox: effects are records, drivers carry them out, and their results are committed. There is a
 * driver for OpenCHAMI, for Slurm and for the nodes' power while the configuration names them; without its
 * driver a record waits. Operations for the nodes' own agents belong to the actors (actors.h). This room
 * does not know over which connection an agent is reached: its opener gives it a function for that.
 */

struct outbox;

struct outbox_setup {
    uv_loop_t *loop;
    struct cluster *cluster;
    struct watch *watch;
    struct committer *committer;
    uint64_t term, instance;
    const char *owner; /* by which Slurm's driver knows what this Fettle wrote there; lives as long */
    void *arg;
    struct counterparts *counterparts; /* notes whether Slurm, OpenCHAMI and the BMCs answer */
    /* As watch_sink's: "slurm.overridden". */
    void (*notice)(void *arg, const char *what, const char *nodes, const char *text);
    /* Says a frame to a node; as actors_setup's. */
    bool (*send)(void *arg, struct member *m, enum frame_type type, json_t *body);
};

/* Borrows conf's BMCs until another is given or outbox_stop. */
struct outbox *outbox_create(const struct outbox_setup *setup, const struct config *conf);
void outbox_configure(struct outbox *o, const struct config *conf);
/* Time passes: call it some times a second. */
void outbox_turn(struct outbox *o, struct mono now);
/* Something that is agreed of these nodes changed. */
void outbox_changed(struct outbox *o, const struct hostlist *nodes);
size_t outbox_waiting(const struct outbox *o); /* effects that are not carried out yet */
/* The number of effects that wait for this counterpart; 0 for one outside the outbox. */
size_t outbox_waits_for(const struct outbox *o, enum counterpart which);
struct actors *outbox_actors(const struct outbox *o);
struct operate *outbox_operate(const struct outbox *o);
/* The callers that wait for the end of power commands. */
struct powers *outbox_powers(const struct outbox *o);
/* Ends the drivers; before the committer. */
void outbox_stop(struct outbox *o);
/* After the committer. */
void outbox_destroy(struct outbox *o);

#endif
