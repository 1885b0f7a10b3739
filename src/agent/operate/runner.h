/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_OPERATE_RUNNER_H
#define FETTLE_AGENT_OPERATE_RUNNER_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Runs the command of an operation in a process of its own, the runner, which outlives the agent. The
 * runner reads what the command prints, ends it at its deadline, and writes down the result. A remedy that
 * is under way is therefore neither cut off nor forgotten, and no second one joins it, when the agent is
 * restarted, upgraded or killed: the next agent finds the runner by the lock on its file and waits for it.
 * There is one runner at a time.
 */

struct runner_job {
    const char *id;   /* one word, the operation's */
    const char *copy; /* another directory, which may hang, for results that outlive a boot; NULL: none */
    const char *command;
    struct span deadline;
    /* The kernel's sysrq-trigger where the command takes the node down: the runner goes on until the
     * deadline, and has the machine restarted then. NULL for any other. */
    const char *trigger;
};

/* Its process, or a negative errno with a sentence: then nothing was run. */
pid_t runner_start(const char *home, const struct runner_job *job, struct err *e);
/* The runner that is there, of whichever agent, and its operation in *id (to be freed); 0 and NULL: none is.
 */
pid_t runner_find(const char *home, char **id);

struct runner_end {
    bool good;  /* exit status 0 */
    char *text; /* why it is not, and the end of what was printed; to be freed */
};
/* The result of this operation once its runner is gone; false: the runner left none, and nobody knows. */
bool runner_take_end(const char *home, const char *id, struct runner_end *end);

#endif
