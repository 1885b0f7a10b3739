/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_EXEC_COMMAND_H
#define FETTLE_EXEC_COMMAND_H

#include "base/err.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "driver/request.h"

#include <stdbool.h>

/*
 * Turns a request into a program with arguments and environment, or a refusal. Here is decided what root does
 * for fettled: the request says which of the configuration's programs to run and for which node, never a path
 * or a command.
 */

struct command {
    struct hostlist argv, set; /* words, and "NAME=value"; argv empty: nothing is run */
    struct text printed;       /* instead of a program's output */
    bool changes;              /* the call may change something */
};

/* conf is the path of fettle.conf. Give *c to command_fini, even after an error: -EPERM, or the error of a
 * check. */
int command_decide(const struct request *r, const char *conf, struct command *c, struct err *e);
void command_fini(struct command *c);

#endif
