/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and ends the room's state. */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/gather_inside.h"
#include "watch/conform/proposal_inside.h"
#include "watch/conform/spell_inside.h"
#include "watch/view/view.h"

#include <stdlib.h>

void conform_create(struct watch *w)
{
    w->conformity = mem_alloc(sizeof *w->conformity);
    w->gather = mem_alloc(sizeof *w->gather);
    w->spells = mem_alloc(sizeof *w->spells);
    w->proposals = mem_alloc(sizeof *w->proposals);
    drift_create(w);
    conformity_create(w);
}

void conform_destroy(struct watch *w)
{
    groups_drop(w);
    spells_destroy(w);
    gather_destroy(w);
    conformity_destroy(w);
    free(STEAL(w->proposals));
    free(STEAL(w->spells));
    free(STEAL(w->gather));
    free(STEAL(w->conformity));
}
