/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"
#include "agent/checker/checker_said.h"

#include <string.h>

/* Reports the results of checks: what, and when. */

enum { GATHER_MS = 10 /* news within this are one frame */, COUNTS_MS = 5000 };

static void checker_say_emit(void *arg, const char *body, size_t len)
{
    struct checker *c = arg;
    c->settings.say(c->settings.arg, body, len);
}

/* A check that runs on request alone, and did not run yet, is not reported. */
static bool is_said(const struct item *k)
{
    return k->any_look || k->check->when & (CHECK_BOOT | CHECK_PERIODIC);
}

/* How often all that is found was seen. */
static uint64_t verdict_counts(const struct verdict *v)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < v->n; i++)
        sum += v->findings[i].count;
    return sum;
}

/* That something is seen again and again is told, but not each time. */
bool item_counts_are_news(const struct item *k, struct mono now)
{
    return verdict_counts(&k->steady.said) != k->counts && mono_sub(now, k->told).ns >= span_ms(COUNTS_MS).ns;
}

static void checker_report(struct checker *c, bool full)
{
    struct mono now = mono_now();
    struct said_frame f = {.boot = c->settings.boot,
                           .list = c->list.hash,
                           .full = full,
                           .log_next = c->log_next,
                           .emit = checker_say_emit,
                           .arg = c};
    for (size_t i = 0; i < c->list.checks.n; i++) {
        struct item *k = c->items[i];
        if (full ? is_said(k) : k->news) {
            struct said s = {k->check, &k->steady, k->blind, k->stuck, k->any_look, k->looked};
            said_add(&f, &s, now);
            k->told = now;
            k->counts = verdict_counts(&k->steady.said);
        }
        k->news = false;
    }
    said_end(&f);
}

static void on_tell(uv_timer_t *timer)
{
    struct checker *c = timer->data;
    checker_report(c, false);
    if (c->boot_news)
        checker_keep_boot(c);
}

void checker_tell(struct checker *c)
{
    uv_timer_stop(&c->tell);
    if (c->any_list)
        checker_report(c, true);
    if (c->boot_news)
        checker_keep_boot(c);
}

static void tell_soon(struct checker *c)
{
    if (!uv_is_active((uv_handle_t *)&c->tell))
        uv_timer_start(&c->tell, on_tell, GATHER_MS, 0);
}

void item_set_news(struct item *k)
{
    k->news = true;
    tell_soon(k->c);
}

void item_keep_soon(struct item *k)
{
    bool remembers = memory_news(k->memory);
    if (!k->c->settings.home || !(remembers || (check_once_a_boot(k->check) && k->steady.any)))
        return;
    k->c->boot_news = true;
    tell_soon(k->c);
}
