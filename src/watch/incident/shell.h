/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INCIDENT_SHELL_H
#define FETTLE_WATCH_INCIDENT_SHELL_H

#include "place/place.h"
#include "watch/view/shell.h"

/*
 * What the shells ask about the health of a node, and about its fitness for work.
 */

struct watch;

enum health { HEALTH_UNKNOWN, HEALTH_OK, HEALTH_DEGRADED, HEALTH_FATAL, HEALTH_LOST };
typedef void result_fn(void *arg, const struct check *k, enum result r);
enum { CURES_BYTES_MAX = 2048 };

/* --- what is said of a node now ---------------------------------------------------------------------- */

/* Of what is found on m now, the codes that this remedy may help, with blanks between: what was found under
 * them before it is over when it is done, and nothing else is. */
void watch_cures(const struct watch *w, struct mono now, const struct member *m, const char *remedy,
                 struct text *out);

/* --- answers ----------------------------------------------------------------------------------------- */

/* Nodes that are to tell all their checks anew: what they said is out of date, or something waits for a newer
 * look. Each at most once in ten seconds; of many that are well a tenth is looked at in each call, for the
 * shell's timer of a second. */
void watch_untold(struct watch *w, struct mono now, tell_fn *fn, void *arg);
const char *health_name(enum health h);
/* Unknown while it is not heard; else its worst, when that is bad; else unknown until every check assigned to
 * it has said something on this boot. A node without checks is unknown. */
enum health watch_health(const struct watch *w, struct mono now, const struct member *m);
/* Whether m is drained for this incident where Health=act, but for brakes and what people say: for its
 * severity, or since it lasted DegradedFor by now, or until it was closed. */
bool watch_incident_drains(const struct watch *w, const struct member *m, const struct incident *i,
                           struct wall now);
/* Calls fn for each check assigned to m, in order of the records; then for those of others. */
void watch_each_check(const struct watch *w, struct mono now, const struct member *m, said_fn *fn, void *arg);
/* The results alone, likewise: for counts of many nodes. */
void watch_each_result(const struct watch *w, struct mono now, const struct member *m, result_fn *fn,
                       void *arg);
/* Whether every check assigned to it passed on this boot; else what is missing, in words. */
bool watch_provisioned(const struct watch *w, struct mono now, const struct member *m, struct text *why);

/* --- whether work may land on a node ----------------------------------------------------------------- */

/* All that decides whether work may land on m; the texts are put into claims and shortfall, which
 * must live as long as *f is used. */
void watch_fitness(const struct watch *w, struct mono now, const struct member *m, struct text *claims,
                   struct text *shortfall, struct fitness *f);
/* Rows for placing, by member id; up to date. */
const struct place_row *watch_rows(struct watch *w, size_t *n);

#endif
