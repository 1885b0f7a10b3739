/* SPDX-License-Identifier: Apache-2.0 */
/* The commits behind one whose outcome is not known, that one included when it is there. */
#include "store/etcd/commits.h"
#include "store/etcd/etcd_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool change_has(const struct store_change *c, const char *key)
{
    for (size_t i = 0; i < c->batch.n_ops; i++)
        if (strcmp(c->ops[i].key, key) == 0)
            return true;
    return false;
}

/* A deletion of what was not there is a part of our commit, too. */
static void change_complete(const struct etcd *s, const char *mark, struct store_change *c)
{
    const struct store_change *deletes = s->unsure.deletes;
    if (!deletes || strcmp(mark, s->unsure.mark) != 0)
        return;
    for (size_t i = 0; i < deletes->batch.n_ops; i++)
        if (!change_has(c, deletes->ops[i].key))
            change_add_op(c, deletes->ops[i].key, NULL);
}

/* etcd's revision behind which the commits after this one begin. */
static int resolve_start(struct etcd *s, uint64_t after, uint64_t *start, struct err *e)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    CLEANUP_TEXT struct text body = {0};
    char key[LAYOUT_JOURNAL_BYTES];
    wire_range_write(after ? layout_journal_key(after, key) : LAYOUT_CLUSTER, NULL, 0, 0, &body);
    int r = client_range(&s->client, &body, &a, e);
    if (!r && !wire_first(&a, 0))
        r = err_set(e, -ERANGE, "etcd does not have the journal of revision %" PRIu64 " any more", after);
    if (!r)
        *start = wire_first(&a, 0)->modified;
    return r;
}

struct replay {
    struct etcd *etcd;
    struct commits commits;
    uint64_t to;
    store_change_fn *fn;
    void *arg;
};

static bool on_commit(void *arg, struct store_change *c)
{
    struct replay *p = arg;
    bool more = c->revision < p->to;
    change_complete(p->etcd, p->commits.mark, c);
    p->fn(p->arg, c);
    return more;
}

static int on_piece(void *arg, const char *bytes, size_t len, bool *done, struct err *e)
{
    struct replay *p = arg;
    int r = commits_take(&p->commits, bytes, len, on_commit, p, e);
    *done = p->commits.revision >= p->to;
    return r;
}

/* Tells the commits from `after` to the head. */
static int resolve_replay(struct etcd *s, uint64_t after, store_change_fn *fn, void *arg, struct err *e)
{
    CLEANUP_TEXT struct text body = {0};
    struct replay p = {.etcd = s, .to = s->head.revision, .fn = fn, .arg = arg};
    uint64_t start = 0;
    int r = resolve_start(s, after, &start, e);
    if (r)
        return r;
    wire_watch_write(LAYOUT_ALL, LAYOUT_ALL_END, start + 1, &body);
    commits_init(&p.commits, after);
    r = client_stream(&s->client, "/v3/watch", body.s, on_piece, &p, e);
    if (p.commits.revision > after) {
        struct layout_head seen = {.revision = p.commits.revision};
        memcpy(seen.mark, p.commits.mark, sizeof seen.mark);
        bookmark_note(&s->seen, s->cluster.id, &seen, NULL);
    }
    commits_fini(&p.commits);
    return r;
}

int etcd_resolve(struct store *store, uint64_t after, store_change_fn *fn, void *arg, struct err *e)
{
    struct etcd *s = (struct etcd *)store;
    uint64_t at;
    int r = s->unsure.is ? etcd_fence(s, e) : etcd_head(s, &s->head, &at, e);
    if (!r && s->head.revision < after)
        r = err_set(e, -EILSEQ, "etcd stands at revision %" PRIu64 ", and this controller at %" PRIu64,
                    s->head.revision, after);
    if (!r && s->head.revision > after)
        r = resolve_replay(s, after, fn, arg, e);
    if (!r)
        etcd_unsure_fini(s);
    else
        s->unsure.is = s->unsure.deletes != NULL;
    return r;
}
