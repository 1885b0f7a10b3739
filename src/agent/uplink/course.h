/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_UPLINK_COURSE_H
#define FETTLE_AGENT_UPLINK_COURSE_H

#include "agent/uplink/address.h"
#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Where the agent turns next: which controller or collector it dials, after how long, and what it makes of
 * the answer. Pure: an event in, what to do out. It reads no clock and draws no numbers.
 *
 * It never gives up. Controllers are tried in turn with exponential backoff and jitter. A collector gets
 * three tries within `answer`; then a controller is asked again. When no controller can be reached, the
 * collector that it left is tried again: that collector hears its nodes until a controller is back. A
 * controller whose term is older than one seen before of the same state was deposed, and the agent leaves
 * it.
 */

enum { COURSE_COLLECTOR_TRIES = 3, COURSE_ORIGIN_BYTES_MAX = 64 };

struct course_collector {
    char name[ADDRESS_HOST_BYTES_MAX + 1];
    struct address address;
};

enum course_state {
    COURSE_WAITING,  /* for COURSE_DUE */
    COURSE_DIALLING, /* until COURSE_OPENED or COURSE_CLOSED */
    COURSE_GREETED,  /* HELLO is sent, no WELCOME yet */
    COURSE_WELCOMED,
    COURSE_LEAVING /* the link is being closed by our own wish */
};

struct course {
    enum course_state state;
    struct address_list controllers;
    size_t configured; /* so many of them are; the others were learned */
    size_t at;         /* the index of the controller that is tried */
    bool to_collector;
    struct course_collector collector;
    bool left;          /* the collector was left, and no controller has welcomed us since */
    unsigned unreached; /* controllers in a row since then */
    unsigned tries;     /* tries of this collector since it last welcomed the agent */
    struct mono sought; /* the first of these tries */
    unsigned attempt;   /* to connect since a link last held */
    struct mono welcomed;
    struct span spread, answer, pause; /* as last told */
    uint64_t term;                     /* the highest that a controller of this state said: */
    char origin[COURSE_ORIGIN_BYTES_MAX + 1];
    bool conflict_told;    /* that another agent has the name, once until it ends */
    bool refused;          /* by this link's peer */
    bool unwelcome_target; /* leave this target when the link is closed */
};

enum course_event_kind {
    COURSE_START,
    COURSE_DUE,      /* the wait is over */
    COURSE_OPENED,   /* the link stands */
    COURSE_WELCOME,  /* term, origin, spread, answer and pause */
    COURSE_REFUSE,   /* code */
    COURSE_REDIRECT, /* collector, or NULL */
    COURSE_HOME,     /* go to a controller, wherever the agent is */
    COURSE_GARBAGE,  /* the peer said what cannot be read */
    COURSE_CLOSED
};

struct course_event {
    enum course_event_kind kind;
    struct mono now;
    uint64_t random;
    uint64_t term;
    const char *origin;                /* NULL as "" */
    struct span spread, answer, pause; /* answer, pause: zero leaves what was told before */
    int code;
    const struct course_collector *collector;
};

/* What to do, in this order. */
struct course_effects {
    bool welcomed;     /* the peer takes reports from now on */
    bool tell_refused; /* log the refusal; later ones of its kind are not told again */
    bool old_term;     /* log that the peer is a deposed controller */
    bool hello;        /* send HELLO */
    bool close;        /* close the link; COURSE_CLOSED follows */
    bool dial;         /* course_target, now */
    bool wait;         /* COURSE_DUE after wait_for */
    struct span wait_for;
};

void course_init(struct course *c, const struct address_list *controllers);
/* A term of this state was heard before the course began. */
void course_remember(struct course *c, const char *origin, uint64_t term);
/* These controllers are tried beside those that are configured, and after them. */
void course_learn(struct course *c, const struct address_list *controllers);
/* How long a collector has to answer, and the longest pause; zero leaves what was told before. */
void course_waits(struct course *c, struct span answer, struct span pause);
/* How long the present dial may take until the other side has welcomed us. */
struct span course_dial_limit(const struct course *c, struct mono now);
struct course_effects course_step(struct course *c, const struct course_event *event);
/* The peer to which it is connected, or turns next. */
const struct address *course_target(const struct course *c);

#endif
