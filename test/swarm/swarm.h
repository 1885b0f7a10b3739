/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TEST_SWARM_H
#define FETTLE_TEST_SWARM_H

#include "base/clock.h"
#include "base/hostlist.h"
#include "base/json.h"
#include "base/text.h"
#include "link/peer.h"
#include "link/tls.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/*
 * The swarm: one process that plays thousands of agents (players), or collectors with the nodes
 * that they are given (keepers), over the real link, with certificates that it makes itself from a
 * copy of the authority. For tests and measurements only.
 */

struct totals {
    uint64_t connects, welcomes, heartbeats, refusals, redirects, closes, wants, batches, shares;
};

struct swarm {
    uv_loop_t loop;
    struct authority *authority;
    char *key, *csr; /* one key serves all: only the names differ */
    char host[256];
    uint16_t port;
    struct span interval; /* ns 0: as the controller says */
    size_t n_players, n_keepers;
    struct player *players;
    struct keeper *keepers;
    struct totals totals;
    uint64_t random;
    json_t *inventory; /* what every node reports, but for its name */
    char inventory_hash[17];
};

uint64_t swarm_random(struct swarm *s);
/* A client context for node `name`. The caller destroys it. */
struct tls_context *swarm_identity(struct swarm *s, const char *name);
void swarm_hex(uint64_t n, char out[static 17]);
void swarm_boot_id(struct swarm *s, char out[static 37]);
json_t *swarm_inventory(struct swarm *s, const char *name, const char *instance);
void swarm_send(struct peer *p, enum frame_type type, json_t *body);

/* One agent. */
struct player {
    struct swarm *swarm;
    char *name;
    char *claims; /* the name that it says; its own unless scripted otherwise */
    struct peer *peer;
    uv_timer_t timer; /* heartbeat, or the next try to connect */
    char boot[37], instance[17];
    uint64_t seq;
    unsigned attempt;
    struct span interval, spread, delay;
    unsigned loss_percent;
    bool welcome, silent, gone;
    char *work;     /* JSON array */
    char host[256]; /* of the collector that it was sent to, "" for the controller */
    uint16_t port;
    char collector[256];
};

void player_start(struct swarm *s, struct player *p, const char *name, struct span first_within);
/* Carries out one scripted action. False when it is not known. */
bool player_act(struct player *p, const char *action, const char *argument);

/* One collector that plays its nodes. */
struct keeper {
    struct swarm *swarm;
    char *name;
    struct peer *peer;
    uv_timer_t timer;
    char boot[37], instance[17];
    struct span interval;
    unsigned attempt;
    uint64_t epoch, seq;
    struct hostlist nodes;
    size_t told; /* nodes before this one were told as changed */
};
void keeper_start(struct swarm *s, struct keeper *k, const char *name, struct span first_within);

/* Reads a script and arms its timers. Lines: TIME ACTION NODES [ARGUMENT]; doc at script.c. */
int script_start(struct swarm *s, const char *path, struct err *e);

#endif
