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

enum slurm_wish slurm_wish_of(const struct slurm_want *w);

/* owner: which Fettle this is; boot: the start of the slurmctld that said so; is_pasted: the claim in the
 * line's reason is another node's, and somebody copied it. */
struct slurm_case slurm_view(const char *owner, const struct slurm_want *want,
                             const struct slurm_record *record, const struct slurm_line *line,
                             enum slurm_guard guard, const char *boot, bool is_pasted);

/* For the sink, but for what reservations say; points into the line. */
struct slurm_node slurm_view_node(const struct slurm_line *line, const char *owner, bool is_pasted);

#define SLURM_GUARD_PREFIX "suspicious-node-"
/* The name of this Fettle's reservation of a node, "suspicious-node-NAME.OWNER": scontrol of 22.05 takes no
 * comment for one, so its name says whose it is. */
void slurm_write_guard(const char *node, const char *owner, struct text *t);
/* The node that a reservation's name is for; NULL when it is not this Fettle's. The caller frees it. */
char *slurm_guarded_node(const char *name, const char *owner);
/* Whether one of that name is as Fettle made it: a person may have made something else of it. */
bool slurm_is_our_guard(const struct slurm_reservation *r, const char *node, const char *user);

/* Whether somebody else keeps its nodes for maintenance now: the flag MAINT, and the state ACTIVE. */
enum slurm_window { WINDOW_NOT, WINDOW_IS, WINDOW_UNKNOWN };
enum slurm_window slurm_is_window(const struct slurm_reservation *r, const char *owner);

/* Whether it is somebody else's and holds its nodes now. One whose state is not known does. */
bool slurm_is_others(const struct slurm_reservation *r, const char *owner);

/* Adds "c[1-4],d7". Slurm knows one pair of brackets a name; other lists are written in full. */
void slurm_write_list(const char *const *names, size_t n, struct text *t);

#endif
