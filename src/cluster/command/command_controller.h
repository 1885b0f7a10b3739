/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_COMMAND_CONTROLLER_H
#define FETTLE_CLUSTER_COMMAND_CONTROLLER_H

#include "cluster/state/controllers.h"

/*
 * The structs of commands about controllers (command.h). Their pointers are borrowed.
 */

/* CONTROLLER_ADMIT, CONTROLLER_REMOVE. */
struct controller_command {
    const char *name;
    const char *key;      /* its public key; NULL: it is removed */
    const char *envelope; /* the authority, sealed for this key; NULL likewise */
};

#endif
