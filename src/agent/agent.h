/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_AGENT_H
#define FETTLE_AGENT_AGENT_H

#include "agent/uplink/address.h"
#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <uv.h>

/*
 * The agent as a whole, on a loop. It reads the node, reports to a controller or a collector, and collects
 * for other nodes when a controller tells it to. Its memory stays bounded however long no controller
 * listens.
 */

struct agent;

struct agent_settings {
    const char *home;                       /* directory of state; copied */
    const char *root;                       /* below which the node is read; "" for the real one; copied */
    const struct address_list *controllers; /* when empty: the ones stored in home */
    struct span interval;                   /* until a controller gives one */
    bool once;                              /* report once and end */
    int collect_port;                       /* -1: the controller's number */
};

/* The agent has ended: 0, or why it could not report (of `once` only). */
typedef void agent_done_fn(void *arg, const struct err *why);

/* Loads the identity and starts. done is called once, after agent_stop or a single report, from the
 * loop; then the agent is gone. A failure leaves nothing behind. */
int agent_start(uv_loop_t *loop, const struct agent_settings *settings, agent_done_fn *done, void *arg,
                struct agent **out, struct err *e);
/* Says goodbye to all sides and ends. */
void agent_stop(struct agent *a);

#endif
