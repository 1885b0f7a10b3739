/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/heartbeat.h"

#include "agent/process/child.h"
#include "agent/shrink.h"
#include "agent/uplink/body.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/text.h"
#include "probe/probe.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORK_DEADLINE_MS = 2000, SHRINK_AFTER = 2 /* heartbeats */ };

struct heartbeat {
    struct heartbeat_settings settings;
    struct checker *checker;
    struct child *work;
    uv_timer_t timer;
    uint64_t seq;
    bool owes;
    unsigned shrinks; /* heartbeats until memory is given back */
};

/* In a child that stays. It reads a few directories, and each time all of them. */
static int read_work(void *arg, const char *question, struct text *out, struct err *e)
{
    const struct heartbeat *h = arg;
    return probe_work_text(h->settings.root, out, e);
}

static void heartbeat_send(struct heartbeat *h, const char *work)
{
    const struct heartbeat_settings *s = &h->settings;
    uint64_t uptime_s = 0;
    CLEANUP_TEXT struct text body = {0};
    if (!uplink_is_up(s->uplink))
        return;
    (void)probe_uptime(s->root, &uptime_s, NULL);
    text_printf(&body,
                "{\"boot\":\"%s\",\"instance\":\"%s\",\"seq\":%" PRIu64 ",\"work\":%s,\"uptime_s\":%" PRIu64
                "}",
                s->boot, s->instance, ++h->seq, work, uptime_s);
    uplink_send(s->uplink, FRAME_HEARTBEAT, body.s, body.len);
    collect_self(s->collect);
    h->owes = false;
    s->on_told(s->arg);
}

static void on_work(void *arg, char *text, size_t len, const struct err *why)
{
    struct heartbeat *h = arg;
    if (why)
        log_debug(LOG_PROBE, "the running work could not be read: %s", why->msg);
    if (h->checker)
        checker_idle(h->checker, text && strcmp(text, "[]") == 0);
    heartbeat_send(h, text && len <= BODY_WORK_BYTES_MAX ? text : "null");
    if (h->shrinks && --h->shrinks == 0)
        shrink_memory();
}

void heartbeat_now(struct heartbeat *h)
{
    struct err e = {0};
    if (!uplink_is_up(h->settings.uplink))
        return;
    if (child_ask(h->work, span_ms(WORK_DEADLINE_MS), read_work, h, "work", on_work, h, &e)) {
        log_debug(LOG_PROBE, "the running work could not be read: %s", e.msg);
        heartbeat_send(h, "null");
    }
}

static void on_timer(uv_timer_t *timer)
{
    heartbeat_now(timer->data);
}

/* Each node has its own place in the interval, so that ten thousand do not speak at once. */
static uint64_t first_ms(const struct heartbeat *h, uint64_t interval_ms)
{
    assert(interval_ms > 0);
    uint64_t hash = digest_fnv(DIGEST_FNV_START, h->settings.node, strlen(h->settings.node));
    uint64_t now_ms = (uint64_t)(mono_now().ns / 1000000);
    return interval_ms - (now_ms + hash % interval_ms) % interval_ms;
}

void heartbeat_set_interval(struct heartbeat *h, struct span interval)
{
    uint64_t ms = (uint64_t)span_to_ms(interval);
    uv_timer_stop(&h->timer);
    if (ms && uplink_is_up(h->settings.uplink))
        uv_timer_start(&h->timer, on_timer, first_ms(h, ms), ms);
}

void heartbeat_set_checker(struct heartbeat *h, struct checker *checker)
{
    h->checker = checker;
}

void heartbeat_welcome(struct heartbeat *h)
{
    h->owes = true;
    heartbeat_shrink(h);
}

void heartbeat_lost(struct heartbeat *h)
{
    uv_timer_stop(&h->timer);
}

bool heartbeat_owes(const struct heartbeat *h)
{
    return h->owes;
}

void heartbeat_shrink(struct heartbeat *h)
{
    h->shrinks = SHRINK_AFTER;
}

struct heartbeat *heartbeat_create(const struct heartbeat_settings *settings)
{
    struct heartbeat *h = mem_alloc(sizeof *h);
    h->settings = *settings;
    h->work = child_create(settings->loop, 2 * BODY_WORK_BYTES_MAX);
    uv_timer_init(settings->loop, &h->timer);
    h->timer.data = h;
    return h;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void heartbeat_destroy(struct heartbeat *h)
{
    if (!h)
        return;
    child_destroy(h->work);
    uv_close((uv_handle_t *)&h->timer, on_closed);
}
