/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_CLUSTER_H
#define FETTLE_CLUSTER_CLUSTER_H

#include "base/err.h"
#include "base/text.h"
#include "cluster/command/command.h"
#include "cluster/decision/decision.h"
#include "cluster/effect/told.h"
#include "cluster/record/recorded.h"
#include "cluster/state/certificate.h"
#include "cluster/state/controllers.h"
#include "cluster/state/feature.h"
#include "cluster/state/lookup.h"
#include "cluster/state/owner.h"
#include "cluster/state/request.h"
#include "cluster/state/revision.h"
#include "cluster/state/roster.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The agreed state: which nodes there are, what was edited, which claims rest on whom. It is made
 * of two things only: the configuration's roster, and records. A record reaches it through
 * cluster_put, be it from a load, from a commit of our own or (later) from a leader that we follow;
 * so the same records are the same state.
 *
 * Changes go command -> cluster_decide -> records -> commit -> cluster_put. Deciding changes
 * nothing. Everything here is pure: times, ids and names of people come with the command.
 *
 *   node/NAME         was in service, and put there on this boot: {"admitted":"TIME","boot":"BOOT"}
 *   claim/ID          {"kind","owner","reason","since","nodes","drained"}
 *   machine/NAME      which machine has the name: {"machine","since","before"}
 *   bmc/NAME          what its BMC tells by Redfish: {"components","absent","unknown"}
 *   maintenance/NAME  somebody is about to work on it, or asks for a restart: {"by","at","why","restart"?}
 *   window/NAME       it lies in a maintenance window of the scheduler's: {"by","at","why"}
 *   edit/NAME         over what the file says: {"set":{"CPUs":"4"},"by","at"}
 *   token/HASH        one-time tokens, by their SHA-256: {"nodes","by","expires"}
 *   seen/NAME         what the node was last seen to be: {"fingerprint","since","history"}
 *   drift/NAME        {"class","version","expected","actual","severity","named","count","since","boot",
 *                     "state"}
 *   flap/NAME         drift that came and went: {"since":["TIME"]}
 *   baseline/CLASS    {"version","fingerprint","node","by","at","note","history","rollout"}
 *   list/HASH         the components of baselines: {"components","absent","unknown"}
 *   health/NAME       what is wrong with the node: {"open":[incident],"past":[incident]}
 *   repair/NAME       its way back into service: {"step","since","deadline",...}
 *   override/NAME     in service by a person's word: {"by","source","at","why","spent_s","of"}
 *   trial/NAME        checks that it is, and was, held for: {"now","last"}
 *   shared/KEY        one cause of findings on many nodes: {"since","nodes","fault","why"}
 *   floor/CLASS CHECK what nodes came to in a benchmark: {"at","sum","nodes":[...]}
 *   tally/REMEDY      what came of remedies: {"counts":{"FAULT CLASS":[helped,failed]}}
 *   switch/NAME       what stops everything: {"on","by","at","why"}
 *   surge/isolated    when nodes were isolated of late: {"at":["TIME"]}
 *   config/limits     how many nodes Fettle may take out: {"act","out","out_class","out_group",
 *                     "out_partition","surge","surge_s","remedies_a_week"}
 *   feature/level     the feature level that all controllers know (state/feature.h)
 *   config/head       the configuration that decides, and config/text.HASH, its texts (state/revision.h)
 *   owner/NAME        the nodes of a tenant, a vCluster, an allocation or a person: {"by","since","reason",
 *                     "nodes"}
 *   wiped/NAME        it was wiped since a person released it, and waits for an approval: {"at","remedy",
 *                     "operation"}
 *   controller/NAME   a controller that a person admitted, or removed: {"at","by","key","envelope"} or
 *                     {"at","by","why"}
 *   request/REVISION  the requests that the commit carried out: {"at","made":[{"id","by","asks",...}]}
 *   effect/KIND.NAME  the outbox: what drivers are to bring about
 */

struct cluster *cluster_create(void);
void cluster_destroy(struct cluster *c);

/* Takes a roster (and empties it): nodes that are not in it become unlisted, edits are laid over the new
 * fields. Adds a sentence for each change to `changes` (one a line; may be NULL). */
void cluster_configure(struct cluster *c, struct roster *r, struct text *changes);
/* The same sentences, and nothing is taken. */
void cluster_compare(const struct cluster *c, struct roster *r, struct text *changes);

/* The configuration as it is agreed; its number is 0 while nothing is agreed. Only cluster_configure takes
 * it. */
const struct revision *cluster_revision(const struct cluster *c);
/* Another one after each change of its records. */
uint64_t cluster_revision_sum(const struct cluster *c);
/* As revisions_text (state/revision.h). */
int cluster_revision_text(const struct cluster *c, const char *part, struct text *out, struct err *e);

/* Takes one record; value NULL removes it. -EILSEQ with a sentence for a malformed record. */
int cluster_put(struct cluster *c, const char *key, const char *value, struct err *e);

/* Decides a command for nodes[from..]: at most 100 records, what is beyond is left to d->next.
 * 0, also when nothing needs to change (no ops). -ENOENT no such node, claim or token; -EACCES not
 * to be done by this actor or at all; -EBUSY the node's state forbids it; -EINVAL bad reason, field
 * or value; -E2BIG a list of components too large for a record. *d is empty on error. */
int cluster_decide(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e);

/* Adds to d the record by which the commit with this revision remembers n requests, at least one; and as many
 * of the cluster_requests_leave that leave as there is room for in `ops_max` records. */
void cluster_remember(const struct cluster *c, uint64_t revision, const struct request_note *notes, size_t n,
                      size_t ops_max, struct decision *d);

/* The sum of each record's 64-bit FNV-1a: equal states have equal digests. */
uint64_t cluster_digest(const struct cluster *c);

#endif
