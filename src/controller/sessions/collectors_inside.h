/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_SESSIONS_COLLECTORS_INSIDE_H
#define FETTLE_CONTROLLER_SESSIONS_COLLECTORS_INSIDE_H

#include "controller/sessions/agents_inside.h"

/*
 * Collectors: which nodes they were given, what becomes of nodes on the way to them or back, and what they
 * say.
 */

/* --- ended.c ---------------------------------------------------------------------------------- */

/* Tells a collector which certificates of these nodes have ended. */
void ended_tell(struct session *s, struct member *const *nodes, size_t n);
/* Object of what has ended of collectors and controllers, as least.h takes it. The caller owns it. */
json_t *ended_of_all(const struct agents *a);

/* --- sent.c ----------------------------------------------------------------------------------- */

/* m is sent to its collector now. */
void sent_away(struct agents *a, const struct member *m, const struct member *collector, struct mono now);
/* The collector that m was sent to has heard it. */
void sent_arrived(struct agents *a, struct member *m);
/* A report of m came before the news that m is there: the node is asked for it again when it is. */
void sent_early(struct agents *a, const struct member *m);
/* True for one that is to be heard here for a while, since it was not heard at this collector. The instance
 * is that of an agent that says HELLO, else 0. */
bool sent_came_back(struct agents *a, const struct member *m, uint64_t instance, const struct session *to,
                    struct mono now);
/* Whether nodes that were kept here are to be sent to their collectors again. True once for each time. */
bool sent_is_due(struct agents *a, struct mono now);

/* --- shares.c --------------------------------------------------------------------------------- */

/* m, when it is for this collector to speak for it (m may be NULL); else NULL, and counted. */
struct member *shares_speaks_for(struct session *s, struct member *m);
/* The same of the member of this name. */
struct member *shares_spoken_for(struct session *s, const char *name);
/* Tells a collector that these nodes are its share. */
void shares_send(struct session *s, struct member *const *nodes, size_t n);
/* Tells some collectors their new shares. True when there are more. */
bool shares_tell(struct agents *a);

/* --- regain.c: all of it takes some turns of the loop ------------------------------------------- */

/* The session collects no more: its nodes are taken from it, and excused. It may end meanwhile. */
void regain_lost(struct session *s);
/* The shares are new, and this many nodes were given to other collectors. No round is under way. */
void regain_moved(struct agents *a, struct mono now, size_t moved);
/* How long `more` nodes may take, beside those that are on their way already. */
struct span regain_time(struct agents *a, struct mono now, size_t more);
/* One turn. False: nothing is left. */
bool regain_turn(struct agents *a);
bool regain_busy(const struct agents *a);
void regain_finish(struct agents *a);
/* No node is told apart any more; frees the sessions that ended. */
void regain_drop(struct agents *a);

/* --- collectors.c ----------------------------------------------------------------------------- */

/* A collector came, or became one. */
void collectors_hello(struct session *s, const json_t *body);
/* Tells one that it is no collector (any more). */
void collectors_dismiss(struct session *s);
void collectors_batch(struct session *s, const json_t *body);
/* A session that collects does so no longer. Its nodes are taken from it in the turns that follow. */
void collectors_lost(struct session *s);
void collectors_configure(struct agents *a);
void collectors_second(struct agents *a, struct mono now);
/* Sends the session to its collector and closes it; false when it is to stay. The instance is that of an
 * agent that says HELLO, else 0. */
bool collectors_redirect(struct session *s, uint64_t instance);

#endif
