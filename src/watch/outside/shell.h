/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_SHELL_H
#define FETTLE_WATCH_OUTSIDE_SHELL_H

#include "watch/view/shell.h"

/*
 * What the shells tell about BMCs, windows, jobs and the checks of other systems, and what they ask about
 * them.
 */

struct watch;

struct bmc_said {
    bool answered, on;
    bool none; /* it has no BMC, or one that only tells the power state: it gets no regular questions */
    const char *text;     /* the end of its log, or why it did not answer */
    const char *watchdog; /* its watchdog's state in its own words; NULL: it reports none */
    const char *locked;   /* why its power must be left alone; NULL: it is not locked */
    const struct components
        *firmware; /* the versions that it gives by Redfish, sorted; NULL: it does not speak Redfish */
};

/* --- nodes that stay silent -------------------------------------------------------------------------- */

void watch_bmc(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is);
/* Whether a person who says that m is repaired may take it out of the work queue: 0, or -EBUSY while m is not
 * heard. */
int watch_may_resolve(const struct watch *w, struct mono now, const struct member *m, struct err *e);

/* --- BMCs -------------------------------------------------------------------------------------------- */

/* Calls fn once for each node whose BMC is to be asked now, a few at a time: nodes that stay silent, and
 * every node once a day and after a boot. The shell then calls watch_bmc for each of them. */
void watch_bmcs_to_ask(struct watch *w, struct mono now, tell_fn *fn, void *arg);

/* --- maintenance windows of the scheduler ------------------------------------------------------------ */

/* m lies in a maintenance window of the scheduler, named so ("reservation root_1"), or in none (NULL). Only
 * call this after everything was read. While it is not called, the last value counts. */
void watch_window(struct watch *w, struct member *m, const char *why);

/* --- whose jobs run on a node that is ill ------------------------------------------------------------ */

/* Calls fn for each node that is ill while the scheduler runs work on it and whose jobs were not read for a
 * minute. The shell asks for all of them at once and answers with watch_jobs. */
void watch_jobless(struct watch *w, struct mono now, tell_fn *fn, void *arg);
/* The jobs on m, as the scheduler was read at `now`. They are noted in m's open incidents. */
void watch_jobs(struct watch *w, struct mono now, struct member *m, const struct incident_job *jobs,
                size_t n);

/* --- checks of other systems ------------------------------------------------------------------------- */

/* The result of another system's check on m, as it was `age` ago; the name begins with "sensu.". It counts
 * until the next result, until the node boots, or for a day. A node has 32 such checks at most. -EINVAL: the
 * name is not valid, or has a record here; -ENOENT: no file names m; -EAGAIN: m was not heard yet; -ESTALE:
 * the result is from before m's boot, or there is a newer one; -ENOSPC: no room. */
int watch_event(struct watch *w, struct mono now, struct wall wall, struct member *m, const char *check,
                const struct verdict *v, struct span age, struct err *e);

#endif
