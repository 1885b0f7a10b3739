/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream is read on a connection of its own. Bytes become events in a queue, which is emptied
 * before more bytes are read, so that it never holds more than one read brings. A connection that
 * ends, fails or says nothing for three of the server's comments is made anew with the last id; if
 * no event has come yet there is no id to resume after, and the reader is told to read anew.
 */
#include "lib/call.h"

#include "http/response.h"
#include "lib/sse.h"
#include "lib/value.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct span SILENCE_MAX = {INT64_C(45) * 1000000000}; /* comments come every 15 s */
static const struct span FOREVER = {INT64_C(10) * 366 * 86400 * 1000000000};
enum { RETRY_MS = 100, RETRY_MS_MAX = 5000, READ_BYTES = 64 << 10 };

struct item {
    struct item *next;
    struct fettle_answer *data;
    char name[SSE_WORD_BYTES_MAX];
    char id[SSE_WORD_BYTES_MAX];
};

struct fettle_events {
    struct fettle *f;
    struct dialled *d; /* NULL while there is no connection */
    struct http_response *response;
    struct sse sse;
    struct buffer refusal; /* the body of an answer that is not a stream */
    bool done;             /* the answer is over */
    struct item *first, *current;
    struct item **end;
    struct mono heard_at, retry_at;
    int retry_ms;
    struct err down; /* why there is no connection */
};

static void item_free(struct item *i)
{
    if (i)
        fettle_answer_free(i->data);
    free(i);
}

static int events_push(struct fettle_events *s, const char *name, const char *id, struct fettle_answer *data)
{
    struct item *i = calloc(1, sizeof *i);
    if (!i) {
        fettle_answer_free(data);
        return -ENOMEM;
    }
    snprintf(i->name, sizeof i->name, "%s", name);
    snprintf(i->id, sizeof i->id, "%s", id);
    i->data = data;
    *s->end = i;
    s->end = &i->next;
    return 0;
}

static int on_event(void *arg, const char *name, const char *id, const char *data, size_t len)
{
    struct fettle_events *s = arg;
    struct fettle_answer *answer = NULL;
    char *copy = malloc(len + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, data, len);
    struct err why;
    int r = answer_read(copy, len, &answer, &why);
    if (r < 0)
        return r;
    s->retry_ms = 0; /* a connection that brought something deserves a quick retry */
    return events_push(s, name, id, answer);
}

static int on_body(void *arg, const char *bytes, size_t n)
{
    struct fettle_events *s = arg;
    struct err why;
    if (http_response_status(s->response) == 200)
        return sse_feed(&s->sse, bytes, n, on_event, s, &why);
    if (s->refusal.len + n > SSE_DATA_BYTES_MAX)
        return -E2BIG;
    buffer_add_bytes(&s->refusal, bytes, n);
    return buffer_check(&s->refusal, &why);
}

static void events_disconnect(struct fettle_events *s)
{
    dial_close(s->d);
    http_response_destroy(s->response);
    buffer_fini(&s->refusal);
    sse_restart(&s->sse, s->sse.id);
    s->d = NULL;
    s->response = NULL;
    s->done = false;
}

/* Reads once. -ETIMEDOUT when nothing came. */
static int read_some(struct fettle_events *s, struct mono until, struct err *e)
{
    char bytes[READ_BYTES];
    ssize_t n = dial_read(s->d, bytes, sizeof bytes, until, e);
    if (n < 0)
        return (int)n;
    s->heard_at = mono_now();
    return http_response_feed(s->response, bytes, (size_t)n, &s->done, e);
}

/* Sends the request and reads the head of the answer. */
static int events_ask(struct fettle_events *s, struct mono until, struct err *e)
{
    struct buffer request = {0}, extra = {0};
    buffer_add(&extra, "Accept: text/event-stream\r\n");
    if (s->sse.id[0]) {
        buffer_add(&extra, "Last-Event-ID: ");
        buffer_add(&extra, s->sse.id);
        buffer_add(&extra, "\r\n");
    }
    int r = buffer_check(&extra, e);
    if (r == 0)
        r = call_write_request(&request, s->f->addresses, "GET", "/v1/events", extra.s, NULL, e);
    if (r == 0)
        r = dial_write(s->d, request.s, request.len, until, e);
    buffer_fini(&extra);
    buffer_fini(&request);
    while (r == 0 && !s->done && http_response_status(s->response) != 200)
        r = read_some(s, until, e);
    int status = http_response_status(s->response);
    if (r == 0 && status != 200)
        r = call_refusal(s->f->addresses, status, &s->refusal, e);
    return r;
}

static int events_establish(struct fettle_events *s, struct mono until, struct err *e)
{
    assert(!s->d && !s->response && "the connection before was given up");
    s->response = http_response_create(on_body, s);
    int r = s->response ? address_dial(s->f->addresses, until, &s->d, e) : err_set(e, -ENOMEM, "no memory");
    if (r == 0)
        r = events_ask(s, until, e);
    if (r < 0) {
        events_disconnect(s);
        return r;
    }
    return 0;
}

static bool is_printable(const char *id)
{
    for (; *id; id++)
        if (*id <= 0x20 || *id >= 0x7f)
            return false;
    return true;
}

int fettle_events_open(struct fettle *f, const char *last_id, struct fettle_events **out,
                       struct fettle_error *e)
{
    struct err why = {0};
    if (last_id && (strlen(last_id) >= SSE_WORD_BYTES_MAX || !is_printable(last_id)))
        return call_tell(e, err_set(&why, -EINVAL, "the id of the last event is none of Fettle's"), &why);
    struct fettle_events *s = calloc(1, sizeof *s);
    if (!s)
        return call_tell(e, err_set(&why, -ENOMEM, "no memory"), &why);
    s->f = f;
    s->end = &s->first;
    if (last_id)
        sse_restart(&s->sse, last_id);
    int r = events_establish(s, mono_add(mono_now(), span_ms(f->timeout_ms)), &why);
    if (r < 0) {
        fettle_events_close(s);
        return call_tell(e, r, &why);
    }
    *out = s;
    return 0;
}

void fettle_events_close(struct fettle_events *s)
{
    if (!s)
        return;
    events_disconnect(s);
    item_free(s->current);
    while (s->first) {
        struct item *next = s->first->next;
        item_free(s->first);
        s->first = next;
    }
    sse_fini(&s->sse);
    free(s);
}

/* Whether another try may help. */
static bool is_passing(int r)
{
    return r == -ECONNREFUSED || r == -ETIMEDOUT || r == -EAGAIN;
}

static void try_later(struct fettle_events *s)
{
    s->retry_at = mono_add(mono_now(), span_ms(s->retry_ms));
    s->retry_ms = s->retry_ms == 0                 ? RETRY_MS
                  : s->retry_ms * 2 > RETRY_MS_MAX ? RETRY_MS_MAX
                                                   : s->retry_ms * 2;
}

static struct mono events_earlier(struct mono a, struct mono b)
{
    return mono_sub(a, b).ns < 0 ? a : b;
}

static int events_reconnect(struct fettle_events *s, struct mono until)
{
    int64_t wait_ms = span_to_ms(mono_sub(events_earlier(s->retry_at, until), mono_now()));
    if (wait_ms > 0)
        poll(NULL, 0, (int)wait_ms + 1);
    struct mono now = mono_now();
    if (mono_sub(until, now).ns <= 0)
        return -ETIMEDOUT;
    if (mono_sub(s->retry_at, now).ns > 0)
        return 0;
    int r = events_establish(s, events_earlier(until, mono_add(now, span_ms(s->f->timeout_ms))), &s->down);
    if (is_passing(r)) {
        if (s->f->n_addresses > 1)
            call_turn(s->f);
        try_later(s);
        return mono_sub(until, mono_now()).ns <= 0 ? -ETIMEDOUT : 0;
    }
    if (r == 0 && s->sse.id[0] == '\0')
        r = events_push(s, "resync", "", NULL);
    return r;
}

/* Reads until something came, the connection is lost, or the time is over. */
static int events_advance(struct fettle_events *s, struct mono until)
{
    struct mono silent = mono_add(s->heard_at, SILENCE_MAX);
    int r = s->done ? err_set(&s->down, -ECONNREFUSED, "the controller ended the stream of events")
                    : read_some(s, events_earlier(until, silent), &s->down);
    if (r == 0)
        return 0;
    bool gone_silent = mono_sub(silent, mono_now()).ns <= 0;
    if (r == -ETIMEDOUT && !gone_silent)
        return r;
    if (r == -ETIMEDOUT)
        err_set(&s->down, r, "the controller has been silent for too long");
    events_disconnect(s);
    if (r == -ENOMEM)
        return r;
    try_later(s); /* also after garbage: the next connection may bring better */
    return 0;
}

int fettle_events_next(struct fettle_events *s, int timeout_ms, struct fettle_event *event,
                       struct fettle_error *e)
{
    struct mono until = mono_add(mono_now(), timeout_ms < 0 ? FOREVER : span_ms(timeout_ms));
    item_free(s->current);
    s->current = NULL;
    while (!s->first) {
        int r = s->d ? events_advance(s, until) : events_reconnect(s, until);
        if (r < 0) {
            if (r == -ETIMEDOUT && s->d)
                err_set(&s->down, r, "no event in time");
            if (r == -ENOMEM)
                err_set(&s->down, r, "no memory");
            return call_tell(e, r, &s->down);
        }
    }
    struct item *i = s->current = s->first;
    s->first = i->next;
    if (!s->first)
        s->end = &s->first;
    *event = (struct fettle_event){.id = i->id, .name = i->name, .data = fettle_answer_value(i->data)};
    return 0;
}
