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
 * Runs the node's checks and reports their results. A look that cannot hang is made in the loop. A look
 * that may hang is made in a child process with the check's deadline: one child for each target, and a few
 * at once. A check that hangs is unknown and delays no other check. Results are steadied (health/steady.h),
 * and a changed result is reported within 20 ms.
 *
 * The time at which a check is due follows from the names of node and check, so that the nodes of a cluster
 * do not look at one server at the same moment. The checks of one node share their wake-ups. An event of
 * the kernel (a log line, a mount, the end of a service's process) makes its check due at once.
 */

struct checker;

struct checker_settings {
    const char *home, *root, *node, *boot; /* borrowed as long as it exists; home NULL: nothing is kept */
    /* The body of a CHECKS frame. It is dropped while nobody listens; checker_tell repeats everything. */
    void (*say)(void *arg, const char *body, size_t len);
    void *arg;
    bool by_hand; /* nothing is due by itself: checker_look alone looks */
};

/* Has no checks until it is given a checklist. */
struct checker *checker_create(uv_loop_t *loop, const struct checker_settings *settings);
/* Calls back nobody from now on. Frees the checker when the loop has closed its handles. */
void checker_destroy(struct checker *c);

/* Replaces the list of checks; empties *list. A check whose record stays the same keeps its memory.
 * Reports everything again. */
void checker_set(struct checker *c, struct checklist *list);
/* The hash of the controller's list that is in force; "" for the node's own or none. */
const char *checker_list(const struct checker *c);
const struct checks *checker_checks(const struct checker *c);

/* Reports all results at once, for a listener that knows none. Does nothing while there is no list. */
void checker_tell(struct checker *c);

/* How busy and hot the GPUs are, as a check read it last; unknown where none does. */
const struct gpu_capacity *checker_gpus(const struct checker *c);
/* Sets the controller's clock as it is now, for the checks that compare clocks. */
void checker_clock(struct checker *c, struct wall controller);
/* Whether work runs on the node, as far as is known. Checks that are for idle nodes wait, and end. */
void checker_idle(struct checker *c, bool idle);
/* A job begins or ends here: sooner and surer than the node can be read to know. */
void checker_job(struct checker *c, const char *id, bool begins);

/* Makes one look at this check now, whether due or not, together with other nodes (borrowed for the call).
 * The result also goes the usual way. fn is called from the loop. -ENOENT: the node runs no such check. */
typedef void checker_look_fn(void *arg, const struct verdict *v, struct span took);
int checker_look(struct checker *c, const char *name, struct span deadline, const struct company *with,
                 checker_look_fn *fn, void *arg, struct err *e);
/* Ends the look at this check that is under way, without a result. */
void checker_end(struct checker *c, const char *name);

/* Answers what the checks of one kind (CHECK_PROLOG, CHECK_EPILOG) say. A check whose last look is older
 * than its record allows is looked at first. fn gets "" or "CHECK: why not". An unknown result is no
 * reason, and neither is a check that is only observed. Returns true when fn was called already; else fn
 * is called within *within. With fresh false, the last results are used whatever their age, and fn was
 * called. */
typedef void checker_ask_fn(void *arg, const char *why_not);
bool checker_ask(struct checker *c, unsigned when, bool fresh, checker_ask_fn *fn, void *arg,
                 struct span *within);
/* Drops all callbacks with this arg. */
void checker_cancel(struct checker *c, const void *arg);

/* A person or a remedy put right what the kernel reported under these words (as in kernel_forget):
 * findings up to this sequence number are over, and stay over when the agent ends. Every repeating check
 * looks again, and its result is reported even if it is the same. */
void checker_cured(struct checker *c, const char *words, uint64_t until);

/* The first moment after `after` at which the check is due on this node. */
struct mono checker_due(const char *node, const struct check *k, struct mono after);

#endif
