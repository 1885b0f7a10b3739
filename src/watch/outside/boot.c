/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots that nobody asked for. When a node comes up on another boot, the watch looks for something that may
 * have asked for it between the node's last heartbeat and now: a person who holds the node, here or
 * elsewhere, a maintenance, Slurm when it powers the node off or reboots it, an operation of its repair, a
 * reboot for drift, or a person's power command. A boot that nothing explains is a finding of its own,
 * node.boot, with the cause from the node's own inventory (node/ended.h). It is a warning. The table of
 * recurrence (health/recur.tbl) raises it, like any other finding, when it comes back.
 *
 * Many nodes that went at the same time have a cause outside of each of them: the power of a rack was cycled,
 * or a switch of the cluster failed. A notice names these nodes, and none of them is blamed. The last
 * heartbeats decide about that, so that the first node to come back counts like the last.
 *
 * The records have the boots that are accounted for: those of service, of the repair, and of the finding.
 */
#include "node/action.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/outside/outside.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INVENTORY_S = 30, /* the maximum wait for the inventory, which has the cause */
    SLACK_S = 60      /* between the explanation of a boot and the last heartbeat before it */
};

static char name[] = BOOT_CHECK;
static const struct check record = {.name = name, .severity = RESULT_WARN};

const struct check *boot_record(void)
{
    return &record;
}

bool boot_is(const struct watch *w, const char *check)
{
    return strcmp(check, BOOT_CHECK) == 0 && check_place(w, check) == SIZE_MAX;
}

void boot_drop(struct health_state *v)
{
    free(STEAL(v->booted));
}

/* A finding about a boot that is at least this bad: a fault by itself, or the cause noted for another fault.
 */
static const struct incident_finding *boot_in(const struct incident *i, enum result least)
{
    for (size_t k = 0; k < i->n; k++)
        if (strcmp(i->findings[k].check, BOOT_CHECK) == 0 && i->findings[k].f.result >= least)
            return &i->findings[k];
    return NULL;
}

/* The incident records this boot as a fault. */
static bool is_fault_of(const struct incident *i, const char *boot)
{
    return boot_in(i, RESULT_WARN) && strcmp(i->boot, boot) == 0;
}

/* --- whether it was asked for ----------------------------------------------------------------- */

/* The operation acts on the node and may end in a boot. */
static bool run_may_boot(const char *run)
{
    enum action_effect effect = action_of(run).effect;
    return effect != ACTION_ASKS && effect != ACTION_ENDS;
}

/* The boot on which the attempt was made; "": nothing was done. Old records do not have it: then the attempt
 * counts as made on the boot of admission. */
static const char *attempt_boot(const struct member *m, const struct attempt_record *a)
{
    return !a->ended.ns ? "" : *a->boot || a->verdict == '0' ? a->boot : m->boot;
}

/* This repair has acted on the node, which was on no other boot since. */
static bool was_operated_on(const struct watch *w, const struct member *m)
{
    const struct repair *r = member_treated(m);
    struct operation o;
    if (!r)
        return false;
    watch_operation(w, m, &o);
    bool is = operation_was_begun(o.state) && run_may_boot(o.run);
    operation_fini(&o);
    for (size_t i = r->n_attempts; !is && *r->boot && i-- > 0 && r->attempts[i].at.ns >= r->began.ns;)
        is = strcmp(attempt_boot(m, &r->attempts[i]), r->boot) == 0;
    return is;
}

static bool is_explained(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    return is_somebodys(w, m) || member_maintenance(m) || o->slurmd == SLURMD_OFF || was_operated_on(w, m) ||
           cluster_reboot_wanted(m, boot_of(w, m));
}

/* The records have this boot already. */
static bool is_accounted(const struct member *m, const char *boot)
{
    const struct ailment *a = member_ailment(m);
    const struct repair *r = member_repair(m);
    bool is = strcmp(m->boot, boot) == 0 || (r && strcmp(r->boot, boot) == 0);
    for (size_t i = 0; a && !is && i < a->n_open; i++)
        is = is_fault_of(&a->open[i], boot);
    for (size_t i = 0; a && !is && i < a->n_past; i++)
        is = is_fault_of(&a->past[i], boot);
    return is;
}

void boot_opened(struct watch *w, struct mono now, const struct member *m, const char *boot)
{
    struct observed *o = watch_of(w, m);
    bool heard = *o->boot;
    o->came.opened = now;
    o->came.left = heard ? o->beat.heard : (struct mono){0};
    o->came.left_wall = watch_contact(w, m);
    o->came.awaits = m->listed && m->admitted && *boot_of(w, m) && !is_accounted(m, boot);
    if (is_explained(w, m))
        o->came.excused = now;
}

/* A snapshot of a virtual machine was restored: the machine continues from a time before its last heartbeat.
 */
static bool is_older(const struct observed *o)
{
    int64_t began_ns = o->uptime_at.ns - span_s((int64_t)o->uptime_s).ns;
    return o->came.left.ns && o->uptime_at.ns && began_ns + span_s(SLACK_S).ns < o->came.left.ns;
}

static bool is_excused(const struct observed *o)
{
    return o->came.excused.ns && o->came.excused.ns + span_s(SLACK_S).ns >= o->came.left.ns;
}

/* When the node went: its last heartbeat on the boot before, or the latest one. */
static struct wall left_of(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    return o->beat.liveness == LIVENESS_LIVE ? o->came.left_wall : watch_contact(w, m);
}

static bool is_near(const struct member *a, const struct member *b)
{
    return a->class == b->class || (a->spec.group && a->spec.group == b->spec.group);
}

/* As many nodes as make a shared cause, including m, went at about the same time. */
static bool went_with_many(const struct watch *w, const struct member *m)
{
    unsigned n = 0, many = w->policy.health.shared;
    int64_t left_ns = left_of(w, m).ns;
    for (uint32_t id = 0; many && left_ns && n < many && id < cluster_count(w->cluster); id++) {
        const struct member *other = cluster_by_id(w->cluster, id);
        int64_t other_ns = left_of(w, other).ns, apart_ns = other_ns - left_ns;
        n += other_ns && other->listed && other->admitted && is_near(m, other) &&
             (apart_ns < 0 ? -apart_ns : apart_ns) <= w->policy.health.shared_window.ns;
    }
    return many && n >= many;
}

/* --- the finding ------------------------------------------------------------------------------ */

static const struct last_boot *last_boot_of(const struct watch *w, const struct member *m)
{
    static const struct last_boot unknown;
    const struct observed *o = watch_observed(w, m);
    return o->inventoried ? &o->report.last_boot : &unknown;
}

static void boot_describe(const struct last_boot *b, struct text *t)
{
    text_printf(t, "%s%s%s", ended_what(b->ended), *b->text ? ": " : "", b->text);
}

static void boot_declare(struct watch *w, const struct member *m)
{
    const struct last_boot *b = last_boot_of(w, m);
    struct health_state *v = health_state_of(w, m);
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "it booted, and nobody asked for that; ");
    boot_describe(b, &t);
    boot_drop(v);
    struct finding *f = v->booted = mem_alloc(sizeof *f);
    *f = (struct finding){.result = RESULT_WARN};
    snprintf(f->device, sizeof f->device, "%s", BOOT_DEVICE);
    snprintf(f->code, sizeof f->code, "%s", ended_code(b->ended));
    text_line(f->text, sizeof f->text, t.s);
    w->sink.notice(w->sink.arg, BOOT_CHECK, m->name, t.s);
    health_changed(w, m);
}

static void boot_judge(struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    CLEANUP_TEXT struct text t = {0};
    bool is_another = machine_seen(w, m) && machine_check(w, m, NULL) < 0;
    if (is_another || is_older(o) || is_excused(o))
        return;
    if (!went_with_many(w, m)) {
        boot_declare(w, m);
        return;
    }
    text_add(&t, "it booted with many others, and nobody asked for that; ");
    boot_describe(last_boot_of(w, m), &t);
    w->sink.notice(w->sink.arg, BOOT_CHECK, m->name, t.s);
}

/* The finding is in the records by now. */
static bool is_recorded(const struct watch *w, const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++)
        if (is_fault_of(&a->open[i], watch_observed(w, m)->boot))
            return true;
    return false;
}

void boot_look(struct watch *w, struct mono now, const struct member *m)
{
    struct observed *o = watch_of(w, m);
    struct health_state *v = health_state_find(w, m);
    if (is_explained(w, m))
        o->came.excused = now;
    if (v && v->booted && is_recorded(w, m))
        boot_drop(v);
    if (!o->came.awaits || !watch_live(w, m) || (!o->inventoried && within(now, o->came.opened, INVENTORY_S)))
        return;
    o->came.awaits = false;
    boot_judge(w, m);
    o->came.excused = (struct mono){0}; /* it explains only this boot */
}

const struct finding *boot_finding(const struct watch *w, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    const struct ailment *a = member_ailment(m);
    if (!watch_live(w, m))
        return NULL;
    if (v && v->booted)
        return v->booted;
    for (size_t i = 0; a && i < a->n_open; i++) {
        const struct incident_finding *f = boot_in(&a->open[i], RESULT_WARN);
        if (is_fault_of(&a->open[i], watch_observed(w, m)->boot) && !boot_gone(w, m, &f->f))
            return &f->f;
    }
    return NULL;
}

enum blame boot_blame(const struct finding *f)
{
    enum ended d = ENDED_UNKNOWN;
    ended_of_code(f->code, &d);
    return ended_is_own(d) ? BLAME_NODE : BLAME_OUTSIDE;
}

/* --- what ends it ----------------------------------------------------------------------------- */

static const struct incident *incident_with(const struct member *m, const struct finding *f,
                                            const struct incident_finding **out)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++)
        if ((*out = incident_finding(&a->open[i], BOOT_CHECK, f)))
            return &a->open[i];
    return NULL;
}

/* Since the finding, this repair has carried out a remedy that may help; or it has done nothing, and a person
 * returned the node. */
static bool is_treated(const struct watch *w, const struct member *m, const struct incident_finding *f)
{
    const struct remedies *all = w->policy.health.remedies;
    const struct repair *r = member_repair(m);
    bool person = r->step == STEP_PROVISION && f->at.ns < r->since.ns;
    for (size_t i = r->n_attempts; i-- > 0 && r->attempts[i].at.ns >= f->at.ns;) {
        const struct remedy *remedy = all ? remedies_find(all, r->attempts[i].remedy) : NULL;
        person = person && !r->attempts[i].done;
        if (r->attempts[i].done && remedy && remedy_helps(remedy, f->f.code, class_of(w, m)->name))
            return true;
    }
    return person;
}

/* A finding that keeps the node in a repair ends by a remedy or a person's word. Any other ends by time. */
bool boot_gone(const struct watch *w, const struct member *m, const struct finding *f)
{
    const struct incident_finding *x = NULL;
    const struct incident *i = incident_with(m, f, &x);
    enum ended d = ENDED_UNKNOWN;
    if (f->result < RESULT_WARN)
        return true;
    if (!i || !watch_live(w, m))
        return false;
    if (incident_counts(i) && member_repair(m))
        return is_treated(w, m, x);
    ended_of_code(f->code, &d);
    return w->wall.ns - x->at.ns >= span_s(INT64_C(3600) * ended_stands_h(d)).ns;
}

/* --- what follows ----------------------------------------------------------------------------- */

bool boot_awaits(const struct watch *w, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    return watch_observed(w, m)->came.awaits || (v && v->booted);
}

bool boot_stands(const struct watch *w, const struct member *m)
{
    const struct incident_finding *x = NULL;
    const struct finding *f = boot_finding(w, m);
    const struct incident *i = f ? incident_with(m, f, &x) : NULL;
    return i && i->severity >= RESULT_FATAL;
}

/* --- why a lost node was lost ----------------------------------------------------------------- */

static const struct incident *lost_incident(const struct watch *w, const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++)
        for (size_t k = 0; k < a->open[i].n; k++)
            if (lost_is(w, a->open[i].findings[k].check))
                return &a->open[i];
    return NULL;
}

const struct incident *boot_unexplained(const struct watch *w, struct mono now, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    const struct incident *i = watch_live(w, m) ? lost_incident(w, m) : NULL;
    if (!i || boot_in(i, RESULT_INFO) || !*i->boot || strcmp(i->boot, o->boot) == 0)
        return NULL;
    bool comes = !o->inventoried && within(now, o->came.opened, INVENTORY_S);
    return comes || last_boot_of(w, m)->known ? i : NULL;
}

bool boot_cause(const struct watch *w, const struct member *m, struct finding *out)
{
    const struct last_boot *b = last_boot_of(w, m);
    CLEANUP_TEXT struct text t = {0};
    if (!b->known)
        return false;
    boot_describe(b, &t);
    *out = (struct finding){.result = RESULT_INFO};
    snprintf(out->code, sizeof out->code, "%s", ended_code(b->ended));
    text_line(out->text, sizeof out->text, t.s);
    return true;
}
