/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/course.h"

#include "link/peer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A link that lasted this long resets the backoff; a shorter one does not. So a peer that welcomes and
 * drops, or two that send the agent to each other, are not dialled in a tight loop. */
static const struct span HELD = {10 * 1000000000LL};

/* Values that hold until a controller sends others. */
static const struct span ANSWER = {20 * 1000000000LL}, PAUSE = {60 * 1000000000LL};

/* Received values are kept within these bounds. */
static const struct span PAUSE_LEAST = {1000000000LL};
static const struct span DIAL_LEAST = {2 * 1000000000LL}, DIAL_MOST = {30 * 1000000000LL};

void course_init(struct course *c, const struct address_list *controllers)
{
    assert(controllers->n > 0);
    *c = (struct course){.state = COURSE_WAITING,
                         .controllers = *controllers,
                         .configured = controllers->n,
                         .spread = span_ms(1000),
                         .answer = ANSWER,
                         .pause = PAUSE};
}

void course_remember(struct course *c, const char *origin, uint64_t term)
{
    c->term = term;
    snprintf(c->origin, sizeof c->origin, "%s", origin);
}

/* The turn stays with the controller that has it, as long as that is in the list. */
void course_learn(struct course *c, const struct address_list *controllers)
{
    const struct address turn = c->controllers.at[c->at];
    c->controllers.n = c->configured;
    for (size_t i = 0; i < controllers->n; i++)
        address_list_put(&c->controllers, &controllers->at[i]);
    size_t at = c->controllers.n;
    while (at-- > 0 &&
           (c->controllers.at[at].port != turn.port || strcmp(c->controllers.at[at].host, turn.host) != 0))
        ;
    c->at = at < c->controllers.n ? at : 0;
}

void course_waits(struct course *c, struct span answer, struct span pause)
{
    if (answer.ns > 0)
        c->answer = answer.ns < ANSWER.ns ? answer : ANSWER;
    if (pause.ns > 0)
        c->pause = pause.ns < PAUSE_LEAST.ns ? PAUSE_LEAST : pause.ns < PAUSE.ns ? pause : PAUSE;
}

struct span course_dial_limit(const struct course *c, struct mono now)
{
    struct span most = {c->pause.ns + c->spread.ns};
    if (c->to_collector)
        most = (struct span){c->answer.ns - mono_sub(now, c->sought).ns};
    if (most.ns < DIAL_LEAST.ns)
        return DIAL_LEAST;
    return most.ns < DIAL_MOST.ns ? most : DIAL_MOST;
}

const struct address *course_target(const struct course *c)
{
    return c->to_collector ? &c->collector.address : &c->controllers.at[c->at];
}

static struct course_effects course_dial(struct course *c, struct mono now)
{
    if (c->tries == 0)
        c->sought = now;
    c->state = COURSE_DIALLING;
    c->refused = false;
    c->unwelcome_target = false;
    return (struct course_effects){.dial = true};
}

static struct course_effects course_leave(struct course *c)
{
    c->state = COURSE_LEAVING;
    return (struct course_effects){.close = true};
}

static struct course_effects wait_for(struct course *c, unsigned attempt, uint64_t random)
{
    c->state = COURSE_WAITING;
    return (struct course_effects){.wait = true,
                                   .wait_for = peer_backoff(attempt, c->spread, c->pause, random)};
}

static struct course_effects on_welcome(struct course *c, const struct course_event *ev)
{
    const char *origin = ev->origin ? ev->origin : "";
    if (strcmp(origin, c->origin) == 0 && ev->term < c->term) {
        c->unwelcome_target = true;
        struct course_effects out = course_leave(c);
        out.old_term = true;
        return out;
    }
    c->state = COURSE_WELCOMED;
    c->welcomed = ev->now;
    if (!c->to_collector) { /* one that says a term of its own would keep us from every controller */
        c->term = ev->term;
        snprintf(c->origin, sizeof c->origin, "%s", origin);
    }
    c->left = false;
    c->spread = ev->spread;
    course_waits(c, ev->answer, ev->pause);
    c->tries = 0;
    c->conflict_told = false;
    return (struct course_effects){.welcomed = true};
}

static struct course_effects on_refuse(struct course *c, const struct course_event *ev)
{
    struct course_effects out = course_leave(c);
    c->refused = true;
    /* Another controller has the same view of who has the name. */
    c->unwelcome_target = ev->code != -EBUSY;
    out.tell_refused = ev->code != -EBUSY || !c->conflict_told;
    if (ev->code == -EBUSY)
        c->conflict_told = true;
    return out;
}

static void seek_collector(struct course *c)
{
    c->to_collector = true;
    c->left = false;
    c->tries = 0;
}

static void leave_collector(struct course *c)
{
    c->to_collector = false;
    c->left = true;
    c->unreached = 0;
}

static struct course_effects on_redirect(struct course *c, const struct course_event *ev)
{
    if (ev->collector) {
        c->collector = *ev->collector;
        seek_collector(c);
    } else if (c->to_collector) {
        leave_collector(c);
    } else {
        c->unwelcome_target = true;
    }
    return course_leave(c);
}

/* The target failed: the next controller is tried, or the collector instead of them. */
static void next_controller(struct course *c, bool unreached)
{
    c->at = (c->at + 1) % c->controllers.n;
    c->unreached = unreached ? c->unreached + 1 : 0;
    if (c->left && c->unreached >= c->controllers.n)
        seek_collector(c);
}

/* It is tried once, and again while there is time for that. */
static struct course_effects seek_on(struct course *c, const struct course_event *ev)
{
    struct course_effects out = wait_for(c, c->tries, ev->random);
    struct mono then = mono_add(ev->now, out.wait_for);
    bool in_time = c->tries == 0 || mono_sub(then, c->sought).ns < c->answer.ns;
    if (c->tries < COURSE_COLLECTOR_TRIES && in_time)
        return out;
    leave_collector(c);
    return wait_for(c, c->attempt++, ev->random);
}

static struct course_effects on_closed(struct course *c, const struct course_event *ev)
{
    bool held = c->welcomed.ns && mono_sub(ev->now, c->welcomed).ns >= HELD.ns;
    bool unreached = c->state == COURSE_DIALLING || c->state == COURSE_GREETED;
    bool failed = unreached || c->refused || c->unwelcome_target;
    bool conflict_at_controller = c->refused && !c->unwelcome_target && !c->to_collector;
    if (held)
        c->attempt = 0;
    c->welcomed = (struct mono){0};
    if (c->to_collector) {
        c->tries += failed;
        return seek_on(c, ev);
    }
    if (failed && !conflict_at_controller)
        next_controller(c, unreached);
    return wait_for(c, c->to_collector ? 0 : c->attempt++, ev->random);
}

struct course_effects course_step(struct course *c, const struct course_event *ev)
{
    bool up = c->state == COURSE_GREETED || c->state == COURSE_WELCOMED;
    switch (ev->kind) {
    case COURSE_START:
    case COURSE_DUE:
        if (c->state == COURSE_WAITING)
            return course_dial(c, ev->now);
        break;
    case COURSE_OPENED:
        if (c->state == COURSE_DIALLING) {
            c->state = COURSE_GREETED;
            return (struct course_effects){.hello = true};
        }
        break;
    case COURSE_WELCOME:
        if (c->state == COURSE_GREETED)
            return on_welcome(c, ev);
        break;
    case COURSE_REFUSE:
        if (up)
            return on_refuse(c, ev);
        break;
    case COURSE_REDIRECT:
        if (up)
            return on_redirect(c, ev);
        break;
    case COURSE_HOME:
        if (up) {
            if (c->to_collector)
                leave_collector(c);
            return course_leave(c);
        }
        break;
    case COURSE_GARBAGE:
        if (up) {
            c->unwelcome_target = true;
            return course_leave(c);
        }
        break;
    case COURSE_CLOSED:
        if (c->state != COURSE_WAITING)
            return on_closed(c, ev);
        break;
    }
    return (struct course_effects){0};
}
