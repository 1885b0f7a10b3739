/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/reporter.h"

#include "agent/capacity.h"
#include "agent/inventory.h"
#include "agent/process/child.h"
#include "agent/remains.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "probe/probe.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Two tables of hashes stand for the inventory: what the node has, and what the other side was told. A
 * child reads the difference to `told` as it was when the child started. `generation` counts the changes of
 * `told` by others; a report of an older generation is not sent.
 */

enum {
    DEADLINE_MS = 20000,
    REMAINS_DEADLINE_MS = 5000, /* the first connection waits for it */
    REMAINS_BYTES_MAX = 4096,
    REREAD_MS = 60000
};

struct reporter {
    struct reporter_settings settings;
    struct checker *checker;
    struct child *inventory, *remains;
    uv_timer_t reread;
    bool destroyed;

    struct capacity capacity; /* as the inventory reports it */
    struct inventory_table current, told;
    bool told_any; /* told means something; else the whole is to be sent */
    bool owes;
    bool again; /* read once more when the present reading ends */
    unsigned generation, read_generation;
    bool quiet;      /* the trouble is in the log already */
    char *last_boot; /* how the boot before ended, as the inventory says it; NULL: not known */
};

static void inventory_begin(struct reporter *r);

static int inventory_work(void *arg, struct text *out, struct err *e)
{
    const struct reporter *r = arg;
    CLEANUP_JSON json_t *inventory = NULL;
    int rc = probe_inventory(r->settings.root, "/tmp", &inventory, e);
    if (!rc && r->last_boot)
        json_object_set_new(inventory, "LastBoot", json_read(r->last_boot, strlen(r->last_boot), NULL));
    if (!rc)
        capacity_write(&r->capacity, inventory);
    if (!rc)
        inventory_report(r->told_any ? &r->told : NULL, inventory, r->settings.instance, out);
    return rc;
}

static void inventory_failed(struct reporter *r, const struct err *why)
{
    if (r->quiet)
        log_debug(LOG_PROBE, "the inventory could not be read: %s", why->msg);
    else
        log_warn("the inventory could not be read: %s", why->msg);
    r->quiet = true;
    r->settings.on_read(r->settings.arg, why);
}

static void inventory_send(struct reporter *r, struct inventory_news *news)
{
    size_t len;
    assert(uplink_is_up(r->settings.uplink) && "what is sent counts as told");
    for (const char *body; (body = inventory_next_body(news, &len));)
        uplink_send(r->settings.uplink, FRAME_INVENTORY, body, len);
    r->told = news->table;
    r->told_any = true;
    r->owes = false;
    r->settings.on_told(r->settings.arg);
}

static void on_inventory(void *arg, char *text, size_t len, const struct err *why)
{
    struct reporter *r = arg;
    struct inventory_news news;
    struct err e = {0};
    if (!why && inventory_read(text, &news, &e))
        why = &e;
    if (why) {
        inventory_failed(r, why);
        return;
    }
    if (news.left_out && !r->quiet)
        log_warn("\"%s\" is too large to report", news.left_out);
    r->quiet = news.left_out != NULL;
    r->current = news.table;
    if (!uplink_is_up(r->settings.uplink))
        r->settings.on_read(r->settings.arg, NULL);
    else if (r->generation == r->read_generation)
        inventory_send(r, &news);
    else
        r->again = true;
    if (r->again && !r->destroyed)
        inventory_begin(r);
}

/* Here and not in the child, which remembers nothing: /proc does not wait. */
static void read_capacity(struct reporter *r)
{
    struct maybe free = {0}, all = {0};
    free.known = probe_memory_free(r->settings.root, &free.value, &all.value, NULL) == 0;
    all.known = free.known;
    capacity_take_memory(&r->capacity, free, all);
    if (r->checker)
        capacity_take_gpus(&r->capacity, checker_gpus(r->checker));
}

static void inventory_begin(struct reporter *r)
{
    struct err e = {0};
    r->again = false;
    read_capacity(r);
    int rc = child_run(r->inventory, span_ms(DEADLINE_MS), inventory_work, on_inventory, r, &e);
    if (rc == -EBUSY)
        r->again = true;
    else if (rc)
        inventory_failed(r, &e);
    else
        r->read_generation = r->generation;
}

static int remains_work(void *arg, struct text *out, struct err *e)
{
    const struct reporter *r = arg;
    return remains_collect(r->settings.root, out, e);
}

static void on_remains(void *arg, char *text, size_t len, const struct err *why)
{
    struct reporter *r = arg;
    if (why)
        log_warn("how the boot before ended could not be read: %s", why->msg);
    else
        r->last_boot = mem_dup_len(text, len);
    inventory_begin(r);
}

void reporter_start(struct reporter *r)
{
    struct err e = {0};
    if (r->settings.once)
        inventory_begin(r);
    /* It is part of the inventory, whose hash belongs into HELLO. */
    else if (child_run(r->remains, span_ms(REMAINS_DEADLINE_MS), remains_work, on_remains, r, &e))
        on_remains(r, NULL, 0, &e);
}

static void on_reread(uv_timer_t *timer)
{
    inventory_begin(timer->data);
}

void reporter_repeat(struct reporter *r, bool repeat)
{
    uv_timer_stop(&r->reread);
    if (repeat)
        uv_timer_again(&r->reread);
}

void reporter_set_checker(struct reporter *r, struct checker *checker)
{
    r->checker = checker;
}

void reporter_add_hello(struct reporter *r, struct text *body)
{
    r->told = r->current;
    r->told_any = r->current.hash[0] != 0;
    r->generation++;
    if (r->told_any)
        text_printf(body, ",\"inventory\":\"%s\"", r->current.hash);
}

void reporter_send_whole(struct reporter *r)
{
    r->told_any = false;
    r->generation++;
    inventory_begin(r);
}

void reporter_welcome(struct reporter *r, bool want)
{
    r->owes = want || !r->told_any;
    if (r->owes)
        reporter_send_whole(r);
}

bool reporter_owes(const struct reporter *r)
{
    return r->owes;
}

struct reporter *reporter_create(const struct reporter_settings *settings)
{
    struct reporter *r = mem_alloc(sizeof *r);
    r->settings = *settings;
    r->inventory = child_create(settings->loop, INVENTORY_REPORT_BYTES_MAX);
    r->remains = child_create(settings->loop, REMAINS_BYTES_MAX);
    uv_timer_init(settings->loop, &r->reread);
    r->reread.data = r;
    uv_timer_start(&r->reread, on_reread, REREAD_MS, REREAD_MS);
    return r;
}

static void on_closed(uv_handle_t *handle)
{
    struct reporter *r = handle->data;
    free(r->last_boot);
    free(r);
}

void reporter_destroy(struct reporter *r)
{
    if (!r || r->destroyed)
        return;
    r->destroyed = true;
    child_destroy(r->inventory);
    child_destroy(r->remains);
    uv_close((uv_handle_t *)&r->reread, on_closed);
}
