/* SPDX-License-Identifier: Apache-2.0 */
#include "test/swarm/swarm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIALS_A_TURN = 10, DIAL_LATER_MS = 3000 };

static void dial(struct player *p);

/* Dialling is expensive: of thousands of players that are due some dial, and then the connections have their
 * turn. */
static void on_dial_timer(uv_timer_t *t)
{
    struct player *p = t->data;
    struct swarm *s = p->swarm;
    if (s->dialled_at != uv_now(t->loop)) {
        s->dialled_at = uv_now(t->loop);
        s->dialled = 0;
    }
    if (s->dialled++ < DIALS_A_TURN)
        dial(p);
    else
        uv_timer_start(t, on_dial_timer, 1 + swarm_random(s) % DIAL_LATER_MS, 0);
}

static void dial_later(struct player *p)
{
    if (p->gone)
        return;
    struct span wait = peer_backoff(p->attempt++, p->spread, span_s(60), swarm_random(p->swarm));
    uv_timer_start(&p->timer, on_dial_timer, (uint64_t)span_to_ms(wait), 0);
}

static void send_hello(struct player *p)
{
    swarm_send(p->peer, FRAME_HELLO,
               json_pack("{s:i,s:s,s:s,s:s,s:s,s:s}", "protocol", 1, "name", p->claims, "version", "swarm",
                         "boot", p->boot, "instance", p->instance, "inventory", p->swarm->inventory_hash));
}

static void send_heartbeat(struct player *p)
{
    json_t *work = json_loads(p->work, 0, NULL);
    swarm_send(p->peer, FRAME_HEARTBEAT,
               json_pack("{s:s,s:s,s:I,s:o,s:i}", "boot", p->boot, "instance", p->instance, "seq",
                         (json_int_t)++p->seq, "work", work, "uptime_s", 100));
    p->swarm->totals.heartbeats++;
}

static void send_fingerprint(struct player *p)
{
    char hex[FINGERPRINT_HEX + 1];
    if (!p->swarm->kinds || !p->peer || !p->welcome)
        return;
    fingerprint_format(kind_fingerprint(p->swarm, p->kind), hex);
    swarm_send(p->peer, FRAME_FINGERPRINT, json_pack("{s:s,s:s}", "fingerprint", hex, "boot", p->boot));
    p->swarm->totals.fingerprints++;
}

static void send_same(struct player *p)
{
    if (p->swarm->kinds && p->peer && p->welcome)
        swarm_send(p->peer, FRAME_FINGERPRINT, json_pack("{s:b}", "same", 1));
}

static void send_part(void *arg, json_t *part)
{
    struct player *p = arg;
    swarm_send(p->peer, FRAME_COMPONENTS, part);
}

static void on_want(struct player *p, const json_t *body)
{
    const char *wanted;
    char hex[FINGERPRINT_HEX + 1];
    if (json_take_string(body, "components", &wanted, NULL) < 0)
        swarm_send(p->peer, FRAME_INVENTORY, swarm_inventory(p->swarm, p->name, p->instance));
    else if (strcmp(wanted, fingerprint_format(kind_fingerprint(p->swarm, p->kind), hex)) != 0)
        send_fingerprint(p);
    else
        kind_answer(p->swarm, p->kind, p->lie, send_part, p);
}

static void on_beat_timer(uv_timer_t *t)
{
    struct player *p = t->data;
    bool lost = swarm_random(p->swarm) % 100 < p->loss_percent;
    if (p->peer && p->welcome && !p->silent && !lost)
        send_heartbeat(p);
    uint64_t wait = (uint64_t)span_to_ms(p->interval) + (uint64_t)span_to_ms(p->delay);
    uv_timer_start(t, on_beat_timer, wait ? wait : 1000, 0);
}

static void on_welcome(struct player *p, const json_t *body)
{
    uint64_t interval = 10000, spread = 0;
    bool want = false;
    json_take_u64(body, "interval_ms", UINT32_MAX, &interval, NULL);
    json_take_u64(body, "spread_ms", UINT32_MAX, &spread, NULL);
    json_take_bool(body, "want", &want, NULL);
    p->interval = p->swarm->interval.ns ? p->swarm->interval : span_ms((int64_t)interval);
    p->spread = span_ms((int64_t)spread);
    p->attempt = 0;
    p->welcome = true;
    p->swarm->totals.welcomes++;
    if (want)
        swarm_send(p->peer, FRAME_INVENTORY, swarm_inventory(p->swarm, p->name, p->instance));
    send_heartbeat(p);
    send_fingerprint(p);
    uint64_t first = swarm_random(p->swarm) % ((uint64_t)span_to_ms(p->interval) + 1);
    uv_timer_start(&p->timer, on_beat_timer, first, 0);
}

static void on_redirect(struct player *p, const json_t *body)
{
    const json_t *to = json_object_get(body, "collector");
    const char *host = "", *name = "";
    uint64_t port = 0;
    json_take_string(to, "host", &host, NULL);
    json_take_string(to, "name", &name, NULL);
    json_take_u64(to, "port", UINT16_MAX, &port, NULL);
    snprintf(p->host, sizeof p->host, "%s", host);
    snprintf(p->collector, sizeof p->collector, "%s", name);
    p->port = (uint16_t)port;
    p->attempt = 0;
    p->swarm->totals.redirects++;
}

static void on_frame(struct peer *peer, void *arg, const struct frame *f)
{
    struct player *p = arg;
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, NULL);
    if (f->type == FRAME_WELCOME)
        on_welcome(p, body);
    else if (f->type == FRAME_REDIRECT)
        on_redirect(p, body);
    else if (f->type == FRAME_REFUSE)
        p->swarm->totals.refusals++;
    else if (f->type == FRAME_WANT)
        on_want(p, body);
    else if (f->type == FRAME_RECHECK)
        send_same(p);
    else if (f->type == FRAME_ACT)
        player_operate(p, body);
    else if (f->type == FRAME_CHECKLIST && p->swarm->has_checks) {
        swarm_take_checklist(p->swarm, body);
        player_say_checks(p);
    }
}

static void on_open(struct peer *peer, void *arg)
{
    struct player *p = arg;
    p->swarm->totals.connects++;
    send_hello(p);
}

static void on_close(struct peer *peer, void *arg, const struct err *why)
{
    struct player *p = arg;
    p->swarm->totals.closes++;
    if (p->peer != peer)
        return;
    p->peer = NULL;
    p->welcome = false;
    if (p->attempt > 3)
        p->host[0] = '\0';
    uv_timer_stop(&p->timer);
    dial_later(p);
}

static const struct peer_events calls = {on_open, on_frame, on_close};

static void dial(struct player *p)
{
    struct swarm *s = p->swarm;
    struct tls_context *tls = swarm_identity(s, p->name);
    CLEANUP_TEXT struct text expect = {0};
    text_printf(&expect, *p->host ? "urn:fettle:node:%s" : "urn:fettle:controller:%s",
                *p->host ? p->collector : "");
    p->peer = peer_dial(&s->loop, *p->host ? p->host : s->host, *p->host ? p->port : s->port, tls, expect.s,
                        &calls, p);
    tls_context_destroy(tls);
}

static void new_instance(struct player *p)
{
    swarm_hex(swarm_random(p->swarm) | 1, p->instance);
    p->seq = 0;
}

void player_start(struct swarm *s, struct player *p, const char *name, struct span first_within)
{
    *p = (struct player){.swarm = s,
                         .name = mem_dup(name),
                         .claims = mem_dup(name),
                         .work = mem_dup("[]"),
                         .kind = kind_of(s, name),
                         .spread = first_within};
    swarm_boot_id(s, p->boot);
    new_instance(p);
    uv_timer_init(&s->loop, &p->timer);
    p->timer.data = p;
    dial_later(p);
}

static void drop(struct player *p)
{
    if (p->peer)
        stream_abort(peer_stream(p->peer), NULL);
}

static void act_reboot(struct player *p, const char *argument)
{
    swarm_boot_id(p->swarm, p->boot);
    new_instance(p);
    drop(p);
}

static void act_restart(struct player *p, const char *argument)
{
    new_instance(p);
    drop(p);
}

static void act_wrong_name(struct player *p, const char *argument)
{
    free(p->claims);
    p->claims = mem_dup(argument);
    drop(p);
}

static void act_garbage(struct player *p, const char *argument)
{
    char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)swarm_random(p->swarm);
    if (p->peer)
        stream_write(peer_stream(p->peer), bytes, sizeof bytes);
}

static void act_replay(struct player *p, const char *argument)
{
    if (p->seq)
        p->seq--;
    if (p->peer && p->welcome)
        send_heartbeat(p);
}

static void act_work(struct player *p, const char *argument)
{
    free(p->work);
    struct text t = {0};
    text_add_char(&t, '[');
    if (*argument)
        text_add_json(&t, argument);
    text_add_char(&t, ']');
    p->work = text_take(&t);
}

static void act_silence(struct player *p, const char *argument)
{
    p->silent = true;
}

static void act_speak(struct player *p, const char *argument)
{
    p->silent = false;
}

static void act_delay(struct player *p, const char *argument)
{
    span_parse(argument, &p->delay, NULL);
}

static void act_loss(struct player *p, const char *argument)
{
    uint64_t percent = 0;
    text_parse_u64(argument, 0, 100, &percent, NULL);
    p->loss_percent = (unsigned)percent;
}

static void act_close(struct player *p, const char *argument)
{
    drop(p);
}

static void act_leave(struct player *p, const char *argument)
{
    p->gone = true;
    uv_timer_stop(&p->timer);
    drop(p);
}

static void act_come(struct player *p, const char *argument)
{
    p->gone = false;
    if (!p->peer)
        dial_later(p);
}

static void act_kind(struct player *p, const char *argument)
{
    uint64_t kind = 0;
    text_parse_u64(argument, 0, 99999, &kind, NULL);
    p->kind = (unsigned)kind;
    send_fingerprint(p);
}

static void act_verify(struct player *p, const char *argument)
{
    send_same(p);
}

static void act_ill(struct player *p, const char *argument)
{
    player_fall_ill(p, argument);
}

static void act_lie(struct player *p, const char *argument)
{
    if (!lie_parse(argument, &p->lie))
        fprintf(stderr, "swarm: no lie \"%s\"\n", argument);
}

bool player_act(struct player *p, const char *action, const char *argument)
{
    static const struct {
        const char *name;
        void (*act)(struct player *p, const char *argument);
    } actions[] = {{"silence", act_silence}, {"speak", act_speak},     {"delay", act_delay},
                   {"loss", act_loss},       {"reboot", act_reboot},   {"restart", act_restart},
                   {"name", act_wrong_name}, {"garbage", act_garbage}, {"replay", act_replay},
                   {"work", act_work},       {"close", act_close},     {"leave", act_leave},
                   {"come", act_come},       {"kind", act_kind},       {"verify", act_verify},
                   {"lie", act_lie},         {"ill", act_ill}};
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, action) == 0) {
            actions[i].act(p, argument);
            return true;
        }
    }
    return false;
}
