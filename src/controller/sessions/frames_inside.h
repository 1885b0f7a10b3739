/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_SESSIONS_FRAMES_INSIDE_H
#define FETTLE_CONTROLLER_SESSIONS_FRAMES_INSIDE_H

#include "controller/sessions/agents_inside.h"

/*
 * Reports of agents beside their heartbeats, and answers to them: certificates, questions of jobs that are
 * about to start, fingerprints and checks.
 */

/* --- join.c ----------------------------------------------------------------------------------- */

void join_request(struct session *s, const json_t *body);
void join_renew(struct session *s, const json_t *body);
/* A node's HELLO was taken. When it came with the certificate that the node asked for last, the earlier
 * ones end. */
void join_hello(struct session *s);
/* Each second. */
void join_turn(struct agents *a, struct mono now);

/* --- standings.c ------------------------------------------------------------------------------ */

/* STANDING of a node. */
void standings_asked(struct agents *a, struct member *m, const json_t *body);
/* Answers those of whom it is decided. */
void standings_second(struct agents *a, struct mono now);
void standings_drop(struct agents *a);

/* --- fingerprints.c --------------------------------------------------------------------------- */

void fingerprints_said(struct session *s, const json_t *body);
void fingerprints_components(struct session *s, const json_t *body);
/* The fingerprints of a BATCH, after its sessions. */
void fingerprints_batch(struct session *s, const json_t *body);
/* Asks for components that the watch misses. */
void fingerprints_second(struct agents *a, struct mono now);
/* Array of the components that the classes name. The caller owns it. */
json_t *fingerprints_also(const struct cluster *c);

/* --- checklist.c ------------------------------------------------------------------------------ */

/* The checks are other ones, or the nodes that run them. */
void checklist_configure(struct agents *a, const struct config *conf);
void checklist_hello(struct session *s, const json_t *body);
/* Tells the checks to an agent that does not know them. */
void checklist_tell(struct session *s);
/* CHECKS, DONE and STANDING of the session's own node. */
void checklist_checks(struct session *s, const json_t *body);
void checklist_done(struct session *s, const json_t *body);
void checklist_standing(struct session *s, const json_t *body);
/* Asks the nodes whose reports are out of date to report everything again. */
void checklist_second(struct agents *a, struct mono now);
/* PASS of a collector. */
void checklist_passed(struct session *s, const json_t *body);

#endif
