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
 * Whether the node may take a job although something changed that no event announced. A glance shows
 * whether anything changed. Then the node is read, the fingerprint is reported as usual, and the controller
 * is asked what follows: only the controller knows the baseline, the class and the brake. An answer that
 * does not come in time is unknown, and unknown keeps no job away.
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
/* Calls back nobody from now on. Frees it when the loop has closed its handles. */
void standing_destroy(struct standing *s);

/* Whether something is not what it was. fn may be called before this returns; in half a second at most. */
typedef void standing_look_fn(void *arg, bool other);
void standing_look(struct standing *s, standing_look_fn *fn, void *arg);
/* After a look that found a change: the controller's judgement, within STANDING_MS. why_not says why no
 * work may land here; "" when nothing forbids it, or when it is not known. */
typedef void standing_judge_fn(void *arg, const char *why_not);
void standing_judge(struct standing *s, standing_judge_fn *fn, void *arg);
/* Drops all callbacks with this arg. */
void standing_cancel(struct standing *s, const void *arg);

/* A reading has ended. */
void standing_settled(struct standing *s);
/* The controller's answer. */
void standing_take(struct standing *s, const struct body_standing *answer);

#endif
