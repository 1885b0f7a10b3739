/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_VIEW_H
#define FETTLE_DRIVER_SLURM_VIEW_H

#include "base/text.h"
#include "driver/slurm.h"
#include "driver/slurm_plan.h"
#include "driver/slurm_read.h"

/*
 * Translates a node's wanted state, its record and Slurm's answer into the terms of the plan; and writes the
 * arguments for Slurm. Pure.
 */

enum slurm_wish slurm_wish_of(const struct slurm_want *w);

/* owner: the id of this Fettle; boot: the start of the slurmctld that answered; is_pasted: the line's reason
 * has the claim of another node, because somebody copied it. */
struct slurm_case slurm_view(const char *owner, const struct slurm_want *want,
                             const struct slurm_record *record, const struct slurm_line *line,
                             enum slurm_guard guard, const char *boot, bool is_pasted);

/* For the sink, without what reservations say; points into the line. */
struct slurm_node slurm_view_node(const struct slurm_line *line, const char *owner, bool is_pasted);

#define SLURM_GUARD_PREFIX "suspicious-node-"
/* The name of this Fettle's reservation of a node, "suspicious-node-NAME.OWNER". The name has the owner
 * because scontrol of 22.05 takes no comment for a reservation. */
void slurm_write_guard(const char *node, const char *owner, struct text *t);
/* The node of a reservation's name; NULL when it is not this Fettle's. The caller frees it. */
char *slurm_guarded_node(const char *name, const char *owner);
/* Whether a reservation of that name is still as Fettle made it: a person may have changed it. */
bool slurm_is_our_guard(const struct slurm_reservation *r, const char *node, const char *user);

/* Whether somebody else keeps its nodes for maintenance now: it has the flag MAINT and the state ACTIVE. */
enum slurm_window { WINDOW_NOT, WINDOW_IS, WINDOW_UNKNOWN };
enum slurm_window slurm_is_window(const struct slurm_reservation *r, const char *owner);

/* Whether it is somebody else's and holds its nodes now. An unknown state counts as holding. */
bool slurm_is_others(const struct slurm_reservation *r, const char *owner);

/* Adds "c[1-4],d7". Slurm knows one pair of brackets in a name; other lists are written in full. */
void slurm_write_list(const char *const *names, size_t n, struct text *t);

#endif
