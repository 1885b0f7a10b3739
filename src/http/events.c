/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-Sent Events: text lines in chunks, or up to the close for HTTP/1.0. The stream's queue is the
 * backlog: a client whose queue is full is cut off.
 */
#include "http/connection.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static void events_emit(struct connection *c, const char *s, size_t n)
{
    c->spoken = mono_now();
    if (c->bare)
        return;
    CLEANUP_TEXT struct text out = {0};
    if (c->chunked)
        text_printf(&out, "%zx\r\n", n);
    text_add_bytes(&out, s, n);
    if (c->chunked)
        text_add(&out, "\r\n");
    connection_write(c, out.s, out.len);
}

void connection_keep_alive(struct connection *c, struct mono now)
{
    if (mono_sub(now, c->spoken).ns >= c->limits.alive.ns)
        events_emit(c, ":\n\n", 3);
    struct mono speak = mono_add(c->spoken, c->limits.alive);
    struct mono look = mono_add(now, (struct span){c->limits.progress.ns / 4});
    if (c->state == CONNECTION_EVENTS)
        connection_set_deadline(c, speak.ns < look.ns ? speak : look);
}

void http_events_begin(struct http_request *r)
{
    struct connection *c = r->connection;
    assert(c->state == CONNECTION_ASKED || c->state == CONNECTION_CLOSING);
    if (c->state == CONNECTION_CLOSING)
        return;
    c->state = CONNECTION_EVENTS;
    c->chunked = request_knows_chunks(r->request);
    if (!c->chunked || c->bare)
        c->keep = false;
    connection_watch(c);
    c->spoken = c->moved;
    connection_write_head(c, 200, "text/event-stream", NULL);
    connection_keep_alive(c, c->moved);
}

void http_event(struct http_request *r, const char *id, const char *name, const char *data)
{
    struct connection *c = r->connection;
    if (c->state != CONNECTION_EVENTS)
        return;
    CLEANUP_TEXT struct text event = {0};
    if (id)
        text_printf(&event, "id: %s\n", id);
    text_printf(&event, "event: %s\n", name);
    text_add(&event, "data: ");
    text_add(&event, data);
    text_add(&event, "\n\n");
    events_emit(c, event.s, event.len);
}

void http_events_end(struct http_request *r)
{
    struct connection *c = r->connection;
    r->on_gone = NULL;
    if (c->state != CONNECTION_EVENTS)
        return;
    c->state = CONNECTION_SENDING;
    connection_watch(c);
    if (c->chunked && !c->bare)
        connection_write(c, "0\r\n\r\n", 5);
    else if (stream_queued(c->stream) == 0)
        connection_close(c); /* nothing is being sent, so nothing would report that it has left */
}
