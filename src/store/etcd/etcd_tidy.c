/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The leader's work beside commits. etcd keeps every version of every key until it is told to forget them;
 * the last ten minutes or so stay, for controllers that follow after a pause. The journal's oldest entries
 * are deleted as well; a store without a mirror writes them into files of days first, as the embedded one.
 */
#include "store/etcd/etcd_inside.h"
#include "store/export.h"

#include <errno.h>
#include <string.h>

enum { STEP = 64 }; /* revisions */
#define HISTORY span_s(600)
#define EVERY span_s(30)

/* Compacts to where etcd was at least HISTORY ago. */
static int compact_step(struct etcd *s, uint64_t at, struct err *e)
{
    CLEANUP_TEXT struct text body = {0}, out = {0};
    struct mono now = mono_now();
    int r = 0;
    if (s->compact.revision && mono_sub(now, s->compact.since).ns < HISTORY.ns)
        return 0;
    if (s->compact.revision) {
        wire_compact_write(s->compact.revision, &body);
        r = client_call(&s->client, "/v3/kv/compaction", body.s, &out, e);
    }
    if (r && r != -ERANGE) /* -ERANGE: another leader, or a person, was there before */
        return r;
    s->compact.revision = at;
    s->compact.since = now;
    return 0;
}

static int bytes_used(struct etcd *s, uint64_t *bytes, struct err *e)
{
    CLEANUP_TEXT struct text out = {0};
    struct wire_status status = {.bytes_used = 0};
    int r = client_call(&s->client, "/v3/maintenance/status", "{}", &out, e);
    if (!r)
        r = wire_status_read(out.s, out.len, &status, e);
    *bytes = status.bytes_used;
    return r;
}

/* The moment from which entries stay; 1970 when all do. */
static int stay_from(struct etcd *s, const struct store_keep *keep, struct wall now, struct wall *out,
                     struct err *e)
{
    uint64_t used = 0;
    int r = bytes_used(s, &used, e);
    *out = (struct wall){keep->age.ns ? now.ns - keep->age.ns : 0};
    if (used > keep->bytes)
        *out = (struct wall){now.ns - span_s(LEAVING_LEAST_H * 3600).ns};
    return r;
}

struct export
{
    struct leaving leaving;
    uint64_t newest;
};

/* The newest revision stays: what a controller saw is judged by it. */
static int on_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    struct export *x = arg;
    return revision < x->newest ? leaving_take(&x->leaving, revision, entry, e) : 0;
}

static int tidy_export(struct etcd *s, const struct store_keep *keep, struct wall before, uint64_t newest,
                       struct err *e)
{
    struct export x = {.leaving = {.before = before, .stays_from = keep->stays_from}, .newest = newest};
    struct leaving *l = &x.leaving;
    int r = etcd_journal(&s->store, 0, STEP, on_entry, &x, e);
    if (!r && l->last && keep->directory)
        r = export_append(keep->directory, l->day, l->first, &l->lines, e);
    if (!r)
        s->exported = l->last;
    leaving_fini(l);
    return r;
}

/* Only the leader deletes. */
static int tidy_delete(struct etcd *s, struct err *e)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_ANSWER struct wire_answer a = {0};
    char from[LAYOUT_JOURNAL_BYTES], end[LAYOUT_JOURNAL_BYTES];
    bool unknown;
    wire_compare_created(&t, LAYOUT_LEADER, etcd_created(s, s->term));
    wire_delete(&t.success, layout_journal_key(1, from), layout_journal_key(s->exported + 1, end));
    s->exported = s->first = 0;
    return client_txn(&s->client, &t, &a, &unknown,
                      e); /* what was not deleted is exported and deleted again */
}

int etcd_tidy(struct store *store, const struct store_keep *keep, struct wall now, bool *more, struct err *e)
{
    struct etcd *s = (struct etcd *)store;
    struct layout_head head;
    struct wall before = {0};
    uint64_t at = 0;
    *more = false;
    int r = etcd_usable(s, e);
    if (!r && s->exported) {
        *more = true;
        return tidy_delete(s, e);
    }
    if (!r && s->tidied.ns && mono_sub(mono_now(), s->tidied).ns < EVERY.ns)
        return 0;
    if (!r)
        r = etcd_head(s, &head, &at, e);
    if (!r)
        r = compact_step(s, at, e);
    if (!r)
        r = stay_from(s, keep, now, &before, e);
    if (!r && before.ns)
        r = tidy_export(s, keep, before, head.revision, e);
    *more = !r && s->exported > 0;
    if (!r && !*more)
        s->tidied = mono_now();
    return r;
}
