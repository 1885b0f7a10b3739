/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prolog/standing.h"

#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

/*
 * All waiting callers share one glance, one reading and one question. A caller that comes while a question
 * is under way has seen a newer change, so the reading that follows is asked about instead.
 */

struct waiter {
    struct waiter *next;
    standing_look_fn *look; /* one of the two */
    standing_judge_fn *judge;
    void *arg;
};

struct standing {
    struct standing_settings with;
    uv_timer_t timeout;
    struct waiter *looking, *judged;
    bool is_looking, is_asked, destroyed;
    struct fingerprint asked;
};

struct standing *standing_create(const struct standing_settings *settings)
{
    struct standing *s = mem_alloc(sizeof *s);
    s->with = *settings;
    uv_timer_init(settings->loop, &s->timeout);
    s->timeout.data = s;
    return s;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void standing_drop(struct waiter **all, const void *arg)
{
    struct waiter *w, *next;
    LL_FOREACH_SAFE(*all, w, next)
    {
        if (arg && w->arg != arg)
            continue;
        LL_DELETE(*all, w);
        free(w);
    }
}

void standing_cancel(struct standing *s, const void *arg)
{
    standing_drop(&s->looking, arg);
    standing_drop(&s->judged, arg);
}

void standing_destroy(struct standing *s)
{
    if (!s || s->destroyed)
        return;
    s->destroyed = true;
    standing_drop(&s->looking, NULL);
    standing_drop(&s->judged, NULL);
    uv_close((uv_handle_t *)&s->timeout, on_closed);
}

static void wait_for(struct waiter **all, standing_look_fn *look, standing_judge_fn *judge, void *arg)
{
    struct waiter *w = mem_alloc(sizeof *w);
    *w = (struct waiter){.look = look, .judge = judge, .arg = arg};
    LL_APPEND(*all, w);
}

/* A callback may cancel another one. */
static void tell_all(struct waiter **all, bool other, const char *why_not)
{
    for (struct waiter *w; (w = *all);) {
        struct waiter one = *w;
        LL_DELETE(*all, w);
        free(w);
        if (one.look)
            one.look(one.arg, other);
        else
            one.judge(one.arg, why_not);
    }
}

static void on_glance(void *arg, bool other)
{
    struct standing *s = arg;
    s->is_looking = false;
    tell_all(&s->looking, other, NULL);
}

void standing_look(struct standing *s, standing_look_fn *fn, void *arg)
{
    wait_for(&s->looking, fn, NULL, arg);
    if (s->is_looking)
        return;
    s->is_looking = true;
    surveyor_glance(s->with.surveyor, on_glance, s);
}

static void standing_end(struct standing *s, const char *why_not)
{
    uv_timer_stop(&s->timeout);
    s->is_asked = false;
    tell_all(&s->judged, false, why_not);
}

static void on_late(uv_timer_t *timer)
{
    log_debug(LOG_PROBE, "the controller did not judge the node's fingerprint in time");
    standing_end(timer->data, "");
}

void standing_judge(struct standing *s, standing_judge_fn *fn, void *arg)
{
    wait_for(&s->judged, NULL, fn, arg);
    s->is_asked = false;
    if (!uv_is_active((uv_handle_t *)&s->timeout))
        uv_timer_start(&s->timeout, on_late, STANDING_MS, 0);
}

/* When the timeout ends, whatever could not be read, and whatever the controller was not told, is unknown. */
void standing_settled(struct standing *s)
{
    const struct fingerprint *told = surveyor_told(s->with.surveyor);
    char hex[FINGERPRINT_HEX + 1];
    CLEANUP_TEXT struct text body = {0};
    if (!s->judged || s->is_asked || !told || !uplink_is_up(s->with.uplink))
        return;
    s->is_asked = true;
    s->asked = *told;
    text_printf(&body, "{\"fingerprint\":\"%s\",\"nonce\":\"%s\"}", fingerprint_format(told, hex),
                orders_ask(s->with.orders, mono_now()));
    uplink_send(s->with.uplink, FRAME_STANDING, body.s, body.len);
}

void standing_take(struct standing *s, const struct body_standing *answer)
{
    CLEANUP_TEXT struct text why = {0};
    text_add(&why, "");
    if (!s->is_asked || !fingerprint_equal(&s->asked, &answer->fingerprint) ||
        !orders_asked(s->with.orders, mono_now(), answer->nonce))
        return;
    if (*answer->why)
        text_printf(&why, "drift: %s", answer->why);
    standing_end(s, why.s);
}
