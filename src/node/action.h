/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_ACTION_H
#define FETTLE_NODE_ACTION_H

#include <stdbool.h>

/*
 * The words of Run= in remedies.conf and of operations ("power.cycle", "node:systemctl restart slurmd"):
 * action.tbl has them, with the part that carries each out and its effect on the node.
 */

enum action_kind {
    ACTION_NONE, /* no row has the word */
#define ACTION(symbol, word, by, effect, what) ACTION_##symbol,
#include "node/action.tbl"
#undef ACTION
    ACTIONS
};

/* The part that carries it out; ACTION_BY_NOBODY of ACTION_NONE alone. */
enum action_by {
    ACTION_BY_NOBODY,
    ACTION_BY_AGENT,
    ACTION_BY_BMC,
    ACTION_BY_SITE,
    ACTION_BY_PROVIDER,
    ACTION_BY_SCHEDULER
};
/* What it does to the node (action.tbl); that of ACTION_NONE is not known. */
enum action_effect { ACTION_UNKNOWN, ACTION_ASKS, ACTION_ENDS, ACTION_STAYS, ACTION_RESTARTS, ACTION_RENEWS };

/* A text as read. */
struct action {
    enum action_kind kind;
    enum action_by by;
    enum action_effect effect;
    const char *rest; /* of the text that was read, behind a word that ends with ':'; else "" */
};

/* text may be NULL, and is then of no kind. "node:" without a command is of kind ACTION_COMMAND with an empty
 * rest. */
struct action action_of(const char *text);

/* The node comes up on another boot when it has been done: of effect ACTION_RESTARTS or ACTION_RENEWS. */
bool action_boots(struct action r);
/* A command of a shell, on the node or on the controller. */
bool action_is_shell(struct action r);

#endif
