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
 * The lifecycle is a function of what is agreed about the node (is it listed, was it ever heard,
 * which claims rest on it), not a value of its own that could contradict them. The facts never
 * change it by themselves: a fact becomes a command, the command a record, the record the state.
 * `unknown` is a value of each fact, and no fact that is unknown counts as good.
 */

enum lifecycle {
#define LIFECYCLE(symbol, name, idle, busy, what, todo) LIFECYCLE_##symbol,
#include "node/lifecycle.tbl"
#undef LIFECYCLE
    LIFECYCLES
};

/* Why new work may not land on a node. */
enum why {
#define WHY(symbol, words, rest, what, todo) WHY_##symbol,
#include "node/why.tbl"
#undef WHY
    WHYS
};
const char *why_words(enum why reason); /* "silent for ", what the reason begins with */

enum liveness {
    LIVENESS_UNHEARD, /* not heard since this controller began to listen */
    LIVENESS_LIVE,
    LIVENESS_LATE,  /* takes no new work */
    LIVENESS_SILENT /* past its grace */
};
enum conformance {
    CONFORMANCE_UNKNOWN,    /* not read, not comparable, stale, or nothing to compare with */
    CONFORMANCE_CONFORMANT, /* provably what its class's baseline says */
    CONFORMANCE_DRIFTED     /* provably something else */
};
enum work { WORK_UNKNOWN, WORK_IDLE, WORK_BUSY };

/* Where a node is on its way back into service: the step of its repair. */
enum step {
#define STEP(symbol, name, lifecycle, what, todo) STEP_##symbol,
#include "node/step.tbl"
#undef STEP
    STEPS
};
const char *step_name(enum step s); /* "isolate" */
const char *step_what(enum step s);
bool step_parse(const char *name, enum step *out);
/* The lifecycle while a repair is at this step; LIFECYCLES for those during which claims say it. */
enum lifecycle step_lifecycle(enum step s);
/* Whether a repair may go from one step to another; NONE is before its beginning and after its end. step.tbl
 * and step_move.tbl are explained in doc/spec/repair.md. */
bool step_may(enum step from, enum step to);
/* The same without a person's word. */
bool step_may_alone(enum step from, enum step to);

/* What is agreed about a node. */
struct agreed {
    bool listed;    /* a configuration file names it */
    bool admitted;  /* it was heard at least once, ever */
    bool drain;     /* a drain claim rests on it */
    bool drained;   /* and its work has ended since */
    bool down;      /* a person's down claim rests on it */
    bool silent;    /* it was found silent past its grace */
    bool returning; /* nothing holds it here any more, and Slurm still has Fettle's drain */
    bool overdue;   /* its drift was not remedied in time: counts as down */
    enum step step; /* of its repair, NONE without one */
};

enum lifecycle lifecycle_of(const struct agreed *a);

/* Room for a finding's words, its device and its check, and for what follows. */
enum { FITNESS_HEALTH_BYTES = 640 };

/* Everything that decides whether new work may land on a node. Borrowed texts may be NULL. */
struct fitness {
    struct agreed agreed;
    enum liveness liveness;
    enum work work;
    struct span silence;   /* since it was last heard */
    const char *claims;    /* the claims in words */
    const char *shortfall; /* what it lacks */
    bool reported;         /* its inventory is known */
    enum conformance conformance;
    const char *window; /* the maintenance window of the scheduler's that it lies in; NULL without */
    bool comes_up;      /* it came up, and its checks have to pass before it is in service */
    const struct elsewhere *elsewhere[ELSEWHERES]; /* who else holds it; NULL for nobody */
    bool ill;                                      /* it takes no new work for its health */
    char health[FITNESS_HEALTH_BYTES]; /* what is wrong, and what follows or would follow; "" for nothing */
};

/* True when new work may land. Otherwise says why not into `why` (emptied first; may be NULL):
 * every reason, the strongest first, joined by "; ". Of a node that takes work although something is wrong,
 * why says what. That it is not known who holds the node elsewhere is said, and keeps no work away. */
bool lifecycle_schedulable(const struct fitness *f, struct text *why);
/* The strongest of the reasons; WHYS when new work may land. */
enum why lifecycle_obstacle(const struct fitness *f);

const char *lifecycle_name(enum lifecycle l);              /* "draining" */
const char *lifecycle_word(enum lifecycle l, enum work w); /* the 2001 word: "DRAINING" */
const char *lifecycle_what(enum lifecycle l);
const char *liveness_name(enum liveness l);
const char *work_name(enum work w);
const char *conformance_name(enum conformance c);

#endif
