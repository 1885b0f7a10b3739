/* SPDX-License-Identifier: Apache-2.0 */
/* Properties 1, 2, 3, 5 and 6, judged from what etcd has carried out (main.c). */
#include "history.h"

#include "store/etcd/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void configure(struct cluster *c)
{
    struct roster r = {.partition_max = 31, .n = NODES, .nodes = mem_alloc(NODES * sizeof *r.nodes)};
    for (size_t i = 0; i < r.n; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%02zu", i + 1);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    r.tenants = mem_alloc(2 * sizeof *r.tenants);
    r.tenants[r.n_tenants++] = (struct tenant){mem_dup("a"), QUOTA, QUOTA_NONE};
    r.tenants[r.n_tenants++] = (struct tenant){mem_dup("b"), QUOTA, QUOTA_NONE};
    cluster_configure(c, &r, NULL);
}

const char *owner_of(const struct cluster *c, const char *node)
{
    const struct member *m = cluster_find(c, node);
    return m->owner ? m->owner->name : "";
}

/* Whether the entry is what came of the command: reasons and new owners are made once. */
static bool is_entry_of(const struct asked *a, const struct store_entry *e)
{
    const char *text = e->text;
    size_t n = strlen(a->after);
    if (!n || strcmp(e->nodes, a->node) != 0)
        return false;
    if (!a->is_drain && strncmp(text, "owned by ", strlen("owned by ")) == 0)
        text += strlen("owned by ");
    return strncmp(text, a->after, n) == 0 && (text[n] == '\0' || text[n] == ' ' || text[n] == ',');
}

static void entry_check(uint64_t revision, const struct store_entry *e)
{
    for (size_t i = 0; i < s.n_asked; i++) {
        struct asked *a = &s.asked[i];
        bool is_it = is_entry_of(a, e);
        if (!is_it)
            continue;
        if (++a->found > 1)
            fail("(2) %s is in the journal a second time, at revision %" PRIu64, a->after, revision);
        if (a->rc < 0 && a->rc != STORE_UNKNOWN)
            fail("(2) %s was refused, and is in the journal at revision %" PRIu64, a->after, revision);
        if (a->rc == 0 && a->revision != revision)
            fail("(1) %s was acknowledged at revision %" PRIu64 ", and is at revision %" PRIu64, a->after,
                 a->revision, revision);
        if (!a->is_drain && strcmp(owner_of(s.truth, a->node), a->before) != 0)
            fail("(6) %s was given to %s from \"%s\", and \"%s\" owned it", a->node, a->after, a->before,
                 owner_of(s.truth, a->node));
        if (a->rc == 1)
            a->revision = revision;
        return;
    }
}

static int on_journal_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    (void)arg;
    (void)e;
    entry_check(revision, entry);
    return 0;
}

static void commit_check(const struct etcd_event *events, size_t n, uint64_t leader)
{
    char mark[LAYOUT_MARK_BYTES];
    struct err why;
    for (size_t i = 0; i < n; i++) {
        const struct wire_kv kv = {events[i].key, events[i].value, events[i].len, events[i].created,
                                   events[i].revision};
        if (layout_after(kv.key, LAYOUT_JOURNAL) && kv.value &&
            layout_entries_read(&kv, s.revision, mark, on_journal_entry, NULL, &why) < 0)
            fail("the journal of revision %" PRIu64 ": %s", s.revision, why.msg);
    }
    for (size_t i = 0; i < n; i++) {
        const char *key = layout_after(events[i].key, LAYOUT_RECORD);
        if (key && cluster_put(s.truth, key, events[i].value, &why) < 0)
            fail("record %s: %s", key, why.msg);
    }
    if (leader < s.term)
        fail("(5) revision %" PRIu64 " was committed in term %" PRIu64 " after one in term %" PRIu64,
             s.revision, leader, s.term);
    s.n_terms += leader > s.term;
    s.term = leader;
    s.digests[s.revision] = cluster_digest(s.truth);
    for (const char *t = "ab"; *t; t++)
        if (cluster_tenant_use(s.truth, (char[]){*t, '\0'}).nodes > QUOTA)
            fail("(6) tenant %c owns more than its quota at revision %" PRIu64, *t, s.revision);
}

/* Reads what etcd has carried out since, transaction by transaction. */
void carried_out(void)
{
    const struct etcd_event *all;
    size_t n = etcd_events(&all);
    while (s.read < n) {
        size_t from = s.read;
        struct layout_head head = {.revision = s.revision};
        while (s.read < n && all[s.read].revision == all[from].revision) {
            const struct etcd_event *e = &all[s.read++];
            const struct wire_kv kv = {e->key, e->value, e->len, e->created, e->revision};
            if (strcmp(e->key, LAYOUT_HEAD) == 0)
                layout_head_read(&kv, &head, NULL);
        }
        if (head.revision == s.revision)
            continue;
        if (head.revision != s.revision + 1)
            fail("revision %" PRIu64 " follows revision %" PRIu64, head.revision, s.revision);
        s.revision = head.revision;
        /* Transactions are read one by one, so the leader key is still that of this one. */
        commit_check(&all[from], s.read - from, etcd_created_of(LAYOUT_LEADER));
    }
}

void digest_check(const struct process *p)
{
    uint64_t revision = committer_revision(p->committer);
    if (revision <= s.revision && cluster_digest(p->cluster) != s.digests[revision])
        fail("(3) %s has another state than the store at revision %" PRIu64, p->name, revision);
    if (revision > s.revision)
        fail("(3) %s has revision %" PRIu64 ", and the store has %" PRIu64, p->name, revision, s.revision);
}
