/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the size of journal.db. A step writes the oldest entries of one day to that day's file; the next
 * step removes them. When the process ends in between, the entries are still in the database, and export.c
 * makes sure that they are not written twice.
 *
 * The entries of the last two days always stay, because repairs are counted from them (api/numbers.c).
 */
#include "store/export.h"
#include "store/sqlite.h"

#include <errno.h>

enum { STEP = 256 };

static int bytes_used(struct sqlite *s, uint64_t *out, struct err *e)
{
    int64_t pages = 0, free = 0, bytes = 0;
    int r = sqlite_number(s->db, s->home.journal, "PRAGMA past.page_count", &pages, e);
    if (!r)
        r = sqlite_number(s->db, s->home.journal, "PRAGMA past.freelist_count", &free, e);
    if (!r)
        r = sqlite_number(s->db, s->home.journal, "PRAGMA past.page_size", &bytes, e);
    *out = (uint64_t)((pages - free) * bytes);
    return r;
}

/* The moment from which entries stay; 1970 when all do. */
static int stay_from(struct sqlite *s, const struct store_keep *keep, struct wall now, struct wall *out,
                     struct err *e)
{
    uint64_t used = 0;
    int r = bytes_used(s, &used, e);
    *out = (struct wall){keep->age.ns ? now.ns - keep->age.ns : 0};
    if (used > keep->bytes)
        *out = (struct wall){now.ns - span_s(LEAVING_LEAST_H * 3600).ns};
    return r;
}

static int keep_export(struct sqlite *s, const struct store_keep *keep, struct wall before, struct err *e)
{
    struct leaving l = {.before = before, .stays_from = keep->stays_from};
    struct sqlite_page p = {0, STEP, false, leaving_take, &l};
    int r = sqlite_page(s, QUERY_PAST_AFTER, &p, e);
    if (!r && l.last && keep->directory)
        r = export_append(keep->directory, l.day, l.first, &l.lines, e);
    if (!r)
        s->exported = l.last;
    leaving_fini(&l);
    return r;
}

static int take_away(struct sqlite *s, struct err *e)
{
    sqlite3_bind_int64(s->stmt[QUERY_REMOVE], 1, (int64_t)s->exported);
    int r = sqlite_run(s, QUERY_REMOVE, e);
    if (r)
        return r;
    s->exported = s->past_last = 0;
    return sqlite_take(s, QUERY_PAST_LAST, &s->past_last, e);
}

int keep_step(struct sqlite *s, const struct store_keep *keep, struct wall now, bool *more, struct err *e)
{
    struct wall before;
    if (s->exported) {
        *more = true;
        return take_away(s, e);
    }
    int r = stay_from(s, keep, now, &before, e);
    if (!r)
        r = keep_export(s, keep, before, e);
    *more = s->exported > 0;
    return r;
}
