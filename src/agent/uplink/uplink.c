/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/uplink.h"

#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

struct uplink {
    struct course course;
    const struct uplink_events *events;
    void *arg;
    uv_timer_t timer; /* the wait before a dial, for a WELCOME, or for a collector's answer to a heartbeat */
    uv_loop_t *loop;
    struct tls_context *tls;
    struct peer *peer; /* NULL while there is none */
    bool hold, held_any;
    struct body_redirect held;
    unsigned misfits; /* frames of this link that did not fit, and were ignored */
    bool quiet;       /* the present trouble is in the log already */
    int refusal;      /* the code of the one that was told last; 0: none since it was welcomed */
    bool finished;
    bool destroyed;
    bool timer_closed;
};

static struct course_effects take_step(struct uplink *u, struct course_event event);

/* At once: a peer that reads nothing says no farewell. */
static void uplink_abandon(struct uplink *u)
{
    if (u->peer)
        stream_abort(peer_stream(u->peer), NULL);
}

/* Neither welcome nor answer in time. */
static void give_up(struct uplink *u)
{
    char name[ADDRESS_HOST_BYTES_MAX + 16];
    if (u->course.state == COURSE_WELCOMED) {
        log_warn("the collector does not answer a heartbeat; asking a controller");
        take_step(u, (struct course_event){.kind = COURSE_HOME});
    } else if (!u->quiet) {
        log_warn("no welcome from %s", address_format(course_target(&u->course), name));
        u->quiet = true;
    }
    uplink_abandon(u);
}

static void on_timer(uv_timer_t *timer)
{
    struct uplink *u = timer->data;
    if (u->course.state == COURSE_WAITING)
        take_step(u, (struct course_event){.kind = COURSE_DUE});
    else if (u->course.state != COURSE_LEAVING)
        give_up(u);
}

static void on_open(struct peer *p, void *arg)
{
    take_step(arg, (struct course_event){.kind = COURSE_OPENED});
}

static void uplink_welcomed(struct uplink *u, const struct body_welcome *w)
{
    char name[ADDRESS_HOST_BYTES_MAX + 16];
    uv_timer_stop(&u->timer);
    u->quiet = false;
    u->refusal = 0;
    log_info("reports to %s %s", u->course.to_collector ? "collector" : "controller",
             address_format(course_target(&u->course), name));
    u->events->on_welcome(u->arg, w);
}

static int on_welcome(struct uplink *u, const struct frame *f, struct err *e)
{
    struct body_welcome w = {0};
    int r = body_read_welcome(f, &w, e);
    if (r)
        return r;
    if (u->course.state == COURSE_GREETED) {
        take_step(u, (struct course_event){.kind = COURSE_WELCOME,
                                           .term = w.term,
                                           .origin = w.origin,
                                           .spread = w.spread,
                                           .answer = w.waits.answer,
                                           .pause = w.waits.pause});
        if (u->course.state == COURSE_WELCOMED)
            uplink_welcomed(u, &w);
    }
    json_decref(w.survey);
    return 0;
}

static int on_refuse(struct uplink *u, const struct frame *f, struct err *e)
{
    struct body_refuse refuse;
    char name[ADDRESS_HOST_BYTES_MAX + 16];
    int r = body_read_refuse(f, &refuse, e);
    if (r)
        return r;
    if (take_step(u, (struct course_event){.kind = COURSE_REFUSE, .code = refuse.code}).tell_refused)
        log_warn("%s refuses: %s", address_format(course_target(&u->course), name), refuse.message);
    u->quiet = true;
    return 0;
}

static int on_redirect(struct uplink *u, const struct frame *f, struct err *e)
{
    struct body_redirect to = {0};
    int r = body_read_redirect(f, &to, e);
    if (r)
        return r;
    u->events->on_sent_away(u->arg, to.now);
    if (u->hold) {
        u->held = to;
        u->held_any = true;
        return 0;
    }
    take_step(u, (struct course_event){.kind = COURSE_REDIRECT,
                                       .collector = to.to_collector ? &to.collector : NULL});
    return 0;
}

/* The frames that the link itself takes, welcomed or not; the others are the agent's. */
typedef int own_frame_fn(struct uplink *u, const struct frame *f, struct err *e);
static own_frame_fn *const own_frames[FRAME_TYPES] = {
    [FRAME_WELCOME] = on_welcome, [FRAME_REFUSE] = on_refuse, [FRAME_REDIRECT] = on_redirect};

bool uplink_takes(uint8_t type)
{
    return type < FRAME_TYPES && own_frames[type];
}

static bool uplink_fits(const struct uplink *u, uint8_t type)
{
    bool may = uplink_takes(type) || u->course.state == COURSE_WELCOMED;
    return may && frame_fits(type, FRAME_TO_AGENT,
                             u->course.to_collector ? FRAME_FROM_COLLECTOR : FRAME_FROM_CONTROLLER);
}

/* The log has the first of a link, and at its end how many there were. */
static void uplink_misfit(struct uplink *u, uint8_t type)
{
    char name[16], peer[UPLINK_PEER_BYTES];
    if (u->misfits++ == 0)
        log_info("%s sends %s, which does not fit here: it is ignored", uplink_peer(u, peer),
                 frame_name(type, name));
}

static void on_frame(struct peer *p, void *arg, const struct frame *f)
{
    struct uplink *u = arg;
    struct err e = {0};
    char name[16];
    int r = 0;
    if (u->course.state == COURSE_LEAVING || u->finished)
        return;
    log_debug(LOG_MSG, "received %s", frame_name(f->type, name));
    if (u->course.state == COURSE_WELCOMED)
        uv_timer_stop(&u->timer);
    if (!uplink_fits(u, f->type))
        uplink_misfit(u, f->type);
    else if (uplink_takes(f->type))
        r = own_frames[f->type](u, f, &e);
    else
        r = u->events->on_frame(u->arg, f, &e);
    if (r < 0) {
        log_warn("the controller's message cannot be read: %s", e.msg);
        take_step(u, (struct course_event){.kind = COURSE_GARBAGE});
    }
}

/* A fault of identity or of a clock: waiting does not end it. */
static bool is_refusal(const struct err *why)
{
    return why && (why->code == -EPERM || why->code == -ETIME || why->code == -EKEYEXPIRED);
}

/* It is logged although other trouble was logged before. */
static bool is_new_refusal(const struct uplink *u, const struct err *why)
{
    return is_refusal(why) && why->code != u->refusal;
}

static void tell_loss(struct uplink *u, const struct err *why)
{
    char name[ADDRESS_HOST_BYTES_MAX + 16];
    address_format(course_target(&u->course), name);
    if (u->course.state == COURSE_LEAVING || u->finished)
        log_debug(LOG_LINK, "left %s", name);
    else if (u->quiet && !is_new_refusal(u, why))
        log_debug(LOG_LINK, "no link to %s: %s", name, why ? why->msg : "it was closed");
    else
        log_warn("no link to %s: %s", name, why ? why->msg : "it was closed");
    u->quiet = u->quiet || u->course.state == COURSE_DIALLING;
    u->refusal = is_refusal(why) ? why->code : u->refusal;
}

/* The last of timer and peer frees it: a peer that is being closed still calls back. */
static void free_last(struct uplink *u)
{
    if (u->timer_closed && !u->peer)
        free(u);
}

static void on_close(struct peer *p, void *arg, const struct err *why)
{
    struct uplink *u = arg;
    u->peer = NULL;
    if (u->destroyed) {
        free_last(u);
        return;
    }
    bool stood = u->course.welcomed.ns != 0;
    uv_timer_stop(&u->timer);
    if (u->misfits > 1)
        log_info("%u frames of the link that ends did not fit", u->misfits);
    u->misfits = 0;
    tell_loss(u, why);
    u->hold = u->held_any = false;
    take_step(u, (struct course_event){.kind = COURSE_CLOSED});
    u->events->on_lost(u->arg, stood, why);
}

static const struct peer_events peer_events = {on_open, on_frame, on_close};

static void uplink_dial(struct uplink *u)
{
    const struct address *to = course_target(&u->course);
    char expect[ADDRESS_HOST_BYTES_MAX + 32] = "urn:fettle:controller:";
    if (u->course.to_collector)
        snprintf(expect, sizeof expect, "urn:fettle:node:%s", u->course.collector.name);
    u->peer = peer_dial(u->loop, to->host, to->port, u->tls, expect, &peer_events, u);
    uv_timer_start(&u->timer, on_timer, (uint64_t)span_to_ms(course_dial_limit(&u->course, mono_now())), 0);
}

static void uplink_greet(struct uplink *u)
{
    CLEANUP_TEXT struct text body = {0};
    u->events->hello(u->arg, &body);
    peer_send(u->peer, FRAME_HELLO, 0, body.s, body.len);
}

static struct course_effects take_step(struct uplink *u, struct course_event event)
{
    event.now = mono_now();
    if (getrandom(&event.random, sizeof event.random, GRND_NONBLOCK) != sizeof event.random)
        event.random = (uint64_t)event.now.ns;
    struct course_effects out = course_step(&u->course, &event);
    if (u->finished)
        return out;
    if (out.old_term)
        log_warn("the controller leads no more: its term is older than %" PRIu64, u->course.term);
    if (out.hello)
        uplink_greet(u);
    if (out.close)
        peer_close(u->peer);
    if (out.dial)
        uplink_dial(u);
    if (out.wait)
        uv_timer_start(&u->timer, on_timer, (uint64_t)span_to_ms(out.wait_for), 0);
    return out;
}

struct uplink *uplink_create(uv_loop_t *loop, const struct address_list *controllers,
                             const struct uplink_events *events, void *arg)
{
    struct uplink *u = mem_alloc(sizeof *u);
    course_init(&u->course, controllers);
    u->loop = loop;
    u->events = events;
    u->arg = arg;
    uv_timer_init(loop, &u->timer);
    u->timer.data = u;
    return u;
}

void uplink_start(struct uplink *u, struct tls_context *tls)
{
    u->tls = tls;
    take_step(u, (struct course_event){.kind = COURSE_START});
}

void uplink_learn(struct uplink *u, const struct address_list *controllers)
{
    course_learn(&u->course, controllers);
}

void uplink_set_tls(struct uplink *u, struct tls_context *tls)
{
    u->tls = tls;
}

void uplink_set_spread(struct uplink *u, struct span spread)
{
    u->course.spread = spread;
}

void uplink_set_waits(struct uplink *u, const struct body_waits *w)
{
    course_waits(&u->course, w->answer, w->pause);
}

bool uplink_is_up(const struct uplink *u)
{
    return u->course.state == COURSE_WELCOMED && !u->finished;
}

bool uplink_at_controller(const struct uplink *u)
{
    return uplink_is_up(u) && !u->course.to_collector;
}

bool uplink_to_collector(const struct uplink *u)
{
    return u->course.to_collector;
}

const char *uplink_peer(const struct uplink *u, char buf[static UPLINK_PEER_BYTES])
{
    if (u->course.to_collector)
        snprintf(buf, UPLINK_PEER_BYTES, "collector %s", u->course.collector.name);
    else
        snprintf(buf, UPLINK_PEER_BYTES, "the controller");
    return buf;
}

const struct address *uplink_target(const struct uplink *u)
{
    return course_target(&u->course);
}

uint64_t uplink_heard(const struct uplink *u, const char **origin)
{
    *origin = u->course.origin;
    return u->course.term;
}

void uplink_remember(struct uplink *u, const char *origin, uint64_t term)
{
    course_remember(&u->course, origin, term);
}

size_t uplink_queued(const struct uplink *u)
{
    return u->peer ? stream_queued(peer_stream(u->peer)) : 0;
}

void uplink_send(struct uplink *u, enum frame_type type, const char *body, size_t len)
{
    char name[16];
    if (!uplink_is_up(u))
        return;
    log_debug(LOG_MSG, "sent %s, %zu bytes", frame_name((uint8_t)type, name), len);
    if (type == FRAME_HEARTBEAT && u->course.to_collector && !uv_is_active((uv_handle_t *)&u->timer))
        uv_timer_start(&u->timer, on_timer, (uint64_t)span_to_ms(u->course.answer), 0);
    peer_send(u->peer, type, 0, body, len);
}

void uplink_hold(struct uplink *u, bool hold)
{
    u->hold = hold;
    if (hold || !u->held_any)
        return;
    u->held_any = false;
    take_step(u, (struct course_event){.kind = COURSE_REDIRECT,
                                       .collector = u->held.to_collector ? &u->held.collector : NULL});
}

void uplink_go_home(struct uplink *u)
{
    take_step(u, (struct course_event){.kind = COURSE_HOME});
}

void uplink_redial(struct uplink *u)
{
    take_step(u, (struct course_event){.kind = COURSE_GARBAGE});
    uplink_abandon(u);
}

void uplink_finish(struct uplink *u)
{
    u->finished = true;
    uv_timer_stop(&u->timer);
    if (u->peer)
        peer_close(u->peer);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct uplink *u = handle->data;
    u->timer_closed = true;
    free_last(u);
}

void uplink_destroy(struct uplink *u)
{
    if (!u || u->destroyed)
        return;
    u->destroyed = u->finished = true;
    if (u->peer)
        peer_close(u->peer);
    uv_close((uv_handle_t *)&u->timer, on_timer_closed);
}
