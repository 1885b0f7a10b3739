/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials: the controller's hand, which has nodes run what the watch says and tells it what came of it, late
 * or never; and what has to hold of them:
 *
 *   whoever is held for a check has a record that says for which             trial_after
 *   no more are held than may be, beside those who are out otherwise (6)     trial_after, mend_budgets
 *   nothing is begun while work runs, or on what is not held or examined (5) on_run
 *   nothing is begun while a person holds it in the scheduler (13)           on_run
 *   in the end nobody is held for long, and no record says so                trial_all_well
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t SECOND = INT64_C(1000000000);

enum {
    LONGEST_S = 600, /* twice what the longest trial here may take */
    LOST_S = 9       /* a begin that is not recorded by then */
};

/* --- the controller's part -------------------------------------------------------------------- */

/* In the extensive stage, which cannot run anything else. */
static bool is_examined(const struct member *m)
{
    const struct repair *r = member_repair(m);
    return r && r->step == STEP_EXAMINE && m->n_claims == 1 && member_trial(m) && *member_trial(m)->claim;
}

static void on_run(void *arg, struct member *m, const struct trial_run *r)
{
    struct sim *s = arg;
    int i = sim_index(s, m->name);
    struct patient *p = &s->patients[i];
    if (r->stop) {
        p->trial.on = false;
        return;
    }
    s->tried++;
    s->examined += is_examined(m);
    if (!member_held_by(m, CLAIM_TRIAL) && !is_examined(m))
        sim_fail(s, "%s runs %s, and is not held for it (5)", m->name, r->check);
    if (s->slurm && s->nodes[i].busy)
        sim_fail(s, "%s runs %s while work runs (5)", m->name, r->check);
    if (cluster_switch(s->cluster, "stop") || cluster_switch(s->cluster, "latch"))
        sim_fail(s, "%s runs %s while everything is stopped (6)", m->name, r->check);
    held_over(s, i, r->check);
    p->trial.on = true;
    p->trial.hangs = !s->calm && sim_random(s, 10) == 0;
    p->trial.run = r->run;
    p->trial.ends = s->now + (int64_t)(1 + sim_random(s, 60)) * STEP_NS;
    p->trial.deadline = s->now + r->deadline.ns;
}

static void answer(struct sim *s, struct patient *p)
{
    static const enum result results[] = {RESULT_OK,    RESULT_OK,      RESULT_OK,
                                          RESULT_FATAL, RESULT_UNKNOWN, RESULT_UNSUPPORTED};
    struct verdict v;
    verdict_clear(&v);
    enum result r = results[sim_random(s, sizeof results / sizeof results[0])];
    if (r == RESULT_FATAL)
        verdict_add(&v, r, "", "", "slow");
    else if (r != RESULT_OK)
        verdict_cannot(&v, r, "no idea");
    else
        verdict_note(&v, "latency %d ns", 80 + (int)sim_random(s, 8));
    p->trial.on = false;
    watch_tried(s->watch, p->trial.run, &v, "");
}

void trial_turn(struct sim *s)
{
    watch_trials(s->watch, (struct mono){s->now}, on_run, s);
    for (size_t i = 0; i < s->n; i++) {
        struct patient *p = &s->patients[i];
        if (!p->trial.on)
            continue;
        if (s->now >= p->trial.deadline) {
            p->trial.on = false;
            watch_tried(s->watch, p->trial.run, NULL, "no answer in time");
        } else if (s->now >= p->trial.ends && !p->trial.hangs) {
            answer(s, p);
        }
    }
}

/* --- what has to hold ------------------------------------------------------------------------- */

static const struct claim *trial_claim(const struct member *m)
{
    for (size_t i = 0; m && i < m->n_claims; i++)
        if (m->claims[i].claim->kind == CLAIM_TRIAL)
            return m->claims[i].claim;
    return NULL;
}

static void check_number(struct sim *s)
{
    size_t held = 0, listed = 0;
    if (s->now - s->reload_at < 15 * SECOND || s->now - s->late_at < 15 * SECOND)
        return;
    for (size_t i = 0; i < s->n; i++) {
        held += trial_claim(cluster_find(s->cluster, s->nodes[i].name)) != NULL;
        listed += s->listed[i];
    }
    size_t share = listed * s->policy.health.trials_percent / 100, least = 4; /* a pair and two witnesses */
    size_t most = !s->policy.health.trials_percent ? 0 : share > least ? share : least;
    if (held > most)
        sim_fail(s, "%zu nodes are held for checks, and %zu may be (6)", held, most);
}

void trial_after(struct sim *s, const struct job *j)
{
    bool begins = j->kind == COMMAND_TRIAL_BEGIN;
    s->trials += begins;
    s->measured += j->kind == COMMAND_MEASURED;
    if (begins && s->now - j->asked_at > LOST_S * SECOND)
        s->late_at = s->now;
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        const struct claim *c = trial_claim(m);
        if (!c)
            continue;
        const struct trial_record *r = member_trial(m);
        if (!r || strcmp(r->claim, c->id) != 0)
            sim_fail(s, "%s has a claim %s of no trial", m->name, c->id);
        if (begins && strcmp(c->id, j->claim) == 0)
            mend_budgets(s, (int)i);
    }
    if (begins)
        check_number(s);
}

bool trial_all_well(const struct sim *s, char *why, size_t size)
{
    int64_t now = INT64_C(1700000000000000000) + s->now + s->wall_step;
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        const struct claim *c = trial_claim(m);
        const struct trial_record *r = m ? member_trial(m) : NULL;
        int64_t since = c ? c->since.ns : r && *r->claim ? r->began.ns : now;
        if (now - since < LONGEST_S * SECOND)
            continue;
        snprintf(why, size, "%s is held for %s since %.0f s", m->name, c ? c->reason : r->check,
                 (double)(now - since) / 1e9);
        return false;
    }
    return true;
}
