/* SPDX-License-Identifier: Apache-2.0 */
/* What src/controller/quorum.c and leadership.c do around the committer, and property 4. */
#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

void *work_owner(const uv_work_t *work)
{
    struct process *p;
    DL_FOREACH (s.processes, p)
        if (p->committer == work->data)
            return p;
    fail("nobody's work");
}

static void on_entry(void *arg, const struct committed *c)
{
    (void)c;
    digest_check(arg);
}

static void on_changed(void *arg, const struct hostlist *some)
{
    (void)arg;
    (void)some;
}

static void on_store(void *arg, const struct err *why)
{
    const struct process *p = arg;
    say("%s: the store %s%s", p->name, why ? "refuses: " : "works again", why ? why->msg : "");
}

static void on_journal(void *arg, const struct err *why)
{
    (void)arg;
    (void)why;
}

static void begin_anew(struct process *p, const char *why)
{
    if (!p->ends)
        say("%s begins anew: %s", p->name, why);
    p->ends = true;
}

static void on_deposed(void *arg, const struct err *why)
{
    begin_anew(arg, why->msg);
}

static void on_change(void *arg, struct store_change *change)
{
    struct process *p = arg;
    committer_follow(p->committer, change);
}

static void on_current(void *arg, const struct err *why)
{
    struct process *p = arg;
    say("%s is %s%s", p->name, why ? "behind: " : "current", why ? why->msg : "");
    lease_stand(p->lease, !why);
}

static void on_end(void *arg, const struct err *why)
{
    begin_anew(arg, why->msg);
}

static void on_leader_key(void *arg)
{
    struct process *p = arg;
    lease_look(p->lease);
}

static void on_lead(void *arg, uint64_t term)
{
    struct process *p = arg;
    follow_destroy(STEAL(p->follow));
    p->term = term;
    p->leads = true;
    say("%s leads in term %" PRIu64, p->name, term);
    committer_lead(p->committer, term);
}

static void on_lost(void *arg, const struct err *why)
{
    struct process *p = arg;
    say("%s leads no more: %s", p->name, why->msg);
    committer_depose(p->committer);
    lease_stand(p->lease, false);
    p->deposed = true;
    if (!p->is_leader)
        begin_anew(p, "another one leads");
}

static void on_leader(void *arg, const struct lease_leader *leader)
{
    struct process *p = arg;
    p->is_leader = leader && leader->is_self;
    if (p->deposed)
        begin_anew(p, "the leader has changed");
}

static void on_etcd(void *arg, const struct err *why)
{
    struct process *p = arg;
    if (!why && p->deposed)
        begin_anew(p, "etcd answers again");
}

static int take(void *arg, const char *key, const char *value, struct err *e)
{
    return cluster_put(arg, key, value, e);
}

static struct etcd_options options_of(const struct process *p)
{
    return (struct etcd_options){
        .endpoints = "http://e0:1,http://e1:1,http://e2:1", .name = p->name, .address = p->name};
}

/* In a task: this asks etcd. The loop's thread waits meanwhile. */
static void process_open(void *arg)
{
    struct process *p = arg;
    const struct etcd_options o = options_of(p);
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = "."};
    const struct committer_events events = {p, on_entry, on_changed, on_store, on_journal, on_deposed};
    uint64_t revision;
    p->opened = etcd_open(&o, &p->store, &p->why);
    if (p->opened == 0)
        p->opened = store_load(p->store, take, p->cluster, &revision, &p->why);
    if (p->opened < 0)
        return;
    configure(p->cluster);
    p->committer = committer_create(&s.loop, p->cluster, p->store, 0, revision, &keep, &events);
}

static void process_opened(void *arg)
{
    struct process *p = arg;
    const struct etcd_options o = options_of(p);
    const struct lease_events leads = {p, on_lead, on_lost, on_leader, on_etcd};
    const struct follow_events follows = {p, on_change, on_current, on_end, on_leader_key};
    uint64_t revision = p->committer ? committer_revision(p->committer) : 0;
    if (p->party.is_dead)
        return;
    if (p->opened < 0) {
        begin_anew(p, p->why.msg);
        return;
    }
    digest_check(p);
    p->lease = lease_create(&s.loop, &o, &leads);
    p->follow = follow_create(&s.loop, &o, revision, &follows);
    say("%s has revision %" PRIu64, p->name, revision);
}

struct process *process_begin(unsigned controller)
{
    struct process *p = mem_alloc(sizeof *p);
    *p = (struct process){.party = {.controller = controller}, .opened = 1, .cluster = cluster_create()};
    snprintf(p->name, sizeof p->name, "c%u", controller);
    DL_APPEND(s.processes, p);
    s.n_starts++;
    task_begin(p, process_open, process_opened, p);
    return p;
}

void process_leave(struct process *p)
{
    p->party.is_dead = p->ends = true;
    for (size_t i = 0; i < CONTROLLERS; i++)
        if (s.slots[i] == p)
            s.slots[i] = NULL;
    s.restarts[p->party.controller] = virtual_now() + (int64_t)chance(4000 * (uint64_t)MS);
    if (!p->committer)
        return;
    follow_destroy(STEAL(p->follow));
    lease_destroy(STEAL(p->lease));
    if (!p->deposed)
        committer_depose(p->committer);
}

void process_stop(struct process *p)
{
    p->stops = p->deposed = true;
    follow_destroy(STEAL(p->follow));
    lease_stand(p->lease, false);
    committer_depose(p->committer);
}

static void on_resigned(void *arg)
{
    struct process *p = arg;
    say("%s has given the leadership back", p->name);
    p->ends = true;
}

/* After its last commit. */
static void process_resign(struct process *p)
{
    if (!p->stops || p->resigns || p->ends || tasks_of(p))
        return;
    p->resigns = true;
    lease_resign(p->lease, on_resigned, p);
}

static void process_free(struct process *p)
{
    committer_destroy(p->committer);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    uv_run(&s.loop, UV_RUN_NOWAIT);
    cluster_destroy(p->cluster);
    store_close(p->store);
    DL_DELETE(s.processes, p);
    free(p);
}

void processes_turn(void)
{
    struct process *p, *tmp;
    unsigned acting = 0;
    DL_FOREACH_SAFE(s.processes, p, tmp)
    {
        process_resign(p);
        if (p->ends && !p->party.is_dead)
            process_leave(p);
        if (p->party.is_dead && !tasks_of(p)) {
            process_free(p);
            continue;
        }
        if (p->party.is_dead || !p->lease)
            continue;
        acting += lease_holds(p->lease);
        if (virtual_now() - p->turned < 100 * (int64_t)MS)
            continue;
        p->turned = virtual_now();
        lease_tell(p->lease, committer_revision(p->committer));
        committer_turn(p->committer, mono_now());
    }
    if (acting > 1)
        fail("(4) two controllers may act");
    for (unsigned i = 0; i < CONTROLLERS; i++)
        if (!s.slots[i] && s.restarts[i] <= virtual_now())
            s.slots[i] = process_begin(i);
}
