/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_OPERATION_H
#define FETTLE_NODE_OPERATION_H

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "node/refusal.h"

#include <stdbool.h>

/*
 * One operation on a node: what is to be done, and how far it is (operation.tbl). The controller decides it;
 * a driver or the node's agent carries it out, once. All of them read and write it through this header. Its
 * record is an effect of the outbox: effect/operate.NAME is a repair's (doc/spec/repair.md),
 * effect/power.NAME a person's power command (doc/spec/power.md).
 */

enum operation_state {
    OPERATION_NONE, /* there is no operation */
#define OPERATION(symbol, word, phase, member, first, what) OPERATION_##symbol,
#include "node/operation.tbl"
#undef OPERATION
    OPERATION_STATES
};

/* Zero-initialise; operation_fini. The texts are owned; "" where the record has none. */
struct operation {
    enum operation_state state; /* OPERATION_NONE: every text is NULL */
    char *id, *run;
    char *of;             /* the remedy or check; "" for a power command */
    char *boot;           /* the boot that it is meant for; "" for a power command */
    char *text;           /* the outcome in words */
    enum refusal refusal; /* why it was refused, when that is known */
    bool force;           /* power command: carry it out whatever runs on the node */
    struct wall deadline; /* it must end by then */
    struct wall began;    /* ns 0: not begun, or it has ended */
};

/* Reads a record; NULL gives OPERATION_NONE. A state of a newer version is OPERATION_UNKNOWN. */
void operation_read(struct operation *o, const json_t *record);
/* The same from JSON text, which may be NULL. Invalid JSON gives OPERATION_NONE. */
void operation_parse(struct operation *o, const char *value);
void operation_fini(struct operation *o);
#define CLEANUP_OPERATION __attribute__((cleanup(operation_fini)))

/* A report about the operation with this id. Its texts are borrowed. */
struct operation_said {
    enum operation_state state; /* BEGUN, or a state that has ended */
    const char *id;
    const char *text;     /* the outcome, when it has ended; one line for people, as mem_line makes it */
    enum refusal refusal; /* of OPERATION_REFUSED; may be none */
    struct wall began;    /* of OPERATION_BEGUN */
};
/* Writes the "done" of its record as JSON: state, id, and the members that the state has beside them. */
void operation_format(const struct operation_said *s, struct text *out);

const char *operation_state_name(enum operation_state s); /* "" of NONE and WAITS */
/* OPERATION_NONE for an unknown word and for "". */
enum operation_state operation_state_find(const char *name);
bool operation_is_open(enum operation_state s);   /* it waits or is begun */
bool operation_has_ended(enum operation_state s); /* neither NONE nor open */
/* True when somebody began it and may have changed the node: it is neither NONE, nor waiting, nor refused. */
bool operation_was_begun(enum operation_state s);
/* True when the state comes with an outcome in words; OPERATION_BEGUN comes with its start time instead. */
bool operation_has_text(enum operation_state s);
/* Whether a report `now` is acceptable after `before`. An operation that has ended stays so. An operation
 * that nobody began can be refused, or fail to begin, but cannot be done. */
bool operation_may_follow(enum operation_state before, enum operation_state now);

#define OPERATE_KEY "effect/operate." /* followed by the node's name: the key of an operation's record */
#define POWER_KEY "effect/power."     /* the same for a person's power command */
/* The node's name, a part of the key; NULL for another key. */
const char *operate_key_node(const char *key);
const char *power_key_node(const char *key);

#endif
