/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/outbox_inside.h"

#include "controller/outbox/scheduler.h"
#include "driver/slurm_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOBS_EVERY_S = 5, /* between two readings of whose jobs run; */
    JOBS_NODES_MAX = 1024,
    JOBS_AFTER_S = 60 /* when Slurm did not answer */
};

void outbox_slurm_init(struct outbox_slurm *s, const struct outbox_setup *with, struct results *results)
{
    s->with = with;
    s->results = results;
}

/* --- whose jobs run --------------------------------------------------------------------------- */

static void tell_jobs(const struct outbox_slurm *s, struct member *m, const struct slurm_jobs *jobs)
{
    struct incident_job list[INCIDENT_JOBS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < jobs->n && n < INCIDENT_JOBS_MAX; i++) {
        const struct slurm_job *j = &jobs->list[i];
        bool is_here = false;
        for (size_t k = 0; k < j->nodes.n && !is_here; k++)
            is_here = strcmp(j->nodes.names[k], m->name) == 0;
        if (!is_here)
            continue;
        snprintf(list[n].id, sizeof list[n].id, "%s", j->id);
        snprintf(list[n++].user, sizeof list[n].user, "%s", j->user);
    }
    watch_jobs(s->with->watch, mono_now(), m, list, n);
}

static void on_jobs(void *arg, const struct slurm_jobs *jobs, const struct err *why)
{
    struct outbox_slurm *s = arg;
    s->jobs = NULL;
    if (why)
        s->jobs_next = mono_add(mono_now(), span_s(JOBS_AFTER_S));
    for (size_t i = 0; jobs && i < s->jobless.n; i++) {
        struct member *m = cluster_find(s->with->cluster, s->jobless.names[i]);
        if (m)
            tell_jobs(s, m, jobs);
    }
    hostlist_fini(&s->jobless);
}

static void on_jobless(void *arg, struct member *m)
{
    struct outbox_slurm *s = arg;
    if (s->jobless.n < JOBS_NODES_MAX)
        hostlist_add(&s->jobless, m->name);
}

/* One squeue for all nodes, at most once in a while. */
void outbox_slurm_turn(struct outbox_slurm *s, struct mono now)
{
    CLEANUP_TEXT struct text list = {0};
    if (!s->slurm || s->jobs || now.ns < s->jobs_next.ns)
        return;
    s->jobs_next = mono_add(now, span_s(JOBS_EVERY_S));
    watch_jobless(s->with->watch, now, on_jobless, s);
    if (s->jobless.n == 0)
        return;
    slurm_write_list((const char *const *)s->jobless.names, s->jobless.n, &list);
    if (slurm_work_read(s->with->loop, &s->conf, list.s, on_jobs, s, &s->jobs, NULL) < 0)
        hostlist_fini(&s->jobless);
}

static void stop_jobs(struct outbox_slurm *s)
{
    slurm_work_cancel(STEAL(s->jobs));
    hostlist_fini(&s->jobless);
}

/* --- what the driver says ---------------------------------------------------------------------- */

static void on_slurm_result(void *arg, const char *key, const char *done)
{
    const struct outbox_slurm *s = arg;
    results_add(s->results, key, done);
}

static void on_wanted(void *arg, const char *node, struct slurm_want *out)
{
    const struct outbox_slurm *s = arg;
    const struct member *m = cluster_find(s->with->cluster, node);
    *out = (struct slurm_want){0};
    if (m)
        scheduler_wanted(m, out);
}

/* A reading ended: nodes that it lacks are not Slurm's. A reading that failed says nothing about any node. */
static void end_reading(struct outbox_slurm *s)
{
    for (uint32_t id = 0; s->any_known && id < cluster_count(s->with->cluster); id++)
        if (id >= s->n_seen || !s->seen[id])
            watch_unscheduled(s->with->watch, cluster_by_id(s->with->cluster, id));
    free(STEAL(s->seen));
    s->n_seen = 0;
    if ((s->any_known || s->n_strange) && !s->fails)
        counterpart_answered(s->with->counterparts, COUNTERPART_SLURM, "", s->n_strange ? &s->strange : NULL);
    s->any_known = false;
    s->n_strange = 0;
}

/* A word that this Fettle does not know: nothing follows from it, and a person should know. */
static void note_strange(struct outbox_slurm *s, const struct slurm_node *n)
{
    if (n->known || !n->state || !*n->state)
        return;
    if (s->n_strange++ == 0)
        err_set(&s->strange, -EPROTO,
                "it says \"%s\" of %s, which is not known: nothing is done to such a node", n->state,
                n->name);
}

/* m is NULL when this Fettle does not know the node. */
static void note_seen(struct outbox_slurm *s, const struct member *m, bool known)
{
    s->any_known |= known;
    if (!s->seen) {
        s->n_seen = cluster_count(s->with->cluster);
        s->seen = mem_alloc(s->n_seen);
    }
    if (m && m->id < s->n_seen)
        s->seen[m->id] = true;
}

static void on_saw(void *arg, const struct slurm_node *n)
{
    struct outbox_slurm *s = arg;
    struct member *m = n ? cluster_find(s->with->cluster, n->name) : NULL;
    if (!n) {
        end_reading(s);
        return;
    }
    if (!n->alone) {
        note_seen(s, m, n->known);
        note_strange(s, n);
    }
    if (m)
        scheduler_saw(s->with->watch, m, n);
}

static void on_maintained(void *arg, const struct slurm_maintenance *list, size_t n)
{
    const struct outbox_slurm *s = arg;
    scheduler_maintained(s->with->watch, s->with->cluster, list, n);
}

static void on_overridden(void *arg, const char *node, const char *claim, const char *who)
{
    const struct outbox_slurm *s = arg;
    CLEANUP_TEXT struct text t = {0}, key = {0};
    const char *by = *who ? who : "somebody";
    text_printf(&t, "%s took it back in Slurm, while claim %s rests on it", by, claim);
    s->with->notice(s->with->arg, "slurm.overridden", node, t.s);
    text_printf(&key, "effect/slurm.%s", node);
    results_overridden(s->results, key.s, by);
}

/* The watch sees it in the record. */
static void on_refused(void *arg, const char *node, const char *claim)
{
    const struct outbox_slurm *s = arg;
    CLEANUP_TEXT struct text t = {0};
    text_printf(
        &t,
        "somebody deleted its reservation in Slurm, while claim %s rests on it: it is not examined, and "
        "stays drained",
        claim);
    s->with->notice(s->with->arg, "slurm.overridden", node, t.s);
}

static void on_restored(void *arg, const char *node, const char *reason, const struct err *why)
{
    const struct outbox_slurm *s = arg;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "somebody wrote to it in Slurm in the moment of Fettle's own write, which undid that: ");
    if (why)
        text_printf(&t, "it could not be put back (%s), their reason was: %s", why->msg, reason);
    else
        text_printf(&t, "it is put back in their words: %s", reason);
    s->with->notice(s->with->arg, "slurm.restored", node, t.s);
}

static void on_slurm_trouble(void *arg, const struct err *why)
{
    struct outbox_slurm *s = arg;
    s->fails = why != NULL;
    counterpart_answered(s->with->counterparts, COUNTERPART_SLURM, "", why);
}

/* --- for the outbox --------------------------------------------------------------------------- */

void outbox_slurm_tell_wanted(const struct outbox_slurm *s)
{
    struct hostlist wanted = {0};
    for (uint32_t id = 0; id < cluster_count(s->with->cluster); id++) {
        const struct member *m = cluster_by_id(s->with->cluster, id);
        struct slurm_want want;
        scheduler_wanted(m, &want);
        if (want.drain)
            hostlist_add(&wanted, m->name);
    }
    slurm_changed(s->slurm, &wanted);
    hostlist_fini(&wanted);
}

bool outbox_slurm_configure(struct outbox_slurm *s, const struct slurm_conf *read)
{
    struct slurm_conf conf = *read;
    conf.owner = s->with->owner;
    const struct slurm_sink sink = {s,          on_wanted,     on_slurm_result,
                                    on_saw,     on_maintained, on_overridden,
                                    on_refused, on_restored,   on_slurm_trouble};
    counterpart_configure(s->with->counterparts, COUNTERPART_SLURM, conf.scontrol);
    stop_jobs(s);
    s->conf = conf;
    if (!conf.scontrol) {
        s->fails = false;
        slurm_destroy(STEAL(s->slurm));
        for (uint32_t id = 0; id < cluster_count(s->with->cluster); id++)
            watch_unscheduled(s->with->watch, cluster_by_id(s->with->cluster, id));
        scheduler_maintained(s->with->watch, s->with->cluster, NULL, 0);
    } else if (s->slurm) {
        scheduler_begin(s->with->watch, s->with->cluster);
        slurm_configure(s->slurm, &conf);
    } else {
        scheduler_begin(s->with->watch, s->with->cluster);
        s->slurm = slurm_create(s->with->loop, &conf, &sink);
        return true;
    }
    return false;
}

void outbox_slurm_effect(const struct outbox_slurm *s, const char *key, const char *value)
{
    if (s->slurm)
        slurm_effect(s->slurm, key, value);
}

void outbox_slurm_changed(const struct outbox_slurm *s, const struct hostlist *nodes)
{
    if (!s->slurm)
        return;
    for (size_t i = 0; i < nodes->n; i++)
        if (!slurm_lacks(s->slurm, nodes->names[i]))
            scheduler_changed(s->with->watch, s->with->cluster, nodes->names[i]);
    slurm_changed(s->slurm, nodes);
}

void outbox_slurm_look(const struct outbox_slurm *s, const char *node)
{
    if (s->slurm)
        slurm_look(s->slurm, node);
}

size_t outbox_slurm_waiting(const struct outbox_slurm *s)
{
    return s->slurm ? slurm_waiting(s->slurm) : 0;
}

void outbox_slurm_stop(struct outbox_slurm *s)
{
    stop_jobs(s);
    slurm_destroy(STEAL(s->slurm));
}

void outbox_slurm_fini(struct outbox_slurm *s)
{
    free(STEAL(s->seen));
}
