/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_ILL_H
#define FETTLE_API_ILL_H

#include "api/call.h"

/*
 * Incidents, trials and repairs as JSON. Inside this folder.
 */

/* {"id","node","group","severity","drains",...,"findings":[...]} */
void render_incident(const struct call *c, const struct member *m, const struct incident *i, struct text *t);
/* "open":[...],"past":[...] */
void render_ailment(const struct call *c, const struct member *m, struct text *t);
/* {"node","check","now":{...}|null,"last":{...}|null} for each check for which m is or was held; check NULL:
 * for all. Writes *comma before each, and sets it to a comma. */
void render_trials(const struct member *m, const char *check, const char **comma, struct text *t);
/* {"step",...,"attempts":[...],"notes":[...]}; null when there never was a repair. `moves`: also with the
 * moves that are open at its step. */
void render_repair(const struct member *m, bool moves, struct text *t);
/* ["examine","queue"]: the other steps to which a repair goes from this one, each once. */
void render_next(enum step s, struct text *t);

/* Whether the node is in the work queue: a person is called, or asked for approval. r may be NULL. */
bool repair_waits(const struct repair *r);

#endif
