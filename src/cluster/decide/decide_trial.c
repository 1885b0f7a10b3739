/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials: nodes are held for a check and released when it has run. All of them are held or none, by one
 * claim; they are released one by one or together. The claim holds the node, and the node's record says
 * which check it is held for. When a person took the claim back and left the record, the same TRIAL_END
 * removes it.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_NODES_MAX = 8 };

static int check_name(const char *check, struct err *e)
{
    return *check && text_is_clean(check) ? 0 : err_set(e, -EINVAL, "a trial of no check");
}

static int find_nodes(const struct cluster *c, const struct command *cmd, struct named *out, struct err *e)
{
    int rc = decide_find_named(c, cmd, 0, false, out, e);
    if (rc == 0 && (out->n == 0 || out->n > TRIAL_NODES_MAX))
        rc = err_set(e, -EINVAL, "a trial has 1 to %d nodes", TRIAL_NODES_MAX);
    return rc;
}

/* Without the trial under way, where there is one. The lists are the caller's to free. */
static void copy_without(const struct member *m, struct trial_record *out)
{
    const struct trial_record *is = member_trial(m);
    *out = (struct trial_record){.n_last = is ? is->n_last : 0};
    out->last = mem_alloc((out->n_last + 1) * sizeof *out->last);
    if (is)
        memcpy(out->last, is->last, out->n_last * sizeof *out->last);
}

static void put_back(const struct member *m, const struct trial_record *r, struct decision *d)
{
    bool forget = !*r->claim && r->n_last == 0;
    decision_add(d, "trial/", m->name, forget ? NULL : trial_record(r));
    hostlist_add(&d->changed, m->name);
}

/* --- TRIAL_BEGIN ------------------------------------------------------------------------------ */

static int check_free(const struct member *m, struct err *e)
{
    const struct agreed a = member_agreed(m);
    const struct trial_record *t = member_trial(m);
    if (m->n_claims || (t && *t->claim))
        return err_set(e, -EBUSY, "node \"%s\" is held already", m->name);
    if (lifecycle_of(&a) != LIFECYCLE_AVAILABLE)
        return err_set(e, -EBUSY, "node \"%s\" is %s", m->name, lifecycle_name(lifecycle_of(&a)));
    return 0;
}

/* Its repair holds the node, and no other claim does. */
static int check_examined(const struct member *m, struct err *e)
{
    const struct repair *r = member_repair(m);
    const struct trial_record *t = member_trial(m);
    if (!r || r->step != STEP_EXAMINE)
        return err_set(e, -EBUSY, "node \"%s\" is not examined", m->name);
    if (m->n_claims != 1 || (t && *t->claim))
        return err_set(e, -EBUSY, "node \"%s\" is held for something else, too", m->name);
    return 0;
}

/* All but the one that is examined; there is room in *held for all. */
static int find_held(const struct named *nodes, const char *examined, struct named *held, struct err *e)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct member *m = nodes->nodes[i];
        bool is_examined = strcmp(m->name, examined) == 0;
        int rc = is_examined ? check_examined(m, e) : check_free(m, e);
        if (rc < 0)
            return rc;
        if (!is_examined)
            held->nodes[held->n++] = m;
    }
    if (held->n == 0 || (*examined && held->n == nodes->n))
        return err_set(e, -EINVAL, "\"%s\" is examined alone, or is none of the nodes", examined);
    return 0;
}

static int decide_begin(const struct cluster *c, const struct command *cmd, const struct named *nodes,
                        struct decision *d, struct err *e)
{
    const struct trial_begin_command *says = &cmd->trial_begin;
    const char *examined = says->examines ? says->examines : "";
    CLEANUP_TEXT struct text why = {0};
    assert(cmd->claim && "a trial is a claim");
    if (check_name(says->check, e) < 0)
        return -EINVAL;
    CLEANUP_FREE struct member **members = mem_alloc(nodes->n * sizeof *members);
    struct named held = {0, members};
    int rc = find_held(nodes, examined, &held, e);
    if (rc == 0)
        rc = decide_check_brakes(c, e);
    if (rc == 0)
        rc = decide_check_budgets(c, &held, e);
    if (rc < 0)
        return rc;
    text_printf(&why, "check %s", says->check);
    if (*examined)
        text_printf(&why, ", to examine %s", examined);
    decide_claim(d, cmd, CLAIM_TRIAL, why.s, &held);
    d->takes_out = true;
    for (size_t i = 0; i < nodes->n; i++) {
        struct trial_record r;
        copy_without(nodes->nodes[i], &r);
        snprintf(r.claim, sizeof r.claim, "%s", cmd->claim);
        memcpy(r.check, says->check, sizeof r.check);
        r.began = cmd->at;
        r.deadline.ns = cmd->at.ns + (int64_t)says->deadline_s * INT64_C(1000000000);
        put_back(nodes->nodes[i], &r, d);
        free(r.last);
    }
    struct text t = {0};
    text_printf(&t, "%s (claim %s)", why.s, cmd->claim);
    d->text = text_take(&t);
    return 0;
}

/* --- TRIAL_END -------------------------------------------------------------------------------- */

/* NULL for a node on which it came to nothing that counts as a run. */
static const struct trial_result *result_of(const struct trial_end_command *x, const char *node)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->results[i].node, node) == 0)
            return &x->results[i];
    return NULL;
}

/* This is the check's last run now; above the limit the oldest is dropped. */
static void note_run(struct trial_record *r, const char *check, struct wall at, enum result result)
{
    assert(r->n_last <= TRIALS_KEPT_MAX);
    size_t i = 0;
    while (i < r->n_last && strcmp(r->last[i].check, check) != 0)
        i++;
    if (i == r->n_last && r->n_last < TRIALS_KEPT_MAX)
        r->n_last++;
    if (i == r->n_last)
        i--;
    memmove(r->last + 1, r->last, i * sizeof *r->last);
    r->last[0] = (struct tried){.at = at, .result = result};
    snprintf(r->last[0].check, sizeof r->last[0].check, "%s", check);
}

/* A trial that began in the present step of an examination is part of it. */
static void note_examined(const struct command *cmd, struct member *m, const struct tried *ran,
                          struct wall began, struct decision *d)
{
    const struct repair *is = member_repair(m);
    struct repair r;
    if (!is || is->step != STEP_EXAMINE || began.ns < is->since.ns || repair_ran(is, ran->check))
        return;
    assert(is->n_ran < CHECKS_MAX);
    CLEANUP_FREE struct ran_check *all = mem_alloc((is->n_ran + 1) * sizeof *all);
    for (size_t i = 0; i < is->n_ran; i++)
        all[i] = is->ran[i];
    all[is->n_ran].result = ran->result;
    memcpy(all[is->n_ran].check, ran->check, sizeof ran->check);
    repair_copy(&r, is);
    repair_take_ran(&r, all, is->n_ran + 1);
    repair_put(m, &r, d);
    repair_fini(&r);
}

/* False when nothing of this trial is left with it. */
static bool end_one(const struct command *cmd, struct member *m, const struct trial_end_command *x,
                    bool *leaves, struct decision *d)
{
    const struct trial_record *is = member_trial(m);
    const struct trial_result *result = result_of(x, m->name);
    bool runs = is && strcmp(is->claim, x->claim) == 0, holds = false;
    for (size_t i = 0; i < m->n_claims; i++)
        holds |= strcmp(m->claims[i].claim->id, x->claim) == 0 && m->claims[i].claim->kind == CLAIM_TRIAL;
    if (!runs && !holds)
        return false;
    leaves[m->id] = holds;
    if (!runs) {
        hostlist_add(&d->changed, m->name);
        return true;
    }
    struct trial_record r;
    copy_without(m, &r);
    if (result) {
        note_run(&r, x->check, cmd->at, result->result);
        note_examined(cmd, m, &r.last[0], is->began, d);
    }
    put_back(m, &r, d);
    free(r.last);
    return true;
}

static void say_end(const struct trial_end_command *x, const struct named *nodes, struct decision *d)
{
    struct text t = {0};
    size_t said = 0;
    text_printf(&t, "%s: ", x->check);
    for (size_t i = 0; i < nodes->n; i++) {
        const char *name = nodes->nodes[i]->name;
        const struct trial_result *result = result_of(x, name);
        if (!result || result->result == RESULT_OK)
            continue;
        if (said++ < SAID_NODES_MAX)
            text_printf(&t, "%s %s, ", name, result_name(result->result));
    }
    if (said > SAID_NODES_MAX)
        text_printf(&t, "%zu more, ", said - SAID_NODES_MAX);
    text_printf(&t, "%.256s (claim %s)", x->why, x->claim);
    d->text = text_take(&t);
}

static int decide_end(const struct cluster *c, const struct command *cmd, const struct named *nodes,
                      struct decision *d, struct err *e)
{
    const struct trial_end_command *x = &cmd->trial_end;
    if (check_name(x->check, e) < 0 || decide_check_clause("why", x->why, e) < 0)
        return -EINVAL;
    CLEANUP_FREE bool *leaves = mem_alloc(c->n + 1);
    bool any = false, released = false;
    for (size_t i = 0; i < nodes->n; i++) {
        any |= end_one(cmd, nodes->nodes[i], x, leaves, d);
        released |= leaves[nodes->nodes[i]->id];
    }
    const struct claim *claim = cluster_claim(c, x->claim);
    if (claim && released)
        decision_add(d, "claim/", claim->id, claim_record(claim, leaves, NULL, false));
    if (any) {
        decision_about(d, ENTRY_CLAIMS, x->claim);
        say_end(x, nodes, d);
    }
    return 0;
}

int decide_trial(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct named nodes = {0};
    int rc = find_nodes(c, cmd, &nodes, e);
    if (rc == 0 && cmd->kind == COMMAND_TRIAL_BEGIN)
        rc = decide_begin(c, cmd, &nodes, d, e);
    else if (rc == 0)
        rc = decide_end(c, cmd, &nodes, d, e);
    free(nodes.nodes);
    return rc;
}
