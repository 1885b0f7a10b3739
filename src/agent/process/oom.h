/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_PROCESS_OOM_H
#define FETTLE_AGENT_PROCESS_OOM_H

/*
 * Whom the kernel ends when memory runs out: each process has a score of -1000 (never) to 1000 (first), which
 * those that it starts inherit. The unit gives the agent one below OOM_ORDINARY, so that work which takes all
 * memory does not silence the node. It is for the agent alone: a check, a plugin or a remedy that takes all
 * memory is to end before the node's work does.
 */

enum { OOM_ORDINARY = 0 };
/* The name of its children, which health/kernel.tbl tells from the agent's. */
#define OOM_CHILD "fettle-check"

/* Sets the score of this process; *before (may be NULL) is what it was. -errno with nothing changed: there is
 * no /proc, or the score is below what this process may have. */
int oom_score_set(int score, int *before);

#endif
