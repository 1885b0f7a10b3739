/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/course.h"

#include "link/peer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A link that held this long starts the backoff anew; a shorter one does not, so that a peer that
 * welcomes and drops, or two that send us to each other, are not dialled in a tight loop. */
static const struct span HELD = {10 * 1000000000LL};

void course_init(struct course *c, const struct address_list *controllers)
{
    assert(controllers->n > 0);
    *c = (struct course){.state = COURSE_WAITING, .controllers = *controllers, .spread = span_ms(1000)};
}

const struct address *course_target(const struct course *c)
{
    return c->to_collector ? &c->collector.address : &c->controllers.at[c->at];
}

static struct course_effects dial(struct course *c)
{
    c->state = COURSE_DIALLING;
    c->refused = false;
    c->unwelcome_target = false;
    return (struct course_effects){.dial = true};
}

static struct course_effects leave(struct course *c)
{
    c->state = COURSE_LEAVING;
    return (struct course_effects){.close = true};
}

static struct course_effects wait_for(struct course *c, unsigned attempt, uint64_t random)
{
    c->state = COURSE_WAITING;
    return (struct course_effects){.wait = true, .wait_for = peer_backoff(attempt, c->spread, random)};
}

static struct course_effects on_welcome(struct course *c, const struct course_event *ev)
{
    const char *origin = ev->origin ? ev->origin : "";
    if (strcmp(origin, c->origin) == 0 && ev->term < c->term) {
        c->unwelcome_target = true;
        struct course_effects out = leave(c);
        out.old_term = true;
        return out;
    }
    c->state = COURSE_WELCOMED;
    c->welcomed = ev->now;
    if (!c->to_collector) { /* one that says a term of its own would keep us from every controller */
        c->term = ev->term;
        snprintf(c->origin, sizeof c->origin, "%s", origin);
    }
    c->spread = ev->spread;
    c->tries = 0;
    c->conflict_told = false;
    return (struct course_effects){.welcomed = true};
}

static struct course_effects on_refuse(struct course *c, const struct course_event *ev)
{
    struct course_effects out = leave(c);
    c->refused = true;
    /* Another controller has the same view of who has the name. */
    c->unwelcome_target = ev->code != -EBUSY;
    out.tell_refused = ev->code != -EBUSY || !c->conflict_told;
    if (ev->code == -EBUSY)
        c->conflict_told = true;
    return out;
}

static struct course_effects on_redirect(struct course *c, const struct course_event *ev)
{
    if (ev->collector) {
        c->collector = *ev->collector;
        c->to_collector = true;
        c->tries = 0;
    } else if (c->to_collector) {
        c->to_collector = false;
    } else {
        c->unwelcome_target = true;
    }
    return leave(c);
}

/* The target did not work out: the next controller, or a controller instead of the collector. */
static void turn_away(struct course *c)
{
    if (!c->to_collector)
        c->at = (c->at + 1) % c->controllers.n;
    else if (c->tries >= COURSE_COLLECTOR_TRIES)
        c->to_collector = false;
}

static struct course_effects on_closed(struct course *c, const struct course_event *ev)
{
    bool held = c->welcomed.ns && mono_sub(ev->now, c->welcomed).ns >= HELD.ns;
    bool failed =
        c->state == COURSE_DIALLING || c->state == COURSE_GREETED || c->refused || c->unwelcome_target;
    bool conflict_at_controller = c->refused && !c->unwelcome_target && !c->to_collector;
    c->welcomed = (struct mono){0};
    if (held)
        c->attempt = 0;
    if (c->to_collector && failed)
        c->tries++;
    if (failed && !conflict_at_controller)
        turn_away(c);
    return wait_for(c, c->to_collector ? c->tries : c->attempt++, ev->random);
}

struct course_effects course_step(struct course *c, const struct course_event *ev)
{
    bool up = c->state == COURSE_GREETED || c->state == COURSE_WELCOMED;
    switch (ev->kind) {
    case COURSE_START:
    case COURSE_DUE:
        if (c->state == COURSE_WAITING)
            return dial(c);
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
            c->to_collector = false;
            return leave(c);
        }
        break;
    case COURSE_GARBAGE:
        if (up) {
            c->unwelcome_target = true;
            return leave(c);
        }
        break;
    case COURSE_CLOSED:
        if (c->state != COURSE_WAITING)
            return on_closed(c, ev);
        break;
    }
    return (struct course_effects){0};
}
