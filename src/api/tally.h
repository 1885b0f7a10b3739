/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_TALLY_H
#define FETTLE_API_TALLY_H

#include "api/view.h"
#include "base/json.h"

/* Counts of nodes. Zero-initialise. */
struct tally {
    size_t nodes;
    size_t schedulable;
    struct {
        size_t held, unknown; /* listed nodes, by elsewhere_state */
        size_t out;           /* takes no new work there, whoever decided it */
    } elsewhere[ELSEWHERES];
    size_t states[LIFECYCLES][2]; /* [1]: busy */
};
void tally_add(struct tally *y, struct view *v);
/* The number of nodes by 2001 word, for words that occur: {"IDLE":12,"DOWN":1} */
void render_states(const struct tally *y, struct text *t);
/* Where others hold nodes, or where that is unknown: [{"where":"slurm","held":2,"out":3,"unknown":0}] */
json_t *tally_elsewhere(const struct tally *y);

#endif
