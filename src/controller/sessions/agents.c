/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of the agents' port. Each connection is a session; it gets a member once its HELLO is believed.
 * A wrong frame ends its session with a sentence and touches nothing else.
 */
#include "controller/sessions/collectors_inside.h"
#include "controller/sessions/frames_inside.h"

#include "base/log.h"
#include "base/loop.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { HELLO_WITHIN_S = 10 };
enum {
    CLOCK_OFF_S = 60, /* of two clocks that are not both right */
    COPY_QUIET_S = 600,
    CLOCK_QUIET_S = 120,  /* agents that are refused dial again within a minute */
    CLOCK_NOTES_MAX = 20, /* a minute */
};
enum { SECOND_MS = 500, STOOD_STILL_MS = 2 * SECOND_MS };

/* Sessions outlive agents_close: a peer has some seconds to say goodbye. */
static void free_last(struct agents *a)
{
    if (a->open_timers > 0 || a->n > 0)
        return;
    regain_drop(a);
    share_destroy(a->share);
    standings_drop(a);
    hostlist_fini(&a->collectors);
    json_decref(a->survey);
    json_decref(a->controllers);
    free(a->checklist.body);
    free(a->sent.list);
    crowds_close(a);
    free(a);
}

static void forget_stranger(struct session *s)
{
    if (s->stranger)
        DL_DELETE2(s->agents->strangers, s, prev_stranger, next_stranger);
    s->stranger = false;
}

static void session_end(struct session *s)
{
    struct agents *a = s->agents;
    if (a->walk.next == s)
        a->walk.next = s->next;
    forget_stranger(s);
    crowd_leave(&s->guest);
    DL_DELETE(a->sessions, s);
    a->n--;
    if (s->collects)
        collectors_lost(s);
    if (s->member)
        watch_close(a->with.watch, s->member, s);
    if (s->lost)
        s->ended = true;
    else if (!s->waits)
        free(s);
    free_last(a);
}

/* --- what an agent says ---------------------------------------------------------------------- */

static json_t *agents_settings(const struct agents *a)
{
    const struct waits *w = &a->waits;
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:O*}", "interval_ms", (json_int_t)span_to_ms(a->interval),
                     "spread_ms", (json_int_t)span_to_ms(a->spread), "answer_ms",
                     (json_int_t)span_to_ms(w->answer), "pause_ms", (json_int_t)span_to_ms(w->pause),
                     "hold_ms", (json_int_t)span_to_ms(w->hold), "away_ms", (json_int_t)span_to_ms(w->away),
                     "silent_ms", (json_int_t)span_to_ms(w->timeout), "survey", a->survey);
}

static void send_welcome(struct session *s, bool want)
{
    struct agents *a = s->agents;
    char instance[17];
    snprintf(instance, sizeof instance, "%016" PRIx64, a->with.instance);
    json_t *body = agents_settings(a);
    json_object_set_new(body, "term", json_integer((json_int_t)a->with.term));
    json_object_set_new(body, "origin", json_string(cluster_origin(a->with.cluster)));
    json_object_set_new(body, "controller", json_string(instance));
    json_object_set_new(body, "want", json_boolean(want));
    json_object_set_new(body, "now_ms", json_integer(wall_now().ns / 1000000));
    session_send(s, FRAME_WELCOME, body);
    s->told = a->told;
    s->interval = a->interval;
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* A clock of the controller's own that is wrong is off for all. */
static void note_clock(struct agents *a, const struct member *m, const json_t *body)
{
    uint64_t ms;
    char off[32];
    CLEANUP_TEXT struct text words = {0};
    if (json_take_u64(body, "now_ms", INT64_MAX / 1000000, &ms, NULL))
        return;
    struct span ahead = span_ms((int64_t)ms - wall_now().ns / 1000000);
    if (llabs(ahead.ns) < span_s(CLOCK_OFF_S).ns || !rare_may(&a->clock.notes, CLOCK_NOTES_MAX))
        return;
    text_printf(&words, "its clock is %s %s the controller's: one of them is wrong",
                span_human((struct span){llabs(ahead.ns)}, off), ahead.ns > 0 ? "ahead of" : "behind");
    agents_note(a, "node.clock", m->name, words.s);
}

/* One of a later term is the controller of a backup that was restored, or the original of the one on which
 * this one runs. A node may lie, so that nothing but an alarm follows; the node itself follows the later one.
 */
static void note_heard(struct agents *a, const struct member *m, const json_t *body)
{
    const json_t *heard = json_object_get(body, "heard");
    CLEANUP_TEXT struct text words = {0};
    uint64_t term = 0;
    if (!json_is_object(heard) || strcmp(json_text(heard, "origin"), cluster_origin(a->with.cluster)) != 0 ||
        json_take_u64(heard, "term", INT64_MAX, &term, NULL) < 0 || term <= a->with.term)
        return;
    a->copy.heard = mono_now();
    a->copy.any = true;
    text_printf(&words,
                "node %s has heard a controller of this state with term %" PRIu64
                ", and this one has term %" PRIu64
                ": one of the two runs on a restored backup; stop one of them",
                m->name, term, a->with.term);
    watch_alarm_raise(a->with.watch, ALARM_COPY, "", "", words.s, wall_now());
}

static void heard_turn(struct agents *a, struct mono now)
{
    if (!a->copy.any || mono_sub(now, a->copy.heard).ns < span_s(COPY_QUIET_S).ns)
        return;
    a->copy.any = false;
    watch_alarm_end(a->with.watch, ALARM_COPY, "",
                    "for ten minutes no node has said that it heard a later controller");
}

static void clock_refuses(struct agents *a, const char *address, const struct err *why)
{
    CLEANUP_TEXT struct text words = {0};
    a->clock.refused = mono_now();
    text_printf(&words, "%s is not let in: %s", address, why->msg);
    watch_alarm_raise(a->with.watch, ALARM_CLOCK, "", "", words.s, wall_now());
}

static void clock_turn(struct agents *a, struct mono now)
{
    unsigned more = rare_turn(&a->clock.notes, now);
    if (more > 0)
        log_warn("in the last minute the clocks of %u more nodes differed from the controller's", more);
    if (mono_sub(now, a->clock.refused).ns >= span_s(CLOCK_QUIET_S).ns)
        watch_alarm_end(a->with.watch, ALARM_CLOCK, "",
                        "for two minutes no node was refused for a certificate that is not valid yet");
}

void session_hello(struct session *s, struct member *m, const json_t *body)
{
    struct agents *a = s->agents;
    struct err e = {0};
    bool want = false;
    uint64_t instance = 0;
    const char *named = "";
    s->once = false;
    json_take_bool(body, "once", &s->once, NULL);
    s->member = m;
    note_clock(a, m, body);
    note_heard(a, m, body);
    bool former = json_object_get(body, "collector") && !share_is_collector(a->share, m);
    json_take_string(body, "instance", &named, NULL);
    beat_parse_instance(named, &instance);
    if (!s->once && !former && collectors_redirect(s, instance)) {
        join_hello(s);
        s->member = NULL;
        return;
    }
    if (session_open_member(s, m, body, NULL, &want, &e) < 0) {
        s->member = NULL;
        log_debug(LOG_LINK, "node %s is refused: %s", m->name, e.msg);
        session_refuse(s, e.code, "%s", e.msg);
        return;
    }
    crowd_leave(&s->guest);
    join_hello(s);
    send_welcome(s, want);
    if (s->once)
        return;
    checklist_hello(s, body);
    checklist_tell(s);
    if (share_is_collector(a->share, m))
        collectors_hello(s, body);
    if (former) { /* the nodes that it holds come to us before it goes where it belongs */
        collectors_dismiss(s);
        collectors_redirect(s, 0);
    }
}

static void on_hello(struct session *s, const json_t *body)
{
    const struct identity *who = stream_peer(peer_stream(s->peer));
    const char *name = "";
    json_take_string(body, "name", &name, NULL);
    if (who->kind != IDENTITY_NODE || strcmp(who->name, name) != 0 || !hostlist_name_ok(name)) {
        if (session_may_note(s))
            log_warn("%s says that it is node \"%.64s\", its certificate says %s\"%.64s\"",
                     stream_peer_address(peer_stream(s->peer)), name,
                     who->kind == IDENTITY_NODE ? "node " : "", who->name);
        session_refuse(s, -EACCES, "the certificate is not node \"%s\"'s", name);
        return;
    }
    session_hello(s, cluster_meet(s->agents->with.cluster, name), body);
}

static void on_heartbeat(struct session *s, const json_t *body)
{
    struct heartbeat h;
    struct err e = {0};
    int rc = heartbeat_read(body, &h, &e);
    if (rc == 0)
        rc = watch_heartbeat(s->agents->with.watch, mono_now(), wall_now(), s->member, &h, &e);
    if (rc == 0 || rc == -EALREADY) {
        log_debug(LOG_BEAT, "node %s: heartbeat %" PRIu64 "%s", s->member->name, h.seq, rc ? " again" : "");
        return;
    }
    if (session_may_note(s))
        log_warn("node %s: %s", s->member->name, e.msg);
    session_refuse(s, rc, "%s", e.msg);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void on_inventory(struct session *s, const json_t *body)
{
    session_inventory(s, s->member, body);
}

/* Frames that a controller takes (frame.tbl). */
typedef void session_frame_fn(struct session *s, const json_t *body);
static session_frame_fn *const frames[FRAME_TYPES] = {
    [FRAME_HELLO] = on_hello,
    [FRAME_JOIN] = join_request,
    [FRAME_HEARTBEAT] = on_heartbeat,
    [FRAME_INVENTORY] = on_inventory,
    [FRAME_BATCH] = collectors_batch,
    [FRAME_FINGERPRINT] = fingerprints_said,
    [FRAME_COMPONENTS] = fingerprints_components,
    [FRAME_CHECKS] = checklist_checks,
    [FRAME_DONE] = checklist_done,
    [FRAME_STANDING] = checklist_standing,
    [FRAME_PASS] = checklist_passed,
    [FRAME_RENEW] = join_renew,
};

static void assert_frames_complete(void)
{
    for (int t = 0; t < FRAME_TYPES; t++)
        assert((frame_sender_of((uint8_t)t, FRAME_TO_CONTROLLER) != FRAME_FROM_NOBODY) ==
               (frames[t] != NULL));
}

/* One that asked to join says nothing more. */
static enum frame_sender session_sender(const struct session *s)
{
    if (!s->member)
        return s->asked ? FRAME_FROM_NOBODY : FRAME_FROM_STRANGER;
    return s->collects ? FRAME_FROM_COLLECTOR : FRAME_FROM_NODE;
}

static void on_body(struct session *s, uint8_t type, const json_t *body)
{
    if (frame_fits(type, FRAME_TO_CONTROLLER, session_sender(s)))
        frames[type](s, body);
    else if (frame_fits(type, FRAME_TO_CONTROLLER, FRAME_FROM_STRANGER))
        session_refuse(s, -EPROTO, "HELLO or JOIN comes once");
    else if (!s->member)
        session_refuse(s, -EPROTO, "the first frame is HELLO or JOIN");
    else
        session_misfit(s, type);
}

static const char *const frame_work[FRAME_TYPES] = {
#define FRAME(symbol, code, controller, collector, agent, way, what) [code] = "frame " #symbol,
#include "link/frame.tbl"
#undef FRAME
};

void session_body(struct session *s, uint8_t type, const char *bytes, size_t len)
{
    LOOP_DOES(frame_is_known(type) ? frame_work[type] : "frame of an unknown type");
    struct err e = {0};
    char name[16];
    CLEANUP_JSON json_t *body = json_read(bytes, len, &e);
    if (!json_is_object(body))
        session_refuse(s, -EINVAL, "%s: %s", frame_name(type, name),
                       e.code ? e.msg : "the body is no object");
    else
        on_body(s, type, body);
}

static void on_frame(struct peer *p, void *arg, const struct frame *f)
{
    struct session *s = arg;
    char name[16];
    log_debug(LOG_MSG, "%s from %s, %zu bytes", frame_name(f->type, name),
              stream_peer_address(peer_stream(p)), f->len);
    session_body(s, f->type, f->body, f->len);
}

static void on_open(struct peer *p, void *arg)
{
    struct session *s = arg;
    s->open = s->stranger = true;
    s->came = mono_now();
    DL_APPEND2(s->agents->strangers, s, prev_stranger, next_stranger);
    session_opened(s);
}

static void on_close(struct peer *p, void *arg, const struct err *why)
{
    struct session *s = arg;
    log_debug(LOG_LINK, "%s %s: closed, %u frames did not fit%s%s", stream_peer_address(peer_stream(p)),
              s->member ? s->member->name : "", s->misfits, why ? ": " : "", why ? why->msg : "");
    if (why && why->code == -ETIME)
        clock_refuses(s->agents, stream_peer_address(peer_stream(p)), why);
    s->peer = NULL;
    session_end(s);
}

static const struct peer_events peer_calls = {on_open, on_frame, on_close};

static void on_connection(void *arg, int fd)
{
    struct agents *a = arg;
    struct session *s = mem_alloc(sizeof *s);
    s->agents = a;
    s->told = a->told;
    s->warnings.began = mono_now();
    DL_APPEND(a->sessions, s);
    a->n++;
    s->peer = peer_accept(a->with.loop, fd, a->with.tls, &peer_calls, s);
    session_came(s);
}

/* --- time ------------------------------------------------------------------------------------ */

static void drop_strangers(struct agents *a, struct mono now)
{
    struct session *s, *tmp;
    DL_FOREACH_SAFE2(a->strangers, s, tmp, next_stranger)
    {
        if (s->member)
            forget_stranger(s);
        else if (!s->waits && mono_sub(now, s->came).ns > span_s(HELLO_WITHIN_S).ns)
            session_refuse(s, -ETIMEDOUT, "no HELLO within %d s", HELLO_WITHIN_S);
    }
}

/* A node that is down for its silence and still connected, by a connection of its own or through a
 * collector: something is wrong between the two sides. A living agent connects again; a collector reports
 * again what it knows of the node. */
static void drop_unheard(struct agents *a, struct mono now)
{
    struct session *s;
    DL_FOREACH (a->sessions, s) {
        if (!s->member || !s->peer || s->collects || s->once || s->dropped ||
            mono_sub(now, s->came).ns < a->waits.timeout.ns)
            continue;
        const struct observed *o = watch_observed(a->with.watch, s->member);
        if (o->session != s || o->beat.liveness != LIVENESS_SILENT)
            continue;
        log_warn("node %s: connected, and not heard: its connection is closed", s->member->name);
        s->dropped = true;
        session_part(s);
    }
}

static void take_survey(struct agents *a);

static void on_second(uv_timer_t *t)
{
    LOOP_DOES("agents");
    struct agents *a = t->data;
    struct mono now = mono_now();
    bool stood_still = mono_sub(now, a->looked).ns > span_ms(STOOD_STILL_MS).ns;
    a->looked = now;
    if (stood_still) /* frames that arrived meanwhile were not read yet: no node is late */
        return;
    drop_strangers(a, now);
    drop_unheard(a, now);
    collectors_second(a, now);
    fingerprints_second(a, now);
    checklist_second(a, now);
    standings_second(a, now);
    clock_turn(a, now);
    heard_turn(a, now);
    join_turn(a, now);
    crowds_turn(a, now);
    if (a->ended) { /* each half second: all collectors may join in one */
        a->ended = false;
        take_survey(a);
        a->told++;
        agents_walk(a);
    }
}

void session_tell(struct session *s)
{
    struct agents *a = s->agents;
    if (!s->member || !s->peer || s->once)
        return;
    if (s->told != a->told) {
        s->told = a->told;
        if (s->interval.ns != a->interval.ns)
            s->batch = mono_now(); /* the new interval begins */
        s->interval = a->interval;
        session_send(s, FRAME_SETTINGS, agents_settings(a));
    }
    checklist_tell(s);
    if (s->recheck) {
        s->recheck = false;
        session_send(s, FRAME_RECHECK, json_object());
    }
    collectors_redirect(s, 0);
}

/* --- life ------------------------------------------------------------------------------------ */

static void take_survey(struct agents *a)
{
    CLEANUP_JSON json_t *least = ended_of_all(a);
    CLEANUP_FREE char *ended = json_write(least);
    CLEANUP_JSON json_t *also = fingerprints_also(a->with.cluster);
    CLEANUP_FREE char *names = json_write(also);
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "\"recheck_ms\":%" PRId64 ",\"also\":%s,\"least\":%s", span_to_ms(a->recheck), names,
                ended);
    if (a->controllers) {
        CLEANUP_FREE char *addresses = json_write(a->controllers);
        text_printf(&t, ",\"controllers\":%s", addresses);
    }
    json_t *order = agents_order(a, FRAME_SETTINGS, t.s);
    if (!order)
        return;
    json_decref(a->survey);
    a->survey = order;
}

void agents_set_controllers(struct agents *a, json_t *addresses)
{
    while (json_array_size(addresses) > AGENTS_CONTROLLERS_MAX)
        json_array_remove(addresses, AGENTS_CONTROLLERS_MAX);
    if (a->controllers && json_equal(a->controllers, addresses)) {
        json_decref(addresses);
        return;
    }
    json_decref(a->controllers);
    a->controllers = addresses;
    a->ended = true; /* in the same order */
}

static void take_settings(struct agents *a, const struct config *conf)
{
    a->interval = (struct span){(int64_t)conf->number[SETTING_HEARTBEAT_INTERVAL]};
    /* With collectors, it is they who come back after a restart, and their nodes stay with them. */
    a->spread = conf->collectors.n ? config_spread(conf->collectors.n) : conf->spread;
    a->waits = conf->waits;
    a->certificate_life = (struct span){(int64_t)conf->number[SETTING_CERTIFICATE_LIFE]};
    hostlist_fini(&a->collectors);
    hostlist_add_all(&a->collectors, &conf->collectors);
    a->recheck = (struct span){(int64_t)conf->number[SETTING_FINGERPRINT_INTERVAL]};
    take_survey(a);
    share_configure(a->share, &conf->collectors);
    checklist_configure(a, conf);
}

int agents_open(const struct agents_setup *setup, const struct config *conf, struct agents **out,
                struct err *e)
{
    struct agents *a = mem_alloc(sizeof *a);
    assert_frames_complete();
    a->with = *setup;
    a->walk.tell = session_tell;
    crowds_open(a);
    a->share = share_create(setup->cluster);
    take_settings(a, conf);
    int rc = listener_open_tcp(setup->loop, conf->text[SETTING_MACH_STATUS_ADDRESS],
                               (uint16_t)conf->number[SETTING_MACH_STATUS_PORT], on_connection, a,
                               &a->listener, e);
    if (rc < 0) {
        free_last(a);
        return err_wrap(e, rc, "MachStatusPort");
    }
    struct mono now = mono_now();
    a->shares_from = mono_add(now, a->waits.comeback);
    a->balance_at = a->looked = now;
    uv_timer_init(setup->loop, &a->second);
    uv_timer_init(setup->loop, &a->walk.timer);
    uv_timer_init(setup->loop, &a->regain.timer);
    a->second.data = a->walk.timer.data = a->regain.timer.data = a;
    a->open_timers = 3;
    uv_timer_start(&a->second, on_second, SECOND_MS, SECOND_MS);
    *out = a;
    return 0;
}

void agents_configure(struct agents *a, const struct config *conf)
{
    take_settings(a, conf);
    crowds_configure(a);
    a->told++;
    a->balance_at = mono_now();
    collectors_configure(a);
    agents_walk(a);
}

static void on_timer_closed(uv_handle_t *h)
{
    struct agents *a = h->data;
    a->open_timers--;
    free_last(a);
}

void agents_close(struct agents *a)
{
    if (!a)
        return;
    a->closing = true;
    listener_close(a->listener);
    struct session *s, *tmp;
    DL_FOREACH_SAFE(a->sessions, s, tmp)
    {
        if (s->peer)
            peer_close(s->peer);
    }
    uv_close((uv_handle_t *)&a->second, on_timer_closed);
    uv_close((uv_handle_t *)&a->walk.timer, on_timer_closed);
    uv_close((uv_handle_t *)&a->regain.timer, on_timer_closed);
}

uint16_t agents_port(const struct agents *a)
{
    return listener_port(a->listener);
}

void agents_each_peer(const struct agents *a, void (*fn)(void *arg, const struct identity *id), void *arg)
{
    const struct session *s;
    DL_FOREACH (a->sessions, s)
        if (s->member && s->peer)
            fn(arg, stream_peer(peer_stream(s->peer)));
}

uint64_t agents_misfits(const struct agents *a)
{
    return a->misfits.n;
}

size_t agents_count(const struct agents *a)
{
    return a->n;
}
