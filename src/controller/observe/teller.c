/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/observe/teller.h"

#include "base/log.h"
#include "base/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

enum {
    WALK_MS = 1000,              /* between two walks over all nodes */
    AGAIN_MS = 2,                /* until the next share of a turn, while a walk is under way */
    WORK_A_STEP = 16,            /* one node that changed */
    QUEUED_BYTES_MAX = 64 << 10, /* far below the HTTP server's limit: one node may have a long list */
    ID_BYTES = 64
};

struct reader {
    struct teller *teller;
    struct http_request *request;
    struct picture *place;
    uint64_t said; /* pieces */
    bool walks;
    struct mono next; /* the next walk */
    struct wall until;
    struct reader *prev, *following;
};

struct teller {
    struct teller_setup with;
    char *origin;
    struct reader *readers;
    size_t n;
    uv_timer_t again;
};

static void reader_remove(struct reader *r)
{
    struct teller *t = r->teller;
    DL_DELETE2(t->readers, r, prev, following);
    t->n--;
    picture_destroy(r->place);
    free(r);
}

static void on_gone(void *arg)
{
    reader_remove(arg);
}

static void reader_end(struct reader *r)
{
    http_set_arg(r->request, NULL, NULL);
    http_events_end(r->request);
    reader_remove(r);
}

/* --- pieces ------------------------------------------------------------------------------------------- */

static void reader_say(struct reader *r, const char *name, const char *json)
{
    char id[ID_BYTES];
    snprintf(id, sizeof id, "%" PRIu64 ".%016" PRIx64 ".%" PRIu64, r->teller->with.term,
             r->teller->with.instance, ++r->said);
    http_event(r->request, id, name, json);
}

static void on_piece(void *arg, enum picture_piece k, const char *json)
{
    reader_say(arg, picture_piece_name(k), json);
}

static bool has_room(const struct reader *r)
{
    return stream_queued(http_stream(r->request)) < QUEUED_BYTES_MAX;
}

/* A share of the reader's walk. The end of each walk is told, so that the reader knows how old its picture
 * is. */
static void reader_serve(struct reader *r, struct mono until)
{
    while (has_room(r)) {
        const struct mono now = mono_now();
        if (now.ns >= until.ns)
            return;
        if (picture_step(r->teller->with.watch, now, wall_now(), r->place, WORK_A_STEP, on_piece, r))
            continue;
        r->walks = false;
        r->next = mono_add(now, span_ms(WALK_MS));
        reader_say(r, "now", "{}");
        return;
    }
}

/* --- turns -------------------------------------------------------------------------------------------- */

static void on_again(uv_timer_t *timer)
{
    enum { TURN_MS = 1 };
    LOOP_DOES("followers");
    struct teller *t = timer->data;
    const struct mono until = loop_share(span_ms(TURN_MS));
    bool walks = false;
    for (struct reader *r = t->readers, *next; r; r = next) {
        next = r->following;
        if (r->walks)
            reader_serve(r, until);
        walks |= r->walks;
    }
    if (t->readers) { /* the first is the last in the next turn */
        struct reader *first = t->readers;
        DL_DELETE2(t->readers, first, prev, following);
        DL_APPEND2(t->readers, first, prev, following);
    }
    if (walks)
        uv_timer_start(&t->again, on_again, AGAIN_MS, 0);
}

void teller_turn(struct teller *t, struct mono now)
{
    const struct wall wall = wall_now();
    bool walks = false;
    for (struct reader *r = t->readers, *next; r; r = next) {
        next = r->following;
        if (r->until.ns && r->until.ns <= wall.ns) {
            reader_end(r);
            continue;
        }
        r->walks |= now.ns >= r->next.ns;
        walks |= r->walks;
    }
    if (walks && !uv_is_active((uv_handle_t *)&t->again))
        uv_timer_start(&t->again, on_again, 0, 0);
}

int teller_add(struct teller *t, struct http_request *r, struct wall until, struct err *e)
{
    CLEANUP_TEXT struct text begin = {0};
    if (t->n >= TELLER_READERS_MAX)
        return err_set(e, -EAGAIN, "%d others read what is observed already", TELLER_READERS_MAX);
    struct reader *one = mem_alloc(sizeof *one);
    *one = (struct reader){.teller = t, .request = r, .place = picture_create(), .until = until};
    DL_APPEND2(t->readers, one, prev, following);
    t->n++;
    http_set_arg(r, one, on_gone);
    http_events_begin(r);
    text_add(&begin, "{\"version\":1,\"origin\":");
    text_add_json(&begin, t->origin);
    text_add_char(&begin, '}');
    reader_say(one, "begin", begin.s);
    return 0;
}

size_t teller_readers(const struct teller *t)
{
    return t->n;
}

/* --- life --------------------------------------------------------------------------------------------- */

struct teller *teller_create(const struct teller_setup *s)
{
    struct teller *t = mem_alloc(sizeof *t);
    t->with = *s;
    t->origin = mem_dup(s->origin);
    uv_timer_init(s->loop, &t->again);
    t->again.data = t;
    return t;
}

static void on_closed(uv_handle_t *h)
{
    struct teller *t = h->data;
    free(t->origin);
    free(t);
}

void teller_destroy(struct teller *t)
{
    if (!t)
        return;
    while (t->readers)
        reader_end(t->readers);
    uv_close((uv_handle_t *)&t->again, on_closed);
}
