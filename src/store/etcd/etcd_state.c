/* SPDX-License-Identifier: Apache-2.0 */
/* What every part of the engine asks first: where the state stands. */
#include "store/etcd/etcd_inside.h"

#include "base/digest.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int etcd_nothing(const struct etcd *s, struct err *e)
{
    if (!s->seen.cluster[0])
        return err_set(e, -EILSEQ, "etcd has a part of a state of Fettle, and no whole one");
    return err_set(e, -EILSEQ,
                   "etcd has no state of Fettle any more; this controller saw revision %" PRIu64
                   " of cluster %s; to begin anew, remove %s on each controller",
                   s->seen.head.revision, s->seen.cluster, s->seen.path);
}

static int cluster_judge(const struct etcd *s, const struct layout_cluster *c, struct err *e)
{
    if (!s->seen.cluster[0] || strcmp(s->seen.cluster, c->id) == 0)
        return 0;
    return err_set(
        e, -EILSEQ,
        "etcd has the state of cluster %s; this controller belongs to %s; to let it join the other "
        "cluster, remove %s",
        c->id, s->seen.cluster, s->seen.path);
}

int etcd_state(struct etcd *s, struct layout_cluster *c, struct layout_head *head, uint64_t *at,
               struct err *e)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_ANSWER struct wire_answer a = {0};
    CLEANUP_TEXT struct text body = {0}, out = {0};
    wire_get(&t.success, LAYOUT_CLUSTER, NULL);
    wire_get(&t.success, LAYOUT_HEAD, NULL);
    wire_txn_write(&t, &body);
    int r = client_call(&s->client, "/v3/kv/txn", body.s, &out, e);
    if (!r)
        r = wire_txn_read(out.s, out.len, &a, e);
    if (!r)
        r = endpoints_same(&s->client.ends, a.cluster, e);
    const struct wire_kv *cluster = wire_first(&a, 0), *there = wire_first(&a, 1);
    if (r)
        return r;
    *at = a.revision;
    if (!cluster || !there)
        return cluster || there || s->seen.cluster[0] ? etcd_nothing(s, e) : -ENOENT;
    r = layout_cluster_read(cluster, c, e);
    if (!r)
        r = cluster_judge(s, c, e);
    return r ? r : layout_head_read(there, head, e);
}

int etcd_head(struct etcd *s, struct layout_head *head, uint64_t *at, struct err *e)
{
    struct layout_cluster c;
    int r = etcd_state(s, &c, head, at, e);
    if (r == -ENOENT || (!r && strcmp(c.id, s->cluster.id) != 0))
        return err_set(e, -EILSEQ, "etcd does not have the state of cluster %s any more", s->cluster.id);
    return r;
}

int etcd_usable(const struct etcd *s, struct err *e)
{
    return s->unsure.is ? err_set(e, -EIO, "etcd takes no commit until the outcome of the last one is known")
                        : 0;
}

uint64_t etcd_created(const struct etcd *s, uint64_t term)
{
    return term > s->cluster.term_base ? term - s->cluster.term_base
                                       : UINT64_MAX >> 1; /* no key has that one */
}

void etcd_unsure_fini(struct etcd *s)
{
    change_destroy(s->unsure.deletes);
    s->unsure.deletes = NULL;
    s->unsure.is = false;
}

/* The request of a commit whose answer never came may still be on its way, and etcd may take it
 * later. So the head gets a new mark first, on the same revision, under the same comparisons: then that
 * request finds another head than it compares, for ever. When the comparisons do not hold any more, they
 * never will again: the head has moved, by this commit or by another controller's, or the leader key is
 * another one. */
int etcd_fence(struct etcd *s, struct err *e)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_ANSWER struct wire_answer a = {0};
    struct layout_head fence = {.revision = s->unsure.from.revision};
    char from[LAYOUT_HEAD_BYTES], to[LAYOUT_HEAD_BYTES];
    uint64_t at;
    bool unknown;
    digest_random_hex(fence.mark, (LAYOUT_MARK_BYTES - 1) / 2);
    wire_compare_created(&t, LAYOUT_LEADER, etcd_created(s, s->unsure.term));
    wire_compare_value(&t, LAYOUT_HEAD, layout_head_write(&s->unsure.from, from));
    layout_head_write(&fence, to);
    wire_put(&t.success, LAYOUT_HEAD, to, strlen(to));
    int r = client_txn(&s->client, &t, &a, &unknown, e);
    if (r)
        return r; /* one that was taken all the same makes the next one's comparison fail, which is as good */
    r = etcd_head(s, &s->head, &at, e);
    s->unsure.is = r != 0;
    return r;
}

int etcd_page(struct etcd *s, const char *key, const char *end, uint64_t revision, uint64_t *limit,
              struct wire_answer *a, struct err *e)
{
    CLEANUP_TEXT struct text body = {0};
    int r;
    do {
        text_clear(&body);
        wire_range_write(key, end, revision, *limit, &body);
        r = client_range(&s->client, &body, a, e);
    } while (r == -E2BIG && (*limit /= 4) > 0);
    return r;
}
