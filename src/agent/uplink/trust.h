/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_UPLINK_TRUST_H
#define FETTLE_AGENT_UPLINK_TRUST_H

#include "agent/uplink/orders.h"
#include "agent/uplink/uplink.h"

#include <stdbool.h>

/*
 * What follows from an order that is not believed: a warning, once a minute, and nothing else. The
 * connection goes on. A collector that sends a wrong order still reports that this node is heard, and a
 * controller would only send the agent back to it.
 */

struct trust {
    struct orders orders;
    struct uplink *uplink; /* borrowed */
    struct mono warned;    /* ns 0: never */
};

/* The body that a controller signed; its bytes live as long as the order. False: it is not believed. */
bool trust_open(struct trust *t, uint8_t type, const json_t *order, struct frame *out);
/* Whether an order of this revision counts after *last, which it replaces then. A controller's own word
 * counts also when its clock was set back or its state was lost. */
bool trust_is_newer(struct trust *t, uint8_t type, uint64_t revision, uint64_t *last);
/* A frame of this type is not believed. */
void trust_refuse(struct trust *t, uint8_t type, const struct err *why);

#endif
