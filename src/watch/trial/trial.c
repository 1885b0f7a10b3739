/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials that are under way. The record and the claim hold a node; only this watch's memory has which runs
 * are under way on which nodes. So a trial that this watch did not begin, or has forgotten, is ended: a check
 * changes nothing, and is due again. Whatever happens to a node in a trial (work, a person, a repair,
 * silence) ends its part, and the clean-up is always the same: the agent is told to end the run, then the
 * node is let go, again and again until its record says so.
 *
 * A run begins when the node is held and free at that very moment. With a scheduler this means that the
 * scheduler was read and says so. Nobody else may hold the node, which is also read right before, as it is
 * before a remedy.
 */
#include "watch/trial/trial.h"
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/trial/shell.h"
#include "watch/trial/trial_begin_inside.h"
#include "watch/trial/trial_group_inside.h"
#include "watch/trial/trial_inside.h"
#include "watch/view/facts.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASKED_S = 10, /* a command without an outcome for so long is taken as lost */
    BEGUN_S = 300 /* the same for a command that holds nodes, while it can still be valid: a slow store may
                     still record it */
};

/* --- their lives ------------------------------------------------------------------------------ */

/* --- which nodes it holds ---------------------------------------------------------------------- */

static bool is_recorded(const struct member *m, const char *claim)
{
    const struct trial_record *r = member_trial(m);
    return r && strcmp(r->claim, claim) == 0;
}

void trial_changed(struct watch *w, const struct member *m)
{
    struct health_state *v = health_state_find(w, m);
    if (v)
        v->trial_known = false;
    if (v || trial_holds(w, m))
        budget_patient(w, m);
}

/* --- trial members ----------------------------------------------------------------------------- */

/* --- what ends it ----------------------------------------------------------------------------- */

/* Why this node takes part no more; NULL: it goes on. */
static const char *trial_disturbed(struct watch *w, struct mono now, const struct trial *t,
                                   const struct seat *s)
{
    const struct member *m = seat_member(w, s);
    if (!m->listed)
        return "no configuration file names it any more";
    if (trial_examines(t, s) && !trial_is_examined(t, m))
        return "its examination is over";
    if (!trial_examines(t, s) && member_repair(m))
        return "it is ill, and being repaired";
    if (!seat_is_kept(t, s, m) || member_override(m))
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

/* Why the whole trial ends; NULL: it goes on. */
static const char *trial_stopped(const struct watch *w, struct mono now, const struct trial *t, struct err *e)
{
    size_t place = check_place(w, t->check);
    const struct check *k = place == SIZE_MAX ? NULL : check_at(w, place);
    if (brake_stopped(w, e) < 0)
        return e->msg;
    unsigned when = CHECK_SCHEDULED | (t->examines ? CHECK_EXTENSIVE : 0);
    if (!k || !(k->when & when) || k->group != t->group)
        return "the check was changed";
    if (t->examines && t->seats[0].state >= SEAT_OVER)
        return "the examined node takes part no more";
    if (w->trials->yield.ns && w->trials->yield.ns >= t->began.ns)
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
        if (seat_has_left(s) || s->state == SEAT_OVER)
            continue;
        const char *why = all ? all : trial_disturbed(w, now, t, s);
        if (why)
            seat_end(w, now, s, false, RESULT_UNKNOWN, why);
        else if (late)
            seat_fail(w, now, t, s, "it was not over in time");
    }
}

/* --- letting go ------------------------------------------------------------------------------- */

/* Whether the node may be let go. As long as the agent can be told, it is first told to end its run. The
 * consequences of the findings also come first. */
static bool may_go(const struct watch *w, struct mono now, const struct trial *t, const struct seat *s)
{
    const struct member *m = seat_member(w, s);
    const struct health_state *v = health_state_find(w, m);
    bool may_run_on = now.ns < mono_add(t->due, span_s(TRIAL_MARGIN_S)).ns;
    bool can_be_told = watch_observed(w, m)->beat.liveness != LIVENESS_SILENT && may_run_on;
    if (s->stop && can_be_told)
        return false;
    return !(s->ran && v->asked && within(now, s->wait, ASKED_S));
}

/* Lets nodes go whose part ended for the same reason, with one command. False when there are none, or the
 * shell has no room. */
static bool let_go(struct watch *w, struct mono now, struct trial *t)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    CLEANUP_FREE struct trial_result *results = mem_alloc((t->n + 1) * sizeof *results);
    struct command cmd = {.kind = COMMAND_TRIAL_END, .nodes = &nodes, .trial_end = {.results = results}};
    const char *why = NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct seat *s = &t->seats[i];
        bool asked = s->told.ns && within(now, s->told, ASKED_S);
        if (seat_has_left(s) || s->state != SEAT_OVER || asked || !may_go(w, now, t, s) ||
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

/* Removes the nodes whose records say that they are not held any more. True when some are left. */
static bool see_off(struct watch *w, struct trial *t)
{
    bool any = false;
    for (size_t i = 0; i < t->n; i++) {
        struct seat *s = &t->seats[i];
        if (seat_has_left(s))
            continue;
        const struct member *m = seat_member(w, s);
        if (s->state == SEAT_OVER && !seat_is_held(m, t->claim) && !is_recorded(m, t->claim))
            seat_leave(w, s);
        else
            any = true;
    }
    return any;
}

/* --- going on --------------------------------------------------------------------------------- */

/* Learns the claim from the record. False: it is not known yet. */
static bool find_claim(const struct watch *w, struct trial *t)
{
    const struct trial_record *r = t->n ? member_trial(seat_member(w, &t->seats[0])) : NULL;
    if (!*t->claim && r && *r->claim && strcmp(r->check, t->check) == 0)
        memcpy(t->claim, r->claim, sizeof t->claim);
    return *t->claim;
}

/* Whether the record of the trial may still come. The command is refused when a node is not free any more. */
static bool may_come(const struct watch *w, struct mono now, const struct trial *t)
{
    for (size_t i = 0; i < t->n && !within(now, t->began, ASKED_S); i++) {
        const struct member *m = seat_member(w, &t->seats[i]);
        bool examined = trial_examines(t, &t->seats[i]);
        if (m->n_claims != examined || (examined && !trial_is_examined(t, m)))
            return false;
    }
    return within(now, t->began, BEGUN_S);
}

static void go_singly(struct watch *w, struct mono now, struct trial *t, const struct check *k)
{
    for (size_t i = 0; i < t->n; i++) {
        struct seat *s = &t->seats[i];
        if (seat_has_left(s))
            continue;
        if (s->state == SEAT_WAITS && seat_ready(w, t, s))
            seat_call(w, s, 0);
        if (s->state != SEAT_HEARD)
            continue;
        measure_judge(w, now, seat_member(w, s), k, s->said);
        seat_conclude(w, now, t, s, s->said);
    }
}

/* Returns false when the trial is over. */
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
    trials_yield(w);
    for (struct trial *t = w->trials->first, *next; t; t = next) {
        next = t->next;
        bool goes_on = trial_go(w, now, t);
        trials_yield(w);
        if (!goes_on)
            trial_drop(w, t);
    }
}

/* --- trials that this watch did not begin -------------------------------------------------------- */

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

/* Ends the trial. The agent is told first, because the run may still be under way for as long as the check
 * may run. */
static void end_orphan(struct watch *w, struct mono now, const struct member *m, const char *claim)
{
    const struct trial_record *r = member_trial(m);
    bool known = r && *r->claim;
    struct span left = {known ? r->deadline.ns - r->began.ns : 0};
    struct trial *t = trial_add(w, now, known ? r->check : "unknown", 1, left);
    struct seat *s = trial_seat(w, t, m);
    snprintf(t->claim, sizeof t->claim, "%s", claim);
    seat_end(w, now, s, false, RESULT_UNKNOWN, "no controller waits for it any more");
    health_state_of(w, m)->trial_rest = (struct mono){0};
    s->stop = known;
}

void trial_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    const char *claim = v && v->trial ? NULL : claim_of(m);
    if (claim) {
        trials_yield(w);
        end_orphan(w, now, m, claim);
    }
    trial_note_partner(w, now, m);
    if (w->trials->may && !claim && v && !v->trial)
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

/* Whether s may begin its run, with those that run it together with s: all must be held for the trial and
 * free, and held by nobody else, as was read a moment ago. The function looks at all of them, so that all
 * that have to be read are read at once. */
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
    bool may = w->trials->first && brake_stopped(w, NULL) == 0;
    for (struct trial *t = w->trials->first; t; t = t->next) {
        for (size_t i = 0; i < t->n; i++) {
            struct seat *s = &t->seats[i];
            if (seat_has_left(s))
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
    for (struct trial *t = w->trials->first; t; t = t->next) {
        for (size_t i = 0; i < t->n; i++) {
            struct seat *s = &t->seats[i];
            if (seat_has_left(s) || s->state != SEAT_RUNS || s->run != run)
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

/* --- life -------------------------------------------------------------------------------------- */

void trial_create(struct watch *w)
{
    w->trials = mem_alloc(sizeof *w->trials);
    w->trial_begin = mem_alloc(sizeof *w->trial_begin);
}

void trial_destroy(struct watch *w)
{
    trials_fini(w);
    trial_begin_fini(w);
    free(STEAL(w->trials));
    free(STEAL(w->trial_begin));
}
