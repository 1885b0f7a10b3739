/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_EXEC_COMMAND_H
#define FETTLE_EXEC_COMMAND_H

#include "base/err.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "driver/request.h"

#include <stdbool.h>

/*
 * What follows of a request: a program with its arguments and environment, or why not. This is where it is
 * decided what root does for fettled: the request says which of the configuration's programs and for which
 * node, never a path or a command.
 */

struct command {
    struct hostlist argv, set; /* words, and "NAME=value"; argv empty: nothing is run */
    struct text printed;       /* instead of a program's output */
    bool changes;              /* it may change something */
};

/* conf: where fettle.conf is. *c is to be given to command_fini, also after an error: -EPERM or what was
 * found out instead. */
int command_decide(const struct request *r, const char *conf, struct command *c, struct err *e);
void command_fini(struct command *c);

#endif
