/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For whom nodes work. A command names the owner that it expects, so that of two schedulers one is refused
 * and hears who owns the node. It is about all of its nodes or none: one record has all nodes of an owner,
 * and no command touches more than two of them.
 *
 * A quota is checked against what is committed. Two decisions that rest on the same quota have no place in
 * one commit (struct decision, quota), and neither has one of them beside another configuration.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The records that a command is about, and the nodes that go from the one to the other. */
struct owning {
    const struct command *cmd;
    const struct ownership *from, *to; /* as they stand; NULL: nothing is owned */
    char from_name[OWNER_NAME_BYTES_MAX + 1], to_name[OWNER_NAME_BYTES_MAX + 1]; /* "": nobody */
    struct named moved;
};

static bool is_somebody(const struct owner *o)
{
    return *o->person || *o->tenant;
}

static void owning_init(const struct cluster *c, const struct command *cmd, struct owning *o)
{
    *o = (struct owning){.cmd = cmd};
    if (is_somebody(&cmd->own.from))
        o->from = cluster_owner(c, owner_name(&cmd->own.from, o->from_name));
    if (is_somebody(&cmd->own.to))
        o->to = cluster_owner(c, owner_name(&cmd->own.to, o->to_name));
}

/* --- who may own ------------------------------------------------------------------------------ */

static int check_tenant(const struct cluster *c, const struct owner *to, struct err *e)
{
    CLEANUP_FREE const char **names = mem_alloc((c->n_tenants + 1) * sizeof *names);
    if (cluster_tenant(c, to->tenant))
        return 0;
    for (size_t i = 0; i < c->n_tenants; i++)
        names[i] = c->tenants[i].name;
    const char *near = text_nearest(to->tenant, names, c->n_tenants);
    return near ? err_set(e, -ENOENT, "no tenant \"%s\"; the nearest is \"%s\"", to->tenant, near)
                : err_set(e, -ENOENT, "no tenant \"%s\" in TenantConf", to->tenant);
}

/* A person claims for nobody else: the record names the one who is answerable. What could not be wiped
 * afterwards is given to nobody. */
static int check_person(const struct cluster *c, const struct owner_command *says, const char *actor,
                        struct err *e)
{
    if (!says->person)
        return err_set(e, -EACCES,
                       "\"%s\" is no person; a sensitive node is claimed by the person who works on it",
                       actor);
    if (strcmp(says->to.person, says->person) != 0)
        return err_set(e, -EACCES, "\"%s\" cannot claim a node for the person \"%s\"", actor,
                       says->to.person);
    if (!c->wipes)
        return err_set(e, -EBUSY, "no remedy \"wipe\" is configured, so the node could not be wiped");
    if (c->limits.given && !c->limits.act)
        return err_set(e, -EBUSY, "health is only observed, so the node could not be wiped");
    return 0;
}

static int check_owner(const struct cluster *c, const struct command *cmd, struct err *e)
{
    const struct owner_command *says = &cmd->own;
    if (cmd->kind == COMMAND_OWNER_TRANSFER && (*says->from.person || *says->to.person))
        return err_set(e, -EACCES, "a person's nodes are released and wiped; they are not transferred");
    return *says->to.tenant ? check_tenant(c, &says->to, e) : 0;
}

/* Nothing of the person before is left on it, whoever comes. */
static int check_wiped(const struct member *m, struct err *e)
{
    if (!member_held_by(m, CLAIM_WIPE))
        return 0;
    return err_set(e, -EBUSY, "node \"%s\" was released and %s; `fettle conform approve` ends that", m->name,
                   m->wiped ? "wiped, and waits for an approval" : "is not wiped yet");
}

/* A person gets nothing that is not verified. */
static int check_verified(const struct member *m, struct err *e)
{
    if (member_drift(m) || member_held_by(m, CLAIM_DRIFT) || member_held_by(m, CLAIM_OVERDUE))
        return err_set(e, -EBUSY, "node \"%s\" drifted, and no person has approved it since", m->name);
    if (repair_step_of(m) == STEP_QUARANTINE)
        return err_set(e, -EBUSY, "node \"%s\" is quarantined", m->name);
    return 0;
}

/* What the node is for. */
static int check_kind(const struct member *m, const struct owner *to, struct err *e)
{
    if (m->spec.sensitive && !*to->person)
        return err_set(e, -EACCES, "node \"%s\" is sensitive: a person claims it, and no tenant", m->name);
    if (!m->spec.sensitive && *to->person)
        return err_set(e, -EINVAL, "node \"%s\" is not sensitive: it is claimed for a tenant", m->name);
    int rc = check_wiped(m, e);
    return rc == 0 && *to->person ? check_verified(m, e) : rc;
}

static int refuse_owned(const struct member *m, struct err *e)
{
    return m->owner ? err_set(e, -EBUSY, "node \"%s\" is owned by %s", m->name, m->owner->name)
                    : err_set(e, -EBUSY, "nobody owns node \"%s\"", m->name);
}

/* --- which nodes ------------------------------------------------------------------------------ */

/* Adds m when it has to change hands. A node that is where the command wants it is no mistake: the command
 * was repeated. */
static int owning_take(struct owning *o, struct member *m, struct err *e)
{
    bool is_there = !*o->to_name || o->to;
    if (is_there && m->owner == o->to)
        return 0;
    if (m->owner != o->from || (*o->from_name && !o->from))
        return refuse_owned(m, e);
    int rc = *o->to_name ? check_kind(m, &o->cmd->own.to, e) : 0;
    if (rc == 0)
        o->moved.nodes[o->moved.n++] = m;
    return rc;
}

static int owning_take_named(const struct cluster *c, struct owning *o, struct err *e)
{
    struct named named;
    bool must_be_listed = o->cmd->kind != COMMAND_OWNER_RELEASE;
    int rc = decide_find_named(c, o->cmd, 0, must_be_listed, &named, e);
    CLEANUP_FREE struct member **nodes = named.nodes;
    o->moved.nodes = mem_alloc((named.n + 1) * sizeof *o->moved.nodes);
    for (size_t i = 0; rc == 0 && i < named.n; i++)
        rc = owning_take(o, nodes[i], e);
    return rc;
}

/* All nodes of the present owner. */
static int owning_take_all(struct owning *o, struct err *e)
{
    size_t n = o->from ? o->from->n : 0;
    o->moved.nodes = mem_alloc((n + 1) * sizeof *o->moved.nodes);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (o->from->nodes[i]->owner == o->from)
            rc = owning_take(o, o->from->nodes[i], e);
    return rc;
}

/* --- quotas ----------------------------------------------------------------------------------- */

static int check_pool(const struct cluster *c, const struct owning *o, struct err *e)
{
    uint64_t would = (uint64_t)cluster_sensitive_use(c) + o->moved.n;
    if (would <= c->sensitive_pool)
        return 0;
    return err_set(e, -EDQUOT, "persons would have %llu sensitive nodes, and SensitivePool is %u",
                   (unsigned long long)would, (unsigned)c->sensitive_pool);
}

static int check_quota(const struct cluster *c, const struct owning *o, struct err *e)
{
    const struct owner *from = &o->cmd->own.from, *to = &o->cmd->own.to;
    const struct tenant *t = cluster_tenant(c, to->tenant);
    const struct tenant_use use = cluster_tenant_use(c, to->tenant);
    bool within = strcmp(from->tenant, to->tenant) == 0;
    bool begins = *to->allocation && !o->to;
    bool ends = within && *from->allocation && o->moved.n == o->from->n;
    uint64_t nodes = use.nodes + (within ? 0 : o->moved.n);
    uint64_t allocations = (uint64_t)use.allocations + begins - (begins && ends);
    assert(t && "check_owner has found it");
    if (!within && nodes > t->nodes)
        return err_set(e, -EDQUOT, "tenant \"%s\" would own %llu nodes, and its quota is %u", t->name,
                       (unsigned long long)nodes, (unsigned)t->nodes);
    if (begins && allocations > t->allocations)
        return err_set(e, -EDQUOT, "tenant \"%s\" would have %llu allocations, and its quota is %u", t->name,
                       (unsigned long long)allocations, (unsigned)t->allocations);
    return 0;
}

/* --- the records ------------------------------------------------------------------------------ */

static bool *mark_moved(const struct cluster *c, const struct owning *o)
{
    bool *marks = mem_alloc(c->n + 1);
    for (size_t i = 0; i < o->moved.n; i++)
        marks[o->moved.nodes[i]->id] = true;
    return marks;
}

/* The record of the owner before, without the nodes that go. */
static void put_without(const struct cluster *c, const struct owning *o, struct decision *d)
{
    CLEANUP_FREE bool *moved = mark_moved(c, o);
    CLEANUP_FREE struct member **left = mem_alloc((o->from->n + 1) * sizeof *left);
    size_t n = 0;
    for (size_t i = 0; i < o->from->n; i++)
        if (!moved[o->from->nodes[i]->id])
            left[n++] = o->from->nodes[i];
    decision_add(d, "owner/", o->from_name,
                 n ? owner_record(o->from->by, o->from->since, o->from->reason, left, n) : NULL);
}

/* The record of the owner afterwards, with the nodes that come. */
static void put_with(const struct owning *o, struct decision *d)
{
    const struct command *cmd = o->cmd;
    const struct ownership *is = o->to;
    size_t n = is ? is->n : 0;
    CLEANUP_FREE struct member **all = mem_alloc((n + o->moved.n) * sizeof *all);
    if (n)
        memcpy(all, is->nodes, n * sizeof *all);
    memcpy(all + n, o->moved.nodes, o->moved.n * sizeof *all);
    const char *reason = is ? is->reason : cmd->reason ? cmd->reason : "";
    decision_add(
        d, "owner/", o->to_name,
        owner_record(is ? is->by : cmd->actor, is ? is->since : cmd->at, reason, all, n + o->moved.n));
}

/* Who releases a person's nodes in the person's place says why. */
static int check_release(const struct owning *o, struct err *e)
{
    const struct command *cmd = o->cmd;
    bool is_self = cmd->own.person && strcmp(cmd->own.from.person, cmd->own.person) == 0;
    if (is_self || strcmp(cmd->own.from.person, cmd->actor) == 0 || (cmd->reason && *cmd->reason))
        return 0;
    return err_set(e, -EINVAL, "the nodes are those of the person \"%s\": a reason is needed",
                   cmd->own.from.person);
}

/* The wipe begins with a claim, in the commit that ends the ownership: no work comes in between. */
static void put_wipe(const struct owning *o, struct decision *d)
{
    CLEANUP_TEXT struct text why = {0};
    text_printf(&why, "released by %s", o->from_name);
    decide_claim(d, o->cmd, CLAIM_WIPE, why.s, &o->moved);
    d->claim = mem_dup(o->cmd->claim);
    for (size_t i = 0; i < o->moved.n; i++)
        if (o->moved.nodes[i]->wiped) /* of an earlier time */
            decision_add(d, "wiped/", o->moved.nodes[i]->name, NULL);
}

static char *say_owning(const struct owning *o)
{
    const char *reason = o->cmd->reason;
    struct text t = {0};
    if (!*o->to_name)
        text_printf(&t, "released by its owner %s", o->from_name);
    else if (!*o->from_name)
        text_printf(&t, "owned by %s", o->to_name);
    else
        text_printf(&t, "owned by %s, and by %s no more", o->to_name, o->from_name);
    if (reason && *reason)
        text_printf(&t, ": %s", reason);
    return text_take(&t);
}

static void owning_put(const struct cluster *c, const struct owning *o, struct decision *d)
{
    if (*o->from_name) {
        put_without(c, o, d);
        if (*o->cmd->own.from.person)
            put_wipe(o, d);
        decision_about(d, ENTRY_OWNERS, o->from_name);
        d->fields.owner_from = mem_dup(o->from_name);
    }
    if (*o->to_name) {
        put_with(o, d);
        decision_about(d, ENTRY_OWNERS, o->to_name);
        d->fields.owner_to = mem_dup(o->to_name);
        d->quota = owner_quota(&o->cmd->own.to);
    }
    for (size_t i = 0; i < o->moved.n; i++)
        decision_note(d, NULL, o->moved.nodes[i]);
    d->text = say_owning(o);
}

int decide_owner(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct owning o;
    owning_init(c, cmd, &o);
    if (strcmp(o.from_name, o.to_name) == 0)
        return err_set(e, -EINVAL, "both owners are %s", o.to_name);
    bool all = !cmd->nodes || cmd->nodes->n == 0;
    int rc = all && cmd->kind == COMMAND_OWNER_CLAIM ? err_set(e, -EINVAL, "no node is named")
                                                     : decide_check_note(cmd, e);
    if (rc == 0)
        rc = check_owner(c, cmd, e);
    if (rc == 0)
        rc = all ? owning_take_all(&o, e) : owning_take_named(c, &o, e);
    CLEANUP_FREE struct member **moved = o.moved.nodes;
    if (rc == 0 && o.moved.n && *cmd->own.from.person)
        rc = check_release(&o, e);
    if (rc == 0 && *cmd->own.to.person)
        rc = check_person(c, &cmd->own, cmd->actor, e);
    if (rc == 0 && o.moved.n && *o.to_name)
        rc = *cmd->own.to.person ? check_pool(c, &o, e) : check_quota(c, &o, e);
    if (rc == 0 && o.moved.n && *cmd->own.to.person && *cmd->own.to.tenant)
        rc = decide_feature(c, FEATURE_PERSON_OF_TENANT, d, e);
    if (rc == 0 && moved && o.moved.n)
        owning_put(c, &o, d);
    return rc;
}
