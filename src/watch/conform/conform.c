/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and ends the room's state. */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/drifting_inside.h"
#include "watch/conform/gather_inside.h"
#include "watch/conform/proposal_inside.h"
#include "watch/view/view.h"

#include <stdlib.h>

void conform_create(struct watch *w)
{
    w->conformity = mem_alloc(sizeof *w->conformity);
    w->gather = mem_alloc(sizeof *w->gather);
    w->driftings = mem_alloc(sizeof *w->driftings);
    w->proposals = mem_alloc(sizeof *w->proposals);
    drift_create(w);
    conformity_create(w);
}

void conform_destroy(struct watch *w)
{
    groups_drop(w);
    driftings_destroy(w);
    gather_destroy(w);
    conformity_destroy(w);
    free(STEAL(w->proposals));
    free(STEAL(w->driftings));
    free(STEAL(w->gather));
    free(STEAL(w->conformity));
}
