/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs on a node that is ill. The administrator who repairs the node needs to know whose work the fault
 * costs, also when the jobs have ended, so the jobs are noted in the incidents. A drained node gets no more
 * work, so reading it once is mostly enough. A node that stays in service is read again each minute.
 */
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/outside/shell.h"
#include "watch/view/facts.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <string.h>

enum { JOBS_FRESH_S = 60 };

void watch_jobless(struct watch *w, struct mono now, tell_fn *fn, void *arg)
{
    struct member *m;
    for (size_t i = 0; (m = budget_patient_at(w, i)); i++) {
        const struct health_state *v = health_state_of(w, m);
        bool was_read = v->jobs_at.ns && within(now, v->jobs_at, JOBS_FRESH_S);
        if (watch_observed(w, m)->scheduled == WORK_BUSY && incidents_open(m) && !was_read)
            fn(arg, m);
    }
}

/* Some open incident does not have this job yet. */
static bool is_news(const struct member *m, const char *job)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++)
        if (incident_counts(&a->open[i]) && a->open[i].n_jobs < INCIDENT_JOBS_MAX &&
            !incident_has_job(&a->open[i], job))
            return true;
    return false;
}

void watch_jobs(struct watch *w, struct mono now, struct member *m, const struct incident_job *jobs, size_t n)
{
    struct health_state *v = health_state_of(w, m);
    struct incident_job news[INCIDENT_JOBS_MAX];
    struct command cmd = {.kind = COMMAND_FINDINGS, .findings = {.jobs = news}};
    struct findings_command *says = &cmd.findings;
    if (health_asked(v, now))
        return; /* the node is read again later */
    v->jobs_at = now;
    memcpy(says->boot, watch_of(w, m)->boot, sizeof says->boot);
    for (size_t i = 0; i < n && says->n_jobs < INCIDENT_JOBS_MAX; i++)
        if (is_news(m, jobs[i].id))
            news[says->n_jobs++] = jobs[i];
    if (says->n_jobs)
        health_propose(w, now, m, &cmd);
}
