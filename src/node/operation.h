/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_OPERATION_H
#define FETTLE_NODE_OPERATION_H

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "node/refusal.h"

#include <stdbool.h>

/*
 * One operation on a node: what is to be done, and how far it is (operation.tbl). The controller decides it,
 * a driver or the node's agent carries it out, once, and everybody reads and writes it here. Its record is an
 * effect of the outbox: effect/operate.NAME is a repair's (doc/spec/repair.md), effect/power.NAME a person's
 * power command (doc/spec/power.md).
 */

enum operation_state {
    OPERATION_NONE, /* there is no operation */
#define OPERATION(symbol, word, phase, member, first, what) OPERATION_##symbol,
#include "node/operation.tbl"
#undef OPERATION
    OPERATION_STATES
};

/* Zero-initialise; operation_fini. A text is its own, and "" where the record has none. */
struct operation {
    enum operation_state state; /* OPERATION_NONE: every text is NULL */
    char *id, *run;
    char *of;             /* the remedy or check; of a power command "" */
    char *boot;           /* for which it is; of a power command "" */
    char *text;           /* what came of it */
    enum refusal refusal; /* of one that was refused, where that is known */
    bool force;           /* of a power command: whatever runs on the node */
    struct wall deadline; /* by which it has to end */
    struct wall began;    /* ns 0: nobody began it, or it has ended */
};

/* A record as it stands; record NULL: there is none. A state of a later version is OPERATION_UNKNOWN. */
void operation_read(struct operation *o, const json_t *record);
/* The same of its JSON; value may be NULL, and what is no JSON is no operation. */
void operation_parse(struct operation *o, const char *value);
void operation_fini(struct operation *o);
#define CLEANUP_OPERATION __attribute__((cleanup(operation_fini)))

/* What is said of the operation with this id. Its texts are borrowed. */
struct operation_said {
    enum operation_state state; /* BEGUN, or one that has ended */
    const char *id;
    const char *text;     /* of one that has ended; one line for people, as mem_line makes it */
    enum refusal refusal; /* of OPERATION_REFUSED; may be none */
    struct wall began;    /* of OPERATION_BEGUN */
};
/* The "done" of its record, as JSON: state, id, and what the state has beside them. */
void operation_format(const struct operation_said *s, struct text *out);

const char *operation_state_name(enum operation_state s); /* "" of NONE and WAITS */
/* OPERATION_NONE for a word that no state has; "" is none's. */
enum operation_state operation_state_find(const char *name);
bool operation_is_open(enum operation_state s);   /* it waits or is begun */
bool operation_has_ended(enum operation_state s); /* neither NONE nor open */
/* Somebody began it, and may have done something to the node: neither NONE, nor waiting, nor refused. */
bool operation_was_begun(enum operation_state s);
/* What came of it stands beside the state; beside OPERATION_BEGUN, when it began. */
bool operation_has_text(enum operation_state s);
/* Whether `now` may be said of one that was `before`. What has ended has ended; what nobody began can be
 * refused, or fail to begin, but is not done. */
bool operation_may_follow(enum operation_state before, enum operation_state now);

#define OPERATE_KEY "effect/operate." /* and the node's name: the key of an operation's record */
#define POWER_KEY "effect/power."     /* likewise: of a person's power command */
/* The node, a part of the key; NULL for the key of something else. */
const char *operate_key_node(const char *key);
const char *power_key_node(const char *key);

#endif
