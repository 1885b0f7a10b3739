/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to records. Each command has a function that looks at the state, changes nothing, and writes
 * down the records that would make it so. A command that finds nothing to do is no error, so a repeated
 * command does no harm.
 *
 * One record may name ten thousand nodes (a claim), but a command may also touch ten thousand records (ten
 * thousand claims of one node each). Nodes that do not fit into a batch are left to the next one through
 * `next`, and the caller answers after the last batch.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- claims are made ------------------------------------------------------------------------- */

static const struct claim *same_claim(const struct member *m, enum claim_kind kind, const struct command *cmd)
{
    for (size_t i = 0; i < m->n_claims; i++) {
        const struct claim *claim = m->claims[i].claim;
        if (claim->kind == kind && strcmp(claim->owner, cmd->actor) == 0 &&
            strcmp(claim->reason, cmd->reason) == 0)
            return claim;
    }
    return NULL;
}

static void add_claim(struct decision *d, const struct command *cmd, enum claim_kind kind,
                      const struct named *nodes)
{
    decide_claim(d, cmd, kind, cmd->reason, nodes);
    for (size_t i = 0; i < nodes->n; i++)
        decision_note(d, NULL, nodes->nodes[i]);
    struct text t = {0};
    text_printf(&t, "%s (claim %s)", cmd->reason, cmd->claim);
    d->text = text_take(&t);
}

static int decide_hold(const struct cluster *c, const struct command *cmd, enum claim_kind kind,
                       struct decision *d, struct err *e)
{
    struct named all, fresh = {0};
    int rc = decide_find_named(c, cmd, 0, true, &all, e);
    CLEANUP_FREE struct member **all_nodes = all.nodes;
    if (rc == 0)
        rc = decide_check_reason(cmd->reason, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE struct member **nodes = mem_alloc((all.n + 1) * sizeof *nodes);
    fresh.nodes = nodes;
    const struct claim *standing = NULL;
    for (size_t i = 0; i < all.n; i++) {
        struct member *m = all.nodes[i];
        const struct claim *same = same_claim(m, kind, cmd);
        if (same) {
            standing = standing ? standing : same;
            continue;
        }
        if (m->n_claims >= CLAIMS_A_NODE_MAX)
            return err_set(e, -EBUSY, "node \"%s\" has %zu claims already", m->name, m->n_claims);
        fresh.nodes[fresh.n++] = m;
    }
    d->claim = mem_dup(fresh.n ? cmd->claim : standing ? standing->id : NULL);
    if (fresh.n)
        add_claim(d, cmd, kind, &fresh);
    return 0;
}

/* Fettle's own claim on nodes that fell silent: only on such as are in service or on their way. */
static int decide_silent(const struct cluster *c, const struct command *cmd, struct decision *d)
{
    struct named fresh = {0};
    CLEANUP_FREE struct member **nodes = mem_alloc((cmd->nodes->n + 1) * sizeof *nodes);
    fresh.nodes = nodes;
    size_t place = 0;
    for (size_t i = 0; i < cmd->nodes->n; i++) {
        struct member *m = cluster_find_next(c, &place, cmd->nodes->names[i]);
        if (m && m->listed && m->admitted && !member_held_by(m, CLAIM_SILENT))
            fresh.nodes[fresh.n++] = m;
    }
    if (fresh.n)
        add_claim(d, cmd, CLAIM_SILENT, &fresh);
    return 0;
}

/* --- claims are rewritten -------------------------------------------------------------------- */

typedef bool selects_fn(const struct command *cmd, const struct member *m, const struct hold *hold);

static bool selects_own_drain(const struct command *cmd, const struct member *m, const struct hold *hold)
{
    if (cmd->release.claim)
        return strcmp(hold->claim->id, cmd->release.claim) == 0;
    if (hold->claim->kind == CLAIM_TRIAL)
        return true; /* a person who wants the node in service may end a check */
    return hold->claim->kind == CLAIM_DRAIN && strcmp(hold->claim->owner, cmd->actor) == 0;
}

static bool selects_own_down(const struct command *cmd, const struct member *m, const struct hold *hold)
{
    if (cmd->release.claim)
        return strcmp(hold->claim->id, cmd->release.claim) == 0;
    return hold->claim->kind == CLAIM_DOWN && strcmp(hold->claim->owner, cmd->actor) == 0;
}

static bool selects_silent(const struct command *cmd, const struct member *m, const struct hold *hold)
{
    return hold->claim->kind == CLAIM_SILENT;
}

static bool selects_draining(const struct command *cmd, const struct member *m, const struct hold *hold)
{
    return claim_drains(hold->claim) && !hold->drained;
}

static bool selects_drained(const struct command *cmd, const struct member *m, const struct hold *hold)
{
    return claim_drains(hold->claim) && hold->drained;
}

/* Selects over the named nodes until the batch is full; d->next says where it stopped. A node's
 * claims are taken all or none (it has fewer than fit). */
static void select_claims(const struct command *cmd, const struct named *named, size_t from,
                          selects_fn *selects, struct selection *s, struct decision *d)
{
    for (size_t i = 0; i < named->n; i++) {
        const struct member *m = named->nodes[i];
        if (s->n + m->n_claims > OPS_MAX && s->n > 0)
            return;
        bool any = false;
        for (size_t j = 0; j < m->n_claims; j++)
            if (selects(cmd, m, &m->claims[j]))
                any |= selection_add(s, m->claims[j].claim);
        if (any && !s->nodes[m->id]) {
            s->nodes[m->id] = true;
            hostlist_add(&d->changed, m->name);
        }
        d->next = from + i + 1;
    }
}

enum rewrite { REWRITE_RELEASE, REWRITE_DRAINED, REWRITE_DRAINING };

static int rewrite_claims(const struct cluster *c, const struct command *cmd, size_t from,
                          selects_fn *selects, enum rewrite how, struct decision *d, struct err *e)
{
    struct named named;
    int rc = decide_find_named(c, cmd, from, false, &named, e);
    CLEANUP_FREE struct member **nodes = named.nodes;
    if (rc < 0)
        return rc;
    CLEANUP_FREE bool *marked = mem_alloc(c->n);
    struct selection s = {.nodes = marked};
    select_claims(cmd, &named, from, selects, &s, d);
    if (s.n == 0)
        return 0;
    struct text t = {0};
    text_add(&t, how == REWRITE_RELEASE ? "released from claim " : "under claim ");
    selection_say(&s, &t);
    d->text = text_take(&t);
    if (how == REWRITE_RELEASE)
        selection_release(&s, d);
    for (size_t i = 0; how != REWRITE_RELEASE && i < s.n; i++)
        decision_add(d, "claim/", s.claims[i]->id,
                     claim_record(s.claims[i], NULL, s.nodes, how == REWRITE_DRAINED));
    return 0;
}

/* A claim named by its id: it must be there, of the kind, and not Fettle's own business. */
static int check_claim(const struct cluster *c, const struct command *cmd, enum claim_kind kind,
                       struct err *e)
{
    if (!cmd->release.claim)
        return 0;
    const struct claim *claim = cluster_claim(c, cmd->release.claim);
    if (!claim)
        return err_set(e, -ENOENT, "no claim \"%s\"", cmd->release.claim);
    if (claim->kind == CLAIM_SILENT)
        return err_set(e, -EACCES, "claim %s is for a node that fell silent; it goes when the node is heard",
                       claim->id);
    if (claim->kind == CLAIM_DRIFT || claim->kind == CLAIM_OVERDUE)
        return err_set(e, -EACCES,
                       "claim %s is for a node that drifted; `fettle conform approve` releases it when the "
                       "node was verified to be right again",
                       claim->id);
    if (claim->kind == CLAIM_WIPE)
        return err_set(e, -EACCES,
                       "claim %s is for a node that a person released; `fettle conform approve` releases it "
                       "when the node was wiped",
                       claim->id);
    if (claim->kind == CLAIM_REPAIR)
        return err_set(
            e, -EACCES,
            "claim %s is for a node that is being repaired and ends with its repair; `fettle repair` "
            "shows it, and human_intervention takes the node out of the work queue",
            claim->id);
    if (claim->kind != kind && !(claim->kind == CLAIM_TRIAL && kind == CLAIM_DRAIN))
        return err_set(e, -EINVAL, "claim %s is a %s claim", claim->id, claim_kind_name(claim->kind));
    return 0;
}

/* "Up" is for nodes that a person set down. A silent one is up when it is heard, not when told so, and
 * one whose drift was not remedied when it is right again. */
static int check_up(const struct cluster *c, const struct command *cmd, size_t from, struct err *e)
{
    size_t place = 0;
    for (size_t i = from; i < cmd->nodes->n; i++) {
        const struct member *m = cluster_find_next(c, &place, cmd->nodes->names[i]);
        if (m && member_held_by(m, CLAIM_SILENT) && !member_held_by(m, CLAIM_DOWN))
            return err_set(e, -EBUSY, "node \"%s\" is down because it is silent; it is up when it is heard",
                           m->name);
        if (m && member_held_by(m, CLAIM_OVERDUE) && !member_held_by(m, CLAIM_DOWN))
            return err_set(e, -EBUSY,
                           "node \"%s\" is down because its drift was not remedied in time; `fettle conform "
                           "approve` brings it back when it was verified to be right again",
                           m->name);
        enum lifecycle repairing = m ? step_lifecycle(member_agreed(m).step) : LIFECYCLES;
        if (repairing != LIFECYCLES && !member_held_by(m, CLAIM_DOWN))
            return err_set(e, -EBUSY, "node \"%s\" is %s: %s; `fettle repair` shows its way back", m->name,
                           lifecycle_name(repairing), lifecycle_what(repairing));
    }
    return 0;
}

static int decide_release(const struct cluster *c, const struct command *cmd, size_t from,
                          enum claim_kind kind, struct decision *d, struct err *e)
{
    /* A claim that is gone after the first part of a long list was removed by that part. */
    int rc = from == 0 ? check_claim(c, cmd, kind, e) : 0;
    if (rc == 0 && kind == CLAIM_DOWN)
        rc = check_up(c, cmd, from, e);
    if (rc < 0)
        return rc;
    return rewrite_claims(c, cmd, from, kind == CLAIM_DOWN ? selects_own_down : selects_own_drain,
                          REWRITE_RELEASE, d, e);
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* Nodes are in service without that their checks have passed: for the first time, or on another boot. One
 * with a repair is put there by its end. */
static int decide_admit(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d)
{
    const struct admit_command *says = &cmd->admit;
    bool again = false;
    size_t place = 0;
    assert(says->n == 0 || says->n == cmd->nodes->n);
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX; i++) {
        const struct member *m = cluster_find_next(c, &place, cmd->nodes->names[i]);
        const char *boot = says->n && boot_ok(says->boots[i].id) ? says->boots[i].id : "";
        d->next = i + 1;
        if (!m || !m->listed || member_repair(m) || (m->admitted && (!*boot || strcmp(m->boot, boot) == 0)))
            continue;
        again |= m->admitted;
        decision_add(d, "node/", m->name, node_record(m->admitted ? m->admitted_at : cmd->at, boot));
        hostlist_add(&d->changed, m->name);
    }
    if (d->n_ops)
        d->text = mem_dup(again ? "in service on another boot" : "heard for the first time");
    return 0;
}

/* The edit's fields after the command; NULL when none is left. */
static int merge_edit(const struct member *m, const struct set_command *says, char **out, struct err *e)
{
    CLEANUP_JSON json_t *now = m->edit ? json_read(m->edit, strlen(m->edit), NULL) : json_object();
    for (size_t i = 0; i < says->n; i++) {
        const struct field_setting *s = &says->settings[i];
        const struct field_row *row = field_get(s->field);
        if (!row->settable)
            return err_set(e, -EINVAL, "%s cannot be set: %s", row->name, row->what);
        if (s->value)
            json_object_set_new(now, row->name, json_string(s->value));
        else
            json_object_del(now, row->name);
    }
    *out = json_object_size(now) ? json_write(now) : NULL;
    return 0;
}

static int edit_node(const struct cluster *c, const struct member *m, const struct command *cmd,
                     struct decision *d, struct err *e)
{
    CLEANUP_FREE char *merged = NULL;
    int rc = merge_edit(m, &cmd->edit, &merged, e);
    if (rc < 0)
        return rc;
    if (merged) {
        struct spec trial;
        spec_init(&trial);
        spec_copy(&trial, m->rostered ? m->rostered : &m->spec);
        rc = edit_apply(&trial, merged, c->partition_max, e);
        spec_fini(&trial);
        if (rc < 0)
            return rc;
    }
    if (strcmp(merged ? merged : "", m->edit ? m->edit : "") == 0)
        return 0;
    struct text t = {0};
    if (merged) {
        text_printf(&t, "{\"set\":%s,\"by\":", merged);
        text_add_json(&t, cmd->actor);
        text_printf(&t, ",\"at\":\"%lld\"}", (long long)cmd->at.ns);
    }
    decision_add(d, "edit/", m->name, merged ? text_take(&t) : NULL);
    hostlist_add(&d->changed, m->name);
    return 0;
}

static int decide_set(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                      struct err *e)
{
    const struct set_command *says = &cmd->edit;
    if (says->n == 0)
        return err_set(e, -EINVAL, "nothing to set");
    struct named named;
    int rc = decide_find_named(c, cmd, from, true, &named, e);
    CLEANUP_FREE struct member **nodes = named.nodes;
    for (size_t i = 0; rc == 0 && i < named.n && d->n_ops < OPS_MAX; i++) {
        rc = edit_node(c, named.nodes[i], cmd, d, e);
        d->next = from + i + 1;
    }
    if (rc == 0 && d->n_ops) {
        struct text t = {0};
        for (size_t i = 0; i < says->n; i++)
            text_printf(&t, "%s%s=%s", t.len ? " " : "", field_get(says->settings[i].field)->name,
                        says->settings[i].value ? says->settings[i].value : "");
        d->text = text_take(&t);
    }
    return rc;
}

/* A state that has a name keeps it. */
static int decide_state(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct text value = {0}, said = {0};
    if (*cluster_origin(c))
        return err_set(e, -EEXIST, "the state is called %s already", cluster_origin(c));
    text_printf(&value, "{\"at\":\"%lld\"", (long long)cmd->at.ns);
    if (cmd->state.authority)
        text_printf(&value, ",\"authority\":\"%s\"", cmd->state.authority);
    text_add_char(&value, '}');
    decision_add(d, "origin/", cmd->state.name, text_take(&value));
    text_printf(&said, "a new state: %s", cmd->state.name);
    d->text = text_take(&said);
    return 0;
}

int decide_command(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e)
{
    assert(cmd->kind < COMMANDS);
    assert(d->n_ops == 0 && !d->text);
    assert(from == 0 || (cmd->nodes && from <= cmd->nodes->n));
    int rc = -EINVAL;
    d->next = cmd->nodes ? cmd->nodes->n : 0;
    switch (cmd->kind) {
    case COMMAND_DRAIN: rc = decide_hold(c, cmd, CLAIM_DRAIN, d, e); break;
    case COMMAND_DOWN: rc = decide_hold(c, cmd, CLAIM_DOWN, d, e); break;
    case COMMAND_UNDRAIN: rc = decide_release(c, cmd, from, CLAIM_DRAIN, d, e); break;
    case COMMAND_UP: rc = decide_release(c, cmd, from, CLAIM_DOWN, d, e); break;
    case COMMAND_SET: rc = decide_set(c, cmd, from, d, e); break;
    case COMMAND_FORGET: rc = decide_forget(c, cmd, from, d, e); break;
    case COMMAND_ADMIT: rc = decide_admit(c, cmd, from, d); break;
    case COMMAND_BMC: rc = decide_bmc(c, cmd, from, d, e); break;
    case COMMAND_MACHINE: rc = decide_machine(c, cmd, from, d, e); break;
    case COMMAND_WINDOW: rc = decide_window(c, cmd, from, d, e); break;
    case COMMAND_INSTANCE: rc = decide_instance(c, cmd, d, e); break;
    case COMMAND_SILENT: rc = decide_silent(c, cmd, d); break;
    case COMMAND_HEARD: rc = rewrite_claims(c, cmd, from, selects_silent, REWRITE_RELEASE, d, e); break;
    case COMMAND_DRAINED: rc = rewrite_claims(c, cmd, from, selects_draining, REWRITE_DRAINED, d, e); break;
    case COMMAND_DRAINING: rc = rewrite_claims(c, cmd, from, selects_drained, REWRITE_DRAINING, d, e); break;
    case COMMAND_TOKEN_CREATE:
    case COMMAND_TOKEN_USE:
    case COMMAND_TOKEN_END:
    case COMMAND_CERTIFICATE:
    case COMMAND_CERTIFICATE_RENEW:
    case COMMAND_CERTIFICATE_USED:
    case COMMAND_CERTIFICATE_REVOKE: rc = decide_certificate(c, cmd, d, e); break;
    case COMMAND_SEEN: rc = decide_seen(c, cmd, from, d, e); break;
    case COMMAND_DRIFT:
    case COMMAND_PERSISTS: rc = decide_drift(c, cmd, from, d, e); break;
    case COMMAND_RESTORED: rc = decide_restored(c, cmd, from, d); break;
    case COMMAND_OVERDUE: rc = decide_overdue(c, cmd, from, d); break;
    case COMMAND_REBOOT: rc = decide_reboot(c, cmd, from, d, e); break;
    case COMMAND_APPROVE: rc = decide_approve(c, cmd, from, d, e); break;
    case COMMAND_BASELINE_ACCEPT:
    case COMMAND_BASELINE_REVERT:
    case COMMAND_ROLLOUT_START:
    case COMMAND_ROLLOUT_ACCEPT:
    case COMMAND_ROLLOUT_REVERT: rc = decide_baseline(c, cmd, d, e); break;
    case COMMAND_FINDINGS:
    case COMMAND_SHARED:
    case COMMAND_REPAIR:
    case COMMAND_OUTCOME:
    case COMMAND_OPERATE:
    case COMMAND_TRANSITION:
    case COMMAND_ANSWER:
    case COMMAND_TICKET:
    case COMMAND_REPAIR_APPROVE:
    case COMMAND_REPAIR_REFUSE:
    case COMMAND_SWITCH: rc = decide_health(c, cmd, d, e); break;
    case COMMAND_POWER: rc = decide_power(c, cmd, d, e); break;
    case COMMAND_MEASURED: rc = decide_measured(c, cmd, d, e); break;
    case COMMAND_TRIAL_BEGIN:
    case COMMAND_TRIAL_END: rc = decide_trial(c, cmd, d, e); break;
    case COMMAND_OVERRIDE:
    case COMMAND_OVERRIDE_AGE:
    case COMMAND_OVERRIDE_END: rc = decide_override(c, cmd, d, e); break;
    case COMMAND_REVISE: rc = decide_revision(c, cmd, d, e); break;
    case COMMAND_STATE: rc = decide_state(c, cmd, d, e); break;
    case COMMAND_OWNER_CLAIM:
    case COMMAND_OWNER_RELEASE:
    case COMMAND_OWNER_TRANSFER: rc = decide_owner(c, cmd, d, e); break;
    case COMMAND_BACKUP: rc = decide_backup(c, cmd, d, e); break;
    case COMMAND_CONTROLLER_ADMIT:
    case COMMAND_CONTROLLER_REMOVE: rc = decide_controller(c, cmd, d, e); break;
    case COMMAND_FEATURES: rc = decide_level(c, cmd, d, e); break;
    case COMMAND_EFFECT: rc = decide_effect(c, cmd, d, e); break;
    case COMMANDS: break;
    }
    if (rc < 0)
        decision_fini(d);
    return rc;
}
