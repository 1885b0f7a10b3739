/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_EFFECT_H
#define FETTLE_CLUSTER_EFFECT_H

#include "cluster/command/command.h"
#include "cluster/decision/decision.h"
#include "cluster/effect/told.h"
#include "cluster/record/record.h"

/*
 * Effects on other systems, as records of the outbox (effect/KIND.NAME), and their drivers' results. A
 * decision adds the records; nothing is carried out here.
 */

/* Takes the note of the scheduler's driver about a node into its record; adds nothing when the record says so
 * already. key is of a note (product/product.h). */
int effect_take_note(const struct cluster *c, const char *key, const json_t *done, struct wall at,
                     struct decision *d, struct text *said, struct err *e);
int decide_effect(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e);

/* Adds the operation that makes the outbox say the drift (NULL: none), when it does not yet. */
void effect_tell(const struct cluster *c, const struct member *m, const struct drift *drift, struct wall at,
                 struct decision *d);
/* Adds the effect of a reboot into the class's image. */
void effect_reboot(const struct cluster *c, const struct member *m, const char *boot, struct wall at,
                   struct decision *d);
/* The effect is not wanted any more: what was there stays as memory. */
void effect_no_reboot(const struct cluster *c, const struct member *m, struct decision *d);

#endif
