/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The alarms of the watch. Alarms about many nodes at once and about brakes begin and end where these are
 * judged. Alarms that rest on a record, or on what is known of a node, end here in each sweep, so that none
 * outlives its cause, whatever removed it: a restore, an accepted baseline, a person's command, or a node
 * that was taken off the list. Alarms of shared causes also begin here, so that a new leader announces what
 * its predecessor found.
 */
#include "watch/alarm_watch_inside.h"
#include "watch/conform/conform.h"
#include "watch/view/alarm.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"
#include "watch/watch.h"

#include <stdio.h>
#include <string.h>

const struct alarm *watch_alarms(const struct watch *w)
{
    return w->alarms.list;
}

void watch_alarm_raise(struct watch *w, enum alarm_kind kind, const char *subject, const char *nodes,
                       const char *text, struct wall at)
{
    alarms_raise(&w->alarms, kind, subject, nodes, text, at);
}

void watch_alarm_end(struct watch *w, enum alarm_kind kind, const char *subject, const char *why)
{
    alarms_end(&w->alarms, kind, subject, why);
}

static bool is_open(const struct watch *w, const struct member *m)
{
    const struct drift *d = drift_of(m);
    return m->listed && ((d && d->state != DRIFT_REMEDIED) || conformity_is_proven_drifted(w, m));
}

static bool any_open(const struct watch *w, const char *folded)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    hostlist_parse(folded, &nodes, NULL);
    for (size_t i = 0; i < nodes.n; i++) {
        const struct member *m = cluster_find(w->cluster, nodes.names[i]);
        if (m && is_open(w, m))
            return true;
    }
    return false;
}

static bool alarm_watch_lies(const struct watch *w, const char *node)
{
    const struct member *m = cluster_find(w->cluster, node);
    return m && m->listed && conformity_lies(w, m);
}

/* Why the alarm is over; NULL when it stands. */
static const char *alarm_watch_over(const struct watch *w, const struct alarm *a)
{
    if (a->kind == ALARM_SHARED && !cluster_shared(w->cluster, a->subject))
        return "the shared cause is over";
    if (a->kind == ALARM_FINGERPRINT && !alarm_watch_lies(w, a->subject))
        return "the node has shown a list that is right, or is no longer listed";
    if (a->kind == ALARM_DRIFT && *a->nodes)
        return any_open(w, a->nodes) ? NULL : "none of these nodes drifts any more";
    if ((a->kind == ALARM_DRIFT || a->kind == ALARM_ROLLOUT) && !conformity_alarms(w, a->kind, a->subject))
        return "there is no such class any more";
    return NULL;
}

static void on_shared(void *arg, const struct shared_cause *s)
{
    struct watch *w = arg;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "one cause: %s; nobody is isolated for it", s->why);
    alarms_raise(&w->alarms, ALARM_SHARED, s->key, s->nodes, t.s, w->wall);
}

void alarms_end_sweep(struct watch *w)
{
    const struct alarm *a = w->alarms.list, *next;
    cluster_each_shared(w->cluster, on_shared, w);
    for (; a; a = next) {
        const char *why = alarm_watch_over(w, a);
        next = a->next;
        if (why)
            alarms_end(&w->alarms, a->kind, a->subject, why);
    }
}
