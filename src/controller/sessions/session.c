/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends to sessions: at once to one session, to a node over the session that speaks for it, or to all of
 * them, some in each turn.
 */
#include "controller/sessions/agents_inside.h"

#include "base/log.h"
#include "base/loop.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

enum { WALK_A_TURN = 64, WALK_EVERY_MS = 20, WARNINGS_MAX = 1 };

void session_send(struct session *s, enum frame_type type, json_t *body)
{
    CLEANUP_FREE char *text = json_write(body);
    json_decref(body);
    if (s->peer)
        peer_send(s->peer, type, 0, text, strlen(text));
}

void session_refuse(struct session *s, int code, const char *fmt, ...)
{
    char message[ERR_MSG_BYTES_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    if (s->peer)
        peer_refuse(s->peer, code, "%s", message);
}

/* One that never stops must not fill the log. */
void session_warn(struct session *s, const struct member *m, const struct err *e)
{
    if (rare_may(&s->warnings, WARNINGS_MAX))
        log_warn("node %s: %s", m->name, e->msg);
    else
        log_debug(LOG_MSG, "node %s: %s", m->name, e->msg);
}

void agents_note(struct agents *a, const char *what, const char *nodes, const char *text)
{
    a->with.notice(a->with.arg, what, nodes, text);
}

struct session *session_of_collector(const struct agents *a, const struct member *collector)
{
    struct session *s;
    DL_FOREACH2(a->collecting, s, next_collecting)
    {
        if (s->member == collector)
            return s;
    }
    return NULL;
}

/* --- orders ---------------------------------------------------------------------------------- */

/* Revisions are the time, so that they go on growing when a state was lost or brought back from long ago. */
json_t *agents_order(struct agents *a, enum frame_type type, const char *members)
{
    CLEANUP_TEXT struct text t = {0};
    struct err e = {0};
    json_t *order = NULL;
    uint64_t now_ms = (uint64_t)(wall_now().ns / 1000000);
    a->revision = now_ms > a->revision ? now_ms : a->revision + 1;
    text_printf(&t, "{\"type\":%d,\"revision\":%" PRIu64 ",%s}", (int)type, a->revision, members);
    if (order_sign(a->with.signer, t.s, &order, &e) < 0)
        log_error("an order for the agents cannot be signed: %s", e.msg);
    return order;
}

/* A body as an order for this node alone; takes the body. NULL when it cannot be signed. */
static json_t *sign_for(const struct agents *a, const struct member *m, enum frame_type type, json_t *body)
{
    struct err e = {0};
    json_t *order = NULL;
    json_object_set_new(body, "type", json_integer((json_int_t)type));
    json_object_set_new(body, "node", json_string(m->name));
    CLEANUP_FREE char *text = json_write(body);
    json_decref(body);
    if (order_sign(a->with.signer, text, &order, &e) < 0)
        log_error("an order for node %s cannot be signed: %s", m->name, e.msg);
    return order;
}

bool agents_send(struct agents *a, struct member *m, enum frame_type type, json_t *body)
{
    struct session *s = watch_observed(a->with.watch, m)->session;
    if (!s || !s->peer || s->once) {
        json_decref(body);
        return false;
    }
    if (s->member != m) {
        if (json_object_get(body, "nonce") && !(body = sign_for(a, m, type, body)))
            return false;
        body = json_pack("{s:s,s:i,s:o}", "node", m->name, "type", (int)type, "body", body);
        type = FRAME_PASS;
    }
    session_send(s, type, body);
    return true;
}

void agents_ask_anew(struct agents *a, struct member *m)
{
    agents_send(a, m, FRAME_ACT, json_pack("{s:b}", "tell", 1));
}

/* --- all of them, some a turn ------------------------------------------------------------------ */

static void on_walk(uv_timer_t *t)
{
    LOOP_DOES("settings of agents");
    struct agents *a = t->data;
    for (int i = 0; i < WALK_A_TURN && a->walk.next; i++) {
        struct session *s = a->walk.next;
        a->walk.next = s->next;
        a->walk.tell(s);
    }
    if (!a->walk.next) {
        uv_timer_stop(t);
        a->walk.on = false;
    }
}

void agents_walk(struct agents *a)
{
    a->walk.next = a->sessions;
    if (a->walk.on || a->closing)
        return;
    a->walk.on = true;
    uv_timer_start(&a->walk.timer, on_walk, 0, WALK_EVERY_MS);
}
