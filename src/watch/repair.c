/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next step of a repair: a function for each step, which looks at the records and at what is known now,
 * and proposes at most one command. A step is left by a REPAIR that names it, so that one that comes late
 * changes nothing; a watch that begins anew finds the step in the record and goes on.
 *
 * How long a step lasts is measured by the watch's own time from when it saw the step first, up to the time
 * that the record leaves: a clock that is set ends no step.
 */
#include "watch/answer_inside.h"
#include "watch/boot_inside.h"
#include "watch/brake_inside.h"
#include "watch/choose_inside.h"
#include "watch/conformity_inside.h"
#include "watch/forget_inside.h"
#include "watch/health_inside.h"
#include "watch/held_inside.h"
#include "watch/incident_inside.h"
#include "watch/inside.h"
#include "watch/lost_inside.h"
#include "watch/machine_inside.h"
#include "watch/measure_inside.h"
#include "watch/operation_inside.h"
#include "watch/override_inside.h"
#include "watch/recur_inside.h"
#include "watch/repair_inside.h"
#include "watch/shared_inside.h"
#include "watch/trial_begin_inside.h"
#include "watch/trial_inside.h"
#include "watch/window_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK_MARGIN_S = 30,
    REFUSALS_MAX = 3, /* in a row, then a person */
    REFUSED_REST_S = 2,
    END_WORK_S = 120,
    TAKEN_BACK_S = 10,
    LOOKED_MS = 200 /* so exactly it is known when a check was looked at */
};

/* What a REPAIR says beside what follows from the node. */
struct move {
    enum step to;
    const char *why, *problem;
    const struct remedy *remedy;
    struct span deadline;
    const char *examined; /* NULL: as it was */
    unsigned inconclusive;
    enum refusal refusal;
    const char *attempt; /* what came of the attempt under way; NULL: nothing is said of it */
    bool done;
    char verdict;
    bool restarted; /* it booted since a restart of it was asked for, if one was */
    bool renewed;   /* what comes back is another machine: nothing that is known is of it */
};

struct turn {
    struct watch *w;
    struct mono now;
    const struct member *m;
    const struct repair *r;
    struct vitals *v;
    bool late; /* the step's deadline is over */
};

/* --- moves ------------------------------------------------------------------------------------ */

static const struct attempt_record *attempt_under_way(const struct repair *r)
{
    const struct attempt_record *a = r->n_attempts ? &r->attempts[r->n_attempts - 1] : NULL;
    return a && a->ended.ns == 0 ? a : NULL;
}

static json_t *attempt_json(const struct turn *t, const struct move *v)
{
    const struct attempt_record *a = attempt_under_way(t->r);
    char verdict[2] = {v->verdict, '\0'};
    if (!v->attempt || !a)
        return json_null();
    json_t *o = json_pack("{s:s,s:s,s:b,s:s,s:s}", "remedy", a->remedy, "fault", a->fault, "done",
                          (int)v->done, "text", v->attempt, "verdict", verdict);
    if (v->refusal)
        json_object_set_new(o, "code", json_string(refusal_name(v->refusal)));
    return o;
}

static void go(const struct turn *t, const struct move *v)
{
    const struct observed *o = watch_of(t->w, t->m);
    const char *boot = boot_of(t->w, t->m);
    char instance[20];
    snprintf(instance, sizeof instance, "%016" PRIx64,
             o->beat.instance ? o->beat.instance
             : t->r           ? t->r->instance
                              : 0);
    CLEANUP_JSON json_t *set =
        json_pack("{s:s?,s:s,s:s,s:s,s:s?,s:s?,s:s,s:I}", "id", t->r ? t->r->id : NULL, "from",
                  step_name(t->r ? t->r->step : STEP_NONE), "to", step_name(v->to), "why", v->why, "problem",
                  v->problem, "boot", *boot ? boot : NULL, "instance", instance, "deadline_s",
                  (json_int_t)(v->deadline.ns / span_s(1).ns));
    if (v->remedy) {
        json_object_set_new(set, "remedy", json_string(v->remedy->name));
        json_object_set_new(set, "approval", json_boolean(v->remedy->approval));
    }
    if (v->examined) {
        json_object_set_new(set, "examined", json_string(v->examined));
        json_object_set_new(set, "inconclusive", json_integer(v->inconclusive));
    }
    if (t->r)
        json_object_set_new(set, "attempt", attempt_json(t, v));
    if (v->restarted && member_restarts(t->m))
        json_object_set_new(set, "restarted", json_true());
    if (v->renewed)
        json_object_set_new(set, "renewed", json_true());
    if (v->renewed && machine_here(t->w, t->m))
        json_object_set_new(set, "machine", json_string(machine_here(t->w, t->m)));
    health_propose(t->w, t->now, t->m, COMMAND_REPAIR, NULL, set);
}

struct span repair_provision_deadline(const struct watch *w, const struct member *m)
{
    return class_provision_deadline(class_of(w, m), w->policy.health.provision_deadline);
}

static struct span deadline_of(const struct turn *t, enum step to)
{
    const struct health_policy *p = &t->w->policy.health;
    return to == STEP_EXAMINE                        ? p->examine_deadline
           : to == STEP_PROVISION || to == STEP_TEND ? repair_provision_deadline(t->w, t->m)
           : to == STEP_ISOLATE                      ? p->drain_deadline
                                                     : (struct span){0};
}

static bool to_step(const struct turn *t, struct move v, enum step to, const char *why)
{
    v.to = to;
    v.why = why;
    v.deadline = deadline_of(t, to);
    go(t, &v);
    return true;
}

/* --- what there is to know -------------------------------------------------------------------- */

/* Something that is open was found by it. */
static bool found_something(const struct turn *t, const struct check *k)
{
    const struct ailment *a = member_ailment(t->m);
    for (size_t i = 0; a && i < a->n_open; i++)
        for (size_t n = 0; n < a->open[i].n; n++)
            if (strcmp(a->open[i].findings[n].check, k->name) == 0)
                return true;
    return false;
}

/* What is scheduled runs on idle nodes; where it found what is wrong, it has to say that it is over. */
static const struct check *extensive_at(const struct turn *t, size_t i)
{
    const struct check *k = check_at(t->w, i);
    bool again = (k->when & CHECK_SCHEDULED) && found_something(t, k);
    return ((k->when & CHECK_EXTENSIVE) || again) && (t->v->said[i] & SAID_ASSIGNED) ? k : NULL;
}

static bool has_extensive(const struct turn *t)
{
    for (size_t i = 0; i < check_count(t->w); i++)
        if (extensive_at(t, i))
            return true;
    return false;
}

/* --- the choice ------------------------------------------------------------------------------- */

static bool to_remedy(const struct turn *t, struct move v, const struct remedy *remedy, const char *why)
{
    CLEANUP_TEXT struct text dry = {0};
    bool replaces = strcmp(remedy->run, "replace") == 0;
    if (remedy->dry) {
        text_printf(&dry, "%s would be done (dry run): %s", remedy->name, why);
        return to_step(t, v, STEP_QUEUE, dry.s);
    }
    v.remedy = remedy;
    v.to = replaces ? STEP_REPLACE : STEP_REMEDY;
    v.why = why;
    v.deadline = t->w->policy.health.examine_deadline; /* to begin it, once it may be */
    go(t, &v);
    return true;
}

/* What is to be done, over all that is open. */
static bool by_choice(const struct turn *t, struct move v)
{
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    CLEANUP_TEXT struct text why = {0};
    bool undone = v.verdict == '0' && attempt_under_way(t->r);
    unsigned week = remedies_of_week(t->w, t->m);
    week -= undone && week > 0;
    if (t->r->step == STEP_REPLACE)
        return to_step(t, v, STEP_QUEUE, v.attempt ? v.attempt : "it could not be replaced");
    if (week >= t->w->policy.health.remedies_a_week) {
        text_printf(&why, "it had %u remedies within a week", week);
        return to_step(t, v, STEP_QUEUE, why.s);
    }
    repair_choose(t->w, t->now, t->m, undone, v.refusal, c);
    if (is_hardware(t->m))
        v.problem = "hardware_problem";
    if (c->waits && !t->late && lost_work_unsaid(t->w, t->now, t->m))
        return to_step(t, v, STEP_QUEUE,
                       "it is not heard, and what runs on it is not known: its agent had not said so, and no "
                       "scheduler can");
    if (c->waits && !t->late)
        return false; /* what runs ends, and is no reason to call a person */
    if (!c->chosen)
        return to_step(t, v, STEP_QUEUE, *c->why ? c->why : "no remedy is left");
    return to_remedy(t, v, c->chosen, *c->why ? c->why : "chosen");
}

/* Nothing is open: what is left of the way back. */
static bool on_the_way(const struct turn *t, struct move v, const char *why)
{
    bool anew = v.renewed && !machine_may_be_known(t->w, t->m);
    return to_step(
        t, v, has_extensive(t) && t->r->step != STEP_EXAMINE && !anew ? STEP_EXAMINE : STEP_PROVISION, why);
}

static void say_maintenance(const struct turn *t, struct text *why)
{
    text_printf(why, "maintenance%s: %s", member_restarts(t->m) ? " by a restart" : "",
                member_maintenance(t->m)->why);
}

static bool is_of_class(const struct turn *t, const struct remedy *one)
{
    bool fits = one->classes.n == 0;
    for (size_t k = 0; k < one->classes.n; k++)
        fits = fits || strcmp(one->classes.names[k], class_of(t->w, t->m)->name) == 0;
    return fits;
}

static bool by_maintenance(const struct turn *t, struct move v)
{
    const struct remedies *all = t->w->policy.health.remedies;
    CLEANUP_TEXT struct text why = {0};
    say_maintenance(t, &why);
    for (size_t i = 0; all && i < all->n; i++) {
        const struct remedy *one = &all->list[i];
        if (is_of_class(t, one) && maintenance_wants(t->m, one) &&
            !(member_restarts(t->m) && repair_bars(t->w, t->m, v.refusal, one)))
            return to_remedy(t, v, one, why.s);
    }
    return to_step(t, v, STEP_QUEUE, why.s);
}

/* --- isolate ---------------------------------------------------------------------------------- */

static bool is_empty(const struct turn *t)
{
    bool counts = watch_live(t->w, t->m) || lost_finding(t->w, t->m);
    return counts && repair_work(t->w, t->m) == WORK_IDLE;
}

static bool gone_by_itself(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0};
    const struct incident *often = recur_often(t->m, t->r->began, t->w->wall);
    if (!often)
        return to_step(t, (struct move){0}, STEP_PROVISION, "what was wrong is gone");
    text_printf(&why, "%s%s%s comes and goes", fault_of(often->findings[0].check, &often->findings[0].f),
                *often->group ? " " : "", often->group);
    return to_step(t, (struct move){0}, STEP_QUEUE, why.s);
}

static bool wants_examination(const struct turn *t)
{
    return has_extensive(t) && (t->r->examined == EXAMINED_NOT || t->r->examined == EXAMINED_OWED);
}

/* Somebody holds it, and nothing is left for Fettle to do but to let its checks pass: it does not wait in its
 * repair for as long as they hold it. Where a claim of theirs rests on it here, or it is to be examined, it
 * does. */
static bool is_cured_in_place(const struct turn *t)
{
    return held_elsewhere(t->w, t->m) && !person_holds(t->m) && !window_of(t->w, t->m) &&
           !incidents_open(t->m) && !member_maintenance(t->m) && !wants_examination(t);
}

/* Something else may explain that it is silent, or nobody can say what would be done to: that is waited for,
 * and in the end it is a person's. False: it may be repaired. */
static bool silence_stays(const struct turn *t, bool *did)
{
    struct err e = {0};
    if (!lost_finding(t->w, t->m) || lost_check(t->w, t->now, t->m, &e) == 0)
        return *did = false;
    *did = lost_lasts(t->w, t->now, t->m) && to_step(t, (struct move){0}, STEP_QUEUE, e.msg);
    return true;
}

/* A person asks whoever it belongs to. */
static bool work_stays(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0}, work = {0};
    work_say(t->w, t->m, &work);
    text_printf(&why, "its work did not end in time: %.300s",
                watch_live(t->w, t->m) ? work.s : "the node is not heard");
    return to_step(t, (struct move){0}, STEP_QUEUE, why.s);
}

/* Asks the scheduler once to end the work on a node that is lost, where its class says so. Whatever comes of
 * that, the end of the work is waited for. */
static bool end_lost_work(const struct turn *t)
{
    CLEANUP_TEXT struct text run = {0};
    struct operation o;
    if (t->r->manual || member_maintenance(t->m) || brake_end_work(t->w, t->now, t->m, NULL) < 0)
        return false;
    operation_read(t->w, t->m, &o);
    bool asked = o.id;
    operation_fini(&o);
    if (asked)
        return false;
    text_printf(&run, "work:%s", lost_work_name(class_of(t->w, t->m)->lost_work));
    operation_propose(t->w, t->now, t->m, run.s, "lost.work", span_s(END_WORK_S));
    return true;
}

/* What disturbs nobody does not wait for work, but where extensive checks are assigned, which would have to
 * follow on an idle node. */
static bool is_gentle(const struct turn *t)
{
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    return !t->r->manual && !member_maintenance(t->m) && !has_extensive(t) &&
           repair_gentle(t->w, t->now, t->m, c);
}

/* A remedy that disturbs nobody, and one that needs nothing on a node that is lost, need not wait for work.
 */
static bool in_isolate(const struct turn *t)
{
    struct move v = {0};
    bool did, empty = is_empty(t), lost = member_severity(t->m) == RESULT_LOST;
    if (window_of(t->w, t->m) && !t->r->manual)
        return false;
    bool gentle = !empty && !lost && is_gentle(t);
    if (t->late && !empty && !gentle)
        return work_stays(t);
    if (!empty && lost && end_lost_work(t))
        return true;
    if (!empty && !gentle && (!lost || t->r->manual || member_maintenance(t->m)))
        return false;
    if (t->r->manual)
        return to_step(t, v, STEP_QUEUE, t->r->why);
    if (shared_holds(t->w, t->m) || brake_stopped(t->w, NULL) < 0)
        return false;
    if (held_check(t->w, t->m, NULL) < 0)
        return is_cured_in_place(t) && gone_by_itself(t);
    if (member_maintenance(t->m) && (watch_live(t->w, t->m) || !member_restarts(t->m)))
        return by_maintenance(t, v);
    if (silence_stays(t, &did))
        return did;
    if (empty && watch_live(t->w, t->m) && wants_examination(t))
        return to_step(t, v, STEP_EXAMINE, t->r->why);
    if (!incidents_open(t->m))
        return gone_by_itself(t);
    return by_choice(t, v);
}

/* --- examine ---------------------------------------------------------------------------------- */

static bool inconclusive(const struct turn *t, const char *why)
{
    struct move v = {.examined = "inconclusive", .inconclusive = t->r->inconclusive + 1};
    return to_step(t, v, v.inconclusive >= t->w->policy.health.inconclusive ? STEP_QUEUE : STEP_EXAMINE, why);
}

/* A check that was not begun says nothing of the node, and costs no try: it is asked for again after a while,
 * which doubles each time. */
static void note_refusal(const struct turn *t, const struct operation *o)
{
    struct vitals *v = t->v;
    if (strcmp(v->refused, o->id) == 0)
        return;
    snprintf(v->refused, sizeof v->refused, "%s", o->id);
    int64_t rest_s = (int64_t)REFUSED_REST_S << (v->refusals < 6 ? v->refusals : 6);
    v->refused_until = mono_add(t->now, span_s(rest_s));
    v->refusals++;
}

/* Takes in what the check under way came to. False while it is not known. */
static bool take_check(const struct turn *t)
{
    struct operation o;
    struct verdict *x = mem_alloc(sizeof *x);
    struct err e;
    operation_read(t->w, t->m, &o);
    size_t i = o.id && strncmp(o.run, "check:", 6) == 0 ? check_place(t->w, o.run + 6) : SIZE_MAX;
    bool over = o.state != OPERATION_WAITS && o.state != OPERATION_BEGUN;
    bool on_this_boot = o.id && strcmp(o.boot, watch_of(t->w, t->m)->boot) == 0;
    if (!over && o.id && operation_overdue(t->w, t->now, t->m, &o)) {
        bool begun = o.state == OPERATION_BEGUN;
        operation_end(t->w, t->now, t->m, &o, begun ? "unknown" : "refused",
                      begun ? "nobody said what came of it" : "nobody began it in time");
    }
    if (o.state == OPERATION_REFUSED)
        note_refusal(t, &o);
    else if (over && i != SIZE_MAX && on_this_boot && !(t->v->said[i] & SAID_ANSWERED)) {
        CLEANUP_JSON json_t *said = json_read(o.text, strlen(o.text), NULL);
        if (o.state != OPERATION_DONE || !said || verdict_read(said, x, &e) < 0)
            verdict_cannot(x, RESULT_UNKNOWN, "%s", *o.text ? o.text : "it was not carried out");
        measure_judge(t->w, t->now, t->m, check_at(t->w, i), x);
        said_note(t->w, t->now, t->m, i, x);
        t->v->said[i] |= SAID_ANSWERED;
    }
    free(x);
    operation_fini(&o);
    return over;
}

/* How it stands: what was asked and answered. */
struct examination {
    const struct check *next; /* that has not run, those that need partners last; NULL: all have */
    bool passes, fails, unknown;
    const struct check *what;     /* that fails, or is unknown */
    const struct check *not_here; /* there is no such device or tool: it did not run */
};

static struct examination examination_of(const struct turn *t)
{
    struct examination x = {0};
    for (size_t i = 0; i < check_count(t->w); i++) {
        const struct check *k = extensive_at(t, i);
        if (!k)
            continue;
        if (!(t->v->said[i] & SAID_ANSWERED)) {
            if (!x.next || (x.next->group > 1 && k->group == 1))
                x.next = k;
            continue;
        }
        enum result r = (enum result)((t->v->said[i] & SAID_RESULT) - 1);
        if (result_fails(r) && !k->observe) {
            x.fails = true;
            x.what = k;
        } else if (r == RESULT_UNKNOWN && !x.fails) {
            x.unknown = true;
            x.what = k;
        } else if (r == RESULT_UNSUPPORTED) {
            x.not_here = k;
        } else {
            x.passes = true;
        }
    }
    return x;
}

static void say_unanswered(const struct turn *t, const struct check *k, struct text *why)
{
    const struct saying *s = saying_find(t->v, check_place(t->w, k->name));
    bool says = s && s->text && *s->text;
    text_printf(why, "%s came to no answer%s%.200s", k->name, says ? ": " : "", says ? s->text : "");
}

/* Which check held it up, and what became of it. */
static void say_hold_up(const struct turn *t, const struct check *k, struct text *why)
{
    struct operation o;
    struct err e = {0};
    char ran[32];
    operation_read(t->w, t->m, &o);
    if (o.state == OPERATION_BEGUN)
        text_printf(
            why, ": %s ran for %s and was ended", o.of,
            span_human((struct span){t->w->wall.ns > o.began.ns ? t->w->wall.ns - o.began.ns : 0}, ran));
    else if (trial_waits(t->w, t->m, check_place(t->w, k->name)))
        text_printf(why, ": nobody was free to run %s with it", k->name);
    else if (o.state == OPERATION_REFUSED)
        text_printf(why, ": %s was not begun: %s", o.of, o.text);
    else if (brake_operate(t->w, t->now, t->m, NULL, &e) < 0)
        text_printf(why, ": %s was not begun: %s", k->name, e.msg);
    operation_fini(&o);
}

/* What is under way goes with the step: its agent is told to end it. */
static bool not_in_time(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0};
    const struct check *k = examination_of(t).next;
    text_add(&why, "it was not examined in time");
    if (k)
        say_hold_up(t, k, &why);
    return inconclusive(t, why.s);
}

static bool run_check(const struct turn *t, const struct check *k)
{
    CLEANUP_TEXT struct text run = {0};
    if (brake_operate(t->w, t->now, t->m, NULL, NULL) < 0 || t->now.ns < t->v->refused_until.ns)
        return false;
    if (k->group > 1) {
        trial_ask(t->w, t->now, t->m, check_place(t->w, k->name));
        return false;
    }
    text_printf(&run, "check:%s", k->name);
    operation_propose(t->w, t->now, t->m, run.s, k->name,
                      (struct span){k->deadline.ns + span_s(CHECK_MARGIN_S).ns});
    return true;
}

/* After a remedy: what fails was looked at since the step began, and what failed says something. What was
 * said before says nothing of it, and an agent that begins anew has not looked yet. */
static bool seen_since(const struct turn *t)
{
    const struct repair *r = t->r;
    bool tried = r->n_attempts && r->attempts[r->n_attempts - 1].ended.ns >= r->began.ns;
    for (size_t i = 0; tried && i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        enum result now = said_now(t->w, t->now, t->m, i);
        if (k->observe || !check_repeats(k) || !(t->v->said[i] & SAID_ASSIGNED))
            continue;
        if (now >= RESULT_DEGRADED ? said_looked(t->w, t->v, i).ns < t->v->stage_at.ns
                                   : now == RESULT_UNKNOWN && found_something(t, k))
            return false;
    }
    return true;
}

/* A person deleted the reservation that this examination had in Slurm. */
static bool is_refused(const struct turn *t)
{
    CLEANUP_JSON json_t *record = slurm_recorded(t->w, t->m);
    return json_is_true(json_object_get(record, "refused")) &&
           strcmp(json_text(record, "claim"), t->r->id) == 0;
}

/* A person's word: it is not made up, as one is that something else ended. */
static bool refuse_examination(const struct turn *t)
{
    struct move v = {.examined = "inconclusive", .inconclusive = t->r->inconclusive};
    return to_step(t, v, STEP_QUEUE, "somebody deleted its reservation in Slurm: it is not examined");
}

static bool in_examine(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0};
    struct move v = {0};
    if (window_of(t->w, t->m)) {
        text_printf(&why, "interrupted by maintenance: Slurm's %s", window_of(t->w, t->m));
        return to_step(t, v, STEP_ISOLATE, why.s);
    }
    if (member_maintenance(t->m))
        return by_maintenance(t, v); /* whatever a check that is under way comes to */
    if (is_refused(t))
        return refuse_examination(t);
    if (held_elsewhere(t->w, t->m)) {
        struct err e = {0};
        held_check(t->w, t->m, &e);
        text_printf(&why, "interrupted: %s", e.msg);
        return to_step(t, v, STEP_ISOLATE, why.s);
    }
    if (!take_check(t))
        return t->v->asked || (t->late && not_in_time(t));
    if (watch_live(t->w, t->m) && *t->r->boot && strcmp(t->r->boot, watch_of(t->w, t->m)->boot) != 0)
        return inconclusive(t, "it was booted meanwhile"); /* by what examines it, each time, perhaps */
    struct examination x = examination_of(t);
    if (!x.fails && x.next)
        return t->late ? not_in_time(t) : run_check(t, x.next);
    if (incident_look(t->w, t->now, t->m))
        return true; /* what was found is written down before it is chosen by */
    if (x.fails) {
        v.examined = "fail";
        v.problem = "hardware_problem";
        return by_choice(t, v);
    }
    if (x.unknown || (x.not_here && !x.passes)) { /* what did not run is no pass */
        say_unanswered(t, x.unknown ? x.what : x.not_here, &why);
        return inconclusive(t, why.s);
    }
    v.examined = "pass";
    if (incidents_open(t->m) && (!seen_since(t) || shared_holds(t->w, t->m)))
        return t->late && not_in_time(t);
    if (incidents_open(t->m))
        return by_choice(t, v);
    text_add(&why, "it passed, and nothing is open");
    if (x.not_here)
        text_printf(&why, "; %s did not run, as it is not for this node", x.not_here->name);
    return on_the_way(t, v, why.s);
}

/* --- remedy and replace ----------------------------------------------------------------------- */

static const struct remedy *remedy_of(const struct turn *t)
{
    const struct remedies *all = t->w->policy.health.remedies;
    return all ? remedies_find(all, t->r->remedy) : NULL;
}

/* What it is to be done for was found by extensive checks alone, and by this watch not at all: as the node
 * does not say it by itself, nobody would ever see it again. */
static bool found_by_another(const struct turn *t)
{
    const struct ailment *a = member_ailment(t->m);
    bool found = false;
    for (size_t i = 0; a && i < a->n_open; i++) {
        for (size_t k = 0; incident_counts(&a->open[i]) && k < a->open[i].n; k++) {
            const struct incident_finding *f = &a->open[i].findings[k];
            size_t at = check_place(t->w, f->check);
            if (finding_gone(t->w, t->now, t->m, f->check, &f->f))
                continue;
            if (at == SIZE_MAX || check_repeats(check_at(t->w, at)) || was_said(t->v, at))
                return false;
            found = true;
        }
    }
    return found && watch_live(t->w, t->m);
}

/* What was chosen is not what is to be done by now. Who is to be replaced has nothing else left. */
static bool choose_anew(const struct turn *t, const char *why)
{
    struct move v = {0};
    return t->r->step == STEP_REPLACE ? to_step(t, v, STEP_QUEUE, why) : by_choice(t, v);
}

/* Its time is over, which runs from the approval where one was asked for. */
static bool not_begun(const struct turn *t, const struct remedy *remedy, const char *because)
{
    CLEANUP_TEXT struct text why = {0};
    text_printf(&why, "%s%s could not be begun in time", remedy->name,
                t->r->approval == APPROVAL_GIVEN ? " was approved and" : "");
    if (because)
        text_printf(&why, ": %s", because);
    return to_step(t, (struct move){0}, STEP_QUEUE, why.s);
}

static bool begin_operation(const struct turn *t)
{
    const struct remedy *remedy = remedy_of(t);
    struct err e = {0};
    struct move v = {0};
    if (!remedy)
        return to_step(t, v, STEP_QUEUE, "its remedy is not configured any more");
    const char *boot = watch_of(t->w, t->m)->boot;
    if (watch_live(t->w, t->m) && *t->r->boot && strcmp(t->r->boot, boot) != 0) {
        v.restarted = true;
        return on_the_way(t, v, "it was booted before the remedy was begun");
    }
    if (remedy->approval && t->r->approval == APPROVAL_NONE)
        return choose_anew(t, "it needs a person's approval by now");
    if (lost_finding(t->w, t->m) && remedy_way(remedy->run) == WAY_AGENT)
        return choose_anew(t, "its agent is not heard");
    int rc = brake_operate(t->w, t->now, t->m, remedy, &e);
    if (t->late)
        return not_begun(t, remedy, rc < 0 ? e.msg : NULL);
    if (rc == 0)
        operation_propose(t->w, t->now, t->m, remedy->run, remedy->name, remedy->deadline);
    else if (maintenance_wants(t->m, remedy))
        return false;
    else if (!remedy_wanted(t->w, t->now, t->m, remedy))
        return incidents_open(t->m)
                   ? choose_anew(t, "what it was to be replaced for is gone, and something else is wrong")
                   : on_the_way(t, v, "what was wrong is gone");
    else if (found_by_another(t))
        return to_step(t, v, has_extensive(t) ? STEP_EXAMINE : STEP_QUEUE,
                       "what was found has to be found again");
    return rc == 0;
}

static bool carried_out(const struct turn *t, const struct operation *o)
{
    const struct remedy *remedy = remedy_of(t);
    struct move v = {.attempt = *o->text ? o->text : "carried out", .done = true, .verdict = '?'};
    v.restarted = run_boots(o->run);
    v.renewed =
        t->r->step == STEP_REPLACE && (o->state == OPERATION_DONE || machine_check(t->w, t->m, NULL) < 0);
    const struct remedies *all = t->w->policy.health.remedies;
    const struct remedy *after =
        remedy && remedy->after && *remedy->after ? remedies_find(all, remedy->after) : NULL;
    if (after && t->r->step == STEP_REMEDY)
        return to_remedy(t, v, after, "it has to follow");
    return on_the_way(t, v, "carried out");
}

/* How often in a row nothing was done, with this time: what is not done counts as no try, and would be chosen
 * for ever. */
static unsigned refusals(const struct repair *r)
{
    unsigned n = 1;
    for (size_t i = r->n_attempts - (attempt_under_way(r) != NULL); i-- > 0 && r->attempts[i].verdict == '0';)
        n++;
    return n;
}

static bool is_on_another_boot(const struct turn *t, const struct operation *o)
{
    const char *boot = watch_of(t->w, t->m)->boot;
    return watch_live(t->w, t->m) && *boot && strcmp(boot, o->boot) != 0;
}

static bool not_carried_out(const struct turn *t, const struct operation *o, const char *why)
{
    bool says = *o->text && o->state != OPERATION_DONE;
    struct move v = {.attempt = says ? o->text : why, .done = false};
    bool refused = o->state == OPERATION_REFUSED || o->state == OPERATION_WAITS;
    v.verdict = refused ? '0' : '?';
    v.refusal = o->refusal;
    v.restarted = is_on_another_boot(t, o);
    if (v.restarted && member_restarts(t->m))
        return on_the_way(t, v, "it was booted meanwhile");
    if (!incidents_open(t->m) && o->state == OPERATION_REFUSED && !member_restarts(t->m))
        return on_the_way(t, v, "what was wrong is gone");
    if (refused && refusals(t->r) >= REFUSALS_MAX) {
        CLEANUP_TEXT struct text said = {0};
        text_printf(&said, "nothing was done %d times in a row: %.256s", REFUSALS_MAX, v.attempt);
        return to_step(t, v, STEP_QUEUE, said.s);
    }
    return refused && member_restarts(t->m) ? by_maintenance(t, v) : by_choice(t, v);
}

/* What boots the node has been done when it is here on another boot: nobody else can say so. Another
 * machine's boot says nothing, but that it was replaced. */
static bool came_back(const struct turn *t, const struct operation *o)
{
    return is_on_another_boot(t, o) && (t->r->step == STEP_REPLACE || machine_check(t->w, t->m, NULL) == 0);
}

/* It is lost, and may be repaired. */
static bool is_gone(const struct turn *t)
{
    return lost_finding(t->w, t->m) && lost_check(t->w, t->now, t->m, NULL) == 0;
}

static bool follow_operation(const struct turn *t, const struct operation *o)
{
    bool boots = run_boots(o->run), back = came_back(t, o);
    bool overdue = operation_overdue(t->w, t->now, t->m, o);
    if (boots && is_on_another_boot(t, o) && !machine_seen(t->w, t->m))
        return false; /* whose boot it is will be known in a moment */
    switch (o->state) {
    case OPERATION_NONE:
    case OPERATION_WAITS:
        if (remedy_way(o->run) == WAY_AGENT && is_gone(t))
            return not_carried_out(t, o, "its agent is not heard");
        return overdue && not_carried_out(t, o, "nobody carried it out");
    case OPERATION_BEGUN:
        if (boots && back && strcmp(o->run, "replace") != 0)
            operation_end(t->w, t->now, t->m, o, "done", "it came back on another boot");
        else if (strcmp(o->run, "reboot") == 0 && is_gone(t))
            operation_end(t->w, t->now, t->m, o, "unknown",
                          "it did not come back in the time that this takes");
        else if (overdue)
            operation_end(t->w, t->now, t->m, o, "unknown", "nobody said what came of it");
        return t->v->asked;
    case OPERATION_DONE:
        if (!boots || back)
            return carried_out(t, o);
        return overdue && not_carried_out(t, o, "it did not come back on another boot");
    case OPERATION_UNKNOWN:
        if (boots && back)
            return carried_out(t, o);
        return not_carried_out(t, o, "what came of it is not known");
    case OPERATION_FAILED:
    case OPERATION_REFUSED: return not_carried_out(t, o, "not carried out");
    }
    return false;
}

static bool in_remedy(const struct turn *t)
{
    struct operation o;
    if (t->r->approval == APPROVAL_WANTED)
        return false;
    if (t->r->approval == APPROVAL_REFUSED)
        return to_step(t, (struct move){0}, STEP_QUEUE, t->r->approver ? t->r->approver : "refused");
    operation_read(t->w, t->m, &o);
    bool is_its = *t->r->operation && o.id && strcmp(o.id, t->r->operation) == 0, did = false;
    bool held = window_of(t->w, t->m) || held_elsewhere(t->w, t->m);
    if (!held || (is_its && o.state != OPERATION_WAITS))
        did = is_its ? follow_operation(t, &o) : begin_operation(t);
    operation_fini(&o);
    return did;
}

/* So often it is looked at. */
static struct span check_round(const struct check *k)
{
    return (struct span){k->every.ns + k->deadline.ns};
}

/* --- tend ------------------------------------------------------------------------------------- */

static bool tend_ends(const struct turn *t, struct move v, const char *why)
{
    return to_step(t, v, STEP_NONE, why);
}

/* Before the remedy is begun. */
static bool tend_begins(const struct turn *t)
{
    const struct remedy *remedy = remedy_of(t);
    struct err e = {0};
    struct move v = {0};
    if (!remedy)
        return tend_ends(t, v, "its remedy is not configured any more");
    int rc = brake_tend(t->w, t->now, t->m, remedy, &e);
    if (rc == -EBUSY || (rc < 0 && t->late))
        return tend_ends(t, v, e.msg);
    if (rc == 0)
        operation_propose(t->w, t->now, t->m, remedy->run, remedy->name, remedy->deadline);
    return rc == 0;
}

/* What the operation came to that a remedy in service was. False while that is not known. */
static bool take_tended(const struct turn *t, struct move *v, char said[static REASON_BYTES_MAX + 1])
{
    struct operation o;
    operation_read(t->w, t->m, &o);
    bool waits = o.state == OPERATION_NONE || o.state == OPERATION_WAITS, over = !waits;
    bool overdue = o.id && operation_overdue(t->w, t->now, t->m, &o);
    if (o.state == OPERATION_BEGUN) {
        over = false;
        if (overdue)
            operation_end(t->w, t->now, t->m, &o, "unknown", "nobody said what came of it");
    }
    snprintf(said, REASON_BYTES_MAX + 1, "%s",
             waits                       ? "nobody carried it out"
             : *o.text                   ? o.text
             : o.state == OPERATION_DONE ? "carried out"
                                         : "not carried out");
    v->attempt = said;
    v->done = o.state == OPERATION_DONE;
    v->verdict = waits || o.state == OPERATION_REFUSED ? '0' : '?';
    operation_fini(&o);
    return over || (waits && overdue);
}

/* What this check found is not looked at anew since the remedy was carried out. One that is told of things,
 * as the kernel's log is, has a moment to take them back. */
static bool is_old(const struct turn *t, size_t check)
{
    const struct check *k = check_at(t->w, check);
    if (!check_ages(k))
        return mono_sub(t->now, t->v->stage_at).ns < span_s(TAKEN_BACK_S).ns;
    return check_round(k).ns < repair_provision_deadline(t->w, t->m).ns / 2 &&
           (said_now(t->w, t->now, t->m, check) == RESULT_UNKNOWN ||
            said_looked(t->w, t->v, check).ns < t->v->stage_at.ns);
}

static bool is_asked_again(const struct turn *t)
{
    for (size_t i = 0; i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        if (!k->observe && check_repeats(k) && (t->v->said[i] & SAID_ASSIGNED) && found_something(t, k) &&
            is_old(t, i))
            return true;
    }
    return false;
}

static bool is_carried_out(const struct turn *t)
{
    const struct attempt_record *a = t->r->n_attempts ? &t->r->attempts[t->r->n_attempts - 1] : NULL;
    return a && a->done && a->at.ns >= t->r->began.ns;
}

/* The node is in service all the while. What the remedy came to shows when its checks were asked again: what
 * is left counts as it did before, and another remedy, or the drain of what lasts, is for it. */
static bool in_tend(const struct turn *t)
{
    char said[REASON_BYTES_MAX + 1];
    struct move v = {0};
    if (*t->r->operation) {
        if (!take_tended(t, &v, said))
            return t->v->asked;
        v.remedy = v.done ? remedy_of(t) : NULL;
        return v.remedy ? to_step(t, v, STEP_TEND, "carried out; its checks are asked again")
                        : tend_ends(t, v, said);
    }
    if (!is_carried_out(t))
        return tend_begins(t);
    const struct remedy *remedy = remedy_of(t);
    if (!remedy || !remedy_wanted(t->w, t->now, t->m, remedy))
        return tend_ends(t, v, "what was wrong is gone");
    if (is_asked_again(t) && !t->late)
        return false;
    return tend_ends(t, v, "it did not help");
}

/* A remedy was begun while the node was in service, and something else began a repair meanwhile: one thing at
 * a time is done to a node. */
static bool follow_tended(const struct turn *t)
{
    char said[REASON_BYTES_MAX + 1];
    struct move v = {0};
    if (!attempt_under_way(t->r) || !*t->r->operation || t->r->step == STEP_REMEDY ||
        t->r->step == STEP_REPLACE || t->r->step == STEP_TEND)
        return false;
    if (take_tended(t, &v, said))
        to_step(t, v, t->r->step, t->r->why);
    return true;
}

/* --- provision -------------------------------------------------------------------------------- */

/* A look since the step began says so, or one of this boot of a node that came up. */
static bool looked_in_step(const struct turn *t, size_t check)
{
    bool came_up = t->r->came_up && t->r->since.ns == t->r->began.ns;
    return came_up || said_looked(t->w, t->v, check).ns >= t->v->stage_at.ns;
}

/* What was said before the step may be out of date. */
static const struct check *fails_again(const struct turn *t)
{
    for (size_t i = 0; i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        if (!k->observe && (t->v->said[i] & SAID_ASSIGNED) &&
            said_now(t->w, t->now, t->m, i) >= RESULT_FATAL && looked_in_step(t, i))
            return k;
    }
    return NULL;
}

/* A check that is degraded, when every other one has said something: nothing more can come but that it goes
 * by itself. NULL: none is, or one is still silent. */
static const struct check *stays_degraded(const struct turn *t)
{
    const struct check *found = NULL;
    for (size_t i = 0; i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        if (k->observe || !check_repeats(k) || !(t->v->said[i] & SAID_ASSIGNED))
            continue;
        enum result is = said_now(t->w, t->now, t->m, i);
        if (is == RESULT_UNKNOWN)
            return NULL;
        if (is == RESULT_DEGRADED && looked_in_step(t, i))
            found = k;
    }
    return found;
}

/* A remedy is known that nobody has to be asked about, and no work waits for this node: it is treated as if
 * it were fatal. Without one the node waits for the deadline, as what is degraded often goes when a node has
 * settled (its clock, a link), and a person is asked then. */
static bool remedies_degraded(const struct turn *t)
{
    const struct check *k = stays_degraded(t);
    CLEANUP_TEXT struct text why = {0};
    if (!k || held_check(t->w, t->m, NULL) < 0 || shared_holds(t->w, t->m) || brake_stopped(t->w, NULL) < 0 ||
        remedies_of_week(t->w, t->m) >= t->w->policy.health.remedies_a_week)
        return false;
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    repair_choose(t->w, t->now, t->m, false, REFUSAL_NONE, c);
    if (!c->chosen || c->chosen->approval || c->chosen->dry)
        return false;
    text_printf(&why, "%s is degraded, and %s may help", k->name, c->chosen->name);
    return to_step(t, (struct move){0}, STEP_ISOLATE, why.s);
}

/* When the last remedy of this repair was begun, by the watch's own time, and no later than this step; ns 0:
 * it had none. */
static struct mono tried_at(const struct turn *t)
{
    const struct repair *r = t->r;
    const struct attempt_record *a = r->n_attempts ? &r->attempts[r->n_attempts - 1] : NULL;
    if (!a || !a->done || a->at.ns < r->began.ns)
        return (struct mono){0};
    int64_t at = t->now.ns - (t->w->wall.ns - a->at.ns);
    return (struct mono){at < t->v->stage_at.ns ? at : t->v->stage_at.ns};
}

/* What was said before the remedy says nothing of what it left behind: a check that comes round within this
 * step, and that was not looked at since; NULL without. */
static const struct check *unseen(const struct turn *t)
{
    struct mono since = tried_at(t);
    for (size_t i = 0; since.ns && i < check_count(t->w); i++) {
        const struct check *k = check_at(t->w, i);
        if (!k->observe && check_ages(k) && (t->v->said[i] & SAID_ASSIGNED) &&
            check_round(k).ns < repair_provision_deadline(t->w, t->m).ns / 2 &&
            said_looked(t->w, t->v, i).ns + span_ms(LOOKED_MS).ns < since.ns)
            return k;
    }
    return NULL;
}

/* Why the repair goes no further, in words; NULL: it does. */
static const char *given_up(const struct turn *t)
{
    return repair_yields(t->m)                                     ? "a person took it back"
           : cluster_excepts(t->w->cluster, t->m) && !t->r->manual ? "it is only observed: Remediate=no"
                                                                   : NULL;
}

static bool in_provision(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0}, said = {0};
    struct move v = {0};
    struct err e = {0};
    if (given_up(t))
        return to_step(t, v, STEP_NONE, given_up(t));
    if (window_of(t->w, t->m))
        return false;
    if (member_maintenance(t->m)) {
        say_maintenance(t, &said);
        return to_step(t, v, STEP_ISOLATE, said.s);
    }
    if (forget_waits(t->w, t->m) && !t->late)
        return forget_propose(t->w, t->now, t->m);
    const struct check *fails = fails_again(t);
    if (fails && !shared_holds(t->w, t->m)) {
        text_printf(&said, "%s fails", fails->name);
        return to_step(t, v, STEP_ISOLATE, said.s);
    }
    const struct check *waits = unseen(t);
    if (t->late && !person_holds(t->m)) {
        watch_provisioned(t->w, mono_add(t->now, t->w->stood_still), t->m, &why);
        if (!why.len && waits)
            text_printf(&why, "%s was not looked at since the remedy", waits->name);
        bool same = machine_check(t->w, t->m, &e) == 0;
        text_printf(&said, "not in time: %s", !same ? e.msg : why.len ? why.s : "an incident is open");
        return to_step(t, v, STEP_QUEUE, said.s);
    }
    if (!waits && remedies_degraded(t))
        return true;
    if (waits || boot_awaits(t->w, t->m) || incidents_open(t->m) || machine_check(t->w, t->m, NULL) < 0 ||
        !watch_provisioned(t->w, mono_add(t->now, t->w->stood_still), t->m, &why))
        return false;
    if (t->r->examined == EXAMINED_OWED && has_extensive(t))
        return to_step(t, v, STEP_EXAMINE, "the examination that was broken off is made up");
    return to_step(t, v, STEP_NONE, "every check passed");
}

/* --- queue ------------------------------------------------------------------------------------ */

/* Why a node that waits for a person goes on without one when it is well; NULL: it does not. One that is lost
 * again and again stays. */
static const char *needs_nobody(const struct turn *t)
{
    if (t->r->shared)
        return "what it waited for had a cause that it shared with others, and is over";
    if (member_was_lost(t->m) && !recur_often(t->m, t->r->began, t->w->wall))
        return "it was lost, and is heard again";
    return NULL;
}

static bool in_queue(const struct turn *t)
{
    bool refused = t->r->approval == APPROVAL_REFUSED;
    const char *why = needs_nobody(t);
    if (forget_waits(t->w, t->m))
        return forget_propose(t->w, t->now, t->m);
    if (!why || refused || t->r->manual || t->r->taken_by || held_check(t->w, t->m, NULL) < 0 ||
        member_maintenance(t->m) || incidents_open(t->m) || !watch_live(t->w, t->m) ||
        brake_stopped(t->w, NULL) < 0)
        return false;
    return to_step(t, (struct move){0}, STEP_PROVISION, why);
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Notes that the step is another one than before, and how long it may last. What the extensive stage found
 * before a person, or a new instance, answered for it counts no more. */
void repair_stage(struct watch *w, struct mono now, const struct member *m)
{
    const struct repair *r = member_treated(m);
    struct vitals *v = vitals_of(w, m);
    if (!r || v->stage.ns == r->since.ns)
        return;
    int64_t all = r->deadline.ns - r->since.ns, left = r->deadline.ns - w->wall.ns;
    v->stage = r->since;
    v->stage_at = now;
    v->stage_limited = r->deadline.ns != 0;
    v->refusals = 0;
    v->refused_until = (struct mono){0};
    v->stage_due = (struct mono){now.ns + (left < 0 ? 0 : left > all ? all : left)};
    for (size_t i = 0; i < check_count(w); i++) {
        v->said[i] &= (uint8_t)~SAID_ANSWERED;
        if (r->step == STEP_PROVISION && !check_repeats(check_at(w, i)))
            said_forget(v, i);
    }
}

void repair_restart_step(struct watch *w, const struct member *m)
{
    const struct repair *r = member_repair(m);
    struct vitals *v = vitals_find(w, m);
    if (r && v && v->stage_limited)
        v->stage_due = (struct mono){watch_awake(w, w->last_tick).ns + r->deadline.ns - r->since.ns};
}

/* A person took the node back, or excepted it: what is not begun is not done, and what is wrong is his. */
static bool yield_to_person(const struct turn *t)
{
    struct operation o;
    struct move v = {0};
    const char *why = given_up(t);
    if (!why)
        return false;
    operation_read(t->w, t->m, &o);
    bool begun = o.state == OPERATION_BEGUN;
    operation_fini(&o);
    if (begun || t->r->step == STEP_PROVISION || t->r->step == STEP_TEND || t->r->step == STEP_QUARANTINE ||
        t->r->step == STEP_RETIRED)
        return false;
    if (t->r->step == STEP_QUEUE) {
        CLEANUP_JSON json_t *set = json_pack("{s:s}", "transition", "human_intervention");
        health_propose(t->w, t->now, t->m, COMMAND_TRANSITION, why, set);
        return true;
    }
    v.attempt = why;
    v.verdict = '0';
    return to_step(t, v, STEP_PROVISION, why);
}

/* Something has to pass before it is in service. */
static bool has_checks(const struct watch *w, const struct member *m)
{
    for (size_t i = 0; i < check_count(w); i++)
        if (check_repeats(check_at(w, i)) && !check_at(w, i)->observe && check_runs(w, m, i))
            return true;
    return false;
}

bool repair_comes_up(const struct watch *w, const struct member *m)
{
    return m->listed && !member_repair(m) && watch_live(w, m) &&
           member_came_up(m, watch_observed(w, m)->boot) && acts_for(w, m) &&
           class_provisions(class_of(w, m), w->policy.health.provision_new) && !member_override(m) &&
           has_checks(w, m);
}

/* It came up, and is held from now on until its checks have passed. */
static bool begin_provision(const struct turn *t)
{
    return to_step(t, (struct move){.problem = "provision", .restarted = t->m->admitted}, STEP_PROVISION,
                   t->m->admitted ? "it came up on another boot" : "it comes for the first time");
}

void repair_provision(struct watch *w, struct mono now, const struct member *m, const char *why)
{
    const struct turn t = {w, now, m, NULL, vitals_of(w, m), false};
    to_step(&t, (struct move){.problem = "maintenance"}, STEP_PROVISION, why);
}

/* A node in service that its provider will take: it is drained first, as far as the budgets go. A person who
 * took it back since has it. */
static bool begin_maintenance(const struct turn *t)
{
    const struct maintenance *x = member_maintenance(t->m);
    const struct override *o = member_override(t->m);
    CLEANUP_TEXT struct text why = {0};
    if (!x || !watch_live(t->w, t->m) || (o && o->at.ns > x->at.ns) || !brake_maintain(t->w, t->m))
        return false;
    say_maintenance(t, &why);
    return to_step(t, (struct move){.problem = "maintenance"}, STEP_ISOLATE, why.s);
}

/* An incident stays open for a while after its checks said that they are well: nothing is done for that. */
static bool is_still_ill(const struct turn *t)
{
    for (size_t i = 0; i < check_count(t->w); i++)
        if (!check_at(t->w, i)->observe && (t->v->said[i] & SAID_ASSIGNED) &&
            said_now(t->w, t->now, t->m, i) >= RESULT_DEGRADED)
            return true;
    return false;
}

/* It stays in service meanwhile. */
static bool begin_tend(const struct turn *t)
{
    struct move v = {.problem = "node_problem"};
    if (!t->m->admitted || t->m->n_claims || trial_holds(t->w, t->m) || t->v->isolating || !is_still_ill(t))
        return false;
    CLEANUP_FREE struct choice *c = mem_alloc(sizeof *c);
    v.remedy = repair_gentle(t->w, t->now, t->m, c);
    if (!v.remedy || brake_tend(t->w, t->now, t->m, v.remedy, NULL) < 0)
        return false;
    return to_step(t, v, STEP_TEND, *c->why ? c->why : "chosen");
}

static bool boots_again(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0};
    text_printf(&why, "it boots again and again: %s", boot_finding(t->w, t->m)->text);
    return to_step(t, (struct move){0}, STEP_ISOLATE, why.s);
}

bool repair_look(struct watch *w, struct mono now, const struct member *m)
{
    struct turn t = {w, now, m, member_repair(m), vitals_of(w, m), false};
    brake_patient(w, m);
    if (repair_comes_up(w, m))
        return begin_provision(&t);
    t.r = member_treated(m);
    if (!t.r)
        return begin_maintenance(&t) || begin_tend(&t);
    if (!w->policy.health.act)
        return false;
    t.late = t.v->stage_limited && now.ns >= t.v->stage_due.ns;
    if (follow_tended(&t))
        return true;
    if (lost_stands(w, m) && !given_up(&t) && (t.r->step == STEP_EXAMINE || t.r->step == STEP_PROVISION))
        return to_step(&t, (struct move){0}, STEP_ISOLATE, "it is lost");
    if (boot_stands(w, m) && !given_up(&t) && t.r->step == STEP_PROVISION)
        return boots_again(&t);
    if (yield_to_person(&t))
        return true;
    switch (t.r->step) {
    case STEP_TEND: return in_tend(&t);
    case STEP_ISOLATE: return in_isolate(&t);
    case STEP_EXAMINE: return in_examine(&t);
    case STEP_REMEDY:
    case STEP_REPLACE: return in_remedy(&t);
    case STEP_PROVISION: return in_provision(&t);
    case STEP_QUEUE: return in_queue(&t);
    case STEP_NONE:
    case STEP_QUARANTINE:
    case STEP_RETIRED:
    case STEPS: return false;
    }
    return false;
}
