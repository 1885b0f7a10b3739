/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_VIEW_H
#define FETTLE_DRIVER_SLURM_VIEW_H

#include "base/text.h"
#include "driver/slurm.h"
#include "driver/slurm_plan.h"
#include "driver/slurm_read.h"

/*
 * What is wanted, what a record says and what Slurm says of a node, in the words of the plan; and the words
 * in which Slurm is told. Pure.
 */

/* The name of a reservation is this and the node's. */
#define SLURM_GUARD "suspicious-node-"

enum slurm_wish slurm_wish_of(const struct slurm_want *w);

/* boot: the start of the slurmctld that said so. */
struct slurm_case slurm_view(const struct slurm_want *want, const struct slurm_record *record,
                             const struct slurm_line *line, enum slurm_guard guard, const char *boot);

/* For the sink; points into the line. */
struct slurm_node slurm_view_node(const struct slurm_line *line);

/* Whether a reservation of that name is Fettle's: by its shape, since scontrol of 22.05 takes no comment for
 * it. */
bool slurm_is_our_guard(const struct slurm_reservation *r, const char *node, const char *user);

/* Adds "c[1-4],d7". Slurm knows one pair of brackets a name; other lists are written in full. */
void slurm_write_list(const char *const *names, size_t n, struct text *t);

#endif
