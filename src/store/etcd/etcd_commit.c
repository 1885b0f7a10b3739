/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/etcd_inside.h"

#include "base/digest.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What a commit reads when it is refused. */
enum { FAILED_LEADER };

static void batch_write(const struct store_batch *b, const struct layout_head *next, const char *journal,
                        struct text *list)
{
    CLEANUP_TEXT struct text key = {0}, entries = {0};
    char head[LAYOUT_HEAD_BYTES];
    for (size_t i = 0; i < b->n_ops; i++) {
        const struct store_op *op = &b->ops[i];
        text_clear(&key);
        text_add(&key, LAYOUT_RECORD);
        text_add(&key, op->key);
        if (op->value)
            wire_put(list, key.s, op->value, strlen(op->value));
        else
            wire_delete(list, key.s, NULL);
    }
    layout_entries_write(next->mark, b, &entries);
    wire_put(list, journal, entries.s, entries.len);
    layout_head_write(next, head);
    wire_put(list, LAYOUT_HEAD, head, strlen(head));
}

static void commit_write(const struct etcd *s, uint64_t term, const struct store_batch *b,
                         const struct layout_head *next, struct wire_txn *t)
{
    char head[LAYOUT_HEAD_BYTES], journal[LAYOUT_JOURNAL_BYTES];
    layout_head_write(&s->head, head);
    layout_journal_key(next->revision, journal);
    wire_compare_created(t, LAYOUT_LEADER, etcd_created(s, term));
    wire_compare_value(t, LAYOUT_HEAD, head);
    batch_write(b, next, journal, &t->success);
    wire_get(&t->failure, LAYOUT_LEADER, NULL);
}

/* One of the two comparisons did not hold. */
static int commit_refused(const struct etcd *s, uint64_t term, const struct wire_answer *a, struct err *e)
{
    const struct wire_kv *leader = wire_first(a, FAILED_LEADER);
    struct layout_told told;
    if (!leader)
        return err_set(e, -EPERM, "term %" PRIu64 " is over: nobody leads", term);
    if (leader->created != etcd_created(s, term))
        return err_set(e, -EPERM, "term %" PRIu64 " is over: %s leads", term,
                       layout_told_read(leader, &told, NULL) < 0 ? "another controller" : told.name);
    return err_set(e, -EILSEQ,
                   "the state in etcd is not at revision %" PRIu64 " any more: somebody else wrote there",
                   s->head.revision);
}

/* Says why etcd has no room: by its space alarm, or by too much work at a time. */
static int no_room(struct etcd *s, struct err *e)
{
    CLEANUP_TEXT struct text out = {0};
    bool no_space = false, corrupt;
    int r = client_call(&s->client, "/v3/maintenance/alarm", "{\"action\":\"GET\"}", &out, NULL);
    if (!r && wire_alarms_read(out.s, out.len, &no_space, &corrupt, NULL) == 0 && !no_space)
        return err_set(e, -EAGAIN, "etcd has too much to do");
    return err_set(
        e, -ENOSPC,
        "etcd's space alarm is on; compact and defragment it, then disarm the alarm (etcdctl alarm disarm)");
}

static int commit_unknown(struct etcd *s, uint64_t term, const struct store_batch *b,
                          const struct layout_head *next, struct err *e)
{
    s->unsure.is = true;
    s->unsure.term = term;
    s->unsure.from = s->head;
    memcpy(s->unsure.mark, next->mark, sizeof s->unsure.mark);
    s->unsure.deletes = change_create(next->revision);
    for (size_t i = 0; i < b->n_ops; i++)
        if (!b->ops[i].value)
            change_add_op(s->unsure.deletes, b->ops[i].key, NULL);
    return err_wrap(e, STORE_UNKNOWN, "no answer to the commit of revision %" PRIu64, s->head.revision + 1);
}

static int commit_done(struct etcd *s, uint64_t term, const struct layout_head *next, uint64_t *revision)
{
    s->head = *next;
    s->term = term;
    *revision = next->revision;
    bookmark_note(&s->seen, s->cluster.id, next, NULL); /* the commit is done; a memory that lags says less */
    return 0;
}

/* The answer was that there is no room, and the commit may have been carried out all the same. Nothing of it
 * is on its way any more, so the head says which. */
static int commit_judge(struct etcd *s, uint64_t term, const struct store_batch *b,
                        const struct layout_head *next, uint64_t *revision, struct err *e)
{
    struct layout_head head;
    uint64_t at;
    if (etcd_head(s, &head, &at, e) < 0 || head.revision > next->revision)
        return commit_unknown(s, term, b, next, e);
    return strcmp(head.mark, next->mark) == 0 ? commit_done(s, term, next, revision) : no_room(s, e);
}

int etcd_commit(struct store *store, uint64_t term, const struct store_batch *b, uint64_t *revision,
                struct err *e)
{
    struct etcd *s = (struct etcd *)store;
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_ANSWER struct wire_answer a = {0};
    struct layout_head next = {.revision = s->head.revision + 1};
    bool unknown;
    int r = etcd_usable(s, e);
    if (r)
        return r;
    digest_random_hex(next.mark, (LAYOUT_MARK_BYTES - 1) / 2);
    commit_write(s, term, b, &next, &t);
    r = client_txn(&s->client, &t, &a, &unknown, e);
    if (r == -ENOSPC)
        return commit_judge(s, term, b, &next, revision, e);
    if (unknown)
        return commit_unknown(s, term, b, &next, e);
    if (r)
        return r;
    return a.succeeded ? commit_done(s, term, &next, revision) : commit_refused(s, term, &a, e);
}
