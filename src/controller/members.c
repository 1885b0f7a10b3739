/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers of a state: those that tell of themselves in etcd, and those that people admitted or
 * removed. */
#include "controller/controller_inside.h"

#include "store/etcd/lease.h"

#include <errno.h>
#include <string.h>

enum { AWAY_S = 10 }; /* three leases */

struct members {
    const struct controller *c;
    json_t *list;
};

static bool member_is_away(const struct lease_member *m)
{
    return m->age.ns > span_s(AWAY_S).ns;
}

static const char *member_state(const struct controller *c, const struct lease_member *m)
{
    if (member_is_away(m))
        return "away";
    return strcmp(quorum_leader(c), m->name) == 0 ? "leader" : "follower";
}

static json_t *member_row(const struct controller *c, const struct lease_member *m)
{
    char heard[32];
    return json_pack("{s:s,s:s,s:s,s:I,s:I,s:s}", "name", m->name, "state", member_state(c, m), "address",
                     m->address, "revision", (json_int_t)m->revision, "age_ms",
                     (json_int_t)(m->age.ns / 1000000), "heard", wall_format(m->at, heard));
}

/* A person's word on it, when there is one. */
static void add_record(json_t *row, const struct controller_record *r)
{
    char at[32];
    json_t *more = json_pack("{s:s,s:s,s:s,s:s}", "by", r ? r->by : "", "at", r ? wall_format(r->at, at) : "",
                             "key", r && r->key ? r->key : "", "why", r && r->why ? r->why : "");
    json_object_update(row, more);
    json_decref(more);
}

static void add_member(void *arg, const struct lease_member *m)
{
    struct members *all = arg;
    const struct controller_record *r = cluster_controller(all->c->cluster, m->name);
    if (r && r->why)
        return; /* it goes in a moment */
    json_t *row = member_row(all->c, m);
    add_record(row, r);
    json_array_append_new(all->list, row);
}

static bool has_row(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_text(json_array_get(list, i), "name"), name) == 0)
            return true;
    return false;
}

static void add_other(void *arg, const struct controller_record *r)
{
    struct members *all = arg;
    if (has_row(all->list, r->name))
        return;
    json_t *row =
        json_pack("{s:s,s:s,s:s}", "name", r->name, "state", r->why ? "removed" : "admitted", "address", "");
    add_record(row, r);
    json_array_append_new(all->list, row);
}

json_t *members_list(const struct controller *c)
{
    struct members all = {c, json_array()};
    if (c->quorum) {
        lease_members(c->lease, add_member, &all);
        cluster_each_controller(c->cluster, add_other, &all);
    }
    return all.list;
}

struct sought {
    const char *name;
    bool found;
};

static void seek_member(void *arg, const struct lease_member *m)
{
    struct sought *s = arg;
    s->found |= strcmp(s->name, m->name) == 0;
}

int members_may_remove(const struct controller *c, const char *name, struct err *e)
{
    struct sought s = {name, cluster_controller(c->cluster, name) != NULL};
    if (!c->quorum)
        return err_set(e, -EOPNOTSUPP, "this controller is alone: there is no other one to remove");
    lease_members(c->lease, seek_member, &s);
    if (!s.found)
        return err_set(e, -ENOENT, "no controller \"%.80s\"", name);
    if (strcmp(quorum_leader(c), name) == 0)
        return err_set(e, -EBUSY, "%s leads; stop its fettled first, so that another controller does", name);
    return 0;
}

static void forget_removed(void *arg, const struct lease_member *m)
{
    const struct controller *c = arg;
    const struct controller_record *r = cluster_controller(c->cluster, m->name);
    if (r && r->why)
        lease_forget(c->lease, m->name);
}

void members_turn(struct controller *c)
{
    if (wiring_acts(c))
        lease_members(c->lease, forget_removed, c);
}
