/* SPDX-License-Identifier: Apache-2.0 */
/* Trials and their members: how a node comes to take part, what its part came to, and how it leaves. */
#include "health/group.h"
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/hold/hold.h"
#include "watch/trial/trial.h"
#include "watch/trial/trial_inside.h"
#include "watch/view/facts.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REST_S = 600 /* after a trial without a result, before the next trial on the same node */ };

const struct member *seat_member(const struct watch *w, const struct seat *s)
{
    return cluster_by_id(w->cluster, s->member);
}

struct trial *trial_add(struct watch *w, struct mono now, const char *check, unsigned group,
                        struct span limit)
{
    struct trial *t = mem_alloc(sizeof *t);
    snprintf(t->check, sizeof t->check, "%s", check);
    t->group = group;
    t->began = now;
    t->began_wall = w->wall;
    t->due = mono_add(now, limit);
    t->next = w->trials->first;
    w->trials->first = t;
    return t;
}

struct seat *trial_seat(struct watch *w, struct trial *t, const struct member *m)
{
    t->seats = mem_grow(t->seats, (t->n + 1) * sizeof *t->seats);
    assert(!health_state_of(w, m)->trial && "a node takes part in one trial at a time");
    struct seat *s = &t->seats[t->n++];
    *s = (struct seat){.member = m->id};
    health_state_of(w, m)->trial = t;
    health_state_of(w, m)->trial_out = !(t->examines && t->n == 1);
    budget_patient(w, m);
    return s;
}

void seat_leave(struct watch *w, struct seat *s)
{
    if (seat_has_left(s))
        return;
    const struct member *m = seat_member(w, s);
    struct health_state *v = health_state_of(w, m);
    v->trial = NULL;
    v->trial_out = false;
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
    struct trial **at = &w->trials->first;
    for (size_t i = 0; i < t->n; i++)
        seat_leave(w, &t->seats[i]);
    while (*at != t) {
        assert(*at && "the trial is among those under way");
        at = &(*at)->next;
    }
    *at = t->next;
    trial_free(t);
}

void trials_fini(struct watch *w)
{
    while (w->trials->first) {
        struct trial *t = w->trials->first;
        w->trials->first = t->next;
        trial_free(t);
    }
}

bool seat_is_held(const struct member *m, const char *claim)
{
    for (size_t i = 0; i < m->n_claims; i++)
        if (m->claims[i].claim->kind == CLAIM_TRIAL && strcmp(m->claims[i].claim->id, claim) == 0)
            return true;
    return false;
}

/* The repair of m keeps it, and has to be in the same step as when the trial began. */
bool trial_is_examined(const struct trial *t, const struct member *m)
{
    const struct repair *r = member_repair(m);
    return r && r->step == STEP_EXAMINE && r->since.ns == t->stage.ns;
}

bool trial_examines(const struct trial *t, const struct seat *s)
{
    return t->examines && s == t->seats;
}

bool seat_is_kept(const struct trial *t, const struct seat *s, const struct member *m)
{
    return trial_examines(t, s) ? trial_is_examined(t, m) : seat_is_held(m, t->claim);
}

static struct seat *seat_find(const struct trial *t, const struct member *m)
{
    for (size_t i = 0; t && i < t->n; i++)
        if (t->seats[i].member == m->id && !seat_has_left(&t->seats[i]))
            return &t->seats[i];
    return NULL;
}

bool trial_says(const struct watch *w, const struct member *m, size_t check)
{
    const struct health_state *v = health_state_find(w, m);
    const struct seat *s = v ? seat_find(v->trial, m) : NULL;
    if (check_at(w, check)->group > 1)
        return true;
    return s && s->state >= SEAT_RUNS && strcmp(v->trial->check, check_at(w, check)->name) == 0;
}

void seat_end(struct watch *w, struct mono now, struct seat *s, bool ran, enum result r, const char *why)
{
    if (!ran)
        health_state_of(w, seat_member(w, s))->trial_rest = mono_add(now, span_s(REST_S));
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
        health_state_of(w, m)->said[place] |= SAID_ANSWERED;
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
    return seat_is_kept(t, s, m) && watch_live(w, m) && watch_work(w, m) == WORK_IDLE &&
           held_check(w, m, NULL) == 0;
}

void seat_call(struct watch *w, struct seat *s, size_t run)
{
    s->state = SEAT_CALLED;
    s->of = run;
    s->run = ++w->trials->runs;
    memcpy(s->boot, watch_of(w, seat_member(w, s))->boot, sizeof s->boot);
    free(STEAL(s->said));
}

void trials_yield(struct watch *w)
{
    struct mono at;
    if (isolation_wants_room(w, &at) && w->trials->first)
        w->trials->yield = at;
}
