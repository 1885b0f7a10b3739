/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_COLLECT_COLLECT_H
#define FETTLE_AGENT_COLLECT_COLLECT_H

#include "agent/uplink/body.h"
#include "agent/uplink/uplink.h"
#include "link/tls.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/*
 * The collector's part of an agent. While the controller gives it a share of the nodes, it listens for
 * their agents, hears them, and reports them in batches over the uplink. When no controller has answered
 * for body_waits.away (ten minutes unless a controller said otherwise), it sends its agents away to look
 * for one, and dials again itself. An agent that finds no controller comes back and is heard, and is sent
 * away again after the same time.
 *
 * It speaks only for the nodes of its share. Other agents are refused, and agents of nodes that leave the
 * share are sent back to a controller.
 */

struct collect;

/* name and instance are this agent's own. wanted_port: -1 for the controller's number. */
struct collect *collect_create(uv_loop_t *loop, struct uplink *uplink, const char *name, const char *instance,
                               int wanted_port);
/* Ends collecting and frees it when the loop has closed its handles. */
void collect_destroy(struct collect *c);

/* Takes a share; tls is what it shows to agents, borrowed until the next call. Without nodes it
 * collects no more. An older epoch is ignored. */
int collect_share(struct collect *c, const struct body_share *share, struct tls_context *tls, struct err *e);
/* The certificate that it shows from now on; borrowed as above. */
void collect_set_tls(struct collect *c, struct tls_context *tls);
void collect_want(struct collect *c, const struct body_want *want);
/* Tells these nodes to read their fingerprints again. */
void collect_recheck(struct collect *c, const struct hostlist *nodes);
/* The controller's settings, also for the agents. interval is NULL when the controller gave none; survey
 * is the order about fingerprints, or NULL. */
void collect_settings(struct collect *c, const struct span *interval, const struct body_waits *waits,
                      const json_t *survey);
/* The controller has taken a batch. */
void collect_answered(struct collect *c);
/* The controller's checks, for the agents: the body of a CHECKLIST, an order, and its hash. Copied. */
void collect_checklist(struct collect *c, const char *hash, const char *body, size_t len);
/* A frame of the controller's for one of the nodes; lost when the node is not here. */
void collect_pass(struct collect *c, const struct body_pass *pass);
/* Sends all agents to a controller and stops. */
void collect_stop(struct collect *c);

/* The uplink stands at a controller, with its word for the agents; or is lost. */
void collect_welcome(struct collect *c, const struct body_welcome *w);
void collect_lost(struct collect *c);
/* This agent itself is alive: once an interval. */
void collect_self(struct collect *c);

/* Adds the member `collector` of HELLO, with a comma before it, while it is active. */
void collect_add_hello(const struct collect *c, struct text *body);

#endif
