/* SPDX-License-Identifier: Apache-2.0 */
/* The step examine: the extensive checks run, one after another. */
#include "node/action.h"
#include "watch/brake/brake.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/incident/incident.h"
#include "watch/repair/repair_step_inside.h"
#include "watch/trial/trial.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_MARGIN_S = 30, REFUSED_REST_S = 2 };

static bool repair_examine_inconclusive(const struct turn *t, const char *why)
{
    struct move v = {.examined = EXAMINED_INCONCLUSIVE, .inconclusive = t->r->inconclusive + 1};
    return turn_to_step(t, STEP_EVENT_INCONCLUSIVE, v,
                        v.inconclusive >= t->w->policy.health.inconclusive ? STEP_QUEUE : STEP_EXAMINE, why);
}

/* A check that could not begin says nothing about the node, and does not count as a try. It is asked for
 * again after a while, which doubles each time. */
static void note_refusal(const struct turn *t, const struct operation *o)
{
    struct health_state *v = t->v;
    if (strcmp(v->refused, o->id) == 0)
        return;
    snprintf(v->refused, sizeof v->refused, "%s", o->id);
    int64_t rest_s = (int64_t)REFUSED_REST_S << (v->refusals < 6 ? v->refusals : 6);
    v->refused_until = mono_add(t->now, span_s(rest_s));
    v->refusals++;
}

/* Takes in the result of the check under way. False while it is not known. */
static bool take_check(const struct turn *t)
{
    struct operation o;
    struct verdict *x = mem_alloc(sizeof *x);
    struct err e;
    watch_operation(t->w, t->m, &o);
    struct action action = action_of(o.run);
    size_t i = action.kind == ACTION_CHECK ? check_place(t->w, action.rest) : SIZE_MAX;
    bool over = !operation_is_open(o.state);
    bool on_this_boot = o.id && strcmp(o.boot, watch_of(t->w, t->m)->boot) == 0;
    if (!over && operation_overdue(t->w, t->now, t->m, &o)) {
        bool begun = o.state == OPERATION_BEGUN;
        operation_end(t->w, t->now, t->m, &o, begun ? OPERATION_UNKNOWN : OPERATION_REFUSED,
                      begun ? "its outcome was not reported" : "it was not begun in time");
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

/* The state of the examination: which checks were asked for and have answered. */
struct examination {
    const struct check *next; /* has not run yet, checks with partners last; NULL: all have run */
    bool passes, fails, unknown;
    const struct check *what;     /* the check that fails or is unknown */
    const struct check *not_here; /* a check that did not run, for lack of the device or tool */
};

static struct examination examination_of(const struct turn *t)
{
    struct examination x = {0};
    for (size_t i = 0; i < check_count(t->w); i++) {
        const struct check *k = turn_extensive(t, i);
        if (!k)
            continue;
        enum result r;
        if (!examination_answered(t->w, t->m, i, &r)) {
            if (!x.next || (x.next->group > 1 && k->group == 1))
                x.next = k;
            continue;
        }
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

/* Adds which check delayed the examination, and what became of it. */
static void say_hold_up(const struct turn *t, const struct check *k, struct text *why)
{
    struct operation o;
    struct err e = {0};
    char ran[32];
    watch_operation(t->w, t->m, &o);
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

/* The step's time is over. A check that is under way goes with the step: its agent is told to end it. */
static bool not_in_time(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0};
    const struct check *k = examination_of(t).next;
    text_add(&why, "it was not examined in time");
    if (k)
        say_hold_up(t, k, &why);
    return repair_examine_inconclusive(t, why.s);
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

/* After a remedy: the failing checks have run since the step began, and the checks with open findings have
 * reported. Earlier results say nothing about the state that the remedy left, and an agent that begins anew
 * has not looked yet. */
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
                                   : now == RESULT_UNKNOWN && turn_found(t, k))
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

/* A person decided this, so the examination is not made up for later, as it is after another interruption. */
static bool refuse_examination(const struct turn *t)
{
    struct move v = {.examined = EXAMINED_INCONCLUSIVE, .inconclusive = t->r->inconclusive};
    return turn_to_step(t, STEP_EVENT_UNRESERVED, v, STEP_QUEUE,
                        "somebody deleted its reservation in Slurm: it is not examined");
}

bool step_examine(const struct turn *t)
{
    CLEANUP_TEXT struct text why = {0};
    struct move v = {0};
    if (window_of(t->w, t->m)) {
        text_printf(&why, "interrupted by maintenance: Slurm's %s", window_of(t->w, t->m));
        return turn_to_step(t, STEP_EVENT_WINDOW, v, STEP_ISOLATE, why.s);
    }
    if (member_maintenance(t->m))
        return turn_by_maintenance(t, STEP_EVENT_MAINTENANCE, v); /* whatever the check under way reports */
    if (is_refused(t))
        return refuse_examination(t);
    if (held_elsewhere(t->w, t->m)) {
        struct err e = {0};
        held_check(t->w, t->m, &e);
        text_printf(&why, "interrupted: %s", e.msg);
        return turn_to_step(t, STEP_EVENT_HELD, v, STEP_ISOLATE, why.s);
    }
    if (!take_check(t))
        return t->v->asked || (t->late && not_in_time(t));
    if (watch_live(t->w, t->m) && *t->r->boot && strcmp(t->r->boot, watch_of(t->w, t->m)->boot) != 0)
        return repair_examine_inconclusive(
            t, "it was booted meanwhile"); /* perhaps because of the examination itself, each time */
    struct examination x = examination_of(t);
    if (!x.fails && x.next)
        return t->late ? not_in_time(t) : run_check(t, x.next);
    if (incident_look(t->w, t->now, t->m))
        return true; /* the findings are recorded before the choice uses them */
    if (x.fails) {
        v.examined = EXAMINED_FAIL;
        v.problem = "hardware_problem";
        return turn_by_choice(t, STEP_EVENT_FAILED, v);
    }
    if (x.unknown || (x.not_here && !x.passes)) { /* a check that did not run is no pass */
        say_unanswered(t, x.unknown ? x.what : x.not_here, &why);
        return repair_examine_inconclusive(t, why.s);
    }
    v.examined = EXAMINED_PASS;
    if (incidents_open(t->m) && (!seen_since(t) || shared_holds(t->w, t->m)))
        return t->late && not_in_time(t);
    if (incidents_open(t->m))
        return turn_by_choice(t, STEP_EVENT_STILL_ILL, v);
    text_add(&why, "it passed, and nothing is open");
    if (x.not_here)
        text_printf(&why, "; %s did not run, as it is not for this node", x.not_here->name);
    return turn_on_the_way(t, STEP_EVENT_PASSED, v, why.s);
}
