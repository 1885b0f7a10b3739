/* SPDX-License-Identifier: Apache-2.0 */
/* What follows for one member from the agreed state and from observations, and needs no memory of its own. */
#include "watch/view/facts.h"
#include "node/action.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { WEEK_S = 7 * 86400, WORK_NAMED_MAX = 8 };

enum work watch_work(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    if (!o->scheduler)
        return o->work;
    if (o->work == WORK_BUSY || o->scheduled == WORK_BUSY)
        return WORK_BUSY;
    return o->work == WORK_IDLE && o->scheduled == WORK_IDLE ? WORK_IDLE : WORK_UNKNOWN;
}

bool watch_live(const struct watch *w, const struct member *m)
{
    return watch_observed(w, m)->beat.liveness == LIVENESS_LIVE;
}

const char *boot_of(const struct watch *w, const struct member *m)
{
    const struct repair *r = member_repair(m);
    const char *boot = watch_observed(w, m)->boot;
    return *boot ? boot : r && *r->boot ? r->boot : m->boot;
}

const struct node_class *class_of(const struct watch *w, const struct member *m)
{
    assert(m->class < cluster_classes(w->cluster)->n);
    return &cluster_classes(w->cluster)->list[m->class];
}

const struct baseline *baseline_of(const struct watch *w, const struct member *m)
{
    return cluster_baseline(w->cluster, class_of(w, m)->name);
}

const struct drift *drift_of(const struct member *m)
{
    return m->past ? m->past->drift : NULL;
}

bool acts_for(const struct watch *w, const struct member *m)
{
    return w->policy.health.limits.act && !cluster_excepts(w->cluster, m);
}

bool person_holds(const struct member *m)
{
    return member_held_by(m, CLAIM_DRAIN) || member_held_by(m, CLAIM_DOWN);
}

json_t *slurm_recorded(const struct watch *w, const struct member *m)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/slurm.%s", m->name);
    const char *value = cluster_effect_value(w->cluster, key.s);
    return value ? json_read(value, strlen(value), NULL) : NULL;
}

unsigned remedies_of_week(const struct watch *w, const struct member *m)
{
    const struct repair *r = member_repairs(m);
    unsigned n = 0;
    for (size_t i = 0; r && i < r->n_attempts; i++)
        n += r->attempts[i].verdict != '0' && w->wall.ns - r->attempts[i].at.ns < span_s(WEEK_S).ns;
    return n;
}

bool maintenance_wants(const struct member *m, const struct remedy *remedy)
{
    return member_restarts(m) ? action_of(remedy->run).effect == ACTION_RESTARTS
                              : member_maintenance(m) && strcmp(remedy->run, "replace") == 0;
}

void work_say(const struct watch *w, const struct member *m, struct text *out)
{
    const struct observed *o = watch_observed(w, m);
    CLEANUP_JSON json_t *running = o->running ? json_read(o->running, strlen(o->running), NULL) : NULL;
    enum work work = watch_work(w, m);
    text_add(out, work == WORK_BUSY ? "work runs on it" : "it is not known whether work runs on it");
    if (o->work == WORK_BUSY)
        text_add(out, ":");
    for (size_t i = 0; o->work == WORK_BUSY && i < json_array_size(running) && i < WORK_NAMED_MAX; i++)
        text_printf(out, "%s %s", i ? "," : "", json_string_value(json_array_get(running, i)));
    if (json_array_size(running) > WORK_NAMED_MAX)
        text_printf(out, " and %zu more", json_array_size(running) - WORK_NAMED_MAX);
    if (work == WORK_BUSY && o->work != WORK_BUSY)
        text_add(out, ", as the scheduler says");
}

const char *fault_of(const char *check, const struct finding *f)
{
    return *f->code ? f->code : check;
}

size_t incidents_open(const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    size_t n = 0;
    for (size_t i = 0; a && i < a->n_open; i++)
        n += incident_counts(&a->open[i]);
    return n;
}

bool override_excuses(const struct member *m, const char *group, enum result severity)
{
    const struct override *o = member_override(m);
    return o && override_covers(o, group, severity);
}

bool repair_yields(const struct member *m)
{
    const struct repair *r = member_repair(m);
    return r && !r->manual && member_override(m);
}

void watch_operation(const struct watch *w, const struct member *m, struct operation *o)
{
    cluster_operation(w->cluster, m, o);
}

const char *window_of(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    const struct maintenance *is = member_window(m);
    return o->window_known ? o->window : is ? is->why : NULL;
}

bool machine_seen(const struct watch *w, const struct member *m)
{
    return !member_machine(m) || watch_observed(w, m)->inventoried;
}

int machine_check(const struct watch *w, const struct member *m, struct err *e)
{
    const struct machine_record *i = member_machine(m);
    if (!machine_seen(w, m))
        return err_set(e, -EAGAIN, "it is not known yet which machine has its name");
    if (i && machine_is(&watch_observed(w, m)->report.machine, i->machine) == MACHINE_IS_ANOTHER)
        return err_set(e, -EAGAIN, "another machine has its name than %s", i->machine);
    return 0;
}

const char *machine_here(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    return o->inventoried ? machine_surest(&o->report.machine) : NULL;
}

bool machine_may_be_known(const struct watch *w, const struct member *m)
{
    const struct machine_record *i = member_machine(m);
    const struct machine *is = &watch_observed(w, m)->report.machine;
    if (!i)
        return false;
    bool known = machine_is(is, i->machine) == MACHINE_IS_SAME || i->n_before == MACHINES_KEPT_MAX;
    for (size_t k = 0; k < i->n_before; k++)
        known = known || machine_is(is, i->before[k].machine) == MACHINE_IS_SAME;
    return known;
}

struct span repair_provision_deadline(const struct watch *w, const struct member *m)
{
    return class_provision_deadline(class_of(w, m), w->policy.health.provision_deadline);
}

bool remedy_is_gentle(const struct remedy *r)
{
    return action_is_shell(action_of(r->run)) && r->disturbs == 0 && r->needs == NEEDS_NOTHING &&
           !r->approval && !r->dry;
}
