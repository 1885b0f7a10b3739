/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { AGAIN_AFTER_S = 1 };

/* What came of an effect, until it is committed. */
struct result {
    struct outbox *outbox;
    char *key, *done;
    bool submitted, newer; /* newer: than what was submitted */
    struct mono again;
    struct result *prev, *next;
};

struct outbox {
    struct outbox_setup with;
    struct ochami *ochami; /* NULL while no service is configured */
    struct result *results;
};

/* --- results --------------------------------------------------------------------------------- */

static void result_destroy(struct result *r)
{
    DL_DELETE(r->outbox->results, r);
    free(r->key);
    free(r->done);
    free(r);
}

static void submit(struct result *r);

static void on_outcome(void *arg, const struct outcome *o)
{
    struct result *r = arg;
    bool refused = o->rc == -ENOENT || o->rc == -EINVAL || o->rc == -EBUSY || o->rc == -EACCES;
    r->submitted = false;
    if (o->rc < 0)
        log_debug(LOG_STORE, "%s: the result is not committed: %s", r->key, o->why->msg);
    if (o->rc < 0 && !refused)
        r->again = mono_add(mono_now(), span_s(AGAIN_AFTER_S));
    else if (r->newer)
        submit(r);
    else
        result_destroy(r); /* it is committed, or its effect is another one by now */
}

static void submit(struct result *r)
{
    CLEANUP_TEXT struct text set = {0};
    text_add(&set, "{\"key\":");
    text_add_json(&set, r->key);
    text_printf(&set, ",\"done\":%s}", r->done);
    r->submitted = true;
    r->newer = false;
    const struct command cmd = {.kind = COMMAND_EFFECT, .actor = "fettled", .at = wall_now(), .set = set.s};
    committer_submit(r->outbox->with.committer, &cmd, on_outcome, r);
}

static void on_result(void *arg, const char *key, const char *done)
{
    struct outbox *o = arg;
    struct result *r;
    DL_FOREACH (o->results, r) {
        if (strcmp(r->key, key) == 0)
            break;
    }
    if (!r) {
        r = mem_alloc(sizeof *r);
        *r = (struct result){.outbox = o, .key = mem_dup(key)};
        DL_APPEND(o->results, r);
    }
    free(r->done);
    r->done = mem_dup(done);
    r->newer = true;
    if (!r->submitted)
        submit(r);
}

void outbox_turn(struct outbox *o, struct mono now)
{
    struct result *r, *next;
    DL_FOREACH_SAFE(o->results, r, next)
    {
        if (!r->submitted && now.ns >= r->again.ns)
            submit(r);
    }
}

/* --- the driver ------------------------------------------------------------------------------ */

static int may_reboot(void *arg, const char *node, const char *boot, struct err *e)
{
    const struct outbox *o = arg;
    const struct member *m = cluster_find(o->with.cluster, node);
    if (!m)
        return err_set(e, -ENOENT, "no node \"%s\"", node);
    return watch_may_reboot(o->with.watch, mono_now(), m, boot, e);
}

static void on_trouble(void *arg, const char *service, const struct err *why)
{
    const struct outbox *o = arg;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s%s%s", service, why ? ": " : " answers again", why ? why->msg : "");
    o->with.notice(o->with.arg, why ? "alarm.openchami" : "alarm.over", "", t.s);
}

static void on_effect(void *arg, const char *key, const char *value)
{
    const struct outbox *o = arg;
    if (o->ochami)
        ochami_effect(o->ochami, key, value);
}

void outbox_configure(struct outbox *o, const struct ochami_conf *conf)
{
    const struct ochami_sink sink = {o, on_result, may_reboot, on_trouble};
    if (!conf->smd && !conf->bss && !conf->pcs) {
        outbox_stop(o);
    } else if (o->ochami) {
        ochami_configure(o->ochami, conf);
    } else {
        o->ochami = ochami_create(o->with.loop, conf, &sink);
        cluster_on_effect(o->with.cluster, on_effect, o); /* and tells of those that are there */
    }
}

struct outbox *outbox_create(const struct outbox_setup *setup, const struct ochami_conf *conf)
{
    struct outbox *o = mem_alloc(sizeof *o);
    o->with = *setup;
    outbox_configure(o, conf);
    return o;
}

size_t outbox_waiting(const struct outbox *o)
{
    return o->ochami ? ochami_waiting(o->ochami) : 0;
}

void outbox_stop(struct outbox *o)
{
    if (o && o->ochami)
        ochami_destroy(STEAL(o->ochami));
}

void outbox_destroy(struct outbox *o)
{
    if (!o)
        return;
    while (o->results)
        result_destroy(o->results);
    free(o);
}
