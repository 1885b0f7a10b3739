/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_REPAIR_REPAIR_STEP_INSIDE_H
#define FETTLE_WATCH_REPAIR_REPAIR_STEP_INSIDE_H

#include "watch/health/health.h"
#include "watch/view/view.h"

/*
 * What the steps of a repair share: a move is what a REPAIR says, and a turn is one look at one node. Each
 * step has a file: repair_isolate.c, repair_examine.c, repair_remedy.c, repair_tend.c, repair_provision.c;
 * repair.c
 * says which of them has its turn.
 */

/* What a REPAIR says beside what follows from the node. */
struct move {
    enum step to;
    const char *why, *problem;
    const struct remedy *remedy;
    int64_t cost; /* expected of it; 0: it was not chosen by its cost */
    struct span deadline;
    enum examined examined; /* EXAMINED_NOT: as it was, and so is: */
    unsigned inconclusive;
    enum refusal refusal;
    const char *attempt; /* what came of the attempt under way; NULL: nothing is said of it */
    bool done;
    char verdict;
    bool restarted; /* it booted since a restart of it was asked for, if one was */
    bool renewed;   /* what comes back is another machine: nothing that is known is of it */
};

struct turn {
    struct watch *w;
    struct mono now;
    const struct member *m;
    const struct repair *r;
    struct health_state *v;
    bool late; /* the step's deadline is over */
};

/* Proposes the step, for this reason; always true. The functions below that return bool are true when they
 * proposed something. */
bool turn_to_step(const struct turn *t, struct move v, enum step to, const char *why);
/* The attempt that has not ended; NULL without. */
const struct attempt_record *attempt_under_way(const struct repair *r);
/* The remedy of the step; NULL when it is not configured any more. */
const struct remedy *turn_remedy(const struct turn *t);
/* Something that is open was found by this check. */
bool turn_found(const struct turn *t, const struct check *k);
/* The i-th check where it is assigned to the node and extensive; else NULL. What is scheduled runs on idle
 * nodes; where it found what is wrong, it has to say that it is over. */
const struct check *turn_extensive(const struct turn *t, size_t i);
/* An extensive check is assigned to the node. */
bool turn_has_extensive(const struct turn *t);
/* Why the repair goes no further, in words; NULL: it does. */
const char *turn_given_up(const struct turn *t);
/* To the remedy, or to a person where it is a dry run. */
bool turn_to_remedy(const struct turn *t, struct move v, const struct remedy *remedy, const char *why);
/* To what is to be done, over all that is open. */
bool turn_by_choice(const struct turn *t, struct move v);
/* Nothing is open: what is left of the way back. */
bool turn_on_the_way(const struct turn *t, struct move v, const char *why);
/* What a maintenance event asks for; to a person when no remedy does it. */
bool turn_by_maintenance(const struct turn *t, struct move v);
/* Adds in words what the node's provider wants. */
void maintenance_say(const struct turn *t, struct text *why);
/* A remedy that disturbs nobody, and one that needs nothing on a node that is lost, need not wait for work.
 */
bool step_isolate(const struct turn *t);
bool step_examine(const struct turn *t);
bool step_remedy(const struct turn *t);
/* The node is in service all the while. What the remedy came to shows when its checks were asked again: what
 * is left counts as it did before, and another remedy, or the drain of what lasts, is for it. */
bool step_tend(const struct turn *t);
bool step_provision(const struct turn *t);
/* A remedy was begun while the node was in service, and something else began a repair meanwhile: one thing at
 * a time is done to a node. */
bool tend_follow(const struct turn *t);

#endif
