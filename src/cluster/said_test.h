/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_SAID_TEST_H
#define FETTLE_CLUSTER_SAID_TEST_H

#include "cluster/command/command.h"

/* Fills in what a command says from a test's notation of it, a JSON object whose members are named as those
 * of the struct of the command's kind, or nearly so; NULL: it says nothing. What cmd points to then is valid
 * until said_fini. Fails the test where the notation is none. */
void said_read(const char *set, struct command *cmd);
void said_fini(void);

#endif
