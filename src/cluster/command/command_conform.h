/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_COMMAND_CONFORM_H
#define FETTLE_CLUSTER_COMMAND_CONFORM_H

#include "base/clock.h"
#include "cluster/command/command_node.h"
#include "conform/class.h"

/*
 * The structs of commands of conformance (command.h). Their pointers are borrowed. Names of components have
 * ", " between them, at most DRIFT_NAMED_MAX names.
 */

/* SEEN: nodes have another fingerprint, all the same, and all had the same one before. */
struct seen_command {
    struct fingerprint id;
    const char *named; /* components that changed */
    uint32_t count;    /* the number of all components that changed */
};

/* DRIFT and PERSISTS: nodes are not what the baseline of their class says. DRIFT on a node that is drifted
 * already rewrites what drifted and keeps since when, the boot and the state, and makes the claim that is due
 * and was not made. */
struct drift_command {
    const char *class;
    uint32_t version;                    /* the version of the baseline */
    struct fingerprint expected, actual; /* the baseline's, and the nodes' */
    enum severity severity;              /* the worst */
    const char *named;                   /* components, worst first */
    uint32_t count;                      /* the number of all components that differ */
    bool braked; /* so many nodes drift at once that no node may be at fault: only sensitive ones are claimed
                  */
    size_t n;    /* one for each node of the command, in their order */
    const struct boot_id *boots;
};

/* RESTORED: nodes are what the baseline says. */
struct restored_command {
    uint32_t version; /* the version of the baseline that the nodes were compared with; 0: the present one */
    bool rested; /* they have been so for a while without a break. Drift that flaps ends in no other way */
};

/* OVERDUE: drift was not corrected in time. */
struct overdue_command {
    uint32_t version; /* as above */
};

struct reboot_command {
    size_t n; /* one for each node of the command, in their order */
    const struct boot_id *boots;
};

/* BASELINE_REVERT: a version that is kept becomes the next one. */
struct revert_command {
    const char *class;
    uint32_t version;
};

/* ROLLOUT_START: the nodes of the command may be what the baseline says, or what the rollout leads to. */
struct rollout_start_command {
    const char *class;
    const char *node; /* shows what the rollout leads to; NULL: `version` was it before */
    uint32_t version;
    struct wall deadline;
};

/* ROLLOUT_ACCEPT and ROLLOUT_REVERT. */
struct rollout_end_command {
    const char *class;
};

#endif
