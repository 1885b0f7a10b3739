/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_ACTION_H
#define FETTLE_NODE_ACTION_H

#include <stdbool.h>

/*
 * The values of Run= in remedies.conf and of operations ("power.cycle", "node:systemctl restart slurmd").
 * action.tbl lists them, each with the part of Fettle that carries it out and its effect on the node.
 */

enum action_kind {
    ACTION_NONE, /* the text matches no row */
#define ACTION(symbol, word, by, effect, what) ACTION_##symbol,
#include "node/action.tbl"
#undef ACTION
    ACTIONS
};

/* The part that carries out the action; ACTION_BY_NOBODY only for ACTION_NONE. */
enum action_by {
    ACTION_BY_NOBODY,
    ACTION_BY_AGENT,
    ACTION_BY_BMC,
    ACTION_BY_SITE,
    ACTION_BY_PROVIDER,
    ACTION_BY_SCHEDULER
};
/* The effect on the node (action.tbl); ACTION_UNKNOWN only for ACTION_NONE. */
enum action_effect { ACTION_UNKNOWN, ACTION_ASKS, ACTION_ENDS, ACTION_STAYS, ACTION_RESTARTS, ACTION_RENEWS };

/* A parsed text. */
struct action {
    enum action_kind kind;
    enum action_by by;
    enum action_effect effect;
    const char *rest; /* the rest of the parsed text after a word that ends with ':'; otherwise "" */
};

/* NULL gives ACTION_NONE. "node:" without a command is ACTION_COMMAND with an empty rest. */
struct action action_of(const char *text);

/* True when the node comes up on another boot afterwards: its effect is ACTION_RESTARTS or ACTION_RENEWS. */
bool action_boots(struct action r);
/* True for a shell command, on the node or on the controller. */
bool action_is_shell(struct action r);

#endif
