/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials that are under way. What holds a node is its record and the claim; what runs where is this watch's
 * memory alone. So a trial that this watch did not begin, or has forgotten, is ended: a check changes
 * nothing, and is due again. Whatever happens to a node in a trial (work, a person, a repair, silence) ends
 * its part, and the clean-up is the same for all: the agent is told to end what runs, then the node is let
 * go, again and again until its record says so.
 *
 * A run begins when the node is held and free at that very moment, which with a scheduler means that the
 * scheduler was read and says so; and when nobody else holds it, which is read again right before, as before
 * a remedy.
 */
#include "watch/brake_inside.h"
#include "watch/budget_inside.h"
#include "watch/health_inside.h"
#include "watch/hearing_inside.h"
#include "watch/held_inside.h"
#include "watch/inside.h"
#include "watch/measure_inside.h"
#include "watch/trial_begin_inside.h"
#include "watch/trial_group_inside.h"
#include "watch/trial_inside.h"
#include "watch/vitals_inside.h"
#include "watch/window_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASKED_S = 10,  /* a command of which nothing is heard for so long is taken as lost, */
    BEGUN_S = 300, /* but one that holds nodes when it could be: a slow store may still write it down */
    REST_S = 600   /* after a trial that came to nothing, before the next on the same node */
};

const struct member *seat_member(const struct watch *w, const struct seat *s)
{
    return cluster_by_id(w->cluster, s->member);
}

static bool has_left(const struct seat *s)
{
    return s->state == SEAT_LEFT;
}

/* --- their lives ------------------------------------------------------------------------------ */

struct trial *trial_add(struct watch *w, struct mono now, const char *check, unsigned group,
                        struct span limit)
{
    struct trial *t = mem_alloc(sizeof *t);
    snprintf(t->check, sizeof t->check, "%s", check);
    t->group = group;
    t->began = now;
    t->began_wall = w->wall;
    t->due = mono_add(now, limit);
    t->next = w->trials.first;
    w->trials.first = t;
    return t;
}

struct seat *trial_seat(struct watch *w, struct trial *t, const struct member *m)
{
    t->seats = mem_grow(t->seats, (t->n + 1) * sizeof *t->seats);
    struct seat *s = &t->seats[t->n++];
    *s = (struct seat){.member = m->id};
    vitals_of(w, m)->trial = t;
    budget_patient(w, m);
    return s;
}

static void seat_leave(struct watch *w, struct seat *s)
{
    if (has_left(s))
        return;
    const struct member *m = seat_member(w, s);
    struct vitals *v = vitals_of(w, m);
    v->trial = NULL;
    v->trial_known = false;
    budget_patient(w, m);
    s->state = SEAT_LEFT;
}

static void trial_free(struct trial *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->seats[i].why);
        free(t->seats[i].said);
        free(t->seats[i].failed);
    }
    free(t->seats);
    grouping_destroy(t->grouping);
    free(t);
}

void trial_drop(struct watch *w, struct trial *t)
{
    struct trial **at = &w->trials.first;
    for (size_t i = 0; i < t->n; i++)
        seat_leave(w, &t->seats[i]);
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    trial_free(t);
}

void trials_fini(struct watch *w)
{
    while (w->trials.first) {
        struct trial *t = w->trials.first;
        w->trials.first = t->next;
        trial_free(t);
    }
    trial_begin_fini(w);
}

/* --- whom it holds ---------------------------------------------------------------------------- */

static bool is_held(const struct member *m, const char *claim)
{
    for (size_t i = 0; i < m->n_claims; i++)
        if (m->claims[i].claim->kind == CLAIM_TRIAL && strcmp(m->claims[i].claim->id, claim) == 0)
            return true;
    return false;
}

static bool is_recorded(const struct member *m, const char *claim)
{
    const struct trial_record *r = member_trial(m);
    return r && strcmp(r->claim, claim) == 0;
}

/* Its repair keeps it, and has to be where it was when the trial began. */
static bool is_examined(const struct trial *t, const struct member *m)
{
    const struct repair *r = member_repair(m);
    return r && r->step == STEP_EXAMINE && r->since.ns == t->stage.ns;
}

static bool trial_examines(const struct trial *t, const struct seat *s)
{
    return t->examines && s == t->seats;
}

static bool is_kept(const struct trial *t, const struct seat *s, const struct member *m)
{
    return trial_examines(t, s) ? is_examined(t, m) : is_held(m, t->claim);
}

bool trial_holds(const struct watch *w, const struct member *m)
{
    const struct vitals *v = vitals_find(w, m);
    const struct trial *t = v ? v->trial : NULL;
    return (t && !(t->examines && t->seats[0].member == m->id)) || member_held_by(m, CLAIM_TRIAL);
}

static struct seat *seat_find(const struct trial *t, const struct member *m)
{
    for (size_t i = 0; t && i < t->n; i++)
        if (t->seats[i].member == m->id && !has_left(&t->seats[i]))
            return &t->seats[i];
    return NULL;
}

bool trial_says(const struct watch *w, const struct member *m, size_t check)
{
    const struct vitals *v = vitals_find(w, m);
    const struct seat *s = v ? seat_find(v->trial, m) : NULL;
    if (check_at(w, check)->group > 1)
        return true;
    return s && s->state >= SEAT_RUNS && strcmp(v->trial->check, check_at(w, check)->name) == 0;
}

void trial_changed(struct watch *w, const struct member *m)
{
    struct vitals *v = vitals_find(w, m);
    if (v)
        v->trial_known = false;
    if (v || trial_holds(w, m))
        budget_patient(w, m);
}

void trials_yield(struct watch *w)
{
    if (w->trials.first)
        w->trials.yield = watch_awake(w, w->last_tick);
}

/* --- seats ------------------------------------------------------------------------------------ */

void seat_end(struct watch *w, struct mono now, struct seat *s, bool ran, enum result r, const char *why)
{
    if (!ran)
        vitals_of(w, seat_member(w, s))->trial_rest = mono_add(now, span_s(REST_S));
    s->stop |= s->state == SEAT_RUNS;
    s->state = SEAT_OVER;
    s->ran = ran;
    s->result = r;
    char *copy = mem_dup(why);
    free(s->why);
    s->why = copy;
    s->wait = now;
}

void seat_conclude(struct watch *w, struct mono now, const struct trial *t, struct seat *s, struct verdict *x)
{
    const struct member *m = seat_member(w, s);
    size_t place = check_place(w, t->check);
    bool ran = !trial_examines(t, s) || x->result != RESULT_UNKNOWN;
    seat_end(w, now, s, ran, x->result, ran ? "it ran" : "it came to no answer");
    said_note(w, now, m, place, x);
    if (trial_examines(t, s))
        vitals_of(w, m)->said[place] |= SAID_ANSWERED;
    health_heard(w, now, w->wall, m);
}

void seat_fail(struct watch *w, struct mono now, const struct trial *t, struct seat *s, const char *why)
{
    CLEANUP_FREE struct verdict *x = mem_alloc(sizeof *x);
    if (!trial_examines(t, s)) {
        seat_end(w, now, s, false, RESULT_UNKNOWN, why);
        return;
    }
    verdict_cannot(x, RESULT_UNKNOWN, "%s", why);
    seat_conclude(w, now, t, s, x);
}

bool seat_ready(const struct watch *w, const struct trial *t, const struct seat *s)
{
    const struct member *m = seat_member(w, s);
    return is_kept(t, s, m) && watch_live(w, m) && watch_work(w, m) == WORK_IDLE &&
           held_check(w, m, NULL) == 0;
}

void seat_call(struct watch *w, struct seat *s, size_t run)
{
    s->state = SEAT_CALLED;
    s->of = run;
    s->run = ++w->trials.runs;
    memcpy(s->boot, watch_of(w, seat_member(w, s))->boot, sizeof s->boot);
    free(STEAL(s->said));
}

/* --- what ends it ----------------------------------------------------------------------------- */

/* Why this node takes part no more; NULL: nothing is wrong with it. */
static const char *trial_disturbed(struct watch *w, struct mono now, const struct trial *t,
                                   const struct seat *s)
{
    const struct member *m = seat_member(w, s);
    if (!m->listed)
        return "no configuration file names it any more";
    if (trial_examines(t, s) && !is_examined(t, m))
        return "its examination is over";
    if (!trial_examines(t, s) && member_repair(m))
        return "it is ill, and being repaired";
    if (!is_kept(t, s, m) || member_override(m))
        return "a person took it back";
    if (window_of(w, m))
        return "it is in maintenance";
    if (m->n_claims > 1 || held_elsewhere(w, m))
        return "it is held for something else";
    if (!watch_live(w, m))
        return "it is not heard";
    if (watch_work(w, m) == WORK_BUSY)
        return "work runs on it";
    if (s->state != SEAT_WAITS && strcmp(s->boot, watch_of(w, m)->boot) != 0)
        return "it was booted";
    if (s->state == SEAT_WAITS && !t->called && !within(now, t->began, TRIAL_HOLD_S))
        return "it was not free in time";
    return NULL;
}

/* Why the whole of it ends. */
static const char *trial_stopped(const struct watch *w, struct mono now, const struct trial *t, struct err *e)
{
    size_t place = check_place(w, t->check);
    const struct check *k = place == SIZE_MAX ? NULL : check_at(w, place);
    if (brake_stopped(w, e) < 0)
        return e->msg;
    unsigned when = CHECK_SCHEDULED | (t->examines ? CHECK_EXTENSIVE : 0);
    if (!k || !(k->when & when) || k->group != t->group)
        return "the check is not what it was any more";
    if (t->examines && t->seats[0].state >= SEAT_OVER)
        return "who was examined takes part no more";
    if (w->trials.yield.ns && w->trials.yield.ns >= t->began.ns)
        return "its room is needed for a node that is ill";
    return NULL;
}

static void look_for_ends(struct watch *w, struct mono now, struct trial *t)
{
    struct err e = {0};
    const char *all = trial_stopped(w, now, t, &e);
    bool late = !all && now.ns >= t->due.ns;
    for (size_t i = 0; i < t->n; i++) {
        struct seat *s = &t->seats[i];
        if (has_left(s) || s->state == SEAT_OVER)
            continue;
        const char *why = all ? all : trial_disturbed(w, now, t, s);
        if (why)
            seat_end(w, now, s, false, RESULT_UNKNOWN, why);
        else if (late)
            seat_fail(w, now, t, s, "it was not over in time");
    }
}

/* --- letting go ------------------------------------------------------------------------------- */

/* The agent is to be told to end what it runs, for as long as there is somebody to tell. What follows from
 * what was found comes before. */
static bool may_go(const struct watch *w, struct mono now, const struct trial *t, const struct seat *s)
{
    const struct member *m = seat_member(w, s);
    const struct vitals *v = vitals_find(w, m);
    bool may_run_on = now.ns < mono_add(t->due, span_s(TRIAL_MARGIN_S)).ns;
    bool can_be_told = watch_observed(w, m)->beat.liveness != LIVENESS_SILENT && may_run_on;
    if (s->stop && can_be_told)
        return false;
    return !(s->ran && v->asked && within(now, s->wait, ASKED_S));
}

/* Those that end for the same reason go together. False when there are none, or the shell has no room. */
static bool let_go(struct watch *w, struct mono now, struct trial *t)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    CLEANUP_FREE struct trial_result *results = mem_alloc((t->n + 1) * sizeof *results);
    struct command cmd = {.kind = COMMAND_TRIAL_END, .nodes = &nodes, .trial_end = {.results = results}};
    const char *why = NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct seat *s = &t->seats[i];
        bool asked = s->told.ns && within(now, s->told, ASKED_S);
        if (has_left(s) || s->state != SEAT_OVER || asked || !may_go(w, now, t, s) ||
            (why && strcmp(why, s->why) != 0))
            continue;
        why = s->why;
        s->told = now;
        hostlist_add(&nodes, seat_member(w, s)->name);
        if (s->ran)
            results[cmd.trial_end.n++] = (struct trial_result){seat_member(w, s)->name, s->result};
    }
    snprintf(cmd.trial_end.claim, sizeof cmd.trial_end.claim, "%s", t->claim);
    snprintf(cmd.trial_end.check, sizeof cmd.trial_end.check, "%s", t->check);
    cmd.trial_end.why = why ? why : "";
    return nodes.n && w->sink.propose(w->sink.arg, &cmd);
}

/* Those whose record says that they are held no more. True when somebody is left. */
static bool see_off(struct watch *w, struct trial *t)
{
    bool any = false;
    for (size_t i = 0; i < t->n; i++) {
        struct seat *s = &t->seats[i];
        if (has_left(s))
            continue;
        const struct member *m = seat_member(w, s);
        if (s->state == SEAT_OVER && !is_held(m, t->claim) && !is_recorded(m, t->claim))
            seat_leave(w, s);
        else
            any = true;
    }
    return any;
}

/* --- going on --------------------------------------------------------------------------------- */

/* The record says which claim it has. */
static bool find_claim(const struct watch *w, struct trial *t)
{
    const struct trial_record *r = t->n ? member_trial(seat_member(w, &t->seats[0])) : NULL;
    if (!*t->claim && r && *r->claim && strcmp(r->check, t->check) == 0)
        memcpy(t->claim, r->claim, sizeof t->claim);
    return *t->claim;
}

/* Its record may still come. Where a node is not free any more, the command is refused. */
static bool may_come(const struct watch *w, struct mono now, const struct trial *t)
{
    for (size_t i = 0; i < t->n && !within(now, t->began, ASKED_S); i++) {
        const struct member *m = seat_member(w, &t->seats[i]);
        bool examined = trial_examines(t, &t->seats[i]);
        if (m->n_claims != examined || (examined && !is_examined(t, m)))
            return false;
    }
    return within(now, t->began, BEGUN_S);
}

static void go_singly(struct watch *w, struct mono now, struct trial *t, const struct check *k)
{
    for (size_t i = 0; i < t->n; i++) {
        struct seat *s = &t->seats[i];
        if (has_left(s))
            continue;
        if (s->state == SEAT_WAITS && seat_ready(w, t, s))
            seat_call(w, s, 0);
        if (s->state != SEAT_HEARD)
            continue;
        measure_judge(w, now, seat_member(w, s), k, s->said);
        seat_conclude(w, now, t, s, s->said);
    }
}

/* False when it is over. */
static bool trial_go(struct watch *w, struct mono now, struct trial *t)
{
    if (!find_claim(w, t))
        return may_come(w, now, t);
    look_for_ends(w, now, t);
    size_t place = check_place(w, t->check);
    if (place != SIZE_MAX && t->grouping)
        trial_group_go(w, now, t, check_at(w, place));
    else if (place != SIZE_MAX)
        go_singly(w, now, t, check_at(w, place));
    while (let_go(w, now, t))
        ;
    return see_off(w, t);
}

void trial_tick(struct watch *w, struct mono now)
{
    for (struct trial *t = w->trials.first, *next; t; t = next) {
        next = t->next;
        if (!trial_go(w, now, t))
            trial_drop(w, t);
    }
}

/* --- what nobody here began ------------------------------------------------------------------- */

static const char *claim_of(const struct member *m)
{
    const struct trial_record *r = member_trial(m);
    if (r && *r->claim)
        return r->claim;
    for (size_t i = 0; i < m->n_claims; i++)
        if (m->claims[i].claim->kind == CLAIM_TRIAL)
            return m->claims[i].claim->id;
    return NULL;
}

/* It is ended, and its agent told first: for as long as the check may run, it may run still. */
static void end_orphan(struct watch *w, struct mono now, const struct member *m, const char *claim)
{
    const struct trial_record *r = member_trial(m);
    bool known = r && *r->claim;
    struct span left = {known ? r->deadline.ns - r->began.ns : 0};
    struct trial *t = trial_add(w, now, known ? r->check : "unknown", 1, left);
    struct seat *s = trial_seat(w, t, m);
    snprintf(t->claim, sizeof t->claim, "%s", claim);
    seat_end(w, now, s, false, RESULT_UNKNOWN, "no controller waits for it any more");
    vitals_of(w, m)->trial_rest = (struct mono){0};
    s->stop = known;
}

void trial_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct vitals *v = vitals_find(w, m);
    const char *claim = v && v->trial ? NULL : claim_of(m);
    if (claim)
        end_orphan(w, now, m, claim);
    trial_note_partner(w, now, m);
    if (w->trials.may && !claim && v && !v->trial)
        trial_note_due(w, now, m);
}

/* --- the shell -------------------------------------------------------------------------------- */

static void begin_run(struct watch *w, const struct trial *t, struct seat *s, trial_run_fn *fn, void *arg)
{
    const struct check *k = check_at(w, check_place(w, t->check));
    struct member *m = cluster_by_id(w->cluster, s->member);
    CLEANUP_TEXT struct text nodes = {0};
    struct trial_run r = {.run = s->run, .check = t->check};
    r.deadline = (struct span){k->deadline.ns + span_s(TRIAL_MARGIN_S).ns};
    const struct run *with = t->grouping ? grouping_run(t->grouping, s->of) : NULL;
    for (size_t i = 0; with && i < with->n; i++) {
        const struct seat *one = &t->seats[with->nodes[i]];
        text_printf(&nodes, "%s%s", i ? "," : "", seat_member(w, one)->name);
        if (one == s)
            r.rank = (unsigned)i;
    }
    r.nodes = nodes.s;
    s->state = SEAT_RUNS;
    fn(arg, m, &r);
}

/* Right before s begins its run, and those that run it together with s, which begin with it: held for it,
 * free, and held by nobody else as was read a moment ago. All of them are looked at, so that all that have to
 * be read are read at once. */
static bool may_begin(struct watch *w, struct mono now, const struct trial *t, const struct seat *s)
{
    bool may = true;
    for (size_t i = 0; i < t->n; i++) {
        const struct seat *o = &t->seats[i];
        bool is_with = o == s || (t->grouping && o->state == SEAT_CALLED && o->of == s->of);
        if (is_with && (!seat_ready(w, t, o) || held_check_now(w, now, seat_member(w, o), NULL) < 0))
            may = false;
    }
    return may;
}

void watch_trials(struct watch *w, struct mono now, trial_run_fn *fn, void *arg)
{
    bool may = w->trials.first && brake_stopped(w, NULL) == 0;
    for (struct trial *t = w->trials.first; t; t = t->next) {
        for (size_t i = 0; i < t->n; i++) {
            struct seat *s = &t->seats[i];
            if (has_left(s))
                continue;
            if (s->stop && watch_live(w, seat_member(w, s))) {
                const struct trial_run r = {.check = t->check, .stop = true};
                s->stop = false;
                fn(arg, cluster_by_id(w->cluster, s->member), &r);
            }
            if (s->state == SEAT_CALLED && may && check_place(w, t->check) != SIZE_MAX &&
                may_begin(w, now, t, s))
                begin_run(w, t, s, fn, arg);
        }
    }
}

void watch_tried(struct watch *w, uint64_t run, const struct verdict *v, const char *why)
{
    for (struct trial *t = w->trials.first; t; t = t->next) {
        for (size_t i = 0; i < t->n; i++) {
            struct seat *s = &t->seats[i];
            if (has_left(s) || s->state != SEAT_RUNS || s->run != run)
                continue;
            s->said = mem_alloc(sizeof *s->said);
            if (v)
                *s->said = *v;
            else
                verdict_cannot(s->said, RESULT_UNKNOWN, "%s", why);
            s->state = SEAT_HEARD;
        }
    }
}
