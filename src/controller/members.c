/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers of a state: those that tell of themselves in etcd, and those that people admitted or
 * removed. */
#include "controller/controller_inside.h"

#include "store/etcd/lease.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    AWAY_S = 10,                /* three leases */
    CLOCKS_DIFFER_MS_MAX = 2000 /* of two controllers; deadlines are recorded by wall clocks (doc/adr/0076) */
};

struct members {
    const struct controller *c;
    const char *leader;
    json_t *list;
};

static bool member_is_away(const struct lease_member *m)
{
    return m->age.ns > span_s(AWAY_S).ns;
}

static const char *member_state(const char *leader, const struct lease_member *m)
{
    if (member_is_away(m))
        return "away";
    return strcmp(leader, m->name) == 0 ? "leader" : "follower";
}

static json_t *member_row(const char *leader, const struct lease_member *m)
{
    char heard[32];
    json_t *row = json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:s}", "name", m->name, "state",
                            member_state(leader, m), "address", m->address, "agents", m->agents, "revision",
                            (json_int_t)m->revision, "level", (json_int_t)(m->level ? m->level : LEVEL_FIRST),
                            "age_ms", (json_int_t)(m->age.ns / 1000000), "heard", wall_format(m->at, heard));
    if (m->has_clock && !member_is_away(m)) {
        json_object_set_new(row, "clock_ahead_ms", json_integer((json_int_t)span_to_ms(m->ahead)));
        json_object_set_new(row, "clock_within_ms", json_integer((json_int_t)span_to_ms(m->within)));
    }
    return row;
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
    json_t *row = member_row(all->leader, m);
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

json_t *members_list(const struct controller *c, const char *leader)
{
    struct members all = {c, leader, json_array()};
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

static bool is_member(const struct controller *c, const char *name)
{
    struct sought s = {name, false};
    lease_members(c->lease, seek_member, &s);
    return s.found;
}

int members_may_remove(const struct controller *c, const char *leader, const char *name, struct err *e)
{
    if (!c->quorum)
        return err_set(e, -EOPNOTSUPP, "this controller is alone: there is no other one to remove");
    if (!cluster_controller(c->cluster, name) && !is_member(c, name))
        return err_set(e, -ENOENT, "no controller \"%.80s\"", name);
    if (strcmp(leader, name) == 0)
        return err_set(e, -EBUSY, "%s leads; stop its fettled first, so that another controller does", name);
    return 0;
}

/* --- what the leader does about the others --------------------------------------------------------- */

struct lead {
    struct controller *c;
    json_t *addresses; /* of the agents' ports */
    json_t *good;      /* the names of those whose clocks are, as far as is known, as ours is */
};

/* An alarm begins when the clocks differ for certain, and is over when they do not by the best guess. */
static void turn_clock(struct lead *t, const struct lease_member *m)
{
    const int64_t most = span_ms(CLOCKS_DIFFER_MS_MAX).ns, off = llabs(m->ahead.ns);
    bool is_known = m->has_clock && !member_is_away(m);
    CLEANUP_TEXT struct text said = {0};
    if (!is_known || off <= most)
        json_object_set_new(t->good, m->name, json_true());
    if (!is_known || off - m->within.ns <= most)
        return;
    text_printf(&said, "the clock of controller %s is %lld ms %s ours, give or take %lld ms", m->name,
                (long long)off / 1000000, m->ahead.ns > 0 ? "ahead of" : "behind",
                (long long)m->within.ns / 1000000);
    watch_alarm_raise(t->c->watch, ALARM_SKEW, m->name, "", said.s, wall_now());
}

static void end_alarms(struct lead *t)
{
    const struct alarm *next;
    for (const struct alarm *a = watch_alarms(t->c->watch); a; a = next) {
        next = a->next;
        if (a->kind != ALARM_SKEW)
            continue;
        CLEANUP_FREE char *name = mem_dup(a->subject);
        if (json_object_get(t->good, name))
            watch_alarm_end(t->c->watch, ALARM_SKEW, name, "its clock is right again, or it is away");
        else if (!is_member(t->c, name))
            watch_alarm_end(t->c->watch, ALARM_SKEW, name, "it is no controller any more");
    }
}

static void turn_member(void *arg, const struct lease_member *m)
{
    struct lead *t = arg;
    turn_clock(t, m);
    const struct controller_record *r = cluster_controller(t->c->cluster, m->name);
    if (r && r->why)
        lease_forget(t->c->lease, m->name);
    else if (*m->agents)
        json_array_append_new(t->addresses, json_string(m->agents));
}

void members_turn(struct controller *c)
{
    struct lead t = {c, NULL, NULL};
    if (!wiring_acts(c))
        return;
    t.addresses = json_array();
    t.good = json_object();
    lease_members(c->lease, turn_member, &t);
    end_alarms(&t);
    json_decref(t.good);
    if (c->agents && json_array_size(t.addresses))
        agents_set_controllers(c->agents, t.addresses);
    else
        json_decref(t.addresses);
}
