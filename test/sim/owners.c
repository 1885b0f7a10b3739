/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant 3: a node has at most one owner, and it changes by compare-and-set. Schedulers claim, release and
 * transfer nodes at random, with owners that they believe in and that are often out of date. Beside the
 * records there is a naive opinion: one owner a node. At each commit, load and reload both must agree, and no
 * tenant may have more than its quota.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

enum { SIM_OWNERS = 6, SIM_TENANTS = 2 };

static const char *const owners[SIM_OWNERS] = {"one", "one/batch", "one:7", "one/batch:8", "two:7", "two"};
static const char *const tenants[SIM_TENANTS] = {"one", "two"};
static const uint32_t most_nodes[SIM_TENANTS] = {5, 3}, most_allocations[SIM_TENANTS] = {1, QUOTA_NONE};

void owners_roster(struct roster *r)
{
    r->tenants = mem_alloc(SIM_TENANTS * sizeof *r->tenants);
    for (size_t i = 0; i < SIM_TENANTS; i++)
        r->tenants[r->n_tenants++] = (struct tenant){mem_dup(tenants[i]), most_nodes[i], most_allocations[i]};
}

/* --- schedulers ------------------------------------------------------------------------------- */

static void take_name(const char *name, struct owner *out)
{
    owner_parse(name, out, NULL);
}

void owners_operator(struct sim *s)
{
    static const enum command_kind kinds[] = {COMMAND_OWNER_CLAIM, COMMAND_OWNER_CLAIM, COMMAND_OWNER_RELEASE,
                                              COMMAND_OWNER_TRANSFER};
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    struct command cmd = {.kind = kinds[sim_random(s, 4)],
                          .actor = "scheduler",
                          .at = {INT64_C(1700000000000000000) + s->now + s->wall_step},
                          .nodes = &nodes};
    bool all = cmd.kind != COMMAND_OWNER_CLAIM && sim_random(s, 4) == 0;
    for (size_t n = all ? 0 : 1 + (size_t)sim_random(s, 3); n > 0; n--) {
        const char *name = s->nodes[sim_random(s, s->n)].name;
        if (cluster_find(s->cluster, name) && (nodes.n == 0 || strcmp(nodes.names[nodes.n - 1], name) != 0))
            hostlist_add(&nodes, name);
    }
    if (cmd.kind != COMMAND_OWNER_CLAIM)
        take_name(owners[sim_random(s, SIM_OWNERS)], &cmd.own.from);
    if (cmd.kind != COMMAND_OWNER_RELEASE)
        take_name(owners[sim_random(s, SIM_OWNERS)], &cmd.own.to);
    if (nodes.n || all)
        agreed_submit(s, &cmd);
}

/* --- the opinion ------------------------------------------------------------------------------ */

/* The number of an owner from 1; 0: nobody. */
static uint8_t number_of(const struct owner *o)
{
    char name[OWNER_NAME_BYTES_MAX + 1];
    if (!*o->tenant)
        return 0;
    owner_name(o, name);
    uint8_t i = 0;
    while (i < SIM_OWNERS && strcmp(owners[i], name) != 0)
        i++;
    return (uint8_t)(i + 1);
}

/* A command that was taken means this, whatever was decided. */
void owners_take(struct sim *s, const struct job *j)
{
    uint8_t from = number_of(&j->cmd->own.from), to = number_of(&j->cmd->own.to);
    for (size_t i = 0; i < j->nodes.n; i++)
        s->owner[sim_index(s, j->nodes.names[i])] = to;
    for (size_t i = 0; j->nodes.n == 0 && i < s->n; i++)
        s->owner[i] = s->owner[i] == from ? to : s->owner[i];
}

/* --- the invariant ---------------------------------------------------------------------------- */

static void compare_owners(struct sim *s, const char *when)
{
    size_t owned = 0, n;
    for (size_t i = 0; i < s->n; i++) {
        const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
        const char *is = m && m->owner ? m->owner->name : "",
                   *was = s->owner[i] ? owners[s->owner[i] - 1] : "";
        owned += s->owner[i] != 0;
        if (strcmp(is, was) != 0)
            sim_fail(s, "after %s: %s is owned by \"%s\" and should be by \"%s\" (3)", when, s->nodes[i].name,
                     is, was);
    }
    const struct ownership **all = cluster_owners(s->cluster, &n);
    size_t named = 0;
    for (size_t i = 0; i < n; i++)
        named += all[i]->n;
    free(all);
    if (named != owned)
        sim_fail(s, "after %s: owners have %zu nodes, and %zu nodes have an owner (3)", when, named, owned);
}

static void count_quotas(struct sim *s, const char *when)
{
    for (size_t t = 0; t < SIM_TENANTS; t++) {
        uint32_t nodes = 0, allocations = 0;
        for (int o = 0; o < SIM_OWNERS; o++) {
            uint32_t its = 0;
            for (size_t i = 0; i < s->n; i++)
                its += s->owner[i] == o + 1;
            if (strncmp(owners[o], tenants[t], strlen(tenants[t])) != 0)
                continue;
            nodes += its;
            allocations += its && strchr(owners[o], ':');
        }
        if (nodes > most_nodes[t] || allocations > most_allocations[t])
            sim_fail(s, "after %s: tenant %s has %u nodes and %u allocations (3)", when, tenants[t],
                     (unsigned)nodes, (unsigned)allocations);
    }
}

void owners_check(struct sim *s, const char *when)
{
    compare_owners(s, when);
    count_quotas(s, when);
}
