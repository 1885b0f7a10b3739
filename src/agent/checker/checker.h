/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_CHECKER_H
#define FETTLE_AGENT_CHECKER_CHECKER_H

#include "agent/checker/checklist.h"
#include "base/text.h"
#include "check/look.h"
#include "check/nvidia.h"
#include "health/finding.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Runs the node's checks and says what they come to. What cannot hang is read in the loop, what may hang in
 * a child with the check's deadline, one for each target and a few at once; a check that hangs is unknown
 * and holds no other up. The results are steadied (health/steady.h), and what is new about them is said
 * within 20 ms.
 *
 * When a check is due follows from the names of node and check, so that the nodes of a cluster do not look
 * at one server at the same moment; those of one node share their wake-ups. What the kernel tells of
 * (its log, a mount, the end of a service's process) makes a check due at once.
 */

struct checker;

struct checker_settings {
    const char *home, *root, *node, *boot; /* borrowed as long as it exists; home NULL: nothing is kept */
    /* The body of a CHECKS frame. Dropped when nobody listens: checker_tell says it all again. */
    void (*say)(void *arg, const char *body, size_t len);
    void *arg;
    bool by_hand; /* nothing is due by itself: checker_look alone looks */
};

/* Has no checks until it is given a checklist. */
struct checker *checker_create(uv_loop_t *loop, const struct checker_settings *settings);
/* Calls nobody any more; frees it when the loop has closed its handles. */
void checker_destroy(struct checker *c);

/* From now on these; empties *list. Of checks that stay as they were everything is remembered. Says all
 * anew. */
void checker_set(struct checker *c, struct checklist *list);
/* The hash of the controller's list that is in force; "" for the node's own or none. */
const char *checker_list(const struct checker *c);
const struct checks *checker_checks(const struct checker *c);

/* Says all, at once: somebody listens who knows nothing. Nothing while there is no list. */
void checker_tell(struct checker *c);

/* How busy and hot the GPUs are, as a check read it last; unknown where none does. */
const struct gpu_capacity *checker_gpus(const struct checker *c);
/* What the controller's clock is now, for checks of this node's. */
void checker_clock(struct checker *c, struct wall controller);
/* Whether work runs on the node, as far as is known. Checks that are for idle nodes wait, and end. */
void checker_idle(struct checker *c, bool idle);
/* A job begins or ends here: sooner and surer than the node can be read to know. */
void checker_job(struct checker *c, const char *id, bool begins);

/* One look at this check, whatever its time, together with others (borrowed for the call); what was seen goes
 * the usual way, too. fn is called from the loop. -ENOENT: the node runs no such check. */
typedef void checker_look_fn(void *arg, const struct verdict *v, struct span took);
int checker_look(struct checker *c, const char *name, struct span deadline, const struct company *with,
                 checker_look_fn *fn, void *arg, struct err *e);
/* Ends the look at this check that is under way; nothing is said of it. */
void checker_end(struct checker *c, const char *name);

/* What the checks of a kind (CHECK_PROLOG, CHECK_EPILOG) say. Those whose last look is older than they are
 * to be looked at are looked at first. fn has "" or "CHECK: why not"; unknown is no reason, and neither is
 * what is only observed. True: fn was called already; else it comes, within *within. fresh false: the last
 * results do, whatever their age, and it was called. */
typedef void checker_ask_fn(void *arg, const char *why_not);
bool checker_ask(struct checker *c, unsigned when, bool fresh, checker_ask_fn *fn, void *arg,
                 struct span *within);
/* Calls back nobody who was given this arg. */
void checker_cancel(struct checker *c, const void *arg);

/* What the kernel said under these words, as in kernel_forget, was put right: it is over, up to this sequence
 * number, and stays so when the agent ends. Every check that repeats is looked at anew,
 * and what it says is told though it be the same. */
void checker_cured(struct checker *c, const char *words, uint64_t until);

/* The first moment after `after` at which the check is due on this node. */
struct mono checker_due(const char *node, const struct check *k, struct mono after);

#endif
