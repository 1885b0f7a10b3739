/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_HEARTBEAT_H
#define FETTLE_AGENT_HEARTBEAT_H

#include "agent/checker/checker.h"
#include "agent/collect/collect.h"
#include "agent/uplink/uplink.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Reports over the uplink, once an interval, that the node is alive and which work runs on it. A child
 * reads the work. When the reading fails or hangs, the heartbeat still goes out within 2 s and says that
 * the work is unknown. The nodes of a cluster report at different moments, which follow from their names.
 */

struct heartbeat;

struct heartbeat_settings {
    uv_loop_t *loop;
    const char *root, *node, *boot, *instance; /* borrowed as long as it exists */
    struct uplink *uplink;
    struct collect *collect;
    void (*on_told)(void *arg); /* a heartbeat is on its way */
    void *arg;
};

/* None goes out by itself until it has an interval. */
struct heartbeat *heartbeat_create(const struct heartbeat_settings *settings);
/* Calls back nobody from now on. Frees it when the loop has closed its handles. */
void heartbeat_destroy(struct heartbeat *h);

/* The checker that is told whether the node is idle; borrowed. */
void heartbeat_set_checker(struct heartbeat *h, struct checker *checker);
/* From now on; zero: none goes out by itself. */
void heartbeat_set_interval(struct heartbeat *h, struct span interval);
/* The uplink is connected again: a heartbeat is owed, and heartbeat_now sends it. */
void heartbeat_welcome(struct heartbeat *h);
void heartbeat_now(struct heartbeat *h);
void heartbeat_lost(struct heartbeat *h);
/* Whether one is owed to this uplink. */
bool heartbeat_owes(const struct heartbeat *h);
/* A large piece of memory was used once. It is returned to the system after some heartbeats, when the
 * inventory is done too. */
void heartbeat_shrink(struct heartbeat *h);

#endif
