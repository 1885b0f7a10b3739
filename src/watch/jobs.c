/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose jobs run on a node that is ill. The people whom it costs their work are to be known to whoever sees
 * to the node, also when the jobs have ended: so they are noted in the incidents. A node that is drained is
 * given no more work, so what was read once is mostly all; one that stays in service is read anew each
 * minute.
 */
#include "watch/budget_inside.h"
#include "watch/health_inside.h"
#include "watch/incident_inside.h"
#include "watch/inside.h"
#include "watch/vitals_inside.h"

#include <string.h>

enum { JOBS_FRESH_S = 60 };

void watch_jobless(struct watch *w, struct mono now, tell_fn *fn, void *arg)
{
    struct member *m;
    for (size_t i = 0; (m = budget_patient_at(w, i)); i++) {
        const struct vitals *v = vitals_of(w, m);
        bool was_read = v->jobs_at.ns && within(now, v->jobs_at, JOBS_FRESH_S);
        if (watch_observed(w, m)->scheduled == WORK_BUSY && incidents_open(m) && !was_read)
            fn(arg, m);
    }
}

/* An incident that is open does not have it yet. */
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
    struct vitals *v = vitals_of(w, m);
    CLEANUP_JSON json_t *set = json_object();
    json_t *list = json_array();
    json_object_set_new(set, "boot", json_string(watch_of(w, m)->boot));
    json_object_set_new(set, "jobs", list);
    if (health_asked(v, now))
        return; /* it is read again */
    v->jobs_at = now;
    for (size_t i = 0; i < n && json_array_size(list) < INCIDENT_JOBS_MAX; i++)
        if (is_news(m, jobs[i].id))
            json_array_append_new(list, json_pack("{s:s,s:s}", "job", jobs[i].id, "user", jobs[i].user));
    if (json_array_size(list))
        health_propose(w, now, m, COMMAND_FINDINGS, NULL, set);
}
