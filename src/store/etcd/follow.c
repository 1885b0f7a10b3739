/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two connections: the stream, and questions beside it. A question reads the head through etcd's majority.
 * When the stream has brought the answer's revision, the follower is current as of the moment at which the
 * question was sent. A stream that does not bring it within a lease is begun anew, on another member.
 *
 * A stream begins behind the revision of etcd in which the last commit that was told was made; the journal's
 * key of that commit says which one that is. Or behind a later one, by which that commit is still the last:
 * the leader writes its key all the time, and etcd's history need not reach back to the last commit.
 */
#include "store/etcd/follow.h"

#include "base/loop.h"
#include "store/etcd/bookmark.h"
#include "store/etcd/commits.h"
#include "store/etcd/endpoints.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEEN_EVERY span_s(1)

/* What a question reads. */
enum { READS_CLUSTER, READS_HEAD, READS_JOURNAL, READS_LEADER };

struct follow {
    uv_timer_t turn;
    struct fetch *fetch, *beside; /* for the stream, and for the questions */
    struct endpoints ends, asked; /* the same */
    struct follow_events events;
    struct layout_cluster cluster; /* id "": not read yet */
    struct bookmark seen;
    struct mono noted; /* when `seen` was written */
    struct commits commits;
    struct request *stream; /* NULL: none */
    bool asks;              /* a question has no answer yet */
    struct mono sent;       /* when it was sent, */
    uint64_t had;           /* and the last commit by then */
    struct {                /* a head that the stream has to bring */
        bool is;
        uint64_t revision;
        struct mono sent, came; /* its question and its answer */
    } wanted;
    struct mono current; /* as of when it was current last; ns 0: never */
    enum { TOLD_NOTHING, TOLD_CURRENT, TOLD_SILENT } told;
    struct err why;       /* the last error, for on_current */
    struct err ends_with; /* code 0: it goes on */
};

static void on_turn(uv_timer_t *t);

static void turn_in(struct follow *f, uint64_t ms)
{
    uv_timer_start(&f->turn, on_turn, ms, (uint64_t)span_to_ms(f->ends.options.lease) / 3);
}

/* --- what the owner is told ----------------------------------------------------------------------- */

static void silent_tell(struct follow *f)
{
    if (f->told == TOLD_SILENT)
        return;
    f->told = TOLD_SILENT;
    f->events.on_current(f->events.arg, &f->why);
}

static void current_judge(struct follow *f)
{
    if (!f->wanted.is || f->commits.revision < f->wanted.revision)
        return;
    f->wanted.is = false;
    f->current = f->wanted.sent;
    if (f->told == TOLD_CURRENT)
        return;
    f->told = TOLD_CURRENT;
    f->events.on_current(f->events.arg, NULL);
}

static void stream_stop(struct follow *f)
{
    if (f->stream)
        fetch_stop(STEAL(f->stream));
    commits_restart(&f->commits);
}

/* on_end is told by the next turn, as the last thing that is done. */
static void follow_end(struct follow *f, const struct err *why)
{
    stream_stop(f);
    f->ends_with = *why;
    turn_in(f, 0);
}

/* --- the stream ------------------------------------------------------------------------------------ */

static void bookmark_keep(struct follow *f)
{
    struct layout_head head = {.revision = f->commits.revision};
    memcpy(head.mark, f->commits.mark, sizeof head.mark);
    if (head.mark[0] && f->cluster.id[0])
        bookmark_note(&f->seen, f->cluster.id, &head, NULL); /* one that lags says less, and no more */
    f->noted = mono_now();
}

static bool on_commit(void *arg, struct store_change *c)
{
    struct follow *f = arg;
    f->events.on_change(f->events.arg, c);
    return true;
}

static void stream_failed(struct follow *f, const struct err *why)
{
    f->why = *why;
    stream_stop(f);
    endpoints_next(&f->ends);
    f->wanted.is = false;
}

static void leader_judge(struct follow *f)
{
    if (f->commits.led_changed)
        f->events.on_leader(f->events.arg);
    f->commits.led_changed = false;
}

static void on_piece(void *arg, const char *bytes, size_t len)
{
    LOOP_DOES("commits of the leader");
    struct follow *f = arg;
    struct err e = {0};
    int r = commits_take(&f->commits, bytes, len, on_commit, f, &e);
    current_judge(f);
    if (mono_sub(mono_now(), f->noted).ns > SEEN_EVERY.ns)
        bookmark_keep(f);
    leader_judge(f);
    if (r == -ERANGE || r == -EILSEQ)
        follow_end(f, &e);
    else if (r)
        stream_failed(f, &e);
}

static void on_stream_done(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct follow *f = arg;
    struct err e = {0};
    f->stream = NULL;
    err_set(&e, -EAGAIN, "%s: the watch has ended%s%s", f->ends.urls[f->ends.at], status ? "" : ": ",
            why->msg);
    stream_failed(f, &e);
}

static void stream_begin(struct follow *f)
{
    CLEANUP_TEXT struct text body = {0};
    CLEANUP_FREE char *url = endpoints_url(&f->ends, "/v3/watch");
    wire_watch_write(LAYOUT_ALL, LAYOUT_ALL_END, f->commits.made_at + 1, &body);
    f->stream = fetch_stream(f->fetch, "POST", url, body.s, on_piece, on_stream_done, f);
}

/* --- questions --------------------------------------------------------------------------------------- */

static int cluster_judge(struct follow *f, const struct wire_kv *kv, struct err *e)
{
    struct layout_cluster c;
    if (!kv)
        return err_set(e, -EILSEQ, "etcd has no state of Fettle any more");
    int r = layout_cluster_read(kv, &c, e);
    if (!r && f->cluster.id[0] && strcmp(f->cluster.id, c.id) != 0)
        r = err_set(e, -EILSEQ, "etcd has the state of cluster %s, and had that of %s", c.id, f->cluster.id);
    if (!r)
        f->cluster = c;
    return r;
}

static int head_judge(struct follow *f, const struct wire_answer *a, struct layout_head *head, struct err *e)
{
    uint64_t revision = f->had;
    const struct wire_kv *there = wire_first(a, READS_HEAD);
    const struct wire_kv *journal = wire_first(a, revision ? READS_JOURNAL : READS_CLUSTER);
    int r = there ? layout_head_read(there, head, e)
                  : err_set(e, -EILSEQ, "etcd has no head of the state any more");
    if (r)
        return r;
    if (head->revision < revision)
        return err_set(e, -EILSEQ, "etcd stands at revision %" PRIu64 ", and this controller at %" PRIu64,
                       head->revision, revision);
    if (!f->stream && head->revision == f->commits.revision)
        commits_begin(&f->commits, a->revision, wire_first(a, READS_LEADER));
    if (!f->commits.made_at && !journal)
        return err_set(e, -ERANGE, "etcd's journal does not have revision %" PRIu64 " any more", revision);
    if (!f->commits.made_at)
        f->commits.made_at = journal->modified;
    return 0;
}

static int answer_judge(struct follow *f, int status, const char *body, size_t len, const struct err *why,
                        struct layout_head *head, struct err *e)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    bool definite;
    if (!status)
        return err_set(e, -EAGAIN, "%s: %s", f->asked.urls[f->asked.at], why->msg);
    if (status != 200) {
        wire_refusal(status, body, len, &definite, e);
        return err_wrap(e, -EAGAIN, "%s", f->asked.urls[f->asked.at]);
    }
    int r = wire_txn_read(body, len, &a, e);
    if (!r)
        r = endpoints_same(&f->asked, a.cluster, e);
    if (!r)
        r = cluster_judge(f, wire_first(&a, READS_CLUSTER), e);
    return r ? r : head_judge(f, &a, head, e);
}

static void on_answer(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    LOOP_DOES("commits of the leader");
    struct follow *f = arg;
    struct layout_head head;
    struct err e = {0};
    f->asks = false;
    if (f->ends_with.code)
        return;
    int r = answer_judge(f, status, body, len, why, &head, &e);
    if (r == -EILSEQ || r == -ERANGE) {
        follow_end(f, &e);
    } else if (r) {
        f->why = e;
        endpoints_next(&f->asked);
    } else {
        if (!f->wanted.is) {
            f->wanted.is = true;
            f->wanted.revision = head.revision;
            f->wanted.sent = f->sent;
            f->wanted.came = mono_now();
        }
        if (!f->stream)
            stream_begin(f);
        current_judge(f);
        leader_judge(f);
    }
}

static void follow_ask(struct follow *f)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_TEXT struct text body = {0};
    CLEANUP_FREE char *url = endpoints_url(&f->asked, "/v3/kv/txn");
    char journal[LAYOUT_JOURNAL_BYTES];
    wire_get(&t.success, LAYOUT_CLUSTER, NULL);
    wire_get(&t.success, LAYOUT_HEAD, NULL);
    wire_get(&t.success, layout_journal_key(f->commits.revision, journal), NULL);
    wire_get(&t.success, LAYOUT_LEADER, NULL);
    wire_txn_write(&t, &body);
    f->asks = true;
    f->had = f->commits.revision;
    f->sent = mono_now();
    fetch_start(f->beside, "POST", url, body.s, on_answer, f);
}

static void on_turn(uv_timer_t *t)
{
    LOOP_DOES("commits of the leader");
    struct follow *f = t->data;
    struct mono now = mono_now();
    struct span lease = f->ends.options.lease;
    if (f->ends_with.code) {
        uv_timer_stop(t);
        f->events.on_end(f->events.arg, &f->ends_with);
        return;
    }
    if (f->wanted.is && mono_sub(now, f->wanted.came).ns > lease.ns) {
        struct err e = {0};
        err_set(&e, -EAGAIN, "%s: the watch does not bring revision %" PRIu64, f->ends.urls[f->ends.at],
                f->wanted.revision);
        stream_failed(f, &e);
    }
    if (mono_sub(now, f->current).ns > lease.ns && f->why.code)
        silent_tell(f);
    if (!f->asks)
        follow_ask(f);
}

/* --- its life ---------------------------------------------------------------------------------------- */

struct follow *follow_create(uv_loop_t *loop, const struct etcd_options *o, uint64_t after,
                             const struct follow_events *events)
{
    struct follow *f = mem_alloc(sizeof *f);
    int r = endpoints_init(&f->ends, o, NULL);
    assert(r == 0 && "the options were checked (etcd_check)");
    endpoints_init(&f->asked, o, NULL);
    endpoints_next(&f->asked); /* a member that hangs does not have both */
    const struct fetch_options options =
        endpoints_fetch(&f->ends, (unsigned)span_to_ms(f->ends.options.lease));
    f->events = *events;
    f->fetch = fetch_create(loop, &options);
    f->beside = fetch_create(loop, &options);
    f->seen.path = mem_dup(o->seen);
    commits_init(&f->commits, after);
    uv_timer_init(loop, &f->turn);
    f->turn.data = f;
    turn_in(f, 0);
    return f;
}

static void on_turn_closed(uv_handle_t *h)
{
    free(h->data);
}

void follow_destroy(struct follow *f)
{
    if (!f)
        return;
    bookmark_keep(f);
    fetch_destroy(f->fetch);
    fetch_destroy(f->beside);
    endpoints_fini(&f->ends);
    endpoints_fini(&f->asked);
    bookmark_fini(&f->seen);
    commits_fini(&f->commits);
    uv_close((uv_handle_t *)&f->turn, on_turn_closed);
}

uint64_t follow_revision(const struct follow *f)
{
    return f->commits.revision;
}

bool follow_age(const struct follow *f, struct mono now, struct span *age)
{
    *age = mono_sub(now, f->current);
    return f->current.ns != 0;
}
