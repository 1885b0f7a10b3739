/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CREDENTIALS_H
#define FETTLE_AGENT_CREDENTIALS_H

#include "agent/collect/collect.h"
#include "agent/home/home.h"
#include "agent/uplink/uplink.h"
#include "link/least.h"
#include "link/tls.h"

#include <stdbool.h>
#include <uv.h>

/*
 * The agent's key and certificate, the TLS contexts that are made of them, and their renewal.
 *
 * home_renewal_due says when a certificate is due, by the controller's clock where that is known. Only
 * controllers renew, so an agent that reports to a collector visits a controller for it and goes back. A
 * child writes the new key and certificate to the disk before anything uses them. A renewal that fails is
 * tried again in an hour; the old certificate counts until then.
 */

struct credentials;

/* Loads them from the directory of state, which is copied. -errno as home_load, or of a certificate that TLS
 * does not take: then nothing is left behind. */
int credentials_load(const char *home, struct credentials **out, struct err *e);
/* Renews from now on; uplink and collect are borrowed until credentials_destroy and use the new contexts. */
void credentials_start(struct credentials *c, uv_loop_t *loop, struct uplink *uplink,
                       struct collect *collect);
/* Calls back nobody from now on. Frees it when the loop has closed its handles; before credentials_start
 * at once. */
void credentials_destroy(struct credentials *c);

/* Borrowed; key and certificate change with a renewal, name and authority do not. */
const struct home_identity *credentials_identity(const struct credentials *c);
/* Which certificates have ended; borrowed. */
const struct least *credentials_least(const struct credentials *c);
/* Takes the controller's list of certificates that have ended (least.h); NULL: the controller sent none. */
void credentials_take_least(struct credentials *c, const json_t *least);
/* The context that the agent shows to controllers and collectors; and the one that it shows to agents when
 * it collects, NULL with a sentence where there is none. Both are borrowed until the next renewal. */
struct tls_context *credentials_tls(const struct credentials *c);
struct tls_context *credentials_server_tls(struct credentials *c, struct err *e);
/* How far this node's clock is ahead of the controller's. */
void credentials_set_clock(struct credentials *c, struct span ahead);

/* A link is greeted. True: it is to a controller and for a renewal alone. */
bool credentials_begin_visit(struct credentials *c);
/* A controller has welcomed the agent: asks it for a new certificate where one is due. */
void credentials_ask(struct credentials *c);
/* The greeting is over: leaves the controller where a visit turned out not to be needed. */
void credentials_end_visit(struct credentials *c);
/* The body of a RENEWED frame. -EINVAL where it could not be understood. */
int credentials_renewed(struct credentials *c, const struct frame *f, struct err *e);
/* The link is gone, and an answer with it. */
void credentials_lost(struct credentials *c);

#endif
