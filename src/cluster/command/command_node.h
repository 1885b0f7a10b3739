/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_COMMAND_NODE_H
#define FETTLE_CLUSTER_COMMAND_NODE_H

#include "conform/component.h"
#include "node/field.h"
#include "node/machine.h"
#include "remedy/remedy.h"

/*
 * The structs of commands about nodes (command.h). Their pointers are borrowed.
 */

enum { BOOT_ID_BYTES_MAX = 36 };

/* The boot on which a node of the command is; "": it is not known. */
struct boot_id {
    char id[BOOT_ID_BYTES_MAX + 1];
};

/* UNDRAIN and UP. */
struct release_command {
    const char *claim; /* the claim's id; NULL: the claims of the command's giver */
};

/* SET: fields that a person sets in the place of the configuration's. */
struct set_command {
    size_t n; /* 1 at least */
    const struct field_setting {
        enum field field;
        const char *value; /* NULL: as the configuration says it */
    } * settings;
};

struct forget_command {
    bool force; /* also with claims, and with incidents that are open */
};

/* ADMIT: nodes are in service. */
struct admit_command {
    size_t n; /* one for each node of the command, in their order; or 0: no boot is known */
    const struct boot_id *boots;
};

/* MACHINE: the identities of nodes' machines. */
struct machine_command {
    size_t n; /* one for each node of the command, in their order */
    const struct machine_news {
        char machine[MACHINE_NAME_BYTES_MAX + 1];
        char was[MACHINE_NAME_BYTES_MAX +
                 1]; /* another name of the same machine, which is recorded; "": none */
    } * machines;
};

/* BMC: the components that the BMCs of nodes report. */
struct bmc_command {
    size_t n; /* one for each node of the command, in their order */
    const struct bmc_news {
        size_t n; /* 0: it reports none any more */
        const struct component *components;
    } * bmcs;
};

/* WINDOW: a maintenance window of the scheduler. */
struct window_command {
    const char *by;  /* whose it is */
    const char *why; /* NULL: it is over */
};

/* INSTANCE: another machine has the name of a node. */
struct instance_command {
    char was[MACHINE_NAME_BYTES_MAX + 1], is[MACHINE_NAME_BYTES_MAX + 1];
    bool act;     /* the node is repaired, so that the new machine is provisioned */
    bool examine; /* a remedy may have been carried out on it that nobody verified: it is examined first */
    char boot[BOOT_ID_BYTES_MAX + 1];
    uint64_t instance;
    uint64_t deadline_s; /* the deadline of the step that the repair enters; 0: none */
    size_t n;
    const struct remedy_name { /* attempts with these remedies stay known */
        char name[REMEDY_NAME_BYTES_MAX + 1];
    } * keep;
};

/* EFFECT: the result of an effect. */
struct effect_command {
    const char *key; /* the key of its record: "effect/KIND.NODE" */
    const char
        *done; /* JSON, as the driver says it: it becomes a part of the record. "null": nothing is left */
};

#endif
