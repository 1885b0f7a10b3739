/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_COMMAND_OWNER_H
#define FETTLE_CLUSTER_COMMAND_OWNER_H

#include "cluster/state/owner.h"

/*
 * OWNER_CLAIM, OWNER_RELEASE, OWNER_TRANSFER: who owns the nodes of the command. RELEASE and TRANSFER without
 * nodes are about all nodes of the present owner.
 */
struct owner_command {
    struct owner from;  /* the owner before; not for CLAIM */
    struct owner to;    /* the owner afterwards; not for RELEASE */
    const char *person; /* the name of the giver, a person, as the surface that it came through has found out;
                           NULL: a program, or an account that several people use */
};

#endif
