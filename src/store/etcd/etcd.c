/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine on etcd: its opening, and what its other files share. What must not be lost is compared in etcd
 * itself, by each transaction; this process's memory is never the reason why something may be written.
 */
#include "store/etcd/etcd_inside.h"

#include "base/digest.h"
#include "store/etcd/election.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Another controller may begin it at the same time; then that one's is read. */
static int etcd_begin(struct etcd *s, struct err *e)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_ANSWER struct wire_answer a = {0};
    CLEANUP_TEXT struct text value = {0};
    struct layout_cluster c = {.term_base = 0};
    struct layout_head head = {.revision = 0};
    char text[LAYOUT_HEAD_BYTES];
    bool unknown;
    digest_random_hex(c.id, 16);
    digest_random_hex(head.mark, (LAYOUT_MARK_BYTES - 1) / 2);
    layout_cluster_write(&c, &value);
    layout_head_write(&head, text);
    wire_compare_created(&t, LAYOUT_CLUSTER, 0);
    wire_compare_created(&t, LAYOUT_HEAD, 0);
    wire_put(&t.success, LAYOUT_CLUSTER, value.s, value.len);
    wire_put(&t.success, LAYOUT_HEAD, text, strlen(text));
    return client_txn(&s->client, &t, &a, &unknown, e);
}

static int journal_mark(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    return 0;
}

/* The mark of a commit; "" when the journal does not have it. */
static int etcd_mark(struct etcd *s, uint64_t revision, char mark[static LAYOUT_MARK_BYTES], struct err *e)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    CLEANUP_TEXT struct text body = {0};
    char key[LAYOUT_JOURNAL_BYTES];
    wire_range_write(layout_journal_key(revision, key), NULL, 0, 0, &body);
    int r = client_range(&s->client, &body, &a, e);
    const struct wire_kv *kv = wire_first(&a, 0);
    mark[0] = '\0';
    return r || !kv ? r : layout_entries_read(kv, revision, mark, journal_mark, NULL, e);
}

/* An etcd that was restored from a backup does not have what this controller saw, or goes on differently. */
static int etcd_judge(struct etcd *s, struct err *e)
{
    char mark[LAYOUT_MARK_BYTES] = "";
    const struct layout_head *seen = &s->seen.head;
    if (!s->seen.cluster[0] || !seen->revision)
        return 0;
    if (s->head.revision < seen->revision)
        return err_set(
            e, -EILSEQ,
            "etcd stands at revision %" PRIu64 " and this controller saw revision %" PRIu64
            ": etcd was restored from an older backup; to go on without the commits in between, remove %s "
            "on each controller",
            s->head.revision, seen->revision, s->seen.path);
    int r = etcd_mark(s, seen->revision, mark, e);
    if (!r && mark[0] && strcmp(mark, seen->mark) != 0)
        r = err_set(e, -EILSEQ,
                    "revision %" PRIu64
                    " in etcd is not the one that this controller saw: etcd was restored from an "
                    "older backup, and others have committed since; to go on with their state, remove %s",
                    seen->revision, s->seen.path);
    return r;
}

static int etcd_remember(struct etcd *s, struct err *e)
{
    struct layout_head head = {.revision = s->head.revision};
    int r = head.revision ? etcd_mark(s, head.revision, head.mark, e) : 0;
    if (!r && head.revision && !head.mark[0])
        return err_set(e, -EILSEQ, "etcd has no journal of revision %" PRIu64, head.revision);
    if (!head.revision)
        memcpy(head.mark, s->head.mark, sizeof head.mark);
    return r ? r : bookmark_note(&s->seen, s->cluster.id, &head, e);
}

static int etcd_begin_or_find(struct etcd *s, struct err *e)
{
    uint64_t at;
    int r = etcd_state(s, &s->cluster, &s->head, &at, e);
    if (r != -ENOENT)
        return r;
    r = etcd_begin(s, e);
    return r ? r : etcd_state(s, &s->cluster, &s->head, &at, e);
}

/* Gives the leader key of store_campaign back. */
static void etcd_resign(struct etcd *s)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_ANSWER struct wire_answer a = {0};
    bool unknown;
    if (!s->own.created)
        return;
    wire_compare_created(&t, LAYOUT_LEADER, s->own.created);
    wire_delete(&t.success, LAYOUT_LEADER, NULL);
    client_txn(&s->client, &t, &a, &unknown, NULL); /* otherwise the next one waits for a lease */
}

static void etcd_close(struct store *store)
{
    struct etcd *s = (struct etcd *)store;
    etcd_resign(s);
    etcd_unsure_fini(s);
    client_fini(&s->client);
    bookmark_fini(&s->seen);
    free(s);
}

static int etcd_check_usable(struct store *store, struct err *e)
{
    return etcd_usable((const struct etcd *)store, e);
}

static const struct store_engine etcd_engine = {.close = etcd_close,
                                                .campaign = etcd_campaign,
                                                .load = etcd_load,
                                                .commit = etcd_commit,
                                                .resolve = etcd_resolve,
                                                .journal = etcd_journal,
                                                .journal_back = etcd_journal_back,
                                                .tidy = etcd_tidy,
                                                .first = etcd_first,
                                                .check = etcd_check_usable};

int etcd_open(const struct etcd_options *o, struct store **out, struct err *e)
{
    struct etcd *s = mem_alloc(sizeof *s);
    s->store.engine = &etcd_engine;
    digest_random_hex(s->own.instance, (LAYOUT_MARK_BYTES - 1) / 2);
    int r = client_init(&s->client, o, e);
    if (r) {
        free(s);
        return r;
    }
    r = bookmark_init(&s->seen, o->seen, e);
    if (!r)
        r = etcd_begin_or_find(s, e);
    if (!r)
        r = etcd_judge(s, e);
    if (!r)
        r = etcd_remember(s, e);
    if (r)
        etcd_close(&s->store);
    else
        *out = &s->store;
    return r;
}

static struct etcd *etcd_of(struct store *store)
{
    assert(store->engine == &etcd_engine && "a store on etcd");
    return (struct etcd *)store;
}

const char *etcd_cluster(struct store *store)
{
    return etcd_of(store)->cluster.id;
}

int etcd_take_up(struct store *store, uint64_t revision, struct err *e)
{
    struct etcd *s = etcd_of(store);
    struct layout_head head;
    uint64_t at;
    int r = etcd_usable(s, e);
    if (!r)
        r = etcd_head(s, &head, &at, e);
    if (!r && head.revision != revision)
        r = err_set(e, head.revision > revision ? -EAGAIN : -EILSEQ,
                    "etcd stands at revision %" PRIu64 ", and this controller at %" PRIu64, head.revision,
                    revision);
    if (!r)
        s->head = head;
    return r;
}

static int campaign_create(struct etcd *s, struct err *e)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_ANSWER struct wire_answer a = {0};
    CLEANUP_TEXT struct text value = {0};
    const struct etcd_options *o = &s->client.ends.options;
    struct layout_told told = {.lease_ms = (uint64_t)span_to_ms(o->lease), .at = wall_now()};
    bool unknown;
    memcpy(told.name, o->name, strlen(o->name) + 1);
    memcpy(told.address, o->address, strlen(o->address) + 1);
    memcpy(told.instance, s->own.instance, sizeof told.instance);
    layout_told_write(&told, &value);
    wire_compare_created(&t, LAYOUT_LEADER, 0);
    wire_put(&t.success, LAYOUT_LEADER, value.s, value.len);
    int r = client_txn(&s->client, &t, &a, &unknown, e);
    if (!r && a.succeeded)
        s->own.created = a.revision;
    return unknown && r != -ENOSPC ? 0 : r; /* the next look at the key shows it */
}

static int campaign_remove(struct etcd *s, uint64_t modified, struct err *e)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_ANSWER struct wire_answer a = {0};
    bool unknown;
    wire_compare_modified(&t, LAYOUT_LEADER, modified);
    wire_delete(&t.success, LAYOUT_LEADER, NULL);
    int r = client_txn(&s->client, &t, &a, &unknown, e);
    return unknown && r != -ENOSPC ? 0 : r;
}

static int campaign_read(struct etcd *s, struct election *n, struct err *e)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    CLEANUP_TEXT struct text body = {0};
    wire_range_write(LAYOUT_LEADER, NULL, 0, 0, &body);
    int r = client_range(&s->client, &body, &a, e);
    if (!r)
        election_read(n, wire_first(&a, 0), mono_boot());
    return r;
}

static int campaign_step(struct etcd *s, struct election *n, bool again, struct err *e)
{
    switch (election_next(n, mono_boot())) {
    case ELECTION_CREATE: return campaign_create(s, e);
    case ELECTION_RENEW:
        if (again) /* a term that is higher than the last one needs a key that is newer */
            return campaign_remove(s, n->seen.modified, e);
        s->own.created = n->created;
        return 0;
    case ELECTION_REMOVE: return campaign_remove(s, n->seen.modified, e);
    case ELECTION_WAIT:
    default: nanosleep(&(struct timespec){0, 20000000}, NULL); return 0;
    }
}

int etcd_campaign(struct store *store, uint64_t *term, struct err *e)
{
    struct etcd *s = (struct etcd *)store;
    const struct etcd_options *o = &s->client.ends.options;
    uint64_t before = s->own.created, at;
    struct election n;
    int r = etcd_usable(s, e);
    election_init(&n, s->own.instance, o->lease);
    struct mono until = mono_add(mono_boot(), (struct span){o->lease.ns * 2 + span_ms(o->answered_ms).ns});
    while (!r && s->own.created == before) {
        if (mono_boot().ns > until.ns)
            return err_set(e, -EBUSY, "%s leads", n.seen.told.name);
        r = campaign_read(s, &n, e);
        if (!r)
            r = campaign_step(s, &n, n.created && n.created == before, e);
    }
    if (!r)
        r = etcd_head(s, &s->head, &at, e);
    *term = s->own.created + s->cluster.term_base;
    return r;
}
