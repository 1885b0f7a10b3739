/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of events that are already JSON, and subscribers that each have a position in it. A subscriber has
 * no queue: a slow one holds only its position, and loses it when the ring has moved on. The stream's own
 * queue is kept short for the same reason.
 *
 * Subscribers are in a list by the time at which they were last served, so that a limit on how many are
 * served at once starves none.
 */
#include "api/events.h"

#include "base/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Below the HTTP server's limit for cutting a client off, with room for the largest event. */
enum { QUEUED_BYTES_MAX = 256 << 10, ID_BYTES_MAX = 64 };

struct kept {
    char *what;
    char *data;
    size_t bytes;
};

struct subscriber {
    struct events *events;
    struct http_request *request;
    uint64_t next;     /* number of the event to send next */
    bool resync;       /* first report that it has missed some */
    struct wall until; /* 0: it does not end */
    struct subscriber *prev, *following;
};

struct events {
    uint64_t instance;
    uint64_t first, next; /* numbers of the oldest kept and of the coming event */
    size_t bytes;
    struct kept ring[EVENTS_KEPT_MAX];
    struct subscriber *subscribers;
};

struct events *events_create(uint64_t instance)
{
    struct events *ev = mem_alloc(sizeof *ev);
    ev->instance = instance;
    ev->first = ev->next = 1;
    return ev;
}

static struct kept *kept_at(struct events *ev, uint64_t number)
{
    return &ev->ring[number % EVENTS_KEPT_MAX];
}

static void drop_oldest(struct events *ev)
{
    struct kept *k = kept_at(ev, ev->first++);
    ev->bytes -= k->bytes;
    free(k->what);
    free(k->data);
    *k = (struct kept){0};
}

static void subscriber_remove(struct subscriber *s)
{
    DL_DELETE2(s->events->subscribers, s, prev, following);
    free(s);
}

static void on_gone(void *arg)
{
    subscriber_remove(arg);
}

void events_destroy(struct events *ev)
{
    if (!ev)
        return;
    while (ev->subscribers) {
        struct subscriber *s = ev->subscribers;
        http_events_end(s->request);
        subscriber_remove(s);
    }
    while (ev->first < ev->next)
        drop_oldest(ev);
    free(ev);
}

void event_format(const struct event *e, struct text *t)
{
    char at[32];
    text_add(t, "{\"at\":\"");
    text_add(t, wall_format(e->at, at));
    text_add(t, "\",\"what\":");
    text_add_json(t, e->what);
    text_add(t, ",\"actor\":");
    text_add_json(t, e->actor);
    text_add(t, ",\"nodes\":");
    text_add_json(t, e->nodes);
    text_add(t, ",\"text\":");
    text_add_json(t, e->text);
    text_add(t, ",\"revision\":");
    if (e->revision)
        text_add_u64(t, e->revision);
    else
        text_add(t, "null");
    if (e->is_entry) {
        text_add(t, ",\"n\":");
        text_add_u64(t, e->n);
    }
    if (e->alarm) {
        text_add(t, ",\"alarm\":");
        text_add_json(t, e->alarm);
        text_add(t, ",\"subject\":");
        text_add_json(t, e->subject);
    }
    if (e->about && *e->about) {
        text_add(t, ",\"about\":");
        text_add_json(t, e->about);
    }
    if (e->fields && *e->fields)
        text_printf(t, ",%s", e->fields);
    text_add_char(t, '}');
}

static void format_resync(struct wall at, struct text *t)
{
    struct event e = {
        .at = at, .what = "resync", .actor = "", .nodes = "", .text = "events were missed; read the table"};
    event_format(&e, t);
}

static const char *format_id(const struct events *ev, uint64_t number, char buf[static ID_BYTES_MAX])
{
    snprintf(buf, ID_BYTES_MAX, "%016" PRIx64 ".%" PRIu64, ev->instance, number);
    return buf;
}

/* The number in an id of this controller; false for any other text. */
static bool parse_id(const struct events *ev, const char *id, uint64_t *number)
{
    char mine[ID_BYTES_MAX];
    size_t prefix = strcspn(format_id(ev, 0, mine), ".") + 1;
    return strncmp(id, mine, prefix) == 0 && text_parse_u64(id + prefix, 0, UINT64_MAX, number, NULL) == 0;
}

static bool is_waiting(const struct subscriber *s)
{
    return s->resync || s->next < s->events->next;
}

static void send_resync(struct subscriber *s)
{
    struct events *ev = s->events;
    char id[ID_BYTES_MAX];
    CLEANUP_TEXT struct text data = {0};
    format_resync(wall_now(), &data);
    http_event(s->request, format_id(ev, ev->next - 1, id), "resync", data.s);
    s->next = ev->next;
    s->resync = false;
}

static bool has_room(const struct subscriber *s)
{
    return stream_queued(http_stream(s->request)) < QUEUED_BYTES_MAX;
}

static void events_serve(struct subscriber *s)
{
    struct events *ev = s->events;
    if (!has_room(s))
        return;
    if (s->resync || s->next < ev->first)
        send_resync(s);
    for (int n = 0; s->next < ev->next && n < EVENTS_A_TURN_MAX && has_room(s); n++) {
        const struct kept *k = kept_at(ev, s->next);
        char id[ID_BYTES_MAX];
        http_event(s->request, format_id(ev, s->next, id), k->what, k->data);
        s->next++;
    }
}

/* A stream is no way to read on after the token has expired. */
static void end_expired(struct events *ev)
{
    const struct wall now = wall_now();
    struct subscriber *s, *next;
    DL_FOREACH_SAFE2(ev->subscribers, s, next, following)
    {
        if (s->until.ns == 0 || s->until.ns > now.ns)
            continue;
        http_set_arg(s->request, NULL, NULL);
        http_events_end(s->request);
        subscriber_remove(s);
    }
}

bool events_turn(struct events *ev)
{
    LOOP_DOES("events");
    end_expired(ev);
    struct subscriber *s, *following, *last = ev->subscribers ? ev->subscribers->prev : NULL;
    int served = 0;
    bool waiting = false;
    for (s = ev->subscribers; s; s = s == last ? NULL : following) {
        following = s->following;
        if (is_waiting(s) && served < EVENTS_A_TURN_MAX) {
            events_serve(s);
            served++;
            DL_DELETE2(ev->subscribers, s, prev, following);
            DL_APPEND2(ev->subscribers, s, prev, following);
        }
        waiting |= is_waiting(s);
    }
    return waiting;
}

void events_add(struct events *ev, const struct event *e)
{
    CLEANUP_TEXT struct text data = {0};
    const char *what = e->what;
    event_format(e, &data);
    if (data.len > EVENT_BYTES_MAX) {
        what = "resync";
        text_clear(&data);
        format_resync(e->at, &data);
    }
    size_t bytes = data.len + strlen(what);
    while (ev->first < ev->next &&
           (ev->next - ev->first >= EVENTS_KEPT_MAX || ev->bytes + bytes > EVENTS_BYTES_MAX))
        drop_oldest(ev);
    *kept_at(ev, ev->next++) = (struct kept){mem_dup(what), text_take(&data), bytes};
    ev->bytes += bytes;
    events_turn(ev);
}

void events_subscribe(struct events *ev, struct http_request *r, const char *last_id, struct wall until)
{
    struct subscriber *s = mem_alloc(sizeof *s);
    s->events = ev;
    s->request = r;
    s->until = until;
    uint64_t last = ev->next - 1;
    if (last_id)
        s->resync = !parse_id(ev, last_id, &last) || last >= ev->next || last + 1 < ev->first;
    s->next = s->resync ? ev->next : last + 1;
    DL_APPEND2(ev->subscribers, s, prev, following);
    http_set_arg(r, s, on_gone);
    http_events_begin(r);
    events_serve(s);
}
