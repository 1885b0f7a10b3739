/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors (2001 document, "operation of MSM", steps 3 to 9). A configured collector that says HELLO gets
 * an empty share. With its first batch it says where it listens and counts as responding; then the nodes
 * are divided again. An agent that is connected here and belongs to a collector is redirected. An agent
 * whose collector is lost comes back here by itself; meanwhile its silence is excused, because it is not
 * its own.
 */
#include "controller/sessions/collectors_inside.h"
#include "controller/sessions/frames_inside.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    REBALANCE_AFTER_S = 3, /* a collector that only reconnects keeps its nodes */
    HELD_MORE = 1024,      /* nodes that a collector may hold beyond twice its share */
};

/* The most nodes of a collector: twice an even share, because others may have been lost, and some more. */
static size_t held_max(const struct agents *a)
{
    return 2 * (cluster_count(a->with.cluster) / (a->collectors.n ? a->collectors.n : 1)) + HELD_MORE;
}

/* The members of a folded list, unknown names left out; none of one with more names than a collector may
 * hold. The caller frees it. */
static struct member **members_of(struct agents *a, const char *list, size_t *n)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    *n = 0;
    if (hostlist_parse_max(list, held_max(a), &names, NULL) < 0)
        return mem_alloc(1);
    struct member **out = mem_alloc((names.n + 1) * sizeof *out);
    size_t place = 0;
    for (size_t i = 0; i < names.n; i++) {
        struct member *m = cluster_find_next(a->with.cluster, &place, names.names[i]);
        if (m)
            out[(*n)++] = m;
    }
    return out;
}

static void collectors_responds(struct session *s, struct member *const *held, size_t n)
{
    struct agents *a = s->agents;
    share_respond(a->share, s->member, true, held, n);
    a->balance_at = mono_now();
    struct text t = {0};
    text_printf(&t, "responds; holds %zu nodes", n);
    agents_note(a, "collector.up", s->member->name, t.s);
    text_fini(&t);
}

/* The nodes that are still its own: others may have been given the rest while it was away. */
static size_t keep_own(const struct session *s, struct member **nodes, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (share_collector_of(s->agents->share, nodes[i]) == s->member)
            nodes[kept++] = nodes[i];
    return kept;
}

void collectors_hello(struct session *s, const json_t *body)
{
    struct agents *a = s->agents;
    if (s->lost) /* over the same connection: its nodes are its own again */
        regain_finish(a);
    struct session *before = session_of_collector(a, s->member);
    if (before)
        collectors_lost(before); /* the same agent over an older connection, which still has to end */
    const json_t *role = json_object_get(body, "collector");
    uint64_t port = 0;
    const char *held = "";
    if (json_is_object(role)) {
        json_take_u64(role, "port", UINT16_MAX, &port, NULL);
        json_take_string(role, "nodes", &held, NULL);
    }
    s->collects = true;
    DL_APPEND2(a->collecting, s, prev_collecting, next_collecting);
    s->batch = mono_now();
    s->port = (uint16_t)port;
    size_t n = 0;
    CLEANUP_FREE struct member **nodes = members_of(a, held, &n);
    s->named_max = n + 1; /* until it knows its share */
    if (port)
        collectors_responds(s, nodes, n);
    shares_send(s, nodes, keep_own(s, nodes, n));
}

void collectors_dismiss(struct session *s)
{
    session_send(s, FRAME_SHARE, json_pack("{s:I}", "epoch", (json_int_t)++s->agents->epoch));
}

static void forget_heard(struct session *s)
{
    free(STEAL(s->heard));
    free(STEAL(s->heard_members));
    s->n_heard = 0;
}

void collectors_lost(struct session *s)
{
    struct agents *a = s->agents;
    s->collects = false;
    forget_heard(s);
    DL_DELETE2(a->collecting, s, prev_collecting, next_collecting);
    if (a->closing)
        return;
    regain_lost(s);
    share_respond(a->share, s->member, false, NULL, 0);
    if (s->port)
        a->balance_at = mono_add(mono_now(), span_s(REBALANCE_AFTER_S));
}

void collectors_configure(struct agents *a)
{
    struct session *s, *tmp;
    DL_FOREACH_SAFE2(a->collecting, s, tmp, next_collecting)
    {
        if (share_is_collector(a->share, s->member))
            continue;
        collectors_dismiss(s);
        collectors_lost(s);
    }
    CLEANUP_JSON json_t *nothing = json_object();
    DL_FOREACH (a->sessions, s) {
        if (s->member && !s->collects && !s->once && share_is_collector(a->share, s->member))
            collectors_hello(s, nothing);
    }
}

/* --- shares ---------------------------------------------------------------------------------- */

static void on_share(void *arg, struct member *collector, struct member *const *nodes, size_t n)
{
    struct session *s = session_of_collector(arg, collector);
    if (s)
        s->share_due = true;
}

void collectors_second(struct agents *a, struct mono now)
{
    struct session *s;
    DL_FOREACH2(a->collecting, s, next_collecting)
    {
        if (!s->peer || a->interval.ns == 0 || s->told != a->told)
            continue;
        if (mono_sub(now, s->batch).ns > a->waits.missed.ns) {
            struct err why;
            err_set(&why, -ETIMEDOUT, "the collector sent no batch within 150 %% of the interval");
            stream_abort(peer_stream(s->peer), &why);
        }
    }
    if (sent_is_due(a, now))
        agents_walk(a);
    if (a->balance_at.ns == 0 || now.ns < a->balance_at.ns || regain_busy(a))
        return;
    if (now.ns < a->shares_from.ns && !share_complete(a->share))
        return;
    a->balance_at.ns = 0;
    size_t moved = share_balance(a->share, on_share, a);
    regain_moved(a, now, moved);
    if (moved)
        log_info("%zu nodes were given to other collectors", moved);
    agents_walk(a); /* also to those who came here while their collector was away for a moment */
}

/* "192.0.2.7:6120" and "[2001:db8::7]:6120" without port and brackets. */
static char *host_of(struct peer *p)
{
    const char *address = stream_peer_address(peer_stream(p));
    const char *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : strlen(address);
    bool brackets = len > 2 && address[0] == '[' && address[len - 1] == ']';
    return brackets ? mem_dup_len(address + 1, len - 2) : mem_dup_len(address, len);
}

bool collectors_redirect(struct session *s, uint64_t instance)
{
    struct agents *a = s->agents;
    struct mono now = mono_now();
    const struct member *collector = share_collector_of(a->share, s->member);
    if (!collector || share_is_collector(a->share, s->member) || !share_responds(a->share, collector))
        return false;
    struct session *to = session_of_collector(a, collector);
    if (!to || !to->peer || to->port == 0 || (a->balance_at.ns != 0 && now.ns < a->shares_from.ns))
        return false;
    if (sent_came_back(a, s->member, instance, to, now))
        return false;
    sent_away(a, s->member, collector, now);
    watch_excuse(a->with.watch, now, regain_time(a, now, 0), s->member); /* it is alive, and on its way */
    CLEANUP_FREE char *host = host_of(to->peer);
    session_send(s, FRAME_REDIRECT,
                 json_pack("{s:{s:s,s:s,s:i},s:I}", "collector", "name", collector->name, "host", host,
                           "port", (int)to->port, "now_ms", (json_int_t)(wall_now().ns / 1000000)));
    session_part(s);
    return true;
}

json_t *agents_collectors(struct agents *a)
{
    json_t *all = json_array();
    for (size_t i = 0; i < a->collectors.n; i++) {
        const struct member *m = cluster_find(a->with.cluster, a->collectors.names[i]);
        struct member *const *nodes;
        json_array_append_new(all, json_pack("{s:s,s:b,s:I}", "name", m->name, "responds",
                                             share_responds(a->share, m), "nodes",
                                             (json_int_t)share_members(a->share, m, &nodes)));
    }
    return all;
}

/* --- batches --------------------------------------------------------------------------------- */

/* Most batches have the list of the one before: all of the share. Its members are found once. */
static int find_heard(struct session *s, const char *list, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    if (s->heard && strcmp(s->heard, list) == 0)
        return 0;
    forget_heard(s);
    if (hostlist_parse_max(list, s->named_max, &names, e) < 0)
        return err_wrap(e, -EINVAL, "the nodes that were heard");
    s->heard_members = mem_alloc((names.n + 1) * sizeof(struct member *));
    size_t place = 0;
    for (size_t i = 0; i < names.n; i++) {
        struct member *m = cluster_find_next(s->agents->with.cluster, &place, names.names[i]);
        if (m)
            s->heard_members[s->n_heard++] = m;
        else
            s->foreign++;
    }
    if (s->n_heard == names.n)
        s->heard = mem_dup(list);
    return 0;
}

/* A node that is heard and not believed was reported over a connection that is gone, or was refused: it
 * has to be reported again. */
static void take_heard(struct session *s, const char *list, struct hostlist *want)
{
    struct agents *a = s->agents;
    struct mono now = mono_now();
    struct wall wall = wall_now();
    struct err e = {0};
    if (!*list)
        return;
    if (find_heard(s, list, &e) < 0) {
        session_warn(s, s->member, &e);
        return;
    }
    for (size_t i = 0; i < s->n_heard; i++) {
        struct member *m = shares_speaks_for(s, s->heard_members[i]);
        const void *session = m ? watch_observed(a->with.watch, m)->session : NULL;
        if (m && session == s)
            watch_vouch(a->with.watch, now, wall, m);
        else if (m && !session)
            hostlist_add(want, m->name);
    }
}

/* The collector does not hear m any more. It speaks of its own connection to m alone. */
static void take_missed(struct session *s, struct member *m, const json_t *missed)
{
    uint64_t ago_ms = 0;
    if (!m || m == s->member || watch_observed(s->agents->with.watch, m)->session != s)
        return;
    if (json_take_u64(missed, "ago_ms", UINT32_MAX, &ago_ms, NULL) == 0)
        watch_missed(s->agents->with.watch, mono_now(), span_ms((int64_t)ago_ms), m);
}

static void take_all_missed(struct session *s, const json_t *all)
{
    size_t i;
    json_t *missed;
    json_array_foreach (all, i, missed) {
        const char *name = "";
        json_take_string(missed, "name", &name, NULL);
        take_missed(s, shares_spoken_for(s, name), missed);
    }
}

static void take_change(struct session *s, const json_t *change, struct hostlist *want)
{
    struct agents *a = s->agents;
    const char *name = "";
    bool gone = false, duplicate = false, wanted = false;
    struct err e = {0};
    json_take_string(change, "name", &name, NULL);
    json_take_bool(change, "gone", &gone, NULL);
    json_take_bool(change, "duplicate", &duplicate, NULL);
    struct member *m = shares_spoken_for(s, name);
    if (!m)
        return;
    if (duplicate) {
        agents_note(a, "node.duplicate", name,
                    "a second agent claims the name at the collector and is refused");
        return;
    }
    if (gone) {
        take_missed(s, m, change);
        if (m != s->member)
            watch_close(a->with.watch, m, s);
        return;
    }
    const struct member *by = m == s->member ? NULL : s->member;
    if (session_open_member(s, m, change, by, &wanted, &e) < 0) {
        log_debug(LOG_COLLECT, "collector %s: node %s: %s", s->member->name, name, e.msg);
        hostlist_add(want, name); /* or the collector would take it as told */
        return;
    }
    struct heartbeat h;
    if (heartbeat_read(change, &h, NULL) == 0)
        watch_heartbeat(a->with.watch, mono_now(), wall_now(), m, &h, NULL);
    if (wanted)
        hostlist_add(want, name);
}

static void take_inventories(struct session *s, const json_t *all, struct hostlist *want)
{
    size_t i;
    json_t *item;
    json_array_foreach (all, i, item) {
        const char *name = "";
        json_take_string(item, "name", &name, NULL);
        struct member *m = shares_spoken_for(s, name);
        bool full = false;
        json_take_bool(item, "full", &full, NULL);
        if (!m)
            continue;
        if (!full && !watch_observed(s->agents->with.watch, m)->report.json)
            hostlist_add(want, name);
        else
            session_inventory(s, m, item);
    }
}

static void complain_of_foreign(struct session *s, uint64_t epoch)
{
    /* Nodes that were just taken from its share may still be in a batch on its way. */
    if (s->foreign && epoch == s->epoch && !s->share_due && s->complained != epoch) {
        s->complained = epoch;
        struct text t = {0};
        text_printf(&t, "speaks for %zu nodes that it was not given; they are not believed", s->foreign);
        agents_note(s->agents, "collector.foreign", s->member->name, t.s);
        text_fini(&t);
    }
    s->foreign = 0;
}

void collectors_batch(struct session *s, const json_t *body)
{
    uint64_t epoch = 0, port = 0;
    const char *heard = "";
    json_take_u64(body, "epoch", INT64_MAX, &epoch, NULL);
    json_take_u64(body, "port", UINT16_MAX, &port, NULL);
    json_take_string(body, "heard", &heard, NULL);
    s->batch = mono_now(); /* it is there, also where much news of its nodes is before who was heard */
    bool first = s->port == 0 && port != 0;
    if (port)
        s->port = (uint16_t)port;
    if (first)
        collectors_responds(s, NULL, 0);
    CLEANUP_HOSTLIST struct hostlist want = {0};
    size_t i;
    json_t *change;
    json_array_foreach (json_object_get(body, "changed"), i, change)
        take_change(s, change, &want);
    take_inventories(s, json_object_get(body, "inventories"), &want);
    take_heard(s, heard, &want);
    take_all_missed(s, json_object_get(body, "missed"));
    fingerprints_batch(s, body);
    complain_of_foreign(s, epoch);
    if (want.n) {
        CLEANUP_FREE char *folded = hostlist_fold((const char *const *)want.names, want.n);
        session_send(s, FRAME_WANT, json_pack("{s:s}", "nodes", folded));
    }
    session_send(s, FRAME_HEARD, json_object());
}
