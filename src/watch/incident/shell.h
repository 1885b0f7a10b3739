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

/* --- findings as they are reported now --------------------------------------------------------------- */

/* The codes of m's present findings that this remedy may help, with blanks between. When the remedy is done,
 * the findings under these codes are over, and no others. */
void watch_cures(const struct watch *w, struct mono now, const struct member *m, const char *remedy,
                 struct text *out);

/* --- answers ----------------------------------------------------------------------------------------- */

/* Calls fn for nodes that are to report all checks anew, because their results are out of date or something
 * waits for a newer result. A node is named at most once in ten seconds. Each call looks at a tenth of the
 * healthy nodes, for the shell's timer of a second. */
void watch_untold(struct watch *w, struct mono now, tell_fn *fn, void *arg);
const char *health_name(enum health h);
/* Unknown while m is not heard; else its worst state, when that is bad; else unknown until every assigned
 * check has reported on this boot. A node without checks is unknown. */
enum health watch_health(const struct watch *w, struct mono now, const struct member *m);
/* Whether Health=act would drain m for this incident, apart from brakes and people's decisions: for its
 * severity, or because it has lasted DegradedFor by now or had lasted that long when it was closed. */
bool watch_incident_drains(const struct watch *w, const struct member *m, const struct incident *i,
                           struct wall now);
/* Calls fn for each check assigned to m, in order of the records; then for the checks of other systems. */
void watch_each_check(const struct watch *w, struct mono now, const struct member *m, said_fn *fn, void *arg);
/* The same for the results alone: for counts over many nodes. */
void watch_each_result(const struct watch *w, struct mono now, const struct member *m, result_fn *fn,
                       void *arg);
/* Whether every check assigned to m has passed on this boot; else what is missing, in words. */
bool watch_provisioned(const struct watch *w, struct mono now, const struct member *m, struct text *why);

/* --- whether work may land on a node ----------------------------------------------------------------- */

/* Everything that decides whether work may land on m. Its texts are put into claims and shortfall, which must
 * live as long as *f is used. */
void watch_fitness(const struct watch *w, struct mono now, const struct member *m, struct text *claims,
                   struct text *shortfall, struct fitness *f);
/* Rows for placing, by member id; always up to date. */
const struct place_row *watch_rows(struct watch *w, size_t *n);

#endif
