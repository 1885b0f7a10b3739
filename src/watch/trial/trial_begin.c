/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes are held for which check. In a sweep, every node that is due and looks free is noted; a node
 * that is not due costs one comparison. At the end of the sweep the nodes that are longest overdue are looked
 * at in full and held, as many as there is room for.
 */
#include "watch/brake/brake.h"
#include "watch/budget/budget.h"
#include "watch/health/health.h"
#include "watch/incident/incident.h"
#include "watch/incident/shell.h"
#include "watch/outside/outside.h"
#include "watch/trial/trial.h"
#include "watch/trial/trial_begin_inside.h"
#include "watch/trial/trial_inside.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES_MAX = 4096, /* in a sweep, those longest overdue; twice as many during the sweep */
    TRIES_MAX = 32,        /* to begin a trial, in a sweep */
    LOOKS_MAX = 512,       /* at candidates in full, in a sweep */
    AGAIN_S = 30,      /* before the next look at a node that may not run the check, or finds no company */
    YIELD_REST_S = 60, /* after ill nodes needed the room */
    WAIT_PART = 4      /* of an examination's time, to wait for enough partners to tell whose fault it is */
};

void trial_reconfigure(struct watch *w)
{
    w->trial_begin->wish = (struct trial_wish){.member = w->trial_begin->wish.member};
    free(w->trial_begin->scheduled);
    w->trial_begin->scheduled = mem_alloc((check_count(w) + 1) * sizeof *w->trial_begin->scheduled);
    w->trial_begin->n_scheduled = 0;
    w->trial_begin->n_candidates = 0;
    w->trials->may = false;
    for (size_t i = 0; i < check_count(w); i++)
        if (check_at(w, i)->when & CHECK_SCHEDULED)
            w->trial_begin->scheduled[w->trial_begin->n_scheduled++] = (uint16_t)i;
}

/* --- which nodes are due ------------------------------------------------------------------------ */

static int64_t due_of(const struct member *m, const struct check *k)
{
    const struct tried *last = trial_last(member_trial(m), k->name);
    if (!last)
        return 0;
    /* A node that failed and is back in service has to show that it is well. */
    return last->result >= RESULT_FATAL ? last->at.ns : last->at.ns + k->every.ns;
}

static void find_due(const struct watch *w, const struct member *m, struct health_state *v)
{
    v->trial_known = true;
    v->trial_due.ns = INT64_MAX;
    for (size_t i = 0; i < w->trial_begin->n_scheduled; i++) {
        int64_t due = check_runs(w, m, w->trial_begin->scheduled[i])
                          ? due_of(m, check_at(w, w->trial_begin->scheduled[i]))
                          : INT64_MAX;
        if (due >= v->trial_due.ns)
            continue;
        v->trial_due.ns = due;
        v->trial_check = w->trial_begin->scheduled[i];
    }
}

static int longest_overdue(const void *a, const void *b)
{
    const struct trial_due *x = a, *y = b;
    if (x->due_ns != y->due_ns)
        return x->due_ns < y->due_ns ? -1 : 1;
    if (x->check != y->check)
        return x->check < y->check ? -1 : 1;
    return x->member < y->member ? -1 : x->member > y->member;
}

static void sort_candidates(struct watch *w)
{
    if (w->trial_begin->n_candidates)
        qsort(w->trial_begin->candidates, w->trial_begin->n_candidates, sizeof *w->trial_begin->candidates,
              longest_overdue);
    if (w->trial_begin->n_candidates > CANDIDATES_MAX)
        w->trial_begin->n_candidates = CANDIDATES_MAX;
}

static void add_candidate(struct watch *w, const struct member *m, const struct health_state *v)
{
    if (w->trial_begin->n_candidates == w->trial_begin->candidates_cap) {
        if (w->trial_begin->n_candidates == 2 * CANDIDATES_MAX)
            sort_candidates(w);
        else
            w->trial_begin->candidates_cap =
                w->trial_begin->candidates_cap ? 2 * w->trial_begin->candidates_cap : 64;
        w->trial_begin->candidates = mem_grow(
            w->trial_begin->candidates, w->trial_begin->candidates_cap * sizeof *w->trial_begin->candidates);
    }
    w->trial_begin->candidates[w->trial_begin->n_candidates++] =
        (struct trial_due){v->trial_due.ns, v->trial_check, m->id};
}

/* A node without its inventory could not be taken, and would then rest although the inventory comes in a
 * moment. */
static bool looks_free(const struct watch *w, struct mono now, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    return now.ns >= health_state_find(w, m)->trial_rest.ns && m->listed && !m->n_claims &&
           watch_live(w, m) && watch_work(w, m) == WORK_IDLE && o->report.json && !o->away;
}

void trial_note_due(struct watch *w, struct mono now, const struct member *m)
{
    struct health_state *v = health_state_find(w, m);
    if (!v->trial_known)
        find_due(w, m, v);
    if (w->wall.ns >= v->trial_due.ns && looks_free(w, now, m))
        add_candidate(w, m, v);
}

/* --- which nodes may run a check ---------------------------------------------------------------- */

/* The worst that is known about m, without the findings of this check. */
static enum result worst_beside(const struct watch *w, struct mono now, const struct member *m, size_t check)
{
    const struct health_state *v = health_state_find(w, m);
    const struct ailment *a = member_ailment(m);
    enum result worst = outside_worst(w, now, m);
    for (size_t k = 0; k < v->n_sayings; k++) {
        size_t i = v->sayings[k].check;
        enum result r = i != check && said_assigned(v, i) && !check_at(w, i)->observe ? said_now(w, now, m, i)
                                                                                      : RESULT_OK;
        worst = r > worst ? r : worst;
    }
    for (size_t i = 0; a && i < a->n_open; i++)
        for (size_t k = 0; !a->open[i].observe && k < a->open[i].n; k++)
            if (strcmp(a->open[i].findings[k].check, check_at(w, check)->name) != 0 &&
                a->open[i].findings[k].f.result > worst)
                worst = a->open[i].findings[k].f.result;
    return worst;
}

/* A node that only this check found ill is tried again when it is due. */
static bool is_well(const struct watch *w, struct mono now, const struct member *m, size_t check)
{
    const struct tried *last = trial_last(member_trial(m), check_at(w, check)->name);
    bool early = last && w->wall.ns < last->at.ns + check_at(w, check)->every.ns;
    enum result worst = early ? health_worst(w, now, m) : worst_beside(w, now, m, check);
    return worst < RESULT_DEGRADED;
}

static bool may_run(const struct watch *w, struct mono now, const struct member *m, size_t check)
{
    CLEANUP_TEXT struct text claims = {0}, shortfall = {0};
    const struct health_state *v = health_state_find(w, m);
    struct fitness f;
    if (cluster_excepts(w->cluster, m) || v->trial || v->asked || v->isolating || m->n_claims ||
        member_treated(m) || member_override(m) || watch_work(w, m) != WORK_IDLE ||
        !is_well(w, now, m, check))
        return false;
    watch_fitness(w, mono_add(now, w->stood_still), m, &claims, &shortfall, &f);
    f.ill = false; /* was judged above */
    return lifecycle_of(&f.agreed) == LIFECYCLE_AVAILABLE && lifecycle_schedulable(&f, NULL);
}

/* --- holding ---------------------------------------------------------------------------------- */

static unsigned held_nodes(const struct watch *w)
{
    unsigned n = 0;
    for (const struct trial *t = w->trials->first; t; t = t->next)
        for (size_t i = t->examines; i < t->n; i++)
            n += t->seats[i].state != SEAT_LEFT;
    return n;
}

/* How many nodes may be held for a check: its share, or at least one group with enough nodes to tell whose
 * fault it is. */
static unsigned most_for(struct watch *w, const struct check *k)
{
    unsigned percent = w->policy.health.trials_percent, least = 1;
    unsigned share = (unsigned)((uint64_t)budget_listed(w) * percent / 100);
    if (k->group > 1)
        least = k->group + GROUP_WITNESSES;
    return !percent ? 0 : share > least ? share : least;
}

/* Nodes that run a check together are of one class and one topology group. */
static bool goes_with(const struct watch *w, size_t check, uint32_t first, const struct member *m)
{
    const struct member *a = cluster_by_id(w->cluster, first);
    return check_at(w, check)->group == 1 || (a->class == m->class && a->spec.group == m->spec.group);
}

static int by_member(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    return x->member < y->member ? -1 : x->member > y->member;
}

static struct span limit_of(const struct check *k)
{
    int64_t rounds = k->group > 1 ? TRIAL_ROUNDS_MAX : 1;
    return (struct span){span_s(TRIAL_HOLD_S).ns + rounds * (k->deadline.ns + span_s(TRIAL_MARGIN_S).ns)};
}

static bool trial_begin_propose(struct watch *w, const struct trial *t, struct span limit)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    struct command cmd = {.kind = COMMAND_TRIAL_BEGIN,
                          .nodes = &nodes,
                          .trial_begin = {.deadline_s = (uint64_t)(limit.ns / span_s(1).ns)}};
    snprintf(cmd.trial_begin.check, sizeof cmd.trial_begin.check, "%s", t->check);
    if (t->examines)
        cmd.trial_begin.examines = seat_member(w, &t->seats[0])->name;
    for (size_t i = 0; i < t->n; i++)
        hostlist_add(&nodes, seat_member(w, &t->seats[i])->name);
    return w->sink.propose(w->sink.arg, &cmd);
}

/* Whether m takes part. A node that may not is not looked at again at once. */
static bool takes_part(struct watch *w, struct mono now, const struct member *m, size_t check)
{
    if (!budget_room(w, m))
        return false;
    if (may_run(w, now, m, check))
        return true;
    health_state_of(w, m)->trial_rest = mono_add(now, span_s(AGAIN_S));
    return false;
}

/* Holds the members of the trial. False when there are too few of them, and none is held. */
static bool trial_begin_hold(struct watch *w, struct trial *t, const struct check *k, size_t least)
{
    bool enough = t->n >= least;
    if (enough && k->group > 1)
        t->grouping = grouping_create(t->n, k->group);
    if (!enough || !trial_begin_propose(w, t, limit_of(k)))
        trial_drop(w, t);
    return enough;
}

/* Holds the candidate and the nodes that go with it. */
static void begin_with(struct watch *w, struct mono now, const struct trial_due *first, unsigned room,
                       unsigned *looks)
{
    const struct check *k = check_at(w, first->check);
    struct trial *t = trial_add(w, now, k->name, k->group, limit_of(k));
    const struct trial_due *end = w->trial_begin->candidates + w->trial_begin->n_candidates;
    for (const struct trial_due *c = first; c < end && *looks && t->n < room && t->n < TRIAL_NODES_MAX; c++) {
        const struct member *m = cluster_by_id(w->cluster, c->member);
        if (c->check != first->check || !goes_with(w, c->check, first->member, m))
            continue;
        --*looks;
        if (takes_part(w, now, m, c->check))
            trial_seat(w, t, m);
    }
    if (t->n)
        qsort(t->seats, t->n, sizeof *t->seats, by_member);
    if (!trial_begin_hold(w, t, k, k->group))
        health_state_of(w, cluster_by_id(w->cluster, first->member))->trial_rest =
            mono_add(now, span_s(AGAIN_S));
}

/* Whether any node may be held. */
static bool may_hold(const struct watch *w, struct mono now)
{
    bool yields = w->trials->yield.ns && within(now, w->trials->yield, YIELD_REST_S);
    return w->policy.health.trials_percent && brake_stopped(w, NULL) == 0 && !budget_is_waited_for(w) &&
           !yields;
}

/* --- for one that is examined ----------------------------------------------------------------- */

/* The order of turns: the members after the last one, in their order, then those from the first member on. */
static uint32_t turn_of(const struct trial_wish *x, uint32_t member)
{
    return member - x->member - 1;
}

void trial_ask(struct watch *w, struct mono now, const struct member *m, size_t check)
{
    struct trial_wish *x = &w->trial_begin->wish;
    const struct health_state *v = health_state_of(w, m);
    if (v->trial || now.ns < v->trial_rest.ns || (x->asked && turn_of(x, m->id) >= turn_of(x, x->next)))
        return;
    x->asked = true;
    x->next = m->id;
    x->next_check = (uint16_t)check;
}

/* A node that ran the check with others and has not passed since comes last, so that the next try does not
 * meet it first. Otherwise the node whose last run is the oldest comes first, so that each has its turn. */
static bool goes_before(const struct partner *a, const struct partner *b)
{
    return a->doubt_ns != b->doubt_ns ? a->doubt_ns < b->doubt_ns : a->ran_ns < b->ran_ns;
}

static void add_partner(struct trial_wish *x, const struct partner *p)
{
    bool full = x->n == PARTNERS_MAX;
    if (full && !goes_before(p, &x->partners[x->n - 1]))
        return;
    size_t i = full ? x->n - 1 : x->n++;
    for (; i > 0 && goes_before(p, &x->partners[i - 1]); i--)
        x->partners[i] = x->partners[i - 1];
    x->partners[i] = *p;
}

void trial_note_partner(struct watch *w, struct mono now, const struct member *m)
{
    struct trial_wish *x = &w->trial_begin->wish;
    if (!x->noting || m->id == x->member || !goes_with(w, x->check, x->member, m) ||
        !check_runs(w, m, x->check))
        return;
    const struct health_state *v = health_state_find(w, m);
    const struct agreed a = member_agreed(m);
    x->in_service += lifecycle_of(&a) == LIFECYCLE_AVAILABLE || trial_holds(w, m);
    if (!v || v->trial || !looks_free(w, now, m))
        return;
    const struct tried *last = trial_last(member_trial(m), check_at(w, x->check)->name);
    add_partner(x, &(struct partner){v->trial_doubt.ns, last ? last->at.ns : 0, m->id});
}

/* How many partners suffice to tell whose fault it is. */
static size_t partners_wanted(const struct check *k)
{
    return k->group + GROUP_WITNESSES - 1;
}

/* How many partners must be free for the trial to begin: as many as suffice, or all when fewer are in
 * service. When a part of the examination's time is over, one group is enough. */
static size_t partners_needed(const struct watch *w, struct mono now)
{
    const struct trial_wish *x = &w->trial_begin->wish;
    const struct check *k = check_at(w, x->check);
    const struct health_state *v = health_state_find(w, cluster_by_id(w->cluster, x->member));
    size_t most = partners_wanted(k), least = k->group - 1;
    if (mono_sub(now, v->stage_at).ns >= mono_sub(v->stage_due, v->stage_at).ns / WAIT_PART ||
        x->in_service < least)
        return least;
    return x->in_service < most ? x->in_service : most;
}

static void begin_examination(struct watch *w, struct mono now, size_t needed)
{
    const struct trial_wish *x = &w->trial_begin->wish;
    const struct check *k = check_at(w, x->check);
    const struct member *m = cluster_by_id(w->cluster, x->member);
    struct trial *t = trial_add(w, now, k->name, k->group, limit_of(k));
    t->examines = true;
    t->stage = member_repair(m)->since;
    trial_seat(w, t, m);
    for (size_t i = 0; i < x->n && t->n <= partners_wanted(k); i++) {
        const struct member *partner = cluster_by_id(w->cluster, x->partners[i].member);
        if (!health_state_find(w, partner)->trial && takes_part(w, now, partner, x->check))
            trial_seat(w, t, partner);
    }
    trial_begin_hold(w, t, k, needed + 1);
}

static bool is_wanted(struct watch *w, struct mono now, const struct trial_wish *x)
{
    const struct member *m = cluster_by_id(w->cluster, x->member);
    return x->noting && trial_waits(w, m, x->check) && !health_asked(health_state_find(w, m), now) &&
           brake_operate(w, now, m, NULL, NULL) == 0;
}

/* True while enough partners are free and there is no room to hold them: scheduled trials must not take the
 * room. */
static bool trial_begin_grant(struct watch *w, struct mono now)
{
    const struct trial_wish *x = &w->trial_begin->wish;
    if (!may_hold(w, now) || !is_wanted(w, now, x))
        return false;
    const struct check *k = check_at(w, x->check);
    size_t needed = partners_needed(w, now), most = partners_wanted(k);
    if (x->n < needed)
        return false;
    if (held_nodes(w) + (x->n < most ? x->n : most) > most_for(w, k))
        return true;
    begin_examination(w, now, needed);
    return false;
}

/* Partners are noted for a whole sweep: again for the same node, or for the next node that asked. */
static void take_turn(struct trial_wish *x, bool again)
{
    if (!again) {
        x->noting = x->asked;
        x->member = x->asked ? x->next : x->member;
        x->check = x->next_check;
    }
    x->asked = false;
    x->in_service = x->n = 0;
}

/* For some check more nodes may be held. */
static bool any_share_left(struct watch *w, unsigned held)
{
    for (size_t i = 0; i < w->trial_begin->n_scheduled; i++)
        if (held < most_for(w, check_at(w, w->trial_begin->scheduled[i])))
            return true;
    return false;
}

void trial_end_sweep(struct watch *w)
{
    struct mono now = watch_awake(w, w->last_tick);
    trials_yield(w);
    bool waits = trial_begin_grant(w, now), may = !waits && w->trial_begin->n_scheduled && may_hold(w, now);
    unsigned tries = TRIES_MAX, looks = LOOKS_MAX, held = held_nodes(w);
    sort_candidates(w);
    for (size_t i = 0; may && tries && looks && i < w->trial_begin->n_candidates; i++) {
        const struct trial_due *c = &w->trial_begin->candidates[i];
        unsigned most = most_for(w, check_at(w, c->check));
        if (held >= most || health_state_find(w, cluster_by_id(w->cluster, c->member))->trial)
            continue;
        tries--;
        begin_with(w, now, c, most - held, &looks);
        held = held_nodes(w);
    }
    take_turn(&w->trial_begin->wish, waits);
    w->trial_begin->n_candidates = 0;
    w->trials->may =
        may && (!w->trials->first || any_share_left(w, held)); /* otherwise no node has to be noted */
}

void trial_begin_fini(struct watch *w)
{
    free(w->trial_begin->candidates);
    free(w->trial_begin->scheduled);
}
