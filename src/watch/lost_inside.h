/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_LOST_INSIDE_H
#define FETTLE_WATCH_LOST_INSIDE_H

#include "watch/watch.h"

/*
 * Nodes that stay silent, and what is known of them from outside. Its state is vitals.absence.
 */

struct vitals;

/* In each sweep, for a listed member: of one that stays silent the BMC is to be asked, and then it is lost.
 */
void lost_look(struct watch *w, struct mono now, const struct member *m);
void lost_drop(struct watch *w, struct vitals *v);
const struct check *lost_record(void); /* nothing but the name */
bool lost_is(const struct watch *w, const char *check);
/* What is found of one that is lost; NULL: it is not. Borrowed. */
const struct finding *lost_finding(const struct watch *w, const struct member *m);
bool lost_stands(const struct watch *w, const struct member *m); /* it is, and not many with it */
/* Whether something may be done to m, which is not heard: 0, or -EAGAIN with why not. */
int lost_check(const struct watch *w, struct mono now, const struct member *m, struct err *e);
/* It is silent for so long that what keeps it from being repaired is a person's. */
bool lost_lasts(const struct watch *w, struct mono now, const struct member *m);
/* What runs on one that is lost, as far as anybody can say. */
enum work lost_work(const struct watch *w, const struct member *m);
/* Nobody can say what runs on m, which is lost for long, and nobody ever will: there is no scheduler. */
bool lost_work_unsaid(const struct watch *w, struct mono now, const struct member *m);
/* Nodes that would be missed; of a Group, but with 0. */
unsigned lost_runners(const struct watch *w, unsigned group);
const char *boot_of(const struct watch *w, const struct member *m);
/* What runs on m, for whoever wants to repair it. */
enum work repair_work(const struct watch *w, const struct member *m);

#endif
