/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_DUTIES_H
#define FETTLE_AGENT_DUTIES_H

#include "agent/checker/checker.h"
#include "agent/collect/collect.h"
#include "agent/fingerprint/surveyor.h"
#include "agent/heartbeat.h"
#include "agent/uplink/trust.h"

#include <stdbool.h>
#include <uv.h>

/*
 * An agent's duties beside reporting: it checks the node, carries out operations, and answers Slurm's
 * prolog and epilog. An agent that reports once has no duties. The list of checks and each operation is an
 * order, which the agent believes as trust.h says.
 */

struct duties;

struct duties_settings {
    uv_loop_t *loop;
    const char *home, *run, *root, *node, *boot; /* borrowed as long as they exist; run: as home_run has it */
    struct uplink *uplink;
    struct collect *collect;
    struct surveyor *surveyor;
    struct heartbeat *heartbeat;
    struct trust *trust;
};

/* Begins with the checks that were kept, and tells the uplink the term that was. */
struct duties *duties_create(const struct duties_settings *settings);
/* Calls back nobody from now on. */
void duties_destroy(struct duties *d);

/* Borrowed. */
struct checker *duties_checker(const struct duties *d);
/* Adds the member `checklist` of HELLO, with a comma before it, where there is a list. */
void duties_add_hello(const struct duties *d, struct text *body);
/* A controller welcomed the agent: its term is kept. */
void duties_welcome(struct duties *d);
/* Reports everything again, for a listener that knows nothing. */
void duties_tell(struct duties *d);
/* The fingerprint was reported, or could not be read. */
void duties_settled(struct duties *d);
/* While there is no controller to report to, the work is not read. */
void duties_lost(struct duties *d);

/* Keeps the controllers that were told, for the next process. */
void duties_keep_controllers(struct duties *d, const struct address_list *controllers);

/* The body of a CHECKLIST, an ACT and a STANDING frame. -EINVAL where it could not be understood; one that is
 * not believed is answered with 0. */
int duties_checklist(struct duties *d, const struct frame *f, struct err *e);
int duties_act(struct duties *d, const struct frame *f, struct err *e);
int duties_standing(struct duties *d, const struct frame *f, struct err *e);

#endif
