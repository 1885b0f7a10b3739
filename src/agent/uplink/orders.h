/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_UPLINK_ORDERS_H
#define FETTLE_AGENT_UPLINK_ORDERS_H

#include "base/clock.h"
#include "base/json.h"
#include "link/frame.h"
#include "link/order.h"

#include <stdbool.h>

/*
 * Which orders this agent believes. Over a controller's own connection, TLS says who speaks. An order that
 * a collector passes on must be signed by a controller, for this node or for all. An old order for all is
 * known by its revision, which the caller compares. An old order for this node is known by its nonce: the
 * agent gives one when it hears that there is something to do, and acts on an order that is signed with it
 * within 30 s.
 */

struct orders {
    const char *ca, *node;     /* PEM, and this node's name; borrowed */
    const struct least *least; /* which signers' certificates have ended; borrowed, or NULL */
    struct mono asked;         /* when the nonce was made */
    char nonce[ORDER_NONCE_HEX + 1];
};

/* The body that a controller signed: a frame of this type, for this node or for all. Its bytes live as
 * long as the order. -EINVAL or -EPERM with the reason when it is not such an order. */
int orders_open(const struct orders *o, uint8_t type, const json_t *order, struct frame *out, struct err *e);

/* The nonce to ask with. */
const char *orders_ask(struct orders *o, struct mono now);
/* Whether this nonce was asked with, and lately. */
bool orders_asked(const struct orders *o, struct mono now, const char *nonce);

#endif
