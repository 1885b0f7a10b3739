/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_COMMAND_H
#define FETTLE_CLUSTER_COMMAND_H

#include "base/clock.h"
#include "base/hostlist.h"
#include "cluster/command/command_certificate.h"
#include "cluster/command/command_conform.h"
#include "cluster/command/command_controller.h"
#include "cluster/command/command_health.h"
#include "cluster/command/command_node.h"
#include "cluster/command/command_owner.h"
#include "cluster/state/budget.h"
#include "cluster/state/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Commands: every change of what is agreed is one (command.tbl).
 */

enum command_kind {
#define COMMAND(symbol, name, id, meets, published, says, who, todo) COMMAND_##symbol,
#include "cluster/command/command.tbl"
#undef COMMAND
    COMMANDS
};

/* What a command shares with commands about other nodes (command.tbl). */
enum command_meets {
    COMMAND_MEETS_NODES,
    COMMAND_MEETS_BASELINES,
    COMMAND_MEETS_COMPARES,
    COMMAND_MEETS_SWITCHES,
    COMMAND_MEETS_OBEYS,
    COMMAND_MEETS_CAUSES
};

/* REVISE: these texts are to be the configuration that decides (state/revision.h), and these limits are what
 * it says of Fettle's own decisions. Both are agreed by the last commit of the command. */
struct revise_command {
    const char *said; /* the changes in words, for the journal */
    size_t n;         /* at least one */
    const struct revise_part {
        const char *name;
        const char *text; /* UTF-8 */
    } * parts;
    struct limits limits;
};

/* STATE: the state is new, and this is its name. */
struct state_command {
    const char *name; /* 2 * ORIGIN_BYTES lower-case hex digits */
    const char
        *authority; /* the fingerprint of the authority of all its controllers; NULL: of its only one */
};

/* FEATURES: every controller that counts knows this level (state/feature.h). */
struct features_command {
    uint64_t level;
};

/* BACKUP: a backup was made. */
struct backup_command {
    const char *name; /* of its directory */
    struct wall made;
    uint64_t revision, bytes;
};

struct command {
    enum command_kind kind;
    const char *actor;
    struct wall at;
    const struct hostlist *nodes;  /* NULL or empty where none are named */
    const char *claim;             /* the id of what it makes (command_makes_id), or NULL */
    const char *reason;            /* the reason in its giver's words; a note, or NULL */
    bool dry;                      /* it is decided, and nothing is committed */
    struct client_request request; /* to which it belongs */
    union {
        struct release_command release; /* UNDRAIN, UP */
        struct set_command edit;        /* SET */
        struct forget_command forget;
        struct admit_command admit;
        struct machine_command machine;
        struct bmc_command bmc;
        struct window_command window;
        struct instance_command instance;
        struct effect_command effect;
        struct seen_command seen;
        struct drift_command drift; /* DRIFT, PERSISTS */
        struct restored_command restored;
        struct overdue_command overdue;
        struct reboot_command reboot;
        struct revert_command revert;               /* BASELINE_REVERT */
        struct rollout_start_command rollout_begun; /* ROLLOUT_START */
        struct rollout_end_command rollout_end;     /* ROLLOUT_ACCEPT, ROLLOUT_REVERT */
        struct token_create_command token_made;     /* TOKEN_CREATE */
        struct token_use_command token_use;
        struct token_end_command token_ended; /* TOKEN_END */
        struct certificate_command certificate;
        struct renew_command renew;   /* CERTIFICATE_RENEW */
        struct used_command used;     /* CERTIFICATE_USED */
        struct revoke_command revoke; /* CERTIFICATE_REVOKE */
        struct findings_command findings;
        struct shared_command shared;
        struct repair_command repair;
        struct outcome_command outcome;
        struct operate_command operate;
        struct transition_command transition;
        struct answer_command answer;
        struct ticket_command ticket;
        struct approval_command approval; /* REPAIR_APPROVE, REPAIR_REFUSE */
        struct switch_command switched;   /* SWITCH */
        struct override_command override;
        struct override_of_command override_of; /* OVERRIDE_AGE, OVERRIDE_END */
        struct trial_begin_command trial_begin;
        struct trial_end_command trial_end;
        struct measured_command measured;
        struct power_command power;
        struct revise_command revise;
        struct state_command state;
        struct owner_command own; /* OWNER_CLAIM, OWNER_RELEASE, OWNER_TRANSFER */
        struct backup_command backup;
        struct controller_command controller; /* CONTROLLER_ADMIT, CONTROLLER_REMOVE */
        struct features_command features;
    };
};

/* What a commit is to remember of a command whose request has an id. All of it is borrowed. */
struct request_note {
    const struct command *cmd;
    size_t next;                    /* the nodes before this index are done */
    const struct hostlist *changed; /* by this commit */
    const char *claim;              /* NULL: none */
};

/* A copy that owns all that it points to; its nodes are never NULL. command_destroy. */
struct command *command_copy(const struct command *cmd);
void command_destroy(struct command *cmd);
/* Both are of one kind and say the same; giver, time and nodes may differ. */
bool command_same(const struct command *a, const struct command *b);
/* It says more than its kind and its nodes. */
bool command_says(const struct command *cmd);

const char *command_name(enum command_kind k); /* "node.drain" */
/* The kind with this name; COMMANDS when there is none. */
enum command_kind command_find(const char *name);
/* It makes something that is known by an id, which it has to bring along in `claim`. */
bool command_makes_id(enum command_kind k);
enum command_meets command_meets(enum command_kind k);
/* Its entries are in the log that an MQTT broker gets. */
bool command_is_published(enum command_kind k);

#endif
