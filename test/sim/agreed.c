/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of the store. Commands are decided one after the other against the committed state, become
 * durable after a while, and are only then applied and answered. A crash may come between any two of these.
 * Beside it there is a naive opinion of the meaning of each command, node by node; the store must always hold
 * what the opinion says.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the store ------------------------------------------------------------------------------- */

static void store_put(struct sim *s, const char *key, const char *value)
{
    for (size_t i = 0; i < s->n_records; i++) {
        struct record *r = &s->records[i];
        if (strcmp(r->key, key) != 0)
            continue;
        free(r->value);
        r->value = mem_dup(value);
        if (!value) {
            free(r->key);
            *r = s->records[--s->n_records];
        }
        return;
    }
    if (!value)
        return;
    s->records = mem_grow(s->records, (s->n_records + 1) * sizeof *s->records);
    s->records[s->n_records++] = (struct record){mem_dup(key), mem_dup(value)};
}

void agreed_limits(struct sim *s)
{
    CLEANUP_TEXT struct text t = {0};
    limits_write(&s->policy.health.limits, &t);
    store_put(s, "config/limits", t.s);
}

/* In any order. */
void agreed_load(struct sim *s, struct cluster *c)
{
    for (size_t i = s->n_records; i > 1; i--) {
        size_t j = (size_t)sim_random(s, i);
        struct record r = s->records[i - 1];
        s->records[i - 1] = s->records[j];
        s->records[j] = r;
    }
    for (size_t i = 0; i < s->n_records; i++) {
        struct err e;
        if (cluster_put(c, s->records[i].key, s->records[i].value, &e) < 0)
            sim_fail(s, "a record of our own is refused: %s", e.msg);
    }
}

/* --- the opinion ----------------------------------------------------------------------------- */

static struct opinion *opinion_find(struct sim *s, int node, enum claim_kind kind, const char *owner,
                                    const char *reason)
{
    for (size_t i = 0; i < s->n_opinions; i++) {
        struct opinion *o = &s->opinions[i];
        if (o->node == node && o->kind == kind && (!owner || strcmp(o->owner, owner) == 0) &&
            (!reason || strcmp(o->reason, reason) == 0))
            return o;
    }
    return NULL;
}

static void opinion_add(struct sim *s, int node, enum claim_kind kind, const struct job *j)
{
    if (opinion_find(s, node, kind, j->actor, j->reason))
        return;
    bool drained = kind == CLAIM_DRAIN, any = false;
    const struct member *m = cluster_find(s->cluster, s->nodes[node].name);
    for (size_t i = 0; i < m->n_claims; i++) {
        if (m->claims[i].claim->kind != CLAIM_DRIFT && m->claims[i].claim->kind != CLAIM_REPAIR &&
            m->claims[i].claim->kind != CLAIM_TRIAL)
            continue;
        any = true;
        drained &= m->claims[i].drained;
    }
    for (size_t i = 0; i < s->n_opinions; i++) {
        const struct opinion *o = &s->opinions[i];
        if (o->node == node && o->kind == CLAIM_DRAIN) {
            any = true;
            drained &= o->drained;
        }
    }
    if (s->n_opinions == s->cap_opinions) {
        s->cap_opinions = s->cap_opinions ? 2 * s->cap_opinions : 64;
        s->opinions = mem_grow(s->opinions, s->cap_opinions * sizeof *s->opinions);
    }
    struct opinion *o = &s->opinions[s->n_opinions++];
    *o = (struct opinion){.kind = kind, .node = node, .drained = drained && any};
    snprintf(o->id, sizeof o->id, "%s", j->claim);
    snprintf(o->owner, sizeof o->owner, "%s", j->actor);
    snprintf(o->reason, sizeof o->reason, "%s", j->reason);
}

static void opinion_release(struct sim *s, int node, enum claim_kind kind, const struct job *j)
{
    for (size_t i = s->n_opinions; i-- > 0;) {
        const struct opinion *o = &s->opinions[i];
        if (o->node != node || o->kind != kind)
            continue;
        if (j->named ? strcmp(o->id, j->claim) != 0 : kind != CLAIM_SILENT && strcmp(o->owner, j->actor) != 0)
            continue;
        s->opinions[i] = s->opinions[--s->n_opinions];
    }
}

static void opinion_drained(struct sim *s, int node, bool drained)
{
    for (size_t i = 0; i < s->n_opinions; i++)
        if (s->opinions[i].node == node && s->opinions[i].kind == CLAIM_DRAIN)
            s->opinions[i].drained = drained;
}

static void opinion_set(struct sim *s, int node, const struct field_setting *is)
{
    if (is->field == FIELD_CPUS)
        s->edit_cpus[node] = is->value ? atoi(is->value) : -1;
    else
        s->edit_sensitive[node] = is->value ? strcmp(is->value, "yes") == 0 : -1;
}

static bool in_repair(const struct sim *s, int node)
{
    const struct member *m = cluster_find(s->cluster, s->nodes[node].name);
    return m && member_repair(m);
}

/* The repair ends on a known boot. */
static bool admits_by_repair(const struct sim *s, int node, const struct job *j)
{
    const struct repair_command *says = &j->cmd->repair;
    const struct member *m = cluster_find(s->cluster, s->nodes[node].name);
    const struct repair *r = m ? member_repair(m) : NULL;
    return says->to == STEP_NONE && (*says->boot || (r && *r->boot));
}

static bool is_about_owners(enum command_kind kind)
{
    return kind == COMMAND_OWNER_CLAIM || kind == COMMAND_OWNER_RELEASE || kind == COMMAND_OWNER_TRANSFER;
}

static void opinion_take(struct sim *s, const struct job *j)
{
    if (is_about_owners(j->kind))
        owners_take(s, j);
    for (size_t i = j->from; i < j->next; i++) {
        int node = sim_index(s, j->nodes.names[i]);
        switch (j->kind) {
        case COMMAND_DRAIN: opinion_add(s, node, CLAIM_DRAIN, j); break;
        case COMMAND_DOWN: opinion_add(s, node, CLAIM_DOWN, j); break;
        case COMMAND_SILENT:
            if (j->listed[node] && s->admitted[node] && !opinion_find(s, node, CLAIM_SILENT, NULL, NULL)) {
                opinion_add(s, node, CLAIM_SILENT, j);
                s->downs++;
            }
            break;
        case COMMAND_UNDRAIN: opinion_release(s, node, CLAIM_DRAIN, j); break;
        case COMMAND_UP: opinion_release(s, node, CLAIM_DOWN, j); break;
        case COMMAND_HEARD: opinion_release(s, node, CLAIM_SILENT, j); break;
        case COMMAND_DRAINED: opinion_drained(s, node, true); break;
        case COMMAND_DRAINING: opinion_drained(s, node, false); break;
        case COMMAND_ADMIT:
            s->admitted[node] |= j->listed[node] && !in_repair(s, node); /* its repair's end admits it */
            break;
        case COMMAND_REPAIR: s->admitted[node] |= j->listed[node] && admits_by_repair(s, node, j); break;
        case COMMAND_SET: opinion_set(s, node, &j->cmd->edit.settings[0]); break;
        case COMMAND_TOKEN_CREATE:
        case COMMAND_TOKEN_USE:
        case COMMAND_TOKEN_END:
        case COMMAND_CONTROLLER_ADMIT:
        case COMMAND_CONTROLLER_REMOVE:
        case COMMAND_CERTIFICATE:
        case COMMAND_CERTIFICATE_RENEW:
        case COMMAND_CERTIFICATE_USED:
        case COMMAND_CERTIFICATE_REVOKE:
        case COMMAND_BMC:
        case COMMAND_MACHINE:
        case COMMAND_WINDOW:
        case COMMAND_INSTANCE:
        case COMMAND_SEEN:
        case COMMAND_DRIFT:
        case COMMAND_PERSISTS:
        case COMMAND_RESTORED:
        case COMMAND_OVERDUE:
        case COMMAND_REBOOT:
        case COMMAND_APPROVE:
        case COMMAND_BASELINE_ACCEPT:
        case COMMAND_BASELINE_REVERT:
        case COMMAND_ROLLOUT_START:
        case COMMAND_ROLLOUT_ACCEPT:
        case COMMAND_ROLLOUT_REVERT:
        case COMMAND_FINDINGS:
        case COMMAND_SHARED:
        case COMMAND_OUTCOME:
        case COMMAND_OPERATE:
        case COMMAND_TRANSITION:
        case COMMAND_ANSWER:
        case COMMAND_OVERRIDE:
        case COMMAND_OVERRIDE_AGE:
        case COMMAND_OVERRIDE_END:
        case COMMAND_TICKET:
        case COMMAND_REPAIR_APPROVE:
        case COMMAND_REPAIR_REFUSE:
        case COMMAND_REVISE:
        case COMMAND_STATE:
        case COMMAND_BACKUP:
        case COMMAND_FEATURES:
        case COMMAND_SWITCH:
        case COMMAND_OWNER_CLAIM:
        case COMMAND_OWNER_RELEASE:
        case COMMAND_OWNER_TRANSFER:
        case COMMAND_POWER:
        case COMMAND_FORGET: /* nobody gives this command here */
        case COMMAND_MEASURED:
        case COMMAND_TRIAL_BEGIN:
        case COMMAND_TRIAL_END:
        case COMMAND_EFFECT:
        case COMMANDS: break;
        }
    }
}

/* --- commits --------------------------------------------------------------------------------- */

static void job_free(struct job *j)
{
    decision_fini(&j->decision);
    hostlist_fini(&j->nodes);
    command_destroy(j->cmd);
    free(j);
}

static void job_end(struct sim *s)
{
    struct job *j = s->jobs;
    s->jobs = j->after;
    s->committing = false;
    job_free(j);
}

void agreed_submit(struct sim *s, const struct command *cmd)
{
    struct job *j = mem_alloc(sizeof *j);
    j->kind = cmd->kind;
    j->proposal = strcmp(cmd->actor, "fettled") == 0;
    j->at = cmd->at;
    j->asked_at = s->now;
    snprintf(j->actor, sizeof j->actor, "%s", cmd->actor);
    snprintf(j->reason, sizeof j->reason, "%s", cmd->reason ? cmd->reason : "");
    j->cmd = command_copy(cmd);
    bool releases = cmd->kind == COMMAND_UNDRAIN || cmd->kind == COMMAND_UP;
    const char *claim = releases ? cmd->release.claim : cmd->claim;
    if (claim)
        snprintf(j->claim, sizeof j->claim, "%s", claim);
    j->named = claim != NULL;
    if (!cmd->claim &&
        (cmd->kind == COMMAND_DRAIN || cmd->kind == COMMAND_DOWN || cmd->kind == COMMAND_SILENT ||
         cmd->kind == COMMAND_DRIFT || cmd->kind == COMMAND_PERSISTS || cmd->kind == COMMAND_OVERDUE ||
         cmd->kind == COMMAND_FINDINGS || cmd->kind == COMMAND_REPAIR || cmd->kind == COMMAND_OPERATE ||
         cmd->kind == COMMAND_TRANSITION || cmd->kind == COMMAND_ANSWER || cmd->kind == COMMAND_INSTANCE ||
         cmd->kind == COMMAND_TRIAL_BEGIN))
        snprintf(j->claim, sizeof j->claim, "%llu.%llu", (unsigned long long)s->term,
                 (unsigned long long)++s->claims);
    for (size_t i = 0; i < cmd->nodes->n; i++)
        hostlist_add(&j->nodes, cmd->nodes->names[i]);
    struct job **end = &s->jobs;
    while (*end)
        end = &(*end)->after;
    *end = j;
}

static int decide(struct sim *s, struct job *j, struct err *e)
{
    struct command cmd = *j->cmd;
    cmd.claim = *j->claim ? j->claim : NULL;
    decision_fini(&j->decision);
    memcpy(j->listed, s->listed, sizeof j->listed);
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        j->sensitive[i] = m && m->spec.sensitive;
    }
    int rc = cluster_decide(s->cluster, &cmd, j->from, &j->decision, e);
    j->next = j->decision.next;
    return rc;
}

/* Decides the first job until one has something to commit. */
static void begin(struct sim *s)
{
    while (s->jobs && !s->committing) {
        struct job *j = s->jobs;
        struct err e = {0};
        int rc = decide(s, j, &e);
        if (rc == 0 && j->decision.n_ops == 0) { /* nothing to do: the opinion must be the same */
            opinion_take(s, j);
            check_state(s, "a command that found nothing to do");
        }
        if (rc < 0 || j->decision.n_ops == 0) {
            if (rc < 0)
                sim_say(s, "%s by %s: %s", command_name(j->kind), j->actor, e.msg);
            job_end(s);
            continue;
        }
        s->committing = true;
        j->durable = j->failed = false;
        j->durable_at = s->now + (int64_t)sim_random(s, sim_random(s, 20) ? 100 : 8000) * 1000000;
    }
}

static void make_durable(struct sim *s)
{
    struct job *j = s->jobs;
    j->durable = true;
    j->failed = s->full_until > s->now;
    if (j->failed) {
        s->store_bad_at = s->now;
        return;
    }
    for (size_t i = 0; i < j->decision.n_ops; i++)
        store_put(s, j->decision.ops[i].key, j->decision.ops[i].value);
    opinion_take(s, j);
    mend_durable(s, j);
    s->committed++;
}

static void answer(struct sim *s)
{
    struct job *j = s->jobs;
    CLEANUP_FREE char *nodes =
        hostlist_fold((const char *const *)j->decision.changed.names, j->decision.changed.n);
    sim_say(s, "%s %s by %s%s%s: %s", command_name(j->kind), nodes, j->actor, *j->claim ? ", claim " : "",
            j->claim, j->failed ? "the disk is full" : "committed");
    conform_note_holds(s);
    mend_before(s);
    for (size_t i = 0; i < j->decision.n_ops && !j->failed; i++)
        if (cluster_put(s->cluster, j->decision.ops[i].key, j->decision.ops[i].value, NULL) < 0)
            sim_fail(s, "a record of our own is refused");
    if (!j->failed) {
        watch_changed(s->watch, &j->decision.changed);
        ill_changed(s, &j->decision.changed);
        check_release(s, j);
        mend_after(s, j);
    }
    s->acknowledged += !j->failed;
    if (j->kind == COMMAND_SET)
        s->timeouts_at = s->now;
    if (!j->failed && j->next < j->nodes.n) {
        j->from = j->next;
        s->committing = false;
    } else {
        job_end(s);
    }
    check_state(s, "a commit");
}

void agreed_step(struct sim *s)
{
    if (s->jobs && s->committing && !s->jobs->durable && s->now >= s->jobs->durable_at)
        make_durable(s); /* the disk goes on while the loop stands still */
    if (!shell_listens(s))
        return;
    if (s->jobs && s->committing && s->jobs->durable)
        answer(s);
    begin(s);
}

/* A crash: commands that are not durable are lost, and no caller was told otherwise. */
void agreed_drop_jobs(struct sim *s)
{
    while (s->jobs) {
        struct job *j = s->jobs;
        s->jobs = j->after;
        job_free(j);
    }
    s->committing = false;
}

void agreed_fini(struct sim *s)
{
    for (size_t i = 0; i < s->n_records; i++) {
        free(s->records[i].key);
        free(s->records[i].value);
    }
    free(s->records);
    free(s->opinions);
}

/* --- people ---------------------------------------------------------------------------------- */

static void choose_nodes(struct sim *s, struct hostlist *h)
{
    bool chosen[NODES_MAX] = {false};
    size_t n = sim_random(s, 12) == 0 ? s->n : 1 + (size_t)sim_random(s, 3);
    for (size_t i = 0; i < n; i++)
        chosen[n == s->n ? i : (size_t)sim_random(s, s->n)] = true;
    for (size_t i = 0; i < s->n; i++)
        if (chosen[i] && cluster_find(s->cluster, s->nodes[i].name))
            hostlist_add(h, s->nodes[i].name);
}

/* They release more than they make, because otherwise nothing would be in service in the end. */
void agreed_operator(struct sim *s)
{
    static const char *const owners[OWNERS] = {"root", "ann", "bob"}, *const reasons[] = {"bad DIMM",
                                                                                          "new kernel"};
    static const struct field_setting settings[] = {{FIELD_CPUS, "2"},
                                                    {FIELD_CPUS, "8"},
                                                    {FIELD_CPUS, NULL},
                                                    {FIELD_SENSITIVE, "yes"},
                                                    {FIELD_SENSITIVE, NULL}};
    static const enum command_kind kinds[] = {
        COMMAND_DRAIN, COMMAND_DRAIN, COMMAND_UNDRAIN, COMMAND_UNDRAIN, COMMAND_UNDRAIN,
        COMMAND_DOWN,  COMMAND_UP,    COMMAND_UP,      COMMAND_UP,      COMMAND_SET};
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    struct command cmd = {.kind = kinds[sim_random(s, 10)],
                          .actor = owners[sim_random(s, OWNERS)],
                          .at = {INT64_C(1700000000000000000) + s->now + s->wall_step},
                          .nodes = &nodes,
                          .reason = reasons[sim_random(s, 2)]};
    const struct field_setting *setting = &settings[sim_random(s, 5)];
    char id[CLAIM_ID_BYTES_MAX + 1];
    bool releases = cmd.kind == COMMAND_UNDRAIN || cmd.kind == COMMAND_UP;
    if (sim_random(s, 3) == 0)
        owners_operator(s);
    if (s->ill && sim_random(s, 3) == 0) {
        struct finding_name named;
        if (repair_operator(s, &cmd, &nodes, &named))
            agreed_submit(s, &cmd);
        return;
    }
    if (sim_random(s, 3) == 0) {
        if (conform_operator(s, &cmd, &nodes))
            agreed_submit(s, &cmd);
        return;
    }
    if (cmd.kind == COMMAND_SET)
        cmd.edit = (struct set_command){1, setting};
    choose_nodes(s, &nodes);
    if (releases && s->n_opinions && sim_random(s, 3) == 0) {
        snprintf(id, sizeof id, "%s", s->opinions[sim_random(s, s->n_opinions)].id);
        cmd.release.claim = id;
    } else if (releases && sim_random(s, 2)) {
        hostlist_fini(&nodes);
        for (size_t i = 0; i < s->n; i++)
            if (cluster_find(s->cluster, s->nodes[i].name))
                hostlist_add(&nodes, s->nodes[i].name);
    }
    if (nodes.n)
        agreed_submit(s, &cmd);
}
