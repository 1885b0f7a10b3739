/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect/collect.h"

#include "agent/collect/collect_inside.h"
#include "base/log.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The ledger knows what was heard; here are sockets and timers. collect_frame.c takes the agents' frames,
 * collect_send.c sends to the controller, collect_link.c sends to the agents.
 */

enum {
    GREET_MS = 10000,     /* from the connection to HELLO */
    SWEEP_MS = 1000,      /* how often silent links are looked for */
    TELLS_SWEEPS = 5,     /* an agent that was asked has these to say its checks */
    SILENT_INTERVALS = 2, /* the shortest time that a link may be silent, in seconds */
    SILENT_MS = 60000,    /* likewise, where the controller does not say how long it waits */
    AWAY_MS = 600000,     /* likewise: without a controller until the agents are sent away */
    UNPROVEN_MORE = 256,  /* links that have shown no certificate, beside one for each node */
    PROVEN_EACH_MAX = 4,  /* links of one node over which it is not heard */
};

/* All its nodes may come at once, from one address where that is translated. */
static void limit_crowd(struct collect *c)
{
    size_t all = UNPROVEN_MORE + ledger_count(c->ledger);
    crowd_limit(c->unproven, &(struct crowd_limits){.all = all, .each = all});
}

/* The controller has taken a node down that is connected and not heard. If its agent lives, it connects
 * again. */
static void close_unheard(struct link *k, int64_t silent_ms)
{
    log_warn("%s is connected and was not heard for %" PRId64 " s: its connection is closed", k->name,
             silent_ms / 1000);
    link_part(k);
}

/* How long a node may be connected and not heard. */
static int64_t silent_limit_ms(const struct collect *c)
{
    int64_t limit = c->waits.silent.ns ? span_to_ms(c->waits.silent) : SILENT_MS;
    int64_t least = SILENT_INTERVALS * span_to_ms(c->interval);
    return limit > least ? limit : least;
}

static void collect_note(struct collect *c, struct mono now)
{
    unsigned more = rare_turn(&c->crowd_notes, now);
    if (more > 0)
        log_warn("in the last minute %u more connections were closed for being too many", more);
    more = rare_turn(&c->misfit_notes, now);
    if (more > 0)
        log_info("in the last minute %u more agents sent frames that do not fit here", more);
}

static void on_sweep(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    struct mono now = mono_now();
    struct link *k;
    bool tells = c->sweeps++ % TELLS_SWEEPS == 0;
    bool stood_still = mono_sub(now, c->swept).ns > span_ms(2 * SWEEP_MS).ns;
    c->swept = now;
    collect_note(c, now);
    DL_FOREACH (c->links, k) {
        int64_t silent_ms = span_to_ms(mono_sub(now, k->last));
        if (stood_still) /* frames that arrived meanwhile were not read yet */
            k->last = now;
        if (tells)
            link_set_tells(k, false); /* one that does not answer keeps no other waiting */
        if (stood_still)
            continue;
        if (!k->name[0] && silent_ms > GREET_MS)
            peer_close(k->peer);
        else if (k->name[0] && c->interval.ns > 0 && silent_ms > silent_limit_ms(c))
            close_unheard(k, silent_ms);
    }
    collect_ask(c);
}

/* An agent whose node left the share, or any share, asks a controller. */
static void agents_send_away(struct collect *c)
{
    struct link *k;
    DL_FOREACH (c->links, k)
        if (k->name[0] && !(c->ledger && ledger_has(c->ledger, k->name)))
            link_send_home(k);
}

static int64_t away_ms(const struct collect *c)
{
    return c->waits.away.ns ? span_to_ms(c->waits.away) : AWAY_MS;
}

static void await_answer(struct collect *c);

static void on_away(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    struct link *k;
    log_warn("no controller has answered for %" PRId64 " s: the agents are sent to look for one",
             away_ms(c) / 1000);
    DL_FOREACH (c->links, k) {
        if (!k->name[0])
            continue;
        ledger_gone(c->ledger, k->name, k->instance);
        link_send_home(k);
    }
    await_answer(c);
    if (c->up)
        uplink_redial(c->uplink);
}

/* From now on; when the controller does not answer, from the end of the connection. */
static void await_answer(struct collect *c)
{
    if (c->ledger && (c->waits.away.ns || !c->up))
        uv_timer_start(&c->away, on_away, (uint64_t)away_ms(c), 0);
}

static int listen_at(struct collect *c, uint16_t port, struct err *e)
{
    int r = listener_open_tcp(c->loop, "::", port, collect_on_connection, c, &c->listener, e);
    return r ? listener_open_tcp(c->loop, "0.0.0.0", port, collect_on_connection, c, &c->listener, e) : 0;
}

static int collect_begin(struct collect *c, struct err *e)
{
    uint16_t port = c->wanted_port < 0 ? uplink_target(c->uplink)->port : (uint16_t)c->wanted_port;
    int r = listen_at(c, port, e);
    if (r && port) {
        log_info("%s; another port is used", e->msg);
        r = listen_at(c, 0, e);
    }
    if (r)
        return r;
    c->ledger = ledger_create(c->name, c->instance);
    ledger_interval(c->ledger, c->interval, c->waits.hold, c->waits.silent);
    c->swept = mono_now();
    uv_timer_start(&c->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    log_info("collects on port %u", listener_port(c->listener));
    return 0;
}

int collect_share(struct collect *c, const struct body_share *share, struct tls_context *tls, struct err *e)
{
    if (!share->collect) {
        collect_stop(c);
        return 0;
    }
    if (c->ledger && !c->fresh_epoch && share->epoch < ledger_epoch(c->ledger))
        return 0;
    c->tls = tls;
    int r = c->ledger ? 0 : collect_begin(c, e);
    if (r)
        return r;
    c->fresh_epoch = false;
    ledger_share(c->ledger, mono_now(), share->epoch, &share->nodes);
    limit_crowd(c);
    if (c->up && !uv_is_active((uv_handle_t *)&c->away))
        await_answer(c);
    log_info("collects, epoch %" PRIu64 ", nodes: %zu", share->epoch, ledger_count(c->ledger));
    agents_send_away(c);
    collect_arm_batch(c);
    return 0;
}

void collect_set_tls(struct collect *c, struct tls_context *tls)
{
    c->tls = tls;
}

void collect_want(struct collect *c, const struct body_want *want)
{
    if (!c->ledger)
        return;
    if (want->components)
        ledger_want_components(c->ledger, &want->nodes, &want->fingerprint);
    else
        ledger_want(c->ledger, &want->nodes);
    collect_ask(c);
}

void collect_recheck(struct collect *c, const struct hostlist *nodes)
{
    struct link *k;
    if (!c->ledger)
        return;
    ledger_recheck(c->ledger, nodes);
    DL_FOREACH (c->links, k)
        if (k->name[0] && ledger_take_recheck(c->ledger, k->name))
            peer_send(k->peer, FRAME_RECHECK, 0, "{}", 2);
}

void collect_checklist(struct collect *c, const char *hash, const char *body, size_t len)
{
    struct link *k;
    snprintf(c->checklist, sizeof c->checklist, "%s", hash);
    text_clear(&c->checklist_body);
    text_add_bytes(&c->checklist_body, body, len);
    DL_FOREACH (c->links, k)
        if (k->name[0])
            link_send_checklist(k);
}

void collect_pass(struct collect *c, const struct body_pass *pass)
{
    struct link *k = link_find(c, pass->node);
    if (k && (pass->type == FRAME_ACT || pass->type == FRAME_STANDING))
        peer_send(k->peer, pass->type, 0, pass->body, strlen(pass->body));
    else
        log_debug(LOG_COLLECT, "%s: a frame for it was dropped", pass->node);
}

void collect_settings(struct collect *c, const struct span *interval, const struct body_waits *waits,
                      const json_t *survey)
{
    struct link *k;
    if (interval)
        c->interval = *interval;
    if (waits->answer.ns)
        c->waits = *waits;
    if (survey) {
        free(c->survey);
        c->survey = json_write(survey);
    }
    if (!c->ledger)
        return;
    ledger_interval(c->ledger, c->interval, c->waits.hold, c->waits.silent);
    DL_FOREACH (c->links, k)
        if (k->name[0])
            link_send_settings(k, true);
    if (c->up)
        collect_arm_batch(c);
}

void collect_stop(struct collect *c)
{
    struct ledger *ledger = STEAL(c->ledger);
    if (!ledger)
        return;
    log_info("collects no more");
    uv_timer_stop(&c->batch);
    uv_timer_stop(&c->news);
    uv_timer_stop(&c->sweep);
    uv_timer_stop(&c->away);
    uv_timer_stop(&c->missed);
    agents_send_away(c);
    struct link *k;
    DL_FOREACH (c->links, k)
        peer_close(k->peer);
    listener_close(STEAL(c->listener));
    ledger_destroy(ledger);
}

void collect_answered(struct collect *c)
{
    await_answer(c);
}

void collect_welcome(struct collect *c, const struct body_welcome *w)
{
    struct link *k;
    c->up = true;
    c->fresh_epoch = true;
    DL_FOREACH (c->links, k)
        k->owes = true;
    c->term = w->term;
    memcpy(c->origin, w->origin, sizeof c->origin);
    memcpy(c->controller, w->controller, sizeof c->controller);
    uv_timer_stop(&c->away);
    c->waits = w->waits;
    await_answer(c);
    if (c->ledger) {
        ledger_forget_told(c->ledger, mono_now());
        collect_arm_batch(c);
    }
    collect_settings(c, &w->interval, &w->waits, w->survey);
}

void collect_lost(struct collect *c)
{
    bool was_up = c->up;
    c->up = false;
    if (was_up && !uv_is_active((uv_handle_t *)&c->away))
        await_answer(c);
    uv_timer_stop(&c->batch);
}

void collect_self(struct collect *c)
{
    if (!c->ledger)
        return;
    ledger_self(c->ledger);
    collect_flush(c);
}

void collect_add_hello(const struct collect *c, struct text *body)
{
    if (!c->ledger)
        return;
    CLEANUP_FREE char *nodes = ledger_nodes(c->ledger);
    if (strlen(nodes) > BODY_PART_BYTES_MAX) /* the controller will send the share again */
        return;
    text_printf(body,
                ",\"collector\":{\"port\":%u,\"epoch\":%" PRIu64 ",\"nodes\":", listener_port(c->listener),
                ledger_epoch(c->ledger));
    text_add_json(body, nodes);
    text_add_char(body, '}');
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct collect *c = handle->data;
    c->handles--;
    collect_free_last(c);
}

struct collect *collect_create(uv_loop_t *loop, struct uplink *uplink, const char *name, const char *instance,
                               int wanted_port)
{
    struct collect *c = mem_alloc(sizeof *c);
    uv_timer_t *const timers[] = {&c->batch, &c->news, &c->sweep, &c->away, &c->missed};
    collect_assert_frames();
    c->loop = loop;
    c->uplink = uplink;
    c->name = name;
    c->instance = instance;
    c->wanted_port = wanted_port;
    c->unproven = crowd_create(&(struct crowd_limits){.all = UNPROVEN_MORE, .each = UNPROVEN_MORE});
    c->proven = crowd_create(&(struct crowd_limits){.all = SIZE_MAX, .each = PROVEN_EACH_MAX});
    for (; c->handles < (int)(sizeof timers / sizeof timers[0]); c->handles++) {
        uv_timer_init(loop, timers[c->handles]);
        timers[c->handles]->data = c;
    }
    return c;
}

void collect_destroy(struct collect *c)
{
    if (!c || c->destroyed)
        return;
    collect_stop(c);
    c->destroyed = true;
    uv_close((uv_handle_t *)&c->batch, on_handle_closed);
    uv_close((uv_handle_t *)&c->news, on_handle_closed);
    uv_close((uv_handle_t *)&c->sweep, on_handle_closed);
    uv_close((uv_handle_t *)&c->missed, on_handle_closed);
    uv_close((uv_handle_t *)&c->away, on_handle_closed);
}
