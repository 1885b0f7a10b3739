/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_COLLECT_LEDGER_H
#define FETTLE_AGENT_COLLECT_LEDGER_H

#include "agent/uplink/body.h"
#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a collector knows of the nodes of its share, folded into batches for the controller. Pure: the
 * caller tells it the time, and it returns text to send.
 *
 * It keeps only the latest state of each node, so its size depends on the share and not on how long the
 * controller is away. Changes of inventories that wait for a batch are bounded in sum; a change that finds
 * no room is dropped, and its hash tells the controller to ask again. The last fingerprint of each node is
 * kept; lists of components only pass through.
 */

struct ledger;

enum {
    LEDGER_PENDING_BYTES_MAX = 1 << 20,    /* inventories that wait for a batch */
    LEDGER_ASKED_MAX = 16,                 /* nodes asked for their inventory at one time */
    LEDGER_COMPONENTS_BYTES_MAX = 2 << 20, /* lists of components that wait */
    LEDGER_COMPONENTS_ASKED_MAX = 2        /* nodes asked for theirs at one time */
};

/* self is the collector's own name, which is always among the nodes heard; instance its own. */
struct ledger *ledger_create(const char *self, const char *instance);
void ledger_destroy(struct ledger *l);

/* Takes a share. Nodes that are in the old and the new share keep their state; others are new and unheard,
 * or forgotten. The window of the first batch begins now; a later share does not put a batch off. interval
 * comes from the controller; with zero the ledger waits as with 10 s. hold is the longest time between two
 * batches; zero: 150 % of the interval. silent is the time without a heartbeat after which a node may be
 * taken down; zero: not known. */
void ledger_share(struct ledger *l, struct mono now, uint64_t epoch, const struct hostlist *nodes);
void ledger_interval(struct ledger *l, struct span interval, struct span hold, struct span silent);
uint64_t ledger_epoch(const struct ledger *l);
bool ledger_has(const struct ledger *l, const char *name);
/* The nodes of the share without the collector, folded; the caller frees it. */
char *ledger_nodes(const struct ledger *l);
size_t ledger_count(const struct ledger *l);

/* An agent says hello. 0: welcome. 1: welcome, and the older link of the same name is to be closed
 * (it is the same instance, or has been silent for three intervals). -EACCES: not in the share.
 * -EBUSY: another agent of this name is alive; the next batch says so. */
int ledger_hello(struct ledger *l, struct mono now, const struct body_hello *hello, struct err *e);
/* A heartbeat. Takes over h->work when it returns true. False: it is of another boot or instance than the
 * HELLO, or its number is not above the last one. */
bool ledger_heartbeat(struct ledger *l, struct mono now, const char *name, struct body_heartbeat *h);
/* A change of an inventory; takes over r->members when it returns true. */
bool ledger_inventory(struct ledger *l, const char *name, struct body_inventory *r);
/* A fingerprint, or the news that it was read again. False: it is of another boot than the HELLO, or
 * repeats a fingerprint that is not known here. */
bool ledger_fingerprint(struct ledger *l, const char *name, const struct body_fingerprint *f);
/* A part of a list. Takes over c->members when it returns true. False: it was not asked for, is not the
 * next part, or finds no room; the parts before it are dropped then. */
bool ledger_components(struct ledger *l, const char *name, struct body_components *c);
/* The link of this instance is gone. */
void ledger_gone(struct ledger *l, const char *name, const char *instance);
/* The collector itself is alive. */
void ledger_self(struct ledger *l);

/* Notes inventories that the controller wants. ledger_ask gives the next node to ask, NULL when there is
 * none or when enough are under way (for 30 s at most). The name lives until the next share. */
void ledger_want(struct ledger *l, const struct hostlist *nodes);
const char *ledger_ask(struct ledger *l, struct mono now);

/* The same for the components behind a fingerprint. */
void ledger_want_components(struct ledger *l, const struct hostlist *nodes, const struct fingerprint *wanted);
const char *ledger_ask_components(struct ledger *l, struct mono now, struct fingerprint *wanted);
/* Notes nodes that are to read their fingerprints again. The second function returns true once for such a
 * node that is here. */
void ledger_recheck(struct ledger *l, const struct hostlist *nodes);
bool ledger_take_recheck(struct ledger *l, const char *name);

/* The controller is another one, or knows nothing: say everything again, of each node with its next
 * heartbeat. */
void ledger_forget_told(struct ledger *l, struct mono now);

/* The latest time of the next batch. The batch is due at once when no node is missing. */
struct mono ledger_deadline(const struct ledger *l);
bool ledger_due(const struct ledger *l, struct mono now);
/* Whether something is not to wait for the batch: an inventory, a fingerprint, or a link that is gone,
 * for its node may be at the controller's door already. */
bool ledger_has_news(const struct ledger *l);

/* Writes the batch as one or more BATCH bodies of at most FRAME_BODY_BYTES_MAX and begins the next
 * one. port is where the collector listens. */
typedef void ledger_emit_fn(void *arg, const char *body, size_t len);
void ledger_batch(struct ledger *l, struct mono now, uint16_t port, ledger_emit_fn *emit, void *arg);
/* Finds nodes that were not heard for `hold`, and again those not heard for `silent`. False: none. *next
 * is when to look again, INT64_MAX while there is no node to look for. ledger_batch_missed reports the
 * nodes that were found and not heard since. Call it in a later turn of the loop, when all frames that had
 * arrived were read. */
bool ledger_find_missed(struct ledger *l, struct mono now, struct mono *next);
void ledger_batch_missed(struct ledger *l, uint16_t port, ledger_emit_fn *emit, void *arg);
/* Writes only what is new. No node counts as heard by it. */
void ledger_batch_news(struct ledger *l, struct mono now, uint16_t port, ledger_emit_fn *emit, void *arg);
/* Writes one frame of the lists of components that wait. False when none does. */
bool ledger_has_components(const struct ledger *l);
bool ledger_batch_components(struct ledger *l, uint16_t port, ledger_emit_fn *emit, void *arg);

#endif
