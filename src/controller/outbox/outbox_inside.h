/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_OUTBOX_INSIDE_H
#define FETTLE_CONTROLLER_OUTBOX_OUTBOX_INSIDE_H

#include "controller/outbox/outbox.h"
#include "controller/outbox/results.h"
#include "driver/slurm_work.h"

/*
 * Slurm's part of the outbox (outbox_slurm.c): its driver, while scontrol is configured, its readings of
 * the nodes, and the jobs on nodes with incidents. scheduler.h says what is wanted of a node in Slurm.
 */

struct outbox_slurm {
    const struct outbox_setup *with; /* borrowed, and the results */
    struct results *results;
    struct slurm *slurm; /* NULL without scontrol */
    bool *seen;          /* nodes of the reading of Slurm under way, by member id */
    size_t n_seen;
    bool any_known;          /* it names at least one node */
    struct err strange;      /* a word that it has for a node and that is not known */
    size_t n_strange;        /* nodes with such a word */
    bool fails;              /* as its driver said last */
    struct slurm_conf conf;  /* as configured last; borrowed */
    struct slurm_work *jobs; /* the reading under way of whose jobs run on `jobless`; NULL */
    struct hostlist jobless;
    struct mono jobs_next;
};

void outbox_slurm_init(struct outbox_slurm *s, const struct outbox_setup *with, struct results *results);
/* True: a driver began, which is to be told of the effects that are there, and then of the nodes that are
 * wanted out of service. */
bool outbox_slurm_configure(struct outbox_slurm *s, const struct slurm_conf *conf);
/* Nodes that are wanted out of service by now: Slurm is asked for each by name, if need be. */
void outbox_slurm_tell_wanted(const struct outbox_slurm *s);
/* The rest does nothing without a driver. */
void outbox_slurm_effect(const struct outbox_slurm *s, const char *key, const char *value);
/* Something that is agreed of these nodes changed. */
void outbox_slurm_changed(const struct outbox_slurm *s, const struct hostlist *nodes);
/* Soon reads this node's state in Slurm. */
void outbox_slurm_look(const struct outbox_slurm *s, const char *node);
/* Time passes. */
void outbox_slurm_turn(struct outbox_slurm *s, struct mono now);
size_t outbox_slurm_waiting(const struct outbox_slurm *s); /* effects that are not carried out yet */
/* Ends the driver. */
void outbox_slurm_stop(struct outbox_slurm *s);
void outbox_slurm_fini(struct outbox_slurm *s);

#endif
