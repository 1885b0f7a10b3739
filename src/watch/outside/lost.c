/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that stay silent. A node that is silent for LostAfter is examined from outside: its BMC is asked, and
 * its answer is compared with what Slurm says and with the node's neighbours. When the BMC answered, or did
 * not answer several times, the node is lost. That is a finding of its own, node.lost, which is handled like
 * every other finding.
 *
 * A silent agent proves little. Nothing is done to the node while something else may explain the silence
 * (many nodes are silent, its neighbours are, its slurmd answers), or while its BMC does not answer. When
 * that lasts for another LostAfter, the node needs a person.
 */
#include "node/action.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/outside/bmc_inside.h"
#include "watch/outside/outside.h"
#include "watch/outside/shell.h"
#include "watch/presence/presence.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASK_AGAIN_S = 5,
    ASK_TRIES = 3,      /* after so many times without an answer the node is lost all the same */
    LAST_BYTES_MAX = 60 /* of the last finding of the node */
};

/* What is known about a silent node from outside. */
struct absence {
    bool declared;
    struct finding f;  /* valid when declared */
    unsigned tries;    /* how often in a row the BMC did not answer */
    bool answered, on; /* the last answer of the BMC */
    struct mono at;    /* when it answered; ns 0: it was not asked yet */
    char *text, *watchdog;
};

static char name[] = LOST_CHECK;
static const struct check record = {.name = name, .severity = RESULT_LOST};

const struct check *lost_record(void)
{
    return &record;
}

bool lost_is(const struct watch *w, const char *check)
{
    return strcmp(check, LOST_CHECK) == 0 && check_place(w, check) == SIZE_MAX;
}

static struct absence *absence_of(const struct watch *w, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    return v ? v->absence : NULL;
}

const struct finding *lost_finding(const struct watch *w, const struct member *m)
{
    const struct absence *a = absence_of(w, m);
    return a && a->declared && !watch_live(w, m) ? &a->f : NULL;
}

void lost_drop(struct watch *w, struct health_state *v)
{
    struct absence *a = STEAL(v->absence);
    if (!a)
        return;
    free(a->text);
    free(a->watchdog);
    free(a);
}

/* --- what explains the silence ---------------------------------------------------------------- */

static struct span silence_of(const struct watch *w, struct mono now, const struct member *m)
{
    struct mono heard = watch_observed(w, m)->beat.heard;
    struct mono calm = silence_calm(w);
    return mono_sub(now, heard.ns > calm.ns ? heard : calm);
}

/* The node should be back by now, after the remedy's Takes. A node that hangs as it goes down does not report
 * that, but its BMC can still be asked. After an action of the BMC the wait goes on, because repeating that
 * action is no alternative. */
static bool is_back_late(const struct watch *w, struct mono now, const struct member *m,
                         const struct operation *o)
{
    const struct remedies *all = w->policy.health.remedies;
    const struct remedy *remedy = all ? remedies_find(all, o->of) : NULL;
    return action_of(o->run).kind == ACTION_REBOOT && remedy && silence_of(w, now, m).ns >= remedy->takes.ns;
}

/* An operation that boots the node is under way, so its silence is expected. */
static bool is_expected(struct watch *w, struct mono now, const struct member *m)
{
    struct operation o;
    watch_operation(w, m, &o);
    bool begun = o.state == OPERATION_BEGUN || o.state == OPERATION_DONE;
    bool is = begun && action_boots(action_of(o.run)) && !operation_overdue(w, now, m, &o) &&
              !is_back_late(w, now, m, &o);
    operation_fini(&o);
    return is;
}

/* The node is silent for longer than the setting, its silence is recorded, and nothing explains it. */
static bool is_absent(struct watch *w, struct mono now, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    int64_t limit_ns = w->policy.health.lost_after.ns;
    return limit_ns && m->listed && o->beat.liveness == LIVENESS_SILENT && !silence_is_mass(w) &&
           (m->admitted ? member_held_by(m, CLAIM_SILENT) : member_repair(m) != NULL) &&
           silence_of(w, now, m).ns >= limit_ns && o->slurmd != SLURMD_OFF && !is_somebodys(w, m) &&
           !is_expected(w, now, m);
}

struct neighbours {
    unsigned all, silent;
};

/* The nodes of its Group, and those behind its collector. A node that fell silent long before or after m does
 * not count. */
static struct neighbours neighbours_of(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    struct neighbours n = {0};
    for (uint32_t id = 0; id < cluster_count(w->cluster); id++) {
        const struct member *other = cluster_by_id(w->cluster, id);
        const struct observed *of = watch_observed(w, other);
        bool near = (m->spec.group && other->spec.group == m->spec.group) ||
                    (o->collector && (of->collector == o->collector || other == o->collector));
        if (!near || other == m || !other->listed || !other->admitted)
            continue;
        int64_t apart_ns = of->beat.heard.ns - o->beat.heard.ns;
        bool silent = of->beat.liveness != LIVENESS_LIVE;
        if (silent && (apart_ns < 0 ? -apart_ns : apart_ns) > w->policy.health.shared_window.ns)
            continue;
        n.all++;
        n.silent += silent;
    }
    return n;
}

static bool are_silent(struct neighbours n)
{
    return n.all >= 2 && n.silent * 2 >= n.all;
}

/* A node on another boot than that of its admission was given no work there, and its earlier work ended with
 * the boot. So an agent that has not reported its work yet is no reason to wait for work. */
enum work lost_work(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    if (o->scheduler)
        return o->scheduled;
    if (class_of(w, m)->lost_work != LOST_WORK_WAIT)
        return WORK_IDLE;
    return o->work == WORK_UNKNOWN && member_came_up(m, boot_of(w, m)) ? WORK_IDLE : o->work;
}

bool lost_work_unsaid(const struct watch *w, struct mono now, const struct member *m)
{
    return lost_finding(w, m) && lost_work(w, m) == WORK_UNKNOWN && !watch_observed(w, m)->scheduler &&
           lost_lasts(w, now, m);
}

/* --- the BMC ---------------------------------------------------------------------------------- */

static bool is_fresh(const struct watch *w, struct mono now, const struct absence *a)
{
    return a->at.ns && a->at.ns >= w->resumed.ns && mono_sub(now, a->at).ns <= w->policy.health.fresh.ns;
}

/* Something may follow from an answer of the BMC. */
static bool needs_bmc(const struct watch *w, const struct member *m, const struct absence *a)
{
    const struct repair *r = member_repair(m);
    return !a->declared || (r ? r->approval != APPROVAL_WANTED : acts_for(w, m));
}

/* Asks the BMC again before its answer is out of date. */
static void want_bmc(struct watch *w, struct mono now, const struct member *m, struct absence *a)
{
    int64_t rest_s = a->answered ? w->policy.health.fresh.ns / span_s(4).ns : ASK_AGAIN_S;
    bool rests = a->at.ns >= w->resumed.ns && a->at.ns && within(now, a->at, rest_s);
    if (!rests && !bmc_is_asked(w, now, m) && needs_bmc(w, m, a))
        bmc_want(w, m);
}

static void lost_answered(struct watch *w, struct mono now, const struct member *m, const struct bmc_said *is)
{
    struct absence *a = absence_of(w, m);
    if (!a)
        return;
    a->tries = is->answered ? 0 : a->tries + 1;
    a->answered = is->answered;
    a->on = is->on;
    a->at = watch_observed_at(w, now);
    free(a->text);
    free(a->watchdog);
    a->text = mem_dup(is->text);
    a->watchdog = mem_dup(is->watchdog);
    watch_touch(w, m, ASPECT_OUTSIDE);
    health_changed(w, m);
}

void watch_bmc(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is)
{
    if (bmc_answered(w, watch_observed_at(w, now), m, is))
        lost_answered(w, now, m, is);
}

/* --- the finding ------------------------------------------------------------------------------ */

static void say_bmc(const struct absence *a, struct text *t)
{
    if (!a->answered)
        text_printf(t, "; its BMC does not answer: %.80s", a->text);
    else
        text_printf(t, "; its BMC says that the power is %s", a->on ? "on" : "off");
    if (a->answered && a->watchdog)
        text_printf(t, "; its watchdog: %.120s", a->watchdog);
}

static void say_slurm(const struct observed *o, struct text *t)
{
    if (o->slurmd == SLURMD_ANSWERS)
        text_add(t, "; its slurmd answers");
    else if (o->slurmd == SLURMD_SILENT)
        text_add(t, "; its slurmd does not answer");
    if (o->scheduler && o->scheduled == WORK_BUSY)
        text_add(t, "; Slurm says that work runs there");
}

/* Adds the worst finding of the node's last results. */
static void say_last(const struct watch *w, const struct health_state *v, struct text *t)
{
    const struct saying *last = NULL;
    const struct finding *f = NULL;
    for (size_t i = 0; i < v->n_sayings; i++) {
        for (size_t k = 0; k < v->sayings[i].n; k++) {
            if (v->sayings[i].findings[k].result >= RESULT_WARN &&
                (!f || v->sayings[i].findings[k].result > f->result)) {
                last = &v->sayings[i];
                f = &v->sayings[i].findings[k];
            }
        }
    }
    if (f)
        text_printf(t, "; it said last: %s: %.*s", fault_of(check_at(w, last->check)->name, f),
                    LAST_BYTES_MAX, f->text);
}

static void lost_describe(const struct watch *w, struct mono now, const struct member *m,
                          const struct absence *a, struct text *t)
{
    const struct neighbours n = neighbours_of(w, m);
    char span[32];
    text_printf(t, "not heard for %s", span_human(silence_of(w, now, m), span));
    say_bmc(a, t);
    say_slurm(watch_observed(w, m), t);
    if (n.all)
        text_printf(t, "; %u of %u neighbours are silent", n.silent, n.all);
    say_last(w, health_state_find(w, m), t);
    if (a->answered && *a->text)
        text_printf(t, "; the BMC's log ends with: %s", a->text);
}

static void lost_declare(struct watch *w, struct mono now, const struct member *m, struct absence *a)
{
    CLEANUP_TEXT struct text t = {0};
    lost_describe(w, now, m, a, &t);
    a->declared = true;
    a->f = (struct finding){.result = RESULT_LOST};
    snprintf(a->f.code, sizeof a->f.code, "%s", LOST_CHECK);
    CLEANUP_FREE char *line = mem_line(t.s, FINDING_TEXT_BYTES_MAX);
    snprintf(a->f.text, sizeof a->f.text, "%s", line);
    watch_touch(w, m, ASPECT_OUTSIDE);
    w->sink.notice(w->sink.arg, LOST_CHECK, m->name, t.s);
}

/* A node that is heard is not lost, and its absence is forgotten: when it is late again, all begins anew. */
void lost_look(struct watch *w, struct mono now, const struct member *m)
{
    if (watch_live(w, m) && absence_of(w, m)) {
        lost_drop(w, health_state_find(w, m));
        watch_touch(w, m, ASPECT_OUTSIDE);
    }
    if (!is_absent(w, now, m))
        return;
    struct health_state *v = health_state_of(w, m);
    if (!v->absence)
        v->absence = mem_alloc(sizeof *v->absence);
    want_bmc(w, now, m, v->absence);
    if (!v->absence->declared && (v->absence->answered || v->absence->tries >= ASK_TRIES))
        lost_declare(w, now, m, v->absence);
}

/* --- as a follower is told ------------------------------------------------------------------------ */

void lost_write(const struct watch *w, struct mono now, const struct member *m, struct text *t)
{
    const struct absence *a = absence_of(w, m);
    if (!a) {
        text_add(t, "null");
        return;
    }
    text_printf(t, "{\"answered\":%s,\"on\":%s,\"tries\":%u", a->answered ? "true" : "false",
                a->on ? "true" : "false", a->tries);
    if (a->at.ns)
        text_printf(t, ",\"at_ms\":%" PRId64, span_to_ms(mono_sub(watch_awake(w, now), a->at)));
    const char *const texts[] = {"bmc",       a->text, "watchdog",
                                 a->watchdog, "lost",  a->declared ? a->f.text : NULL};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i += 2) {
        if (!texts[i + 1])
            continue;
        text_printf(t, ",\"%s\":", texts[i]);
        text_add_json(t, texts[i + 1]);
    }
    text_add_char(t, '}');
}

/* A text of an object, which may be absent: NULL then. */
static char *text_of(const json_t *is, const char *key)
{
    return mem_dup(json_string_value(json_object_get(is, key)));
}

int lost_read(struct watch *w, struct mono now, const struct member *m, const json_t *is, struct err *e)
{
    struct health_state *v = health_state_of(w, m);
    uint64_t tries = 0, at_ms = 0;
    lost_drop(w, v);
    if (!json_is_object(is))
        return 0;
    if (json_take_u64(is, "tries", UINT32_MAX, &tries, e) < 0 ||
        json_take_u64(is, "at_ms", INT64_MAX / 1000000, &at_ms, e) == -EINVAL)
        return -EINVAL;
    struct absence *a = v->absence = mem_alloc(sizeof *v->absence);
    a->answered = json_is_true(json_object_get(is, "answered"));
    a->on = json_is_true(json_object_get(is, "on"));
    a->tries = (unsigned)tries;
    a->text = text_of(is, "bmc");
    a->watchdog = text_of(is, "watchdog");
    if (json_object_get(is, "at_ms"))
        a->at = (struct mono){watch_observed_at(w, now).ns - span_ms((int64_t)at_ms).ns};
    if ((a->answered || a->at.ns) && !a->text)
        a->text = mem_dup("");
    const char *lost = json_text(is, "lost");
    if (*lost) {
        a->declared = true;
        a->f = (struct finding){.result = RESULT_LOST};
        snprintf(a->f.code, sizeof a->f.code, "%s", LOST_CHECK);
        snprintf(a->f.text, sizeof a->f.text, "%s", lost);
    }
    return 0;
}

/* --- what follows ----------------------------------------------------------------------------- */

/* This repair has acted on the node, so Fettle itself may have switched its power off. */
static bool was_tried(const struct member *m)
{
    const struct repair *r = member_repair(m);
    for (size_t i = r ? r->n_attempts : 0; i-- > 0 && r->attempts[i].at.ns >= r->began.ns;)
        if (r->attempts[i].verdict != '0')
            return true;
    return false;
}

int lost_check(const struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    const struct absence *a = absence_of(w, m);
    if (!a || !a->declared)
        return err_set(e, -EAGAIN, "it is not heard");
    if (silence_is_mass(w))
        return err_set(e, -EAGAIN, "it is not heard, and neither are many others");
    if (watch_observed(w, m)->slurmd == SLURMD_ANSWERS)
        return err_set(e, -EAGAIN, "its agent is not heard, but its slurmd answers");
    const struct neighbours n = neighbours_of(w, m); /* this walks over all nodes */
    if (are_silent(n))
        return err_set(e, -EAGAIN, "it is not heard, and neither are %u of its %u neighbours", n.silent,
                       n.all);
    if (!a->answered)
        return err_set(e, -EAGAIN, "it is not heard, and its BMC does not answer: %.200s", a->text);
    if (!a->on && !was_tried(m))
        return err_set(e, -EAGAIN, "it is not heard, and its power is off: somebody may be working on it");
    if (!is_fresh(w, now, a))
        return err_set(e, -EAGAIN, "it is not heard, and its BMC did not answer a moment ago");
    return 0;
}

bool lost_stands(const struct watch *w, const struct member *m)
{
    return lost_finding(w, m) && !silence_is_mass(w);
}

bool lost_lasts(const struct watch *w, struct mono now, const struct member *m)
{
    return silence_of(w, now, m).ns >= 2 * w->policy.health.lost_after.ns;
}

/* The node could not be tested, and would be lost again as soon as it left the work queue. */
int watch_may_resolve(const struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    const struct repair *r = member_repair(m);
    char span[32];
    if (!r || r->step != STEP_QUEUE || watch_live(w, m))
        return 0;
    return err_set(e, -EBUSY, "node \"%s\" does not answer, and was not heard for %s; %s", m->name,
                   span_human(silence_of(w, watch_awake(w, now), m), span),
                   lost_finding(w, m) && !r->taken_by
                       ? "when it answers again it is tested and returns by itself"
                       : "resolve it when it answers again");
}

unsigned lost_runners(const struct watch *w, unsigned group)
{
    unsigned n = 0;
    for (uint32_t id = 0; id < cluster_count(w->cluster); id++) {
        const struct member *m = cluster_by_id(w->cluster, id);
        n += m->listed && m->admitted && (!group || m->spec.group == group);
    }
    return n;
}

enum work repair_work(const struct watch *w, const struct member *m)
{
    return lost_finding(w, m) ? lost_work(w, m) : watch_work(w, m);
}
