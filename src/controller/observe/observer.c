/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/observe/observer.h"

#include "base/log.h"
#include "base/loop.h"
#include "controller/observe/reading.h"
#include "link/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CUT_S = 5,       /* the leader says something each second */
    AGAIN_MS = 1000, /* between two attempts */
    FIRST_S = 60,    /* for the first picture, in which walks do not end each second */
    QUEUE_BYTES = 4096
};

struct observer {
    struct observer_setup with;
    char *address;
    struct stream *stream;
    struct reading *reading;
    struct watch *fresh; /* filled beside the one that answers; NULL: it took its place */
    bool told;           /* the stream is whole */
    bool ever;           /* something was told */
    struct mono heard;   /* bytes */
    struct mono of;      /* what is observed is of this moment */
    struct mono again;   /* the next attempt */
    struct err why;      /* why the stream is cut; code 0: it was not tried yet */
    bool is_over;        /* to be freed with its stream */
};

/* --- the watch that is filled --------------------------------------------------------------------------- */

static bool propose_nothing(void *arg, const struct command *cmd)
{
    return false;
}

static void say_nothing(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void raise_nothing(void *arg, const struct alarm *a, const char *over)
{
}

static const struct watch_sink mute = {NULL, propose_nothing, say_nothing, raise_nothing};

static void on_whole(void *arg)
{
    struct observer *o = arg;
    log_info("this controller is told what %s observes", o->address);
    watch_exchange(o->with.watch, o->fresh);
    watch_destroy(STEAL(o->fresh));
    reading_into(o->reading, o->with.watch);
    o->told = o->ever = true;
    o->of = mono_now();
    o->why = (struct err){0};
}

/* --- the stream ----------------------------------------------------------------------------------------- */

static void observer_free(struct observer *o)
{
    free(o->address);
    free(o);
}

/* The stream is over, or to be over: the next attempt begins anew. */
static void observer_drop(struct observer *o, const struct err *why)
{
    if (o->told || !o->why.code || strcmp(o->why.msg, why->msg) != 0)
        log_warn("what %s observes is not told here: %s", o->address, why->msg);
    o->why = *why;
    o->told = false;
    reading_destroy(STEAL(o->reading));
    watch_destroy(STEAL(o->fresh));
    o->again = mono_add(mono_now(), span_ms(AGAIN_MS));
}

static void on_open(struct stream *s, void *arg)
{
    const struct observer *o = arg;
    CLEANUP_TEXT struct text request = {0};
    text_printf(&request, "GET /v1/observed HTTP/1.0\r\nHost: %s\r\n\r\n", o->address);
    stream_write(s, request.s, request.len);
}

static void on_bytes(struct stream *s, void *arg, const char *bytes, size_t n)
{
    LOOP_DOES("observed");
    struct observer *o = arg;
    struct err why;
    bool news;
    if (!o->reading)
        return; /* it is being closed */
    o->heard = mono_now();
    int rc = reading_feed(o->reading, bytes, n, o->heard, wall_now(), &news, &why);
    if (rc < 0) {
        stream_abort(s, &why);
        observer_drop(o, &why);
        return;
    }
    if (news && o->told)
        o->of = o->heard;
}

static void on_close(struct stream *s, void *arg, const struct err *why)
{
    struct observer *o = arg;
    struct err end;
    err_set(&end, -EREMOTE, "the stream has ended");
    o->stream = NULL;
    if (o->is_over)
        observer_free(o);
    else if (o->reading)
        observer_drop(o, why ? why : &end);
}

static const struct stream_events events = {.on_open = on_open, .on_bytes = on_bytes, .on_close = on_close};

/* "host:port", "[::1]:port" */
static bool address_split(const char *address, char *host, size_t size, uint16_t *port)
{
    uint64_t number;
    const char *colon = strrchr(address, ':');
    if (!colon || text_parse_u64(colon + 1, 1, UINT16_MAX, &number, NULL) < 0)
        return false;
    const bool is_bracketed = *address == '[' && colon > address && colon[-1] == ']';
    snprintf(host, size, "%.*s", (int)(colon - address) - 2 * is_bracketed, address + is_bracketed);
    *port = (uint16_t)number;
    return true;
}

static void observer_dial(struct observer *o, struct mono now)
{
    char host[256];
    uint16_t port;
    o->again = mono_add(now, span_ms(AGAIN_MS));
    if (!address_split(o->address, host, sizeof host, &port))
        return;
    o->fresh = watch_create_following(o->with.cluster, o->with.policy, now, &mute);
    o->reading = reading_create(o->fresh, cluster_origin(o->with.cluster), on_whole, o);
    o->heard = now;
    o->stream =
        stream_dial(o->with.loop, host, port, o->with.tls, "urn:fettle:controller:", QUEUE_BYTES, &events, o);
}

static void observer_cut(struct observer *o, const char *why)
{
    struct err e;
    err_set(&e, -EREMOTE, "%s", why);
    if (o->stream)
        stream_abort(o->stream, &e);
    if (o->reading)
        observer_drop(o, &e);
}

void observer_turn(struct observer *o, struct mono now)
{
    if (o->reading && mono_sub(now, o->heard).ns > span_s(o->told ? CUT_S : FIRST_S).ns)
        observer_cut(o, "nothing comes in");
    if (!o->stream && *o->address && now.ns >= o->again.ns)
        observer_dial(o, now);
}

void observer_leader(struct observer *o, const char *address)
{
    if (strcmp(o->address, address) == 0)
        return;
    observer_cut(o, *address ? "another controller leads" : "no controller leads");
    free(o->address);
    o->address = mem_dup(address);
    o->again = (struct mono){0};
}

void observer_anew(struct observer *o)
{
    observer_cut(o, "the configuration changed");
    o->again = (struct mono){0};
}

void observer_changed(struct observer *o, const struct hostlist *nodes)
{
    if (o->fresh)
        watch_changed(o->fresh, nodes);
}

int observer_age(const struct observer *o, struct mono now, struct span *age, struct err *e)
{
    *age = o->ever ? mono_sub(now, o->of) : (struct span){-1};
    if (o->told && age->ns < span_s(CUT_S).ns)
        return 0;
    if (o->why.code)
        return err_set(e, -EREMOTE, "the leader does not tell what it observes: %s", o->why.msg);
    return err_set(e, -EREMOTE, "the leader does not tell what it observes");
}

/* --- life ----------------------------------------------------------------------------------------------- */

struct observer *observer_create(const struct observer_setup *s)
{
    struct observer *o = mem_alloc(sizeof *o);
    o->with = *s;
    o->address = mem_dup("");
    return o;
}

void observer_destroy(struct observer *o)
{
    if (!o)
        return;
    reading_destroy(STEAL(o->reading));
    watch_destroy(STEAL(o->fresh));
    o->is_over = true;
    if (o->stream)
        stream_abort(o->stream, NULL);
    else
        observer_free(o);
}
