/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial of a check that several nodes run together: round after round, as health/group.h asks for them. At
 * the end it judges each node, and what lies between the nodes. A run with a node whose part ended early does
 * not count.
 */
#include "health/group.h"
#include "watch/health/health.h"
#include "watch/incident/incident.h"
#include "watch/trial/trial_group_inside.h"
#include "watch/trial/trial_inside.h"
#include "watch/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 4 };

/* --- runs ------------------------------------------------------------------------------------- */

static bool is_out(const struct seat *s)
{
    return s->state >= SEAT_OVER;
}

/* Whether a result counts as a failure of this check. A finding is never worse than the check's severity. */
static bool trial_group_fails(const struct check *k, enum result r)
{
    return r >= (k->severity < RESULT_DEGRADED ? k->severity : RESULT_DEGRADED);
}

static enum run_result result_of(const struct trial *t, const struct run *r, const struct check *k)
{
    bool passes = true, failed = false, any_out = false;
    for (size_t i = 0; i < r->n; i++) {
        const struct seat *s = &t->seats[r->nodes[i]];
        if (s->state == SEAT_CALLED || s->state == SEAT_RUNS)
            return RUN_PENDING;
        any_out |= is_out(s);
        failed |= s->state == SEAT_HEARD && trial_group_fails(k, s->said->result);
        passes &= s->state == SEAT_HEARD && s->said->result >= RESULT_OK;
    }
    if (any_out)
        return RUN_UNKNOWN; /* the other results may be the consequence */
    return failed ? RUN_FAIL : passes ? RUN_PASS : RUN_UNKNOWN;
}

/* A node that cannot run the check leaves the group. */
static void leave_unsupported(struct watch *w, struct mono now, struct trial *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct seat *s = &t->seats[i];
        if (!is_out(s) && s->state == SEAT_HEARD && s->said->result == RESULT_UNSUPPORTED)
            seat_conclude(w, now, t, s, s->said);
    }
}

static const char *words_of(const struct verdict *v)
{
    return !v ? "" : v->n ? v->findings[0].text : v->text;
}

static const char *failed_words(const struct seat *s, const struct check *k)
{
    return s->state == SEAT_HEARD && trial_group_fails(k, s->said->result) ? words_of(s->said) : "";
}

/* Notes the words of a failed run. A node without words of its own gets those of its partner, which has the
 * tool's output. */
static void note_failed(struct trial *t, const struct run *r, const struct check *k)
{
    const char *told = "";
    for (size_t i = r->n; i-- > 0;) {
        const char *own = failed_words(&t->seats[r->nodes[i]], k);
        told = *own ? own : told;
    }
    for (size_t i = 0; i < r->n; i++) {
        struct seat *s = &t->seats[r->nodes[i]];
        const char *own = failed_words(s, k);
        free(s->failed);
        s->failed = mem_dup(*own ? own : told);
    }
}

/* False while a run is pending. */
static bool take_results(struct trial *t, const struct check *k)
{
    bool all = true;
    for (size_t i = 0; i < grouping_runs(t->grouping); i++) {
        const struct run *r = grouping_run(t->grouping, i);
        enum run_result came = r->result == RUN_PENDING ? result_of(t, r, k) : r->result;
        if (r->result == RUN_PENDING && came == RUN_FAIL)
            note_failed(t, r, k);
        if (r->result == RUN_PENDING && came != RUN_PENDING)
            grouping_set(t->grouping, i, came);
        all &= came != RUN_PENDING;
    }
    return all;
}

/* Begins a run. Its nodes are suspects until they pass. */
static void call_run(struct watch *w, struct mono now, struct trial *t, size_t i)
{
    const struct run *r = grouping_run(t->grouping, i);
    bool any_out = false;
    for (size_t k = 0; k < r->n; k++)
        any_out |= is_out(&t->seats[r->nodes[k]]);
    for (size_t k = 0; !any_out && k < r->n; k++) {
        seat_call(w, &t->seats[r->nodes[k]], i);
        health_state_of(w, seat_member(w, &t->seats[r->nodes[k]]))->trial_doubt = now;
    }
}

/* False when there is nothing more to find out. */
static bool call_round(struct watch *w, struct mono now, struct trial *t)
{
    size_t n = t->rounds++ < TRIAL_ROUNDS_MAX ? grouping_next(t->grouping) : 0;
    size_t all = grouping_runs(t->grouping);
    for (size_t i = all - n; i < all; i++)
        call_run(w, now, t, i);
    return n > 0;
}

/* --- the verdicts ------------------------------------------------------------------------------ */

/* The other nodes of the runs of this node with this result: "n3 and n7". */
static void say_partners(const struct watch *w, const struct trial *t, size_t place, enum run_result result,
                         bool pairs, struct text *out)
{
    const struct member *found[NAMED_MAX];
    size_t n = 0, more = 0;
    for (size_t i = 0; i < grouping_runs(t->grouping); i++) {
        const struct run *r = grouping_run(t->grouping, i);
        bool in = false;
        for (size_t k = 0; k < r->n; k++)
            in |= r->nodes[k] == place;
        for (size_t k = 0; in && r->result == result && (!pairs || r->n == 2) && k < r->n; k++) {
            const struct seat *s = &t->seats[r->nodes[k]];
            bool known = r->nodes[k] == place;
            for (size_t j = 0; j < n; j++)
                known |= found[j]->id == s->member;
            if (known)
                continue;
            if (n < NAMED_MAX)
                found[n++] = seat_member(w, s);
            else
                more++;
        }
    }
    for (size_t j = 0; j < n; j++)
        text_printf(out, "%s%s", !j ? "" : j + 1 < n || more ? ", " : " and ", found[j]->name);
    if (more)
        text_printf(out, " and others");
    text_add(out, "");
}

static void trial_group_judge(const struct watch *w, const struct trial *t, size_t place,
                              const struct check *k, struct verdict *x)
{
    CLEANUP_TEXT struct text with = {0}, passed = {0};
    const struct verdict *said = t->seats[place].said;
    enum node_verdict v = grouping_verdict(t->grouping, (uint32_t)place);
    const char *words = t->seats[place].failed ? t->seats[place].failed : "";
    say_partners(w, t, place, RUN_FAIL, v == NODE_BAD, &with);
    say_partners(w, t, place, RUN_PASS, false, &passed);
    verdict_clear(x);
    switch (v) {
    case NODE_GOOD: verdict_note(x, "passed with %s", passed.s); break;
    case NODE_BAD:
        verdict_add(x, k->severity, "", "", "failed with %s, which passed with others%s%s", with.s,
                    *words ? ": " : "", words);
        break;
    case NODE_SUSPECT:
        if (t->examines) { /* a node that was ill before needs no warning */
            verdict_cannot(x, RESULT_UNKNOWN, "failed with %s, and too few others can tell whose fault it is",
                           with.s);
            break;
        }
        verdict_add(x, k->severity < RESULT_WARN ? k->severity : RESULT_WARN, "", "",
                    "failed with %s, and too few others can tell whose fault it is%s%s", with.s,
                    *words ? ": " : "", words);
        break;
    case NODE_UNTRIED:
        verdict_cannot(x, RESULT_UNKNOWN, "%s", *words_of(said) ? words_of(said) : "it came to no answer");
        break;
    }
}

/* --- what lies between the nodes --------------------------------------------------------------- */

static char *fold_run(const struct watch *w, const struct trial *t, const struct run *r)
{
    CLEANUP_FREE const char **names = mem_alloc((r->n + 1) * sizeof *names);
    for (size_t i = 0; i < r->n; i++)
        names[i] = seat_member(w, &t->seats[r->nodes[i]])->name;
    return hostlist_fold(names, r->n);
}

static void shared_key(const struct trial *t, const char *nodes, struct text *key)
{
    text_printf(key, SHARED_BY_TRIAL "%s %.*s", t->check,
                (int)(SHARED_KEY_BYTES_MAX - strlen(SHARED_BY_TRIAL) - strlen(t->check) - 1), nodes);
}

static void propose_shared(struct watch *w, const char *key, const char *nodes, const char *why,
                           enum result severity)
{
    const struct hostlist nobody = {0};
    w->sink.propose(
        w->sink.arg,
        &(struct command){.kind = COMMAND_SHARED, .nodes = &nobody, .shared = {key, nodes, why, severity}});
}

static void trial_group_declare(struct watch *w, const struct trial *t, const struct run *r,
                                const struct check *k)
{
    CLEANUP_FREE char *nodes = fold_run(w, t, r);
    CLEANUP_TEXT struct text key = {0}, why = {0};
    const char *a = seat_member(w, &t->seats[r->nodes[0]])->name;
    const char *b = seat_member(w, &t->seats[r->nodes[r->n - 1]])->name;
    if (r->n == 2)
        text_printf(&why, "%s fails between %s and %s, and each of them passes with others", t->check, a, b);
    else
        text_printf(&why, "%s fails among all of them, and each half of them passes", t->check);
    shared_key(t, nodes, &key);
    propose_shared(w, key.s, nodes, why.s, k->severity);
}

static bool found_again(const struct watch *w, const struct trial *t, const char *key)
{
    for (size_t i = 0; i < grouping_runs(t->grouping); i++) {
        CLEANUP_TEXT struct text is = {0};
        if (!grouping_shared(t->grouping, i))
            continue;
        CLEANUP_FREE char *nodes = fold_run(w, t, grouping_run(t->grouping, i));
        shared_key(t, nodes, &is);
        if (strcmp(is.s, key) == 0)
            return true;
    }
    return false;
}

struct ending {
    struct watch *w;
    const struct trial *t;
    struct text keys; /* of causes that are over, each with its terminator */
};

static bool has_member(const struct trial *t, const struct run *r, const struct member *m)
{
    for (size_t i = 0; i < r->n; i++)
        if (m && t->seats[r->nodes[i]].member == m->id)
            return true;
    return false;
}

/* A run with all of these nodes passed. */
static bool passed_together(const struct watch *w, const struct trial *t, const struct hostlist *nodes)
{
    for (size_t i = 0; i < grouping_runs(t->grouping); i++) {
        const struct run *r = grouping_run(t->grouping, i);
        size_t n = 0;
        for (size_t k = 0; r->result == RUN_PASS && k < nodes->n; k++)
            n += has_member(t, r, cluster_find(w->cluster, nodes->names[k]));
        if (n && n == nodes->n)
            return true;
    }
    return false;
}

/* Notes a cause that was not found again, although all its nodes took part. In the trial of an examined node,
 * which meets others each time, they must also have passed together. */
static void note_over(void *arg, const struct shared_cause *s)
{
    struct ending *x = arg;
    CLEANUP_TEXT struct text prefix = {0};
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    text_printf(&prefix, SHARED_BY_TRIAL "%s ", x->t->check);
    if (strncmp(s->key, prefix.s, prefix.len) != 0 || hostlist_parse(s->nodes, &nodes, NULL) < 0)
        return;
    for (size_t i = 0; i < nodes.n; i++) {
        const struct member *m = cluster_find(x->w->cluster, nodes.names[i]);
        bool good = false;
        for (size_t k = 0; m && k < x->t->n; k++)
            good |=
                x->t->seats[k].member == m->id && grouping_verdict(x->t->grouping, (uint32_t)k) == NODE_GOOD;
        if (!good && m && m->listed)
            return;
    }
    if (x->t->examines && !passed_together(x->w, x->t, &nodes))
        return;
    if (!found_again(x->w, x->t, s->key))
        text_add_bytes(&x->keys, s->key, strlen(s->key) + 1);
}

static void judge_between(struct watch *w, const struct trial *t, const struct check *k)
{
    struct ending x = {.w = w, .t = t};
    cluster_each_shared(w->cluster, note_over, &x);
    for (size_t at = 0; at < x.keys.len; at += strlen(x.keys.s + at) + 1)
        propose_shared(w, x.keys.s + at, "", "", k->severity);
    text_fini(&x.keys);
    for (size_t i = 0; i < grouping_runs(t->grouping); i++)
        if (grouping_shared(t->grouping, i))
            trial_group_declare(w, t, grouping_run(t->grouping, i), k);
}

/* --- going on --------------------------------------------------------------------------------- */

static void trial_group_conclude(struct watch *w, struct mono now, struct trial *t, const struct check *k)
{
    CLEANUP_FREE struct verdict *x = mem_alloc(sizeof *x);
    judge_between(w, t, k);
    for (size_t i = 0; i < t->n; i++) {
        if (is_out(&t->seats[i]))
            continue;
        trial_group_judge(w, t, i, k, x);
        if (x->result == RESULT_OK)
            health_state_of(w, seat_member(w, &t->seats[i]))->trial_doubt = (struct mono){0};
        seat_conclude(w, now, t, &t->seats[i], x);
    }
}

/* Counts the members that wait for the hold, and all that are left. */
static size_t count_waiting(const struct watch *w, const struct trial *t, size_t *left)
{
    size_t waiting = 0;
    *left = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct seat *s = &t->seats[i];
        *left += !is_out(s);
        waiting += !is_out(s) && !seat_ready(w, t, s);
    }
    return waiting;
}

static void give_up(struct watch *w, struct mono now, struct trial *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (!is_out(&t->seats[i]))
            seat_fail(w, now, t, &t->seats[i], "too few are left to run it together");
}

void trial_group_go(struct watch *w, struct mono now, struct trial *t, const struct check *k)
{
    size_t left, waiting = count_waiting(w, t, &left);
    if (left < 2) {
        give_up(w, now, t);
        return;
    }
    if (!t->called && waiting)
        return;
    leave_unsupported(w, now, t);
    if (t->called && !take_results(t, k))
        return;
    t->called = true;
    if (!call_round(w, now, t))
        trial_group_conclude(w, now, t, k);
}
