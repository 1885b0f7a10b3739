/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_REPAIR_REPAIR_STEP_INSIDE_H
#define FETTLE_WATCH_REPAIR_REPAIR_STEP_INSIDE_H

#include "node/operation.h"
#include "watch/health/health.h"
#include "watch/view/view.h"

/*
 * What the steps of a repair share. A move is the content of a REPAIR command; a turn is one look at one
 * node. Each step has a file: repair_isolate.c, repair_examine.c, repair_remedy.c, repair_tend.c,
 * repair_provision.c. repair.c decides which step has its turn.
 */

/* The content of a REPAIR command that does not follow from the node. The event that leads to the move stands
 * apart, so that no move is made without one. The decision holds it against the table (node/step_move.tbl).
 */
struct move {
    enum step to;
    const char *why, *problem;
    const struct remedy *remedy;
    int64_t cost; /* its expected cost; 0: it was not chosen by its cost */
    struct span deadline;
    enum examined examined; /* EXAMINED_NOT: unchanged, and so is the next field */
    unsigned inconclusive;
    enum refusal refusal;
    const char *attempt; /* the outcome of the attempt under way; NULL: none is given */
    bool done;
    char verdict;
    bool restarted; /* the node booted since its restart was asked for, if it was */
    bool renewed;   /* another machine comes back, so nothing that is known applies to it */
};

struct turn {
    struct watch *w;
    struct mono now;
    const struct member *m;
    const struct repair *r;
    struct health_state *v;
    bool late; /* the step's deadline is over */
};

/* Proposes the step, because of this event and for this reason; always true. The functions below that return
 * bool return true when they proposed something. */
bool turn_to_step(const struct turn *t, enum step_event event, struct move v, enum step to, const char *why);
/* The attempt that has not ended; NULL without. */
const struct attempt_record *attempt_under_way(const struct repair *r);
/* The remedy of the step; NULL when it is not configured any more. */
const struct remedy *turn_remedy(const struct turn *t);
/* An open incident has a finding of this check. */
bool turn_found(const struct turn *t, const struct check *k);
/* The i-th check, if it is extensive and assigned to the node; else NULL. A scheduled check, which runs on
 * idle nodes, counts when an open incident has a finding of it, because it has to report the end of that. */
const struct check *turn_extensive(const struct turn *t, size_t i);
/* An extensive check is assigned to the node. */
bool turn_has_extensive(const struct turn *t);
/* Why the repair ends early, in words; NULL: it goes on. */
const char *turn_given_up(const struct turn *t);
/* Goes on to the remedy, or to a person when the remedy is a dry run. */
bool turn_to_remedy(const struct turn *t, enum step_event event, struct move v, const struct remedy *remedy,
                    const char *why);
/* Goes on to the remedy that is chosen for all open faults. */
bool turn_by_choice(const struct turn *t, enum step_event event, struct move v);
/* No fault is open: goes on with the way back into service. */
bool turn_on_the_way(const struct turn *t, enum step_event event, struct move v, const char *why);
/* Goes on to what a maintenance event asks for, or to a person when no remedy does it. */
bool turn_by_maintenance(const struct turn *t, enum step_event event, struct move v);
/* Adds what the node's provider wants, in words. */
void maintenance_say(const struct turn *t, struct text *why);
/* A remedy that disturbs nobody need not wait for work, and neither need a remedy without needs on a lost
 * node. */
bool step_isolate(const struct turn *t);
bool step_examine(const struct turn *t);
bool step_remedy(const struct turn *t);
/* The node stays in service. The outcome of the remedy shows when its checks have run again. A fault that is
 * left counts as before, and gets another remedy, or is drained when it lasts. */
bool step_tend(const struct turn *t);
bool step_provision(const struct turn *t);
/* A person released the node, which has no repair: it is wiped. */
bool wipe_begin(const struct turn *t);
bool step_wipe(const struct turn *t);
/* The node is here on another boot than the one on which the operation was begun, and it is the same machine,
 * unless another one is to come. */
bool turn_came_back(const struct turn *t, const struct operation *o);
/* A remedy was begun while the node was in service, and something else began a repair meanwhile. Only one
 * thing at a time is done to a node, so the repair waits. */
bool tend_follow(const struct turn *t);

#endif
