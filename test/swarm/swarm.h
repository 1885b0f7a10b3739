/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TEST_SWARM_H
#define FETTLE_TEST_SWARM_H

#include "base/clock.h"
#include "base/hostlist.h"
#include "base/json.h"
#include "base/text.h"
#include "conform/component.h"
#include "health/check.h"
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
    uint64_t connects, welcomes, heartbeats, refusals, redirects, closes, wants, batches, shares,
        fingerprints, lists, checks, ills, operations;
};

struct swarm {
    uv_loop_t loop;
    struct authority *authority;
    char *key, *csr; /* one key is enough for all, because only the names differ */
    char host[256];
    uint16_t port;
    struct span interval; /* ns 0: the controller's */
    size_t n_players, n_keepers;
    struct player *players;
    struct keeper *keepers;
    struct hostlist muted; /* nodes of keepers that send no heartbeats */
    struct totals totals;
    uint64_t random;
    uint64_t dialled_at; /* the turn of the loop in which this many players dialled */
    unsigned dialled;
    json_t *inventory; /* what every node reports, except its name */
    char inventory_hash[17];
    unsigned kinds; /* of nodes, each with a fingerprint; 0: no node sends any */
    size_t n_fingerprints;
    struct fingerprint *fingerprints; /* of the kinds; zero until needed */
    bool has_checks;                  /* nodes report the results of their checks */
    char checklist[17];               /* the hash of the list; "": none has come yet */
    struct checks checks;             /* on the list */
};

uint64_t swarm_random(struct swarm *s);
/* A client context for node `name`. The caller destroys it. */
struct tls_context *swarm_identity(struct swarm *s, const char *name);
void swarm_hex(uint64_t n, char out[static 17]);
void swarm_boot_id(struct swarm *s, char out[static 37]);
json_t *swarm_inventory(struct swarm *s, const char *name, const char *instance);
void swarm_send(struct peer *p, enum frame_type type, json_t *body);

/* How a node answers when it is asked for the components behind its fingerprint. */
enum lie {
    LIE_NONE,
    LIE_HASH,   /* a list that does not hash to the fingerprint */
    LIE_ORDER,  /* the last part first */
    LIE_LARGE,  /* more bytes than a list may have */
    LIE_MANY,   /* more components than a list may have */
    LIE_SILENT, /* no answer */
};
bool lie_parse(const char *word, enum lie *out);

/* The first kind of a node with this name: by the number at its end. */
unsigned kind_of(const struct swarm *s, const char *name);
const struct fingerprint *kind_fingerprint(struct swarm *s, unsigned kind);
/* Calls emit for each part of the list, as the body of COMPONENTS; emit then owns it. */
typedef void kind_emit_fn(void *arg, json_t *part);
void kind_answer(struct swarm *s, unsigned kind, enum lie lie, kind_emit_fn *emit, void *arg);

/* One agent. */
struct player {
    struct swarm *swarm;
    char *name;
    char *claims; /* the name that it claims; its own unless scripted otherwise */
    struct peer *peer;
    uv_timer_t timer; /* for the heartbeat, or the next try to connect */
    char boot[37], instance[17];
    uint64_t seq;
    unsigned attempt;
    struct span interval, spread, delay;
    unsigned loss_percent;
    unsigned kind;
    enum lie lie;
    char *ill;     /* the check that finds something; NULL: none */
    char done[64]; /* the last operation; "": none */
    bool welcome, silent, gone;
    char *work;     /* JSON array */
    char host[256]; /* of the collector to which it was sent; "" for the controller */
    uint16_t port;
    char collector[256];
};

void player_start(struct swarm *s, struct player *p, const char *name, struct span first_within);
/* Carries out one scripted action. False when it is not known. */
bool player_act(struct player *p, const char *action, const char *argument);

/* The checks, as CHECKLIST has them: an order, which players believe with any signature. All players run all
 * checks. */
void swarm_take_checklist(struct swarm *s, const json_t *order);
/* Reports all checks. */
void player_say_checks(struct player *p);
/* From now on this check finds something, until the player gets an operation. */
void player_fall_ill(struct player *p, const char *check);
/* Carries out an ACT. */
void player_operate(struct player *p, const json_t *body);

/* A collector that plays its nodes. */
struct keeper {
    struct swarm *swarm;
    char *name;
    struct peer *peer;
    uv_timer_t timer, missed; /* the next batch, or dialling; the next report of missed nodes */
    char boot[37], instance[17];
    struct span interval;
    uint64_t silent_ms; /* after this time it reports silence, as the controller wants it */
    struct mono batch;
    unsigned attempt;
    uint64_t epoch, seq;
    struct hostlist nodes;
    size_t told; /* nodes before this one were reported as changed */
};
void keeper_start(struct swarm *s, struct keeper *k, const char *name, struct span first_within);
/* A scripted action on a node that a keeper plays: "silence" or "speak". False for any other. */
bool keeper_act(struct swarm *s, const char *node, const char *action);

/* Reads a script and arms its timers. Lines: TIME ACTION NODES [ARGUMENT]; doc at script.c. */
int script_start(struct swarm *s, const char *path, struct err *e);

#endif
