/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proposals. Nodes that need the same command with the same details are one group. Groups are gathered over a
 * sweep and proposed at its end, for the nodes that still need the command. The names in a command are made
 * once for a group. Finding them is work, of which each tick has a share. A node without room waits for the
 * next sweep.
 */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/drifting_inside.h"
#include "watch/conform/proposal_inside.h"
#include "watch/view/alarm.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUPS_MAX = 256,         /* commands at the end of one sweep */
    GROUPS_NEWS_MAX = 32,     /* above so many groups, news makes no new one */
    GROUPS_SENSITIVE = 64,    /* additional groups for sensitive nodes */
    URGENT_WORK = 32768,      /* work that a tick does for urgent groups beyond its share; some 8 ms */
    PROPOSED_NODES_MAX = 4096 /* in the commands of one kind; the other nodes follow in the next sweep */
};

/* --- the details of a command ---------------------------------------------------------------- */

/* Names of components that differ, worst first, at most 16. */
struct naming {
    enum severity severity;
    uint32_t count, named;
    struct text t;
};

static bool name_difference(void *arg, const struct difference *d)
{
    struct naming *n = arg;
    if (d->unknown || d->severity != n->severity)
        return true;
    n->count++;
    if (n->named == DRIFT_NAMED_MAX)
        return true;
    n->named++;
    component_names_add(&n->t, d->name);
    return true;
}

/* Returns the names, which the caller frees, and the number of all components that differ. */
static char *name_differences(struct watch *w, const struct kind *k, const struct listing *was,
                              uint32_t *count)
{
    struct naming n = {.severity = SEVERITY_CRITICAL};
    assert(k && count);
    for (; was && was->known && n.severity > SEVERITY_IGNORE; n.severity--)
        class_compare(&cluster_classes(w->cluster)->list[k->key.class], was, k->listing, name_difference, &n);
    w->conformity->work_left -= 3 * (int64_t)(k->listing->n + (was ? was->n : 0));
    *count = n.count;
    return text_take(&n.t);
}

static void say_seen(struct watch *w, struct group *g)
{
    struct seen_command *says = &g->cmd.seen;
    g->named = name_differences(w, g->key.kind, g->key.was, &says->count);
    says->id = g->key.kind->listing->id;
    says->named = g->named;
}

static void say_drift(struct watch *w, struct group *g, const struct baseline *b)
{
    struct drift_command *says = &g->cmd.drift;
    g->named = name_differences(w, g->key.kind, b->listing, &says->count);
    g->class = mem_dup(b->class);
    says->class = g->class;
    says->version = b->version;
    says->expected = b->listing->id;
    says->actual = g->key.kind->listing->id;
    says->severity = g->key.kind->base.result.worst;
    says->named = g->named;
}

/* --- groups ---------------------------------------------------------------------------------- */

static struct group_key key_of(struct watch *w, struct mono now, enum command_kind kind,
                               const struct member *m)
{
    struct group_key key = {.command = (uint16_t)kind};
    if (kind == COMMAND_SEEN) {
        key.kind = w->conformity->known[m->id].kind;
        key.was = m->seen;
    } else if (kind == COMMAND_DRIFT || kind == COMMAND_PERSISTS) {
        key.kind = w->conformity->known[m->id].kind;
        key.version = baseline_of(w, m)->version;
        key.rolls = conformity_rolls(w, now, m);
    } else if (kind == COMMAND_RESTORED) {
        key.version = baseline_of(w, m)->version;
        key.rested = member_flaps(m); /* which called only when it was rested */
    } else if (kind == COMMAND_OVERDUE) {
        key.version = baseline_of(w, m)->version;
    }
    return key;
}

static struct group *group_create(struct watch *w, const struct group_key *key, const struct member *m)
{
    struct group *g = mem_alloc(sizeof *g);
    g->key = *key;
    if (key->kind)
        kind_ref(key->kind);
    if (key->was)
        listing_ref(key->was);
    g->cmd.kind = (enum command_kind)key->command;
    if (g->cmd.kind == COMMAND_SEEN)
        say_seen(w, g);
    else if (key->kind)
        say_drift(w, g, baseline_of(w, m));
    else if (g->cmd.kind == COMMAND_RESTORED)
        g->cmd.restored = (struct restored_command){key->version, key->rested};
    else if (g->cmd.kind == COMMAND_OVERDUE)
        g->cmd.overdue.version = key->version;
    HASH_ADD(hh, w->proposals->groups, key, sizeof g->key, g);
    return g;
}

static void group_drop(struct watch *w, struct group *g)
{
    HASH_DEL(w->proposals->groups, g);
    kind_unref(w, g->key.kind);
    listing_unref(cluster_listings(w->cluster), g->key.was);
    free(g->class);
    free(g->named);
    free(g->members);
    free(g);
}

/* A SEEN record of a node that changes again and again is news. It leaves room for what follows from drift
 * that was found or is gone: a few nodes that never rest must not delay that. */
static bool has_room(const struct watch *w, bool news, const struct member *m)
{
    if (news)
        return HASH_COUNT(w->proposals->groups) < GROUPS_NEWS_MAX && w->conformity->work_left > 0 &&
               m->id >= w->proposals->news_from;
    return HASH_COUNT(w->proposals->groups) < GROUPS_MAX + (m->spec.sensitive ? GROUPS_SENSITIVE : 0) &&
           w->conformity->work_left > (m->spec.sensitive ? 2 : 1) * -URGENT_WORK;
}

/* The next sweep begins with the news that found no room in this one. */
static void leave_news(struct watch *w, uint32_t member)
{
    if (member >= w->proposals->news_from && member < w->proposals->news_left)
        w->proposals->news_left = member;
}

void groups_create(struct watch *w, const struct group_rules *rules)
{
    w->proposals->rules = rules;
    w->proposals->news_left = UINT32_MAX;
}

void groups_add(struct watch *w, struct mono now, enum command_kind kind, const struct member *m)
{
    assert(w->proposals->rules && "groups_create comes first");
    const struct group_key key = key_of(w, now, kind, m);
    bool news = w->proposals->rules->is_news(w, now, m, kind);
    struct group *g;
    HASH_FIND(hh, w->proposals->groups, &key, sizeof key, g);
    if (w->proposals->grouped[kind] == PROPOSED_NODES_MAX || (!g && !has_room(w, news, m))) {
        if (news)
            leave_news(w, m->id);
        return;
    }
    if (!g)
        g = group_create(w, &key, m);
    w->proposals->grouped[kind]++;
    if (g->n == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 8;
        g->members = mem_grow(g->members, g->cap * sizeof *g->members);
    }
    g->members[g->n++] = m->id;
}

/* --- the end of a sweep ---------------------------------------------------------------------- */

/* The nodes of a group that still need the command. */
static void proposal_confirm(struct watch *w, struct mono now, const struct group *g, struct hostlist *nodes,
                             struct boot_id *boots)
{
    for (size_t i = 0; i < g->n; i++) {
        struct member *m = cluster_by_id(w->cluster, g->members[i]);
        if (!m->listed || !conformity_look(w, now, m, false) ||
            !w->proposals->rules->calls(w, now, m, (enum command_kind)g->key.command))
            continue;
        const struct group_key key = key_of(w, now, (enum command_kind)g->key.command, m);
        if (memcmp(&key, &g->key, sizeof key) != 0)
            continue;
        snprintf(boots[nodes->n].id, sizeof boots->id, "%s", w->seen[m->id].boot);
        hostlist_add(nodes, m->name);
    }
}

/* One alarm for each kind of command and the same nodes. */
static void alarm_nodes(struct watch *w, enum command_kind kind, const struct hostlist *nodes,
                        const char *text)
{
    CLEANUP_TEXT struct text subject = {0};
    if (!nodes->n)
        return;
    CLEANUP_FREE char *folded = hostlist_fold((const char *const *)nodes->names, nodes->n);
    text_printf(&subject, "%s %s", command_name(kind), folded);
    alarms_raise(&w->alarms, ALARM_DRIFT, subject.s, folded, text, w->wall);
}

/* Which nodes a person is told about when the command is taken, and the text. */
static const char *proposal_alarming(struct watch *w, const struct group *g, const struct hostlist *nodes,
                                     struct hostlist *whom)
{
    bool critical = g->key.command == COMMAND_DRIFT && g->key.kind->base.result.worst == SEVERITY_CRITICAL;
    bool persists = g->key.command == COMMAND_PERSISTS, overdue = g->key.command == COMMAND_OVERDUE;
    for (size_t i = 0; i < nodes->n; i++) {
        const struct drift *d = drift_of(cluster_find(w->cluster, nodes->names[i]));
        bool told = d && d->state != DRIFT_REMEDIED && d->severity == SEVERITY_CRITICAL;
        if (persists || overdue || (critical && !told))
            hostlist_add(whom, nodes->names[i]);
    }
    return critical   ? "critical drift: a person is needed"
           : persists ? "came back from a boot and is still drifted"
                      : "the time to remedy the drift is over: counts as down";
}

static void proposal_proposed(struct watch *w, struct mono now, const struct group *g,
                              const struct hostlist *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        const struct member *m = cluster_find(w->cluster, nodes->names[i]);
        struct drifting *s = drifting_find(w, m);
        if (g->key.command == COMMAND_SEEN || g->key.command == COMMAND_DRIFT)
            w->proposals->rules->written(w, now, m, (enum command_kind)g->key.command);
        if (s && g->key.command == COMMAND_REBOOT) {
            s->reboot = true;
            s->reboot_at = now;
        }
    }
}

/* Whether the brake holds now: the alarm of this sweep also counts for what the sweep found. */
static bool is_braked(const struct watch *w, const struct group *g)
{
    return g->key.rolls || w->conformity->classes[g->key.kind->key.class].alarm;
}

static void propose_group(struct watch *w, struct mono now, const struct group *g)
{
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    CLEANUP_HOSTLIST struct hostlist whom = {0};
    CLEANUP_FREE struct boot_id *boots = mem_alloc((g->n + 1) * sizeof *boots);
    struct command cmd = g->cmd;
    proposal_confirm(w, now, g, &nodes, boots);
    assert(nodes.n <= g->n && "boots has room for each node");
    if (!nodes.n)
        return;
    cmd.nodes = &nodes;
    if (cmd.kind == COMMAND_DRIFT || cmd.kind == COMMAND_PERSISTS) {
        cmd.drift.braked = is_braked(w, g);
        cmd.drift.n = nodes.n;
        cmd.drift.boots = boots;
    } else if (cmd.kind == COMMAND_REBOOT) {
        cmd.reboot = (struct reboot_command){nodes.n, boots};
    }
    const char *alarm = proposal_alarming(w, g, &nodes, &whom);
    if (!w->sink.propose(w->sink.arg, &cmd)) {
        if (cmd.kind == COMMAND_SEEN)
            leave_news(w, g->members[0]);
        return;
    }
    proposal_proposed(w, now, g, &nodes);
    alarm_nodes(w, cmd.kind, &whom, alarm);
}

void groups_drop(struct watch *w)
{
    struct group *g, *next;
    HASH_ITER (hh, w->proposals->groups, g, next)
        group_drop(w, g);
}

void groups_propose(struct watch *w)
{
    w->proposals->proposing = true;
}

static struct group *group_next(const struct watch *w)
{
    static const enum command_kind order[] = {COMMAND_SEEN,     COMMAND_DRIFT,   COMMAND_PERSISTS,
                                              COMMAND_RESTORED, COMMAND_OVERDUE, COMMAND_REBOOT};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        for (struct group *g = w->proposals->groups; g; g = g->hh.next)
            if (g->key.command == (uint32_t)order[i])
                return g;
    return NULL;
}

bool groups_step(struct watch *w)
{
    struct group *g = w->proposals->proposing ? group_next(w) : NULL;
    if (g) {
        propose_group(w, watch_awake(w, w->last_tick), g);
        group_drop(w, g);
    } else if (w->proposals->proposing) {
        w->proposals->proposing = false;
        memset(w->proposals->grouped, 0, sizeof w->proposals->grouped);
        w->proposals->news_from = w->proposals->news_left == UINT32_MAX ? 0 : w->proposals->news_left;
        w->proposals->news_left = UINT32_MAX;
    }
    return g != NULL;
}
