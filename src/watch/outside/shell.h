/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_SHELL_H
#define FETTLE_WATCH_OUTSIDE_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells tell of BMCs, windows, jobs and the checks of other systems, and what they ask about them.
 */

struct watch;

struct bmc_said {
    bool answered, on;
    bool none; /* it has no BMC, or one that tells where the power is at most: it is not asked by itself */
    const char *text;                  /* the end of its log, or why it did not answer */
    const char *watchdog;              /* in its words; NULL: it says nothing of one */
    const char *locked;                /* why its power is to be left alone; NULL: it is not */
    const struct components *firmware; /* what it tells by Redfish, sorted; NULL: it does not speak Redfish */
};

/* --- nodes that stay silent -------------------------------------------------------------------------- */

void watch_bmc(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is);
/* Whether a person's word that m is repaired may take it out of the work queue: 0, or -EBUSY while it is not
 * heard. */
int watch_may_resolve(const struct watch *w, struct mono now, const struct member *m, struct err *e);

/* --- BMCs -------------------------------------------------------------------------------------------- */

/* Calls fn for each node whose BMC is to be asked now, each once; a few at a time: of nodes that stay silent,
 * and of every node once a day and after a boot. watch_bmc is called for each of them in the end. */
void watch_bmcs_to_ask(struct watch *w, struct mono now, tell_fn *fn, void *arg);

/* --- maintenance windows of the scheduler ------------------------------------------------------------ */

/* m lies in a maintenance window that somebody keeps in the scheduler, in these words ("reservation root_1"),
 * or in none (NULL). To be called only with what was read in full; what is not known leaves what was said. */
void watch_window(struct watch *w, struct member *m, const char *why);

/* --- whose jobs run on a node that is ill ------------------------------------------------------------ */

/* Calls fn for each node that is ill while the scheduler says that work runs on it, and of which it was not
 * read for a minute whose: for the shell, which asks for all of them at once and answers with watch_jobs. */
void watch_jobless(struct watch *w, struct mono now, tell_fn *fn, void *arg);
/* These jobs run on m, as the scheduler was read at `now`. They are noted in its open incidents. */
void watch_jobs(struct watch *w, struct mono now, struct member *m, const struct incident_job *jobs,
                size_t n);

/* --- checks of other systems ------------------------------------------------------------------------- */

/* What a check of somebody else's says of m, as it was `age` ago; check begins with "sensu.". It counts until
 * something else is said, the node boots, or a day is over; 32 such checks a node. -EINVAL: no such name, or
 * one of a record here; -ENOENT: no file names m; -EAGAIN: m was not heard yet; -ESTALE: it is of before m's
 * boot, or something newer was said; -ENOSPC: no room. */
int watch_event(struct watch *w, struct mono now, struct wall wall, struct member *m, const char *check,
                const struct verdict *v, struct span age, struct err *e);

#endif
