/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_PROLOG_STANDING_H
#define FETTLE_AGENT_PROLOG_STANDING_H

#include "agent/fingerprint/surveyor.h"
#include "agent/uplink/body.h"
#include "agent/uplink/orders.h"
#include "agent/uplink/uplink.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Whether the node may take a job although something in it changed that no event told of. A glance says
 * whether anything did. Then the node is read and the fingerprint said as usual, and the controller is asked
 * what follows from it: only the controller knows the baseline, the class and the brake. What the controller
 * does not answer in time is unknown, and unknown keeps no job away.
 */

enum { STANDING_MS = 4000 }; /* to wait for the controller's answer */

struct standing;

struct standing_settings {
    uv_loop_t *loop;
    struct surveyor *surveyor;
    struct uplink *uplink;
    struct orders *orders; /* with whose nonce it asks; all borrowed */
};

struct standing *standing_create(const struct standing_settings *settings);
/* Calls nobody any more; frees it when the loop has closed its handles. */
void standing_destroy(struct standing *s);

/* Whether something is not what it was. fn may be called before this returns; in half a second at most. */
typedef void standing_look_fn(void *arg, bool other);
void standing_look(struct standing *s, standing_look_fn *fn, void *arg);
/* After a look that found something: what the controller makes of it, within STANDING_MS. why_not: for what
 * no work may land here; "" for nothing, or when it is not known. */
typedef void standing_judge_fn(void *arg, const char *why_not);
void standing_judge(struct standing *s, standing_judge_fn *fn, void *arg);
/* Nobody with this arg is called any more. */
void standing_cancel(struct standing *s, const void *arg);

/* A reading has ended. */
void standing_settled(struct standing *s);
/* The controller's answer. */
void standing_take(struct standing *s, const struct body_standing *answer);

#endif
