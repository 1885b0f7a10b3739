/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_POWERS_H
#define FETTLE_CONTROLLER_OUTBOX_POWERS_H

#include "base/err.h"
#include "node/operation.h"

/*
 * People who wait for the end of their power commands. The record of a command says how it ended
 * (effect/power.NAME, doc/spec/power.md). Waiting is optional, and nothing depends on it.
 */

struct powers;
struct powers *powers_create(void);
/* Tells the callers that still wait that the controller ends. */
void powers_destroy(struct powers *p);

/* fn is called once with what came of the node's command with this id, in words, or why nothing did: at once
 * when its record has an end (now: the operation as the record has it), else from powers_effect or
 * powers_destroy. */
typedef void powers_fn(void *arg, const char *answer, const struct err *why);
void powers_wait(struct powers *p, const char *node, const char *id, const struct operation *now,
                 powers_fn *fn, void *arg);

/* The operation of this key as it is now, OPERATION_NONE when its record is gone. */
void powers_effect(struct powers *p, const char *key, const struct operation *o);

#endif
