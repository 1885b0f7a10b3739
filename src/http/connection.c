/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reading, answers and events have in common: the deadline of a connection, its end, and whether its
 * client takes what it is sent.
 *
 * The connections of a server share one timer, for the earliest deadline. A deadline that was moved later
 * costs one extra look; nothing has to be unregistered.
 */
#include "http/connection.h"

void deadlines_wake(struct deadlines *d, struct mono at)
{
    if (d->over || at.ns >= d->wake.ns)
        return;
    d->wake = at;
    int64_t ns = mono_sub(at, mono_now()).ns;
    uv_timer_start(&d->timer, d->on_due, ns > 0 ? (uint64_t)(ns / 1000000 + 1) : 0, 0);
}

void connection_set_deadline(struct connection *c, struct mono at)
{
    c->deadline = at;
    deadlines_wake(c->deadlines, at);
}

void connection_close(struct connection *c)
{
    c->state = CONNECTION_CLOSING;
    connection_set_deadline(c, MONO_NEVER);
    stream_close(c->stream);
}

void connection_abort(struct connection *c, int code, const char *why)
{
    struct err e;
    err_set(&e, code, "%s", why);
    c->state = CONNECTION_CLOSING;
    connection_set_deadline(c, MONO_NEVER);
    stream_abort(c->stream, &e);
}

void connection_watch(struct connection *c)
{
    c->moved = mono_now();
    c->taken = c->written - stream_queued(c->stream);
    c->untaken = stream_untaken(c->stream);
    c->backlog = true;
    connection_set_deadline(c, mono_add(c->moved, (struct span){c->limits.progress.ns / 4}));
}

bool connection_moves(struct connection *c, struct mono now)
{
    size_t queued = stream_queued(c->stream);
    bool events = c->state == CONNECTION_EVENTS; /* these may be so few that the system holds them all */
    size_t untaken = events ? stream_untaken(c->stream) : queued;
    if (untaken == 0 || untaken < c->untaken || (c->backlog && c->written - queued > c->taken))
        c->moved = now;
    c->taken = c->written - queued;
    c->untaken = untaken;
    c->backlog = queued > 0 || !events;
    return mono_sub(now, c->moved).ns < c->limits.progress.ns;
}
