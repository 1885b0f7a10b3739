/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect/collect_inside.h"

#include <string.h>

/*
 * Sends to the controller, and asks the agents: batches when they are due, urgent news within NEWS_MS. It
 * looks at the uplink's queue before it asks for inventories, so that a thousand new nodes cannot fill the
 * queue.
 */

enum {
    NEWS_MS = 50,                 /* in which what cannot wait for the batch is gathered */
    QUEUED_BYTES_MAX = 256 << 10, /* in the uplink, before more is asked for or sent */
    TELLING_MAX = 8,              /* agents that report all their checks again at the same time */
};

static void on_batch(uv_timer_t *timer);
static void on_news(uv_timer_t *timer);

static void collect_send_emit(void *arg, const char *body, size_t len)
{
    struct collect *c = arg;
    uplink_send(c->uplink, FRAME_BATCH, body, len);
}

void collect_arm_batch(struct collect *c)
{
    int64_t left_ms = span_to_ms(mono_sub(ledger_deadline(c->ledger), mono_now()));
    uv_timer_start(&c->batch, on_batch, left_ms > 0 ? (uint64_t)left_ms + 1 : 1, 0);
}

static void want_send(struct collect *c, const char *name, const char *body)
{
    struct link *k = link_find(c, name);
    if (k)
        peer_send(k->peer, FRAME_WANT, 0, body, strlen(body));
}

bool collect_has_room(const struct collect *c)
{
    return c->up && uplink_queued(c->uplink) < QUEUED_BYTES_MAX;
}

/* A new controller has heard nothing of the checks. A few agents at a time report them again. */
static void ask_to_tell(struct collect *c)
{
    static const char tell[] = "{\"tell\":true}";
    struct link *k;
    DL_FOREACH (c->links, k) {
        if (c->telling >= TELLING_MAX || !collect_has_room(c))
            return;
        if (!k->name[0] || !k->owes || k->tells)
            continue;
        k->owes = false;
        link_set_tells(k, true);
        peer_send(k->peer, FRAME_ACT, 0, tell, sizeof tell - 1);
    }
}

void collect_ask(struct collect *c)
{
    ask_to_tell(c);
    const char *name;
    struct fingerprint wanted;
    char hex[FINGERPRINT_HEX + 1];
    while (collect_has_room(c) && (name = ledger_ask(c->ledger, mono_now())))
        want_send(c, name, "{}");
    while (collect_has_room(c) && (name = ledger_ask_components(c->ledger, mono_now(), &wanted))) {
        CLEANUP_TEXT struct text body = {0};
        text_printf(&body, "{\"components\":\"%s\"}", fingerprint_format(&wanted, hex));
        want_send(c, name, body.s);
    }
}

/* Lists of components are large: no more at a time than the uplink takes. */
static void components_send(struct collect *c)
{
    while (collect_has_room(c) &&
           ledger_batch_components(c->ledger, listener_port(c->listener), collect_send_emit, c))
        ;
    if (c->up && ledger_has_components(c->ledger) && !uv_is_active((uv_handle_t *)&c->news))
        uv_timer_start(&c->news, on_news, NEWS_MS, 0);
}

void collect_flush(struct collect *c)
{
    if (!c->up || !c->ledger)
        return;
    struct mono now = mono_now();
    if (ledger_due(c->ledger, now)) {
        ledger_batch(c->ledger, now, listener_port(c->listener), collect_send_emit, c);
        collect_arm_batch(c);
    } else if (ledger_has_news(c->ledger) && !uv_is_active((uv_handle_t *)&c->news)) {
        uv_timer_start(&c->news, on_news, NEWS_MS, 0);
    }
    components_send(c);
    collect_ask(c);
}

static void on_news(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    if (!c->up || !c->ledger)
        return;
    if (ledger_has_news(c->ledger))
        ledger_batch_news(c->ledger, mono_now(), listener_port(c->listener), collect_send_emit, c);
    components_send(c);
    collect_ask(c);
}

static void on_batch(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    collect_flush(c);
    if (c->up && c->ledger && !uv_is_active((uv_handle_t *)timer))
        collect_arm_batch(c);
}

/* The controller is told of nodes that are not heard any more in the turn after they were found: when this
 * process stood still, what they sent meanwhile is read first. */
static void on_missed(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    struct mono now = mono_now(), next;
    if (c->up)
        ledger_batch_missed(c->ledger, listener_port(c->listener), collect_send_emit, c);
    if (ledger_find_missed(c->ledger, now, &next))
        next = mono_add(now, span_ms(NEWS_MS));
    if (next.ns < INT64_MAX)
        uv_timer_start(timer, on_missed, next.ns > now.ns ? (uint64_t)span_to_ms(mono_sub(next, now)) + 1 : 1,
                       0);
}

void collect_await_missed(struct collect *c)
{
    if (!uv_is_active((uv_handle_t *)&c->missed))
        uv_timer_start(&c->missed, on_missed, NEWS_MS, 0);
}
