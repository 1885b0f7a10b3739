/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_LIFECYCLE_H
#define FETTLE_NODE_LIFECYCLE_H

#include "base/clock.h"
#include "base/text.h"
#include "node/elsewhere.h"

#include <stdbool.h>

/*
 * The lifecycle of a node, the facts beside it, and what follows from both.
 *
 * The lifecycle is a function of what is agreed about the node (whether it is listed, whether it was ever
 * heard, its claims), not a value of its own that could contradict them. The facts never change it by
 * themselves: a fact becomes a command, the command a record, the record the state. `unknown` is a value of
 * each fact, and an unknown fact never counts as good.
 */

enum lifecycle {
#define LIFECYCLE(symbol, name, idle, busy, what, todo) LIFECYCLE_##symbol,
#include "node/lifecycle.tbl"
#undef LIFECYCLE
    LIFECYCLES
};

/* Why no new work may land on a node. */
enum why {
#define WHY(symbol, words, rest, what, todo) WHY_##symbol,
#include "node/why.tbl"
#undef WHY
    WHYS
};
const char *why_words(enum why reason); /* how the reason begins, for instance "silent for " */

enum liveness {
    LIVENESS_UNHEARD, /* not heard since this controller started listening */
    LIVENESS_LIVE,
    LIVENESS_LATE,  /* late: takes no new work */
    LIVENESS_SILENT /* silent for longer than its grace */
};
enum conformance {
    CONFORMANCE_UNKNOWN,    /* not read, not comparable, stale, or without a baseline */
    CONFORMANCE_CONFORMANT, /* provably equal to the baseline of its class */
    CONFORMANCE_DRIFTED     /* provably different from it */
};
enum work { WORK_UNKNOWN, WORK_IDLE, WORK_BUSY };

/* The step of a node's repair: its way back into service. */
enum step {
#define STEP(symbol, name, lifecycle, what, todo) STEP_##symbol,
#include "node/step.tbl"
#undef STEP
    STEPS
};
const char *step_name(enum step s); /* "isolate" */
const char *step_what(enum step s);
bool step_parse(const char *name, enum step *out);
/* The lifecycle of a node at this step of its repair; LIFECYCLES for steps during which the claims decide. */
enum lifecycle step_lifecycle(enum step s);
/* The moves of a repair (step_move.tbl; doc/spec/repair.md explains them). NONE stands for no repair. */
enum step_event {
    STEP_EVENT_NONE, /* none is named */
#define EVENT(symbol, name, by, sentence) STEP_EVENT_##symbol,
#include "node/step_move.tbl"
    STEP_EVENTS
};
enum step_guard {
#define GUARD(symbol, sentence) STEP_GUARD_##symbol,
#include "node/step_move.tbl"
    STEP_GUARDS
};
enum step_then {
#define THEN(symbol, sentence) STEP_THEN_##symbol,
#include "node/step_move.tbl"
    STEP_THENS
};
const char *step_event_name(enum step_event e);    /* "not_remedied"; "" for STEP_EVENT_NONE */
enum step_event step_event_find(const char *name); /* STEP_EVENT_NONE for an unknown word */
const char *step_event_what(enum step_event e);    /* "a finding is fatal" */
bool step_event_is_persons(enum step_event e);     /* a person commands it; otherwise Fettle sees it */
const char *step_guard_what(enum step_guard g);    /* "a remedy was chosen"; "" for STEP_GUARD_ALWAYS */
const char *step_then_what(enum step_then t);      /* "a claim takes the node out of service"; "" for ENTER */
struct step_move {
    enum step from;
    enum step_event event;
    enum step_guard guard;
    enum step to;
    enum step_then then;
};
/* All of them, in the order of their steps. Two steps may have several moves between them. */
const struct step_move *step_moves(size_t *n);
/* Whether a repair may move from one step to another, by any event, or by this one. */
bool step_may(enum step from, enum step to);
bool step_may_by(enum step from, enum step_event event, enum step to);
/* The action of the moves between two steps beside that the step begins; there is a move between them. */
enum step_then step_then(enum step from, enum step to);

/* The agreed facts about a node. */
struct agreed {
    bool listed;    /* a configuration file names it */
    bool admitted;  /* it was heard at least once */
    bool drain;     /* a drain claim holds it */
    bool drained;   /* its work has ended since */
    bool down;      /* a person's down claim holds it */
    bool silent;    /* it was silent for longer than its grace */
    bool returning; /* Fettle has no hold left, and its drain in Slurm still stands */
    bool overdue;   /* its drift was not corrected in time: counts as down */
    enum step step; /* the step of its repair; NONE without one */
};

enum lifecycle lifecycle_of(const struct agreed *a);

/* Room for the finding's words, device and check, and the consequence. */
enum { FITNESS_HEALTH_BYTES = 640 };

/* Everything that decides whether new work may land on a node. Borrowed texts may be NULL. */
struct fitness {
    struct agreed agreed;
    enum liveness liveness;
    enum work work;
    struct span silence;   /* the time since it was last heard */
    const char *claims;    /* the claims in words */
    const char *shortfall; /* the parts of its specification that it lacks */
    bool reported;         /* its inventory is known */
    enum conformance conformance;
    const char *window; /* the scheduler's maintenance window around now; NULL without */
    bool comes_up;      /* it came up, and its checks must pass before it enters service */
    const struct elsewhere *elsewhere[ELSEWHERES]; /* other holders; NULL: nobody */
    bool ill;                                      /* its health keeps new work away */
    char health[FITNESS_HEALTH_BYTES]; /* what is wrong, with the consequence or the possible consequence; ""
                                          for nothing */
};

/* True when new work may land. Otherwise writes every reason into `why` (emptied first; may be NULL), the
 * strongest first, joined by "; ". When the node takes work although something is wrong, `why` says what is
 * wrong. An unknown holder elsewhere is reported and does not keep work away. */
bool lifecycle_schedulable(const struct fitness *f, struct text *why);
/* The strongest reason; WHYS when new work may land. */
enum why lifecycle_obstacle(const struct fitness *f);

const char *lifecycle_name(enum lifecycle l);              /* "draining" */
const char *lifecycle_word(enum lifecycle l, enum work w); /* the 2001 word: "DRAINING" */
const char *lifecycle_what(enum lifecycle l);
const char *liveness_name(enum liveness l);
const char *work_name(enum work w);
const char *conformance_name(enum conformance c);

#endif
