/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_PROLOG_PROLOG_H
#define FETTLE_AGENT_PROLOG_PROLOG_H

#include "agent/checker/checker.h"
#include "agent/prolog/standing.h"

#include <uv.h>

/*
 * The local socket on which the programs that Slurm runs before and after a job ask whether the node may have
 * it, and those programs. One line there and one back:
 *
 *   prolog 1234         what, and the job; also epilog, task-prolog, task-epilog
 *   ok                  or  no CHECK: TEXT
 *   wait 10000          before that, when a check has to be looked at first or the node is read anew: it
 * takes so many ms at most
 *
 * Whoever is neither root nor the agent's own user may ask for tasks alone, which has nothing looked at and
 * tells of no job. No answer is no reason to keep a job away: only "no" is.
 */

#define PROLOG_SOCKET "/run/fettle/agent.sock" /* below the root */

struct prolog;

/* root is borrowed. standing is asked before each job; NULL: the checks alone are. NULL with a sentence:
 * there is nowhere to listen. */
struct prolog *prolog_create(uv_loop_t *loop, const char *root, struct checker *checker,
                             struct standing *standing, struct err *e);
void prolog_destroy(struct prolog *p);

/* The program: asks, and says what came of it as Slurm reads it. Its exit status: 1 for "no", else 0. */
int prolog_main(const char *what, const char *root);

#endif
