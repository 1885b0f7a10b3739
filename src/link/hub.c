/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams of a loop, and what they have to do in a coming turn.
 *
 * An idle handle runs while there is such work. libuv calls it after the timers and before it
 * polls, and does not block while it is active: so what a callback writes goes out in one piece
 * before the loop sleeps, and no callback of a stream ever comes from inside a call. Streams have
 * 2 ms of a turn, and so have handshakes, or what is left of the turn (loop_share); the rest waits behind the
 * timers and the sockets. A step takes
 * as long as it takes: while streams wait they have as much time as the handshakes before had, so that nobody
 * who is there already falls silent because others come.
 */
#include "link/stream_internal.h"

#include "base/loop.h"

#include <stdlib.h>
#include <utlist.h>

enum { TURN_MS = 2 };

static _Thread_local struct hub *hubs;

static bool is_idle(const struct hub *h)
{
    return !h->ready.head && !h->started.head && !h->fresh.head;
}

/* Runs before the loop waits. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct hub *h = prepare->data;
    h->until.ns = 0;
    loop_waits();
}

bool hub_has_time(struct hub *h)
{
    struct mono now = mono_now();
    if (!h->until.ns)
        h->until = loop_share_at(span_ms(TURN_MS), now);
    return now.ns < h->until.ns;
}

static void on_turn(uv_idle_t *idle)
{
    struct hub *h = idle->data;
    struct mono began = mono_now();
    hub_has_time(h);
    hub_run(&h->ready, h->until, h->steps->on_turn);
    struct mono now = mono_now();
    h->owed.ns -= mono_sub(now, began).ns;
    if (!h->ready.head || h->owed.ns <= 0) {
        h->steps->on_handshakes(h, loop_share_at(span_ms(TURN_MS), now));
        h->owed = mono_sub(mono_now(), now);
    }
    if (is_idle(h))
        uv_idle_stop(idle);
}

static void on_hub_closed(uv_handle_t *handle)
{
    struct hub *h = handle->data;
    if (--h->handles == 0)
        free(h);
}

struct hub *hub_find(uv_loop_t *loop)
{
    struct hub *h;
    LL_SEARCH_SCALAR(hubs, h, loop, loop);
    return h;
}

struct hub *hub_get(uv_loop_t *loop, const struct stream_steps *steps)
{
    struct hub *h = hub_find(loop);
    if (h)
        return h;
    h = mem_alloc(sizeof *h);
    h->loop = loop;
    h->steps = steps;
    uv_idle_init(loop, &h->turn);
    uv_prepare_init(loop, &h->waits);
    uv_prepare_start(&h->waits, on_prepare);
    uv_unref((uv_handle_t *)&h->waits);
    h->turn.data = h->waits.data = h;
    h->handles = 2;
    LL_PREPEND(hubs, h);
    return h;
}

void hub_add(struct hub *h, struct stream *s)
{
    DL_APPEND2(h->all, s, all_prev, all_next);
}

void hub_remove(struct hub *h, struct stream *s)
{
    DL_DELETE2(h->all, s, all_prev, all_next);
    if (h->all)
        return;
    LL_DELETE(hubs, h);
    uv_close((uv_handle_t *)&h->turn, on_hub_closed);
    uv_close((uv_handle_t *)&h->waits, on_hub_closed);
}

void hub_queue(struct work *w, struct stream *s)
{
    if (s->work)
        return;
    DL_APPEND2(w->head, s, work_prev, work_next);
    w->n++;
    s->work = w;
    uv_idle_start(&s->hub->turn, on_turn);
}

void hub_unqueue(struct stream *s)
{
    if (!s->work)
        return;
    DL_DELETE2(s->work->head, s, work_prev, work_next);
    s->work->n--;
    s->work = NULL;
}

void hub_run(struct work *w, struct mono until, void (*step)(struct stream *s))
{
    /* A stream that queues itself again meanwhile waits for the next turn. */
    for (size_t n = w->n; n > 0 && w->head; n--) {
        struct stream *s = w->head;
        hub_unqueue(s);
        step(s);
        if (mono_sub(mono_now(), until).ns >= 0)
            return;
    }
}
