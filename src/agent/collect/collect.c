/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect/collect.h"

#include "agent/collect/ledger.h"
#include "base/log.h"
#include "base/rare.h"
#include "base/text.h"
#include "fair/fair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

/*
 * What was heard is the ledger's; here are sockets and timers. A link is a connection of an agent:
 * unknown until its HELLO, then the one link of its name. The uplink's queue is watched before
 * inventories are asked for, so that a thousand new nodes cannot fill it.
 */

enum {
    GREET_MS = 10000,             /* from the connection to HELLO */
    NEWS_MS = 50,                 /* in which what cannot wait for the batch is gathered */
    SWEEP_MS = 1000,              /* how often silent links are looked for */
    TELLS_SWEEPS = 5,             /* an agent that was asked has these to say its checks */
    SILENT_INTERVALS = 2,         /* for so long at least a link may be silent */
    SILENT_MS = 60000,            /* likewise, where the controller does not say how long it waits */
    AWAY_MS = 600000,             /* likewise: without a controller until the agents are sent away */
    UNPROVEN_MORE = 256,          /* links that have shown no certificate, beside one for each node */
    PROVEN_EACH_MAX = 4,          /* links of one node over which it is not heard */
    CROWD_NOTES_MAX = 1,          /* a minute */
    QUEUED_BYTES_MAX = 256 << 10, /* in the uplink, before more is asked for or sent */
    TELLING_MAX = 8,              /* agents that say all their checks anew at one time */
};

struct link {
    struct link *prev, *next;
    struct collect *c;
    struct peer *peer;
    struct mono last;                       /* its HELLO, or the last heartbeat that counted */
    char name[HOSTLIST_NAME_BYTES_MAX + 1]; /* "" until HELLO */
    char instance[BODY_WORD_BYTES_MAX + 1];
    char checklist[BODY_WORD_BYTES_MAX + 1]; /* the hash of what it was given, or had */
    bool owes;                               /* its checks were said and the controller did not hear it */
    bool tells;                              /* it was asked to say them anew */
    struct guest guest;                      /* in one of the crowds, while it has no name */
};

struct collect {
    uv_loop_t *loop;
    uv_timer_t batch, news, sweep, away, missed;
    int handles;
    struct uplink *uplink;
    const char *name, *instance;
    int wanted_port;
    struct tls_context *tls;
    struct listener *listener;
    struct ledger *ledger; /* NULL while it does not collect */
    struct link *links;
    struct crowd *unproven; /* links that have shown no certificate of a node, by address */
    struct crowd *proven;   /* those that have, by node, except that over which the node is heard */
    struct rare crowd_notes;
    bool up;          /* the controller hears us */
    bool fresh_epoch; /* of this controller no epoch was seen yet */
    struct span interval;
    struct body_waits waits;
    char *survey; /* the controller's order how fingerprints are read, as it came; NULL: none */
    uint64_t term;
    char origin[BODY_WORD_BYTES_MAX + 1];
    char controller[BODY_WORD_BYTES_MAX + 1];
    char checklist[BODY_WORD_BYTES_MAX + 1]; /* its hash; "" while there is none */
    struct text checklist_body;
    unsigned telling;
    unsigned sweeps;
    struct mono swept;
    bool destroyed;
};

static void on_batch(uv_timer_t *timer);
static void on_news(uv_timer_t *timer);

static void emit(void *arg, const char *body, size_t len)
{
    struct collect *c = arg;
    uplink_send(c->uplink, FRAME_BATCH, body, len);
}

static void arm_batch(struct collect *c)
{
    int64_t left_ms = span_to_ms(mono_sub(ledger_deadline(c->ledger), mono_now()));
    uv_timer_start(&c->batch, on_batch, left_ms > 0 ? (uint64_t)left_ms + 1 : 1, 0);
}

static struct link *find_link(const struct collect *c, const char *name)
{
    struct link *k;
    DL_FOREACH (c->links, k)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

static void send_want(struct collect *c, const char *name, const char *body)
{
    struct link *k = find_link(c, name);
    if (k)
        peer_send(k->peer, FRAME_WANT, 0, body, strlen(body));
}

static bool uplink_has_room(const struct collect *c)
{
    return c->up && uplink_queued(c->uplink) < QUEUED_BYTES_MAX;
}

static void set_tells(struct link *k, bool tells)
{
    k->c->telling += (unsigned)tells - (unsigned)k->tells;
    k->tells = tells;
}

/* A controller that is new to us has heard nothing of the checks; a few agents at a time say them anew. */
static void ask_to_tell(struct collect *c)
{
    static const char tell[] = "{\"tell\":true}";
    struct link *k;
    DL_FOREACH (c->links, k) {
        if (c->telling >= TELLING_MAX || !uplink_has_room(c))
            return;
        if (!k->name[0] || !k->owes || k->tells)
            continue;
        k->owes = false;
        set_tells(k, true);
        peer_send(k->peer, FRAME_ACT, 0, tell, sizeof tell - 1);
    }
}

/* Asks the agents for what the controller wants of them. */
static void ask(struct collect *c)
{
    ask_to_tell(c);
    const char *name;
    struct fingerprint wanted;
    char hex[FINGERPRINT_HEX + 1];
    while (uplink_has_room(c) && (name = ledger_ask(c->ledger, mono_now())))
        send_want(c, name, "{}");
    while (uplink_has_room(c) && (name = ledger_ask_components(c->ledger, mono_now(), &wanted))) {
        CLEANUP_TEXT struct text body = {0};
        text_printf(&body, "{\"components\":\"%s\"}", fingerprint_format(&wanted, hex));
        send_want(c, name, body.s);
    }
}

/* Lists of components are large: no more at a time than the uplink takes. */
static void send_components(struct collect *c)
{
    while (uplink_has_room(c) && ledger_batch_components(c->ledger, listener_port(c->listener), emit, c))
        ;
    if (c->up && ledger_has_components(c->ledger) && !uv_is_active((uv_handle_t *)&c->news))
        uv_timer_start(&c->news, on_news, NEWS_MS, 0);
}

/* Sends what is due. */
static void flush(struct collect *c)
{
    if (!c->up || !c->ledger)
        return;
    struct mono now = mono_now();
    if (ledger_due(c->ledger, now)) {
        ledger_batch(c->ledger, now, listener_port(c->listener), emit, c);
        arm_batch(c);
    } else if (ledger_has_news(c->ledger) && !uv_is_active((uv_handle_t *)&c->news)) {
        uv_timer_start(&c->news, on_news, NEWS_MS, 0);
    }
    send_components(c);
    ask(c);
}

static void on_news(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    if (!c->up || !c->ledger)
        return;
    if (ledger_has_news(c->ledger))
        ledger_batch_news(c->ledger, mono_now(), listener_port(c->listener), emit, c);
    send_components(c);
    ask(c);
}

static void on_batch(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    flush(c);
    if (c->up && c->ledger && !uv_is_active((uv_handle_t *)timer))
        arm_batch(c);
}

/* The controller is told of nodes that are not heard any more in the turn after they were found: when this
 * process stood still, what they sent meanwhile is read first. */
static void on_missed(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    struct mono now = mono_now(), next;
    if (c->up)
        ledger_batch_missed(c->ledger, listener_port(c->listener), emit, c);
    if (ledger_find_missed(c->ledger, now, &next))
        next = mono_add(now, span_ms(NEWS_MS));
    if (next.ns < INT64_MAX)
        uv_timer_start(timer, on_missed, next.ns > now.ns ? (uint64_t)span_to_ms(mono_sub(next, now)) + 1 : 1,
                       0);
}

static void await_missed(struct collect *c)
{
    if (!uv_is_active((uv_handle_t *)&c->missed))
        uv_timer_start(&c->missed, on_missed, NEWS_MS, 0);
}

/* All its nodes may come at once, from one address where that is translated. */
static void limit_crowd(struct collect *c)
{
    size_t all = UNPROVEN_MORE + ledger_count(c->ledger);
    crowd_limit(c->unproven, &(struct crowd_limits){.all = all, .each = all});
}

static void link_enter(struct link *k, struct crowd *crowd, const char *name)
{
    struct err e;
    const struct link *late = crowd_enter(crowd, &k->guest, name);
    if (!late)
        return;
    err_set(&e, -EAGAIN, "there are too many connections of %s over which no node is heard", name);
    if (rare_may(&k->c->crowd_notes, CROWD_NOTES_MAX))
        log_warn("the connection of %s is closed: %s", stream_peer_address(peer_stream(late->peer)), e.msg);
    peer_abort(late->peer, &e);
}

/* Closes a link over which its node is not heard any more. The goodbye takes some seconds, in which the link
 * may have to give way as others of the node may. */
static void link_part(struct link *k)
{
    link_enter(k, k->c->proven, stream_peer(peer_stream(k->peer))->name);
    peer_close(k->peer);
}

/* The link is no more the one of its name; its end is no news. */
static void disown(struct link *k)
{
    k->name[0] = 0;
}

/* When this collector is lost its own nodes come to a controller, and nobody else's: 1.5 ms each. */
static int64_t spread_ms(const struct collect *c)
{
    return (int64_t)ledger_count(c->ledger) * 3 / 2;
}

/* How long an agent waits for whom, and how fingerprints are to be read, as the controller signed it. */
static void add_orders(const struct collect *c, struct text *body)
{
    if (c->waits.answer.ns)
        text_printf(body, ",\"answer_ms\":%" PRId64 ",\"pause_ms\":%" PRId64, span_to_ms(c->waits.answer),
                    span_to_ms(c->waits.pause));
    if (c->survey)
        text_printf(body, ",\"survey\":%s", c->survey);
}

static void send_settings(struct link *k, bool all)
{
    CLEANUP_TEXT struct text body = {0};
    text_printf(&body, "{\"interval_ms\":%" PRId64 ",\"spread_ms\":%" PRId64, span_to_ms(k->c->interval),
                spread_ms(k->c));
    if (all)
        add_orders(k->c, &body);
    text_add_char(&body, '}');
    peer_send(k->peer, FRAME_SETTINGS, 0, body.s, body.len);
}

static void welcome(struct link *k)
{
    const struct collect *c = k->c;
    CLEANUP_TEXT struct text body = {0};
    text_printf(&body,
                "{\"interval_ms\":%" PRId64 ",\"spread_ms\":%" PRId64 ",\"term\":%" PRIu64
                ",\"origin\":\"%s\",\"controller\":\"%s\"",
                span_to_ms(c->interval), spread_ms(c), c->term, c->origin, c->controller);
    add_orders(c, &body);
    text_add_char(&body, '}');
    peer_send(k->peer, FRAME_WELCOME, 0, body.s, body.len);
}

static void send_checklist(struct link *k)
{
    struct collect *c = k->c;
    if (!c->checklist[0] || strcmp(k->checklist, c->checklist) == 0)
        return;
    memcpy(k->checklist, c->checklist, sizeof k->checklist);
    peer_send(k->peer, FRAME_CHECKLIST, 0, c->checklist_body.s, c->checklist_body.len);
}

static int on_hello(struct link *k, const struct frame *f, struct err *e)
{
    struct collect *c = k->c;
    struct body_hello hello;
    const struct identity *id = stream_peer(peer_stream(k->peer));
    int r = body_read_hello(f, &hello, e);
    if (!r && k->name[0])
        r = err_set(e, -EINVAL, "HELLO comes once");
    if (!r && (id->kind != IDENTITY_NODE || strcmp(id->name, hello.name) != 0))
        r = err_set(e, -EACCES, "the certificate is not of node \"%s\"", hello.name);
    if (!r)
        r = ledger_hello(c->ledger, mono_now(), &hello, e);
    if (r < 0)
        return r;
    struct link *old = r == 1 ? find_link(c, hello.name) : NULL;
    if (old) {
        disown(old);
        link_part(old);
    }
    crowd_leave(&k->guest);
    memcpy(k->name, hello.name, sizeof k->name);
    memcpy(k->instance, hello.instance, sizeof k->instance);
    memcpy(k->checklist, hello.checklist, sizeof k->checklist);
    log_debug(LOG_COLLECT, "hears %s", k->name);
    welcome(k);
    send_checklist(k);
    return 0;
}

static int on_heartbeat(struct link *k, const struct frame *f, struct err *e)
{
    struct body_heartbeat h;
    int r = body_read_heartbeat(f, &h, e);
    bool counts = !r && ledger_heartbeat(k->c->ledger, mono_now(), k->name, &h);
    if (counts) {
        k->last = mono_now();
        await_missed(k->c);
    } else if (!r)
        log_debug(LOG_COLLECT, "%s: a heartbeat that is not new was dropped", k->name);
    free(h.work);
    if (!r)
        send_settings(k, false); /* by which the agent knows that it is heard */
    return r;
}

static int on_inventory(struct link *k, const struct frame *f, struct err *e)
{
    struct body_inventory report;
    int r = body_read_inventory(f, &report, e);
    if (!r && !ledger_inventory(k->c->ledger, k->name, &report))
        log_debug(LOG_COLLECT, "%s: an inventory was dropped", k->name);
    free(report.members);
    return r;
}

static int on_fingerprint(struct link *k, const struct frame *f, struct err *e)
{
    struct body_fingerprint said;
    int r = body_read_fingerprint(f, &said, e);
    if (!r && !ledger_fingerprint(k->c->ledger, k->name, &said))
        log_debug(LOG_COLLECT, "%s: a fingerprint of another boot, or of none, was dropped", k->name);
    return r;
}

static int on_components(struct link *k, const struct frame *f, struct err *e)
{
    struct body_components part;
    int r = body_read_components(f, &part, e);
    if (!r && !ledger_components(k->c->ledger, k->name, &part))
        log_debug(LOG_COLLECT, "%s: components were dropped", k->name);
    free(part.members);
    return r;
}

/* What cannot wait for a batch, as it came. What finds no room is said anew when there is some. */
static int on_passed(struct link *k, const struct frame *f, struct err *e)
{
    struct collect *c = k->c;
    CLEANUP_TEXT struct text body = {0};
    int r = body_write_pass(k->name, f, &body, e);
    set_tells(k, false);
    if (!r && uplink_has_room(c))
        uplink_send(c->uplink, FRAME_PASS, body.s, body.len);
    else
        k->owes = true;
    return r;
}

static void on_link_open(struct peer *p, void *arg)
{
    struct link *k = arg;
    const struct identity *id = stream_peer(peer_stream(p));
    if (id->kind == IDENTITY_NODE)
        link_enter(k, k->c->proven, id->name);
}

static void on_link_frame(struct peer *p, void *arg, const struct frame *f)
{
    struct link *k = arg;
    struct err e = {0};
    int r = 0;
    if (!k->c->ledger || k->c->destroyed)
        return;
    if (!k->name[0])
        k->last = mono_now();
    if (f->type == FRAME_HELLO)
        r = on_hello(k, f, &e);
    else if (!k->name[0])
        r = err_set(&e, -EINVAL, "HELLO comes first");
    else if (f->type == FRAME_HEARTBEAT)
        r = on_heartbeat(k, f, &e);
    else if (f->type == FRAME_INVENTORY)
        r = on_inventory(k, f, &e);
    else if (f->type == FRAME_FINGERPRINT)
        r = on_fingerprint(k, f, &e);
    else if (f->type == FRAME_COMPONENTS)
        r = on_components(k, f, &e);
    else if (f->type == FRAME_CHECKS || f->type == FRAME_DONE || f->type == FRAME_STANDING)
        r = on_passed(k, f, &e);
    if (r < 0) {
        log_debug(LOG_COLLECT, "%s is refused: %s", stream_peer_address(peer_stream(p)), e.msg);
        peer_refuse(p, r, "%s", e.msg);
        return;
    }
    flush(k->c);
}

static void free_last(struct collect *c)
{
    if (!c->destroyed || c->handles || c->links)
        return;
    free(c->survey);
    text_fini(&c->checklist_body);
    crowd_destroy(c->unproven);
    crowd_destroy(c->proven);
    free(c);
}

static void on_link_close(struct peer *p, void *arg, const struct err *why)
{
    struct link *k = arg;
    struct collect *c = k->c;
    log_debug(LOG_COLLECT, "link of %s ends: %s", k->name[0] ? k->name : "nobody",
              why ? why->msg : "orderly");
    if (k->name[0] && c->ledger)
        ledger_gone(c->ledger, k->name, k->instance);
    set_tells(k, false);
    crowd_leave(&k->guest);
    DL_DELETE(c->links, k);
    free(k);
    flush(c);
    free_last(c);
}

static const struct peer_events link_events = {on_link_open, on_link_frame, on_link_close};

static void on_connection(void *arg, int fd)
{
    struct collect *c = arg;
    struct link *k = mem_alloc(sizeof *k);
    k->c = c;
    k->last = mono_now();
    k->guest.owner = k;
    DL_APPEND(c->links, k);
    k->peer = peer_accept(c->loop, fd, c->tls, &link_events, k);
    link_enter(k, c->unproven, stream_peer_network(peer_stream(k->peer)));
}

/* A node that is connected and not heard is down at the controller by now. Its agent comes anew, if it lives.
 */
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

static void note_crowds(struct collect *c, struct mono now)
{
    unsigned more = rare_turn(&c->crowd_notes, now);
    if (more > 0)
        log_warn("in the last minute %u more connections were closed for being too many", more);
}

static void on_sweep(uv_timer_t *timer)
{
    struct collect *c = timer->data;
    struct mono now = mono_now();
    struct link *k;
    bool tells = c->sweeps++ % TELLS_SWEEPS == 0;
    bool stood_still = mono_sub(now, c->swept).ns > span_ms(2 * SWEEP_MS).ns;
    c->swept = now;
    note_crowds(c, now);
    DL_FOREACH (c->links, k) {
        int64_t silent_ms = span_to_ms(mono_sub(now, k->last));
        if (stood_still) /* what came in meanwhile was not read yet */
            k->last = now;
        if (tells)
            set_tells(k, false); /* one that does not answer keeps no other waiting */
        if (stood_still)
            continue;
        if (!k->name[0] && silent_ms > GREET_MS)
            peer_close(k->peer);
        else if (k->name[0] && c->interval.ns > 0 && silent_ms > silent_limit_ms(c))
            close_unheard(k, silent_ms);
    }
    ask(c);
}

/* To a controller. */
static void send_home(struct link *k)
{
    disown(k);
    peer_send(k->peer, FRAME_REDIRECT, 0, "{}", 2);
    link_part(k);
}

/* Where an agent is not in the share any more, or in none, it asks a controller. */
static void send_away(struct collect *c)
{
    struct link *k;
    DL_FOREACH (c->links, k)
        if (k->name[0] && !(c->ledger && ledger_has(c->ledger, k->name)))
            send_home(k);
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
        send_home(k);
    }
    await_answer(c);
    if (c->up)
        uplink_redial(c->uplink);
}

/* From now on; where the controller gives no answers, from the end of the connection. */
static void await_answer(struct collect *c)
{
    if (c->ledger && (c->waits.away.ns || !c->up))
        uv_timer_start(&c->away, on_away, (uint64_t)away_ms(c), 0);
}

static int listen_at(struct collect *c, uint16_t port, struct err *e)
{
    int r = listener_open_tcp(c->loop, "::", port, on_connection, c, &c->listener, e);
    return r ? listener_open_tcp(c->loop, "0.0.0.0", port, on_connection, c, &c->listener, e) : 0;
}

static int begin(struct collect *c, struct err *e)
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
    int r = c->ledger ? 0 : begin(c, e);
    if (r)
        return r;
    c->fresh_epoch = false;
    ledger_share(c->ledger, mono_now(), share->epoch, &share->nodes);
    limit_crowd(c);
    if (c->up && !uv_is_active((uv_handle_t *)&c->away))
        await_answer(c);
    log_info("collects, epoch %" PRIu64 ", nodes: %zu", share->epoch, ledger_count(c->ledger));
    send_away(c);
    arm_batch(c);
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
    ask(c);
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
            send_checklist(k);
}

void collect_pass(struct collect *c, const struct body_pass *pass)
{
    struct link *k = find_link(c, pass->node);
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
            send_settings(k, true);
    if (c->up)
        arm_batch(c);
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
    send_away(c);
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
        arm_batch(c);
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
    flush(c);
}

void collect_add_hello(const struct collect *c, struct text *body)
{
    if (!c->ledger)
        return;
    CLEANUP_FREE char *nodes = ledger_nodes(c->ledger);
    if (strlen(nodes) > BODY_PART_BYTES_MAX) /* the controller will give the share anew */
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
    free_last(c);
}

struct collect *collect_create(uv_loop_t *loop, struct uplink *uplink, const char *name, const char *instance,
                               int wanted_port)
{
    struct collect *c = mem_alloc(sizeof *c);
    uv_timer_t *const timers[] = {&c->batch, &c->news, &c->sweep, &c->away, &c->missed};
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
