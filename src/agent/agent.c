/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "agent/capacity.h"
#include "agent/checker/checker.h"
#include "agent/collect/collect.h"
#include "agent/fingerprint/surveyor.h"
#include "agent/home/home.h"
#include "agent/home/writer.h"
#include "agent/inventory.h"
#include "agent/operate/actor.h"
#include "agent/operate/runner.h"
#include "agent/process/child.h"
#include "agent/prolog/prolog.h"
#include "agent/prolog/standing.h"
#include "agent/remains.h"
#include "agent/shrink.h"
#include "agent/uplink/body.h"
#include "agent/uplink/orders.h"
#include "agent/uplink/uplink.h"
#include "base/certificate.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "link/least.h"
#include "link/stream.h"
#include "link/tls.h"
#include "probe/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
 * The shell around uplink, inventory, collect and home. Nothing here touches a disk once it runs: children
 * do, and what they write or read is waited for by whoever needs it, never by the loop. The node is read in
 * two kinds of children, one for the inventory and one for the running work, so that a directory that hangs
 * costs the knowledge of it and never a heartbeat: that goes out with the work unknown.
 *
 * Two tables of hashes stand for the inventory: what the node has, and what the other side was
 * told. A child reads the difference to `told` as it was when the child started; `generation`
 * counts the changes of `told` by others, and a report of an older one is not sent.
 *
 * The fingerprint is the surveyor's, which has children of its own; checks are the checker's, operations the
 * actor's. An agent that reports once has neither of these two.
 */

enum {
    WORK_DEADLINE_MS = 2000,
    INVENTORY_DEADLINE_MS = 20000,
    REMAINS_DEADLINE_MS = 5000, /* the first connection waits for it */
    REMAINS_BYTES_MAX = 4096,
    REREAD_MS = 60000,
    RENEWAL_CHECK_MS = 86400000,
    RENEWAL_RETRY_MS = 3600000,
    RENEWAL_ANSWER_MS = 30000,
    IDENTITY_MS = 10000, /* to write the new certificate */
    IDENTITY_BYTES_MAX = 1024,
    CLOCK_OFF_S = 60, /* of two clocks that are not right any more */
    SHRINK_AFTER = 2, /* heartbeats of a new link, when the inventory is through, too; or after an order */
    ONCE_TRIES = 3,   /* of a single report, before it gives up */
    WARN_AGAIN_S = 60 /* of what is not believed */
};

struct agent {
    uv_loop_t *loop;
    agent_done_fn *done;
    void *arg;
    char *home, *run, *root; /* run: as home_run has it; NULL of `once` */
    bool once, stopping, failed;
    struct err why;

    struct home_identity id;
    struct least *least; /* which certificates of controllers, collectors and our own nodes have ended */
    struct tls_context *tls, *server_tls;
    struct uplink *uplink;
    struct collect *collect;
    struct surveyor *surveyor;
    struct checker *checker; /* these four: NULL of `once`; the last one also where nobody can listen */
    struct actor *actor;
    struct standing *standing;
    struct prolog *prolog;
    struct writer *writer; /* NULL of `once` */
    struct child *work_child, *inventory_child, *identity_child, *remains_child;
    uv_timer_t beat, reread, renewal, answer;
    int handles;

    struct orders orders;
    uint64_t list_revision, survey_revision; /* of what holds */
    struct mono warned;                      /* of an order that was not believed; ns 0: never */

    char instance[17], boot[37];
    uint64_t seq;
    struct span default_interval, interval;
    unsigned tries; /* of `once` */

    struct capacity capacity; /* as it is told with the inventory */
    struct inventory_table current, told;
    bool told_any;       /* told means something; else the whole is to be sent */
    bool started;        /* the uplink is */
    bool owes_inventory; /* of `once`: asked for and not sent */
    bool owes_beat;
    unsigned shrinks; /* heartbeats until memory is given back */
    bool again;       /* read once more when the present reading ends */
    unsigned generation, read_generation;
    bool inventory_quiet; /* the trouble is in the log already */

    char *last_boot; /* how the boot before ended, as the inventory says it; NULL: not known */
    char *next_key;  /* while a certificate is asked for, or written */
    char *next_cert; /* while it is written */
    struct tls_context *next_tls, *next_server_tls;
    bool visits;               /* the controller for that alone, which does not send us to a collector then */
    bool renewal_later;        /* it was asked for in vain; not before the next check */
    struct mono asked_renewal; /* ns 0: never */
    struct span clock_ahead;   /* of the controller's, as it said last; 0: it did not */
};

static void beat_now(struct agent *a);
static void read_inventory(struct agent *a);
static void on_renewal(uv_timer_t *timer);

static void forget_next(struct agent *a)
{
    free(STEAL(a->next_key));
    free(STEAL(a->next_cert));
    tls_context_destroy(STEAL(a->next_tls));
    tls_context_destroy(STEAL(a->next_server_tls));
}

/* Whoever is connected with one of them is not any more. */
static void on_ended(void *arg, enum identity_kind kind, const char *name)
{
    const struct agent *a = arg;
    stream_recheck(a->loop, kind, name);
}

static void take_least(struct agent *a, const json_t *least)
{
    struct err why = {0};
    if (least && least_take(a->least, least, on_ended, a, &why) < 0)
        log_warn("which certificates have ended is not all understood: %s", why.msg);
}

static void judge_by_least(struct agent *a, struct tls_context *tls)
{
    tls_context_judge(tls, least_judge, a->least);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct agent *a = handle->data;
    if (--a->handles > 0)
        return;
    agent_done_fn *done = a->done;
    void *arg = a->arg;
    struct err why = a->why;
    bool failed = a->failed;
    home_identity_fini(&a->id);
    tls_context_destroy(a->tls);
    tls_context_destroy(a->server_tls);
    forget_next(a);
    least_destroy(a->least);
    free(a->home);
    free(a->run);
    free(a->root);
    free(a->last_boot);
    free(a);
    done(arg, failed ? &why : NULL);
}

static void end(struct agent *a)
{
    if (a->stopping)
        return;
    a->stopping = true;
    uplink_finish(a->uplink);
    collect_destroy(a->collect);
    surveyor_destroy(a->surveyor);
    prolog_destroy(a->prolog);
    standing_destroy(a->standing);
    actor_destroy(a->actor);
    checker_destroy(a->checker);
    uplink_destroy(a->uplink);
    writer_destroy(a->writer);
    child_destroy(a->work_child);
    child_destroy(a->inventory_child);
    child_destroy(a->identity_child);
    child_destroy(a->remains_child);
    uv_close((uv_handle_t *)&a->beat, on_handle_closed);
    uv_close((uv_handle_t *)&a->reread, on_handle_closed);
    uv_close((uv_handle_t *)&a->renewal, on_handle_closed);
    uv_close((uv_handle_t *)&a->answer, on_handle_closed);
}

void agent_stop(struct agent *a)
{
    end(a);
}

static void fail(struct agent *a, const struct err *why)
{
    if (!a->failed && why)
        a->why = *why;
    a->failed = true;
    end(a);
}

/* A single report ends when all that was owed is on its way. */
static void end_if_told(struct agent *a)
{
    if (a->once && !a->owes_beat && !a->owes_inventory && !surveyor_owes(a->surveyor) &&
        uplink_is_up(a->uplink))
        uplink_finish(a->uplink);
}

static void on_settled(void *arg)
{
    struct agent *a = arg;
    if (a->standing)
        standing_settled(a->standing);
    end_if_told(a);
}

/* In a child that stays: it reads a few directories, each time from anew. */
static int work_read(void *arg, const char *question, struct text *out, struct err *e)
{
    const struct agent *a = arg;
    CLEANUP_JSON json_t *work = NULL;
    int r = probe_work(a->root, &work, e);
    if (r)
        return r;
    CLEANUP_FREE char *s = json_write(work);
    text_add(out, s);
    return 0;
}

static void send_heartbeat(struct agent *a, const char *work)
{
    uint64_t uptime_s = 0;
    CLEANUP_TEXT struct text body = {0};
    if (!uplink_is_up(a->uplink))
        return;
    (void)probe_uptime(a->root, &uptime_s, NULL);
    text_printf(&body,
                "{\"boot\":\"%s\",\"instance\":\"%s\",\"seq\":%" PRIu64 ",\"work\":%s,\"uptime_s\":%" PRIu64
                "}",
                a->boot, a->instance, ++a->seq, work, uptime_s);
    uplink_send(a->uplink, FRAME_HEARTBEAT, body.s, body.len);
    collect_self(a->collect);
    a->owes_beat = false;
    end_if_told(a);
}

static void on_work(void *arg, char *text, size_t len, const struct err *why)
{
    struct agent *a = arg;
    if (why)
        log_debug(LOG_PROBE, "the running work could not be read: %s", why->msg);
    if (a->checker)
        checker_idle(a->checker, text && strcmp(text, "[]") == 0);
    send_heartbeat(a, text && len <= BODY_WORK_BYTES_MAX ? text : "null");
    if (a->shrinks && --a->shrinks == 0)
        shrink_memory();
}

static void beat_now(struct agent *a)
{
    struct err e = {0};
    if (!uplink_is_up(a->uplink))
        return;
    if (child_ask(a->work_child, span_ms(WORK_DEADLINE_MS), work_read, a, "work", on_work, a, &e)) {
        log_debug(LOG_PROBE, "the running work could not be read: %s", e.msg);
        send_heartbeat(a, "null");
    }
}

static void on_beat(uv_timer_t *timer)
{
    beat_now(timer->data);
}

/* Each node has its own place in the interval, so that ten thousand do not speak at once. */
static uint64_t first_beat_ms(const struct agent *a)
{
    uint64_t hash = digest_fnv(DIGEST_FNV_START, a->id.name, strlen(a->id.name));
    uint64_t interval_ms = (uint64_t)span_to_ms(a->interval);
    uint64_t now_ms = (uint64_t)(mono_now().ns / 1000000);
    return interval_ms - (now_ms + hash % interval_ms) % interval_ms;
}

static void set_interval(struct agent *a, struct span interval)
{
    a->interval = interval;
    uv_timer_stop(&a->beat);
    uv_timer_stop(&a->reread);
    if (span_to_ms(interval) == 0)
        return; /* report once and await further instructions */
    if (uplink_is_up(a->uplink))
        uv_timer_start(&a->beat, on_beat, first_beat_ms(a), (uint64_t)span_to_ms(interval));
    uv_timer_again(&a->reread);
}

static int inventory_work(void *arg, struct text *out, struct err *e)
{
    const struct agent *a = arg;
    CLEANUP_JSON json_t *inventory = NULL;
    int r = probe_inventory(a->root, "/tmp", &inventory, e);
    if (!r && a->last_boot)
        json_object_set_new(inventory, "LastBoot", json_read(a->last_boot, strlen(a->last_boot), NULL));
    if (!r)
        capacity_write(&a->capacity, inventory);
    if (!r)
        inventory_report(a->told_any ? &a->told : NULL, inventory, a->instance, out);
    return r;
}

static void start_uplink(struct agent *a)
{
    if (a->started)
        return;
    a->started = true;
    uplink_start(a->uplink, a->tls);
}

static void inventory_failed(struct agent *a, const struct err *why)
{
    if (a->inventory_quiet)
        log_debug(LOG_PROBE, "the inventory could not be read: %s", why->msg);
    else
        log_warn("the inventory could not be read: %s", why->msg);
    a->inventory_quiet = true;
    if (a->once && a->owes_inventory)
        fail(a, why);
    else
        start_uplink(a);
}

static void send_inventory(struct agent *a, struct inventory_news *news)
{
    size_t len;
    for (const char *body; (body = inventory_next_body(news, &len));)
        uplink_send(a->uplink, FRAME_INVENTORY, body, len);
    a->told = news->table;
    a->told_any = true;
    a->owes_inventory = false;
    end_if_told(a);
}

static void on_inventory(void *arg, char *text, size_t len, const struct err *why)
{
    struct agent *a = arg;
    struct inventory_news news;
    struct err e = {0};
    if (!why && inventory_read(text, &news, &e))
        why = &e;
    if (why) {
        inventory_failed(a, why);
        return;
    }
    if (news.left_out && !a->inventory_quiet)
        log_warn("\"%s\" is too large to report", news.left_out);
    a->inventory_quiet = news.left_out != NULL;
    a->current = news.table;
    if (!uplink_is_up(a->uplink))
        start_uplink(a);
    else if (a->generation == a->read_generation)
        send_inventory(a, &news);
    else
        a->again = true;
    if (a->again && !a->stopping)
        read_inventory(a);
}

/* Here and not in the child, which remembers nothing: /proc does not wait. */
static void read_capacity(struct agent *a)
{
    struct maybe free = {0}, all = {0};
    free.known = probe_memory_free(a->root, &free.value, &all.value, NULL) == 0;
    all.known = free.known;
    capacity_take_memory(&a->capacity, free, all);
    if (a->checker)
        capacity_take_gpus(&a->capacity, checker_gpus(a->checker));
}

static void read_inventory(struct agent *a)
{
    struct err e = {0};
    a->again = false;
    read_capacity(a);
    int r =
        child_run(a->inventory_child, span_ms(INVENTORY_DEADLINE_MS), inventory_work, on_inventory, a, &e);
    if (r == -EBUSY)
        a->again = true;
    else if (r)
        inventory_failed(a, &e);
    else
        a->read_generation = a->generation;
}

static int remains_work(void *arg, struct text *out, struct err *e)
{
    const struct agent *a = arg;
    return remains_collect(a->root, out, e);
}

static void on_remains(void *arg, char *text, size_t len, const struct err *why)
{
    struct agent *a = arg;
    if (why)
        log_warn("how the boot before ended could not be read: %s", why->msg);
    else
        a->last_boot = mem_dup_len(text, len);
    read_inventory(a);
}

/* It is part of the inventory, whose hash belongs into HELLO. */
static void read_remains(struct agent *a)
{
    struct err e = {0};
    if (child_run(a->remains_child, span_ms(REMAINS_DEADLINE_MS), remains_work, on_remains, a, &e))
        on_remains(a, NULL, 0, &e);
}

static void on_reread(uv_timer_t *timer)
{
    read_inventory(timer->data);
}

/* The other side has nothing, or not what we thought. */
static void send_whole_inventory(struct agent *a)
{
    a->told_any = false;
    a->generation++;
    read_inventory(a);
}

static void end_renewal(struct agent *a, bool renewed)
{
    forget_next(a);
    a->renewal_later = !renewed;
    uv_timer_stop(&a->answer);
    uv_timer_start(&a->renewal, on_renewal, renewed ? RENEWAL_CHECK_MS : RENEWAL_RETRY_MS, RENEWAL_CHECK_MS);
    uplink_hold(a->uplink, false);
    if (renewed || a->visits) /* the old one ends when a controller sees the new one */
        uplink_go_home(a->uplink);
}

static void on_no_answer(uv_timer_t *timer)
{
    log_warn("the controller renewed no certificate in time");
    end_renewal(timer->data, false);
}

static void take_certificate_times(const struct certificate *c, void *arg)
{
    *(struct certificate *)arg = *c;
}

/* By the controller's clock, where it is known: that is the one by which the certificate is judged, and a
 * clock that is wrong here must not ask for ever. */
static bool renewal_due(const struct agent *a)
{
    struct certificate c = {0};
    struct mono now = mono_now();
    bool lately = a->asked_renewal.ns && mono_sub(now, a->asked_renewal).ns < span_ms(RENEWAL_RETRY_MS).ns;
    if (a->renewal_later || lately ||
        certificates_read(a->id.cert, strlen(a->id.cert), take_certificate_times, &c, NULL) < 1)
        return false;
    int64_t now_s = (wall_now().ns - a->clock_ahead.ns) / span_s(1).ns;
    return home_renewal_due(span_s(c.until_s - now_s), span_s(now_s - c.from_s));
}

static void ask_renewal(struct agent *a)
{
    struct err e = {0};
    CLEANUP_FREE char *request = NULL;
    CLEANUP_TEXT struct text body = {0};
    if (a->next_key || !renewal_due(a))
        return;
    a->asked_renewal = mono_now();
    if (tls_new_request(&a->next_key, &request, &e)) {
        log_error("no new key: %s", e.msg);
        end_renewal(a, false);
        return;
    }
    text_add(&body, "{\"request\":");
    text_add_json(&body, request);
    text_add_char(&body, '}');
    uplink_hold(a->uplink, true);
    uplink_send(a->uplink, FRAME_RENEW, body.s, body.len);
    uv_timer_start(&a->answer, on_no_answer, RENEWAL_ANSWER_MS, 0);
}

/* Only a controller renews, so a collector is left for one. */
static void on_renewal(uv_timer_t *timer)
{
    struct agent *a = timer->data;
    a->renewal_later = false;
    if (!uplink_is_up(a->uplink) || !renewal_due(a))
        return;
    if (uplink_at_controller(a->uplink))
        ask_renewal(a);
    else
        uplink_go_home(a->uplink);
}

static int check_certificate(struct agent *a, const char *cert, struct err *e)
{
    char name[256];
    int r = home_cert_name(cert, name, e);
    if (!r && strcmp(name, a->id.name) != 0)
        r = err_set(e, -EINVAL, "it is for \"%s\"", name);
    if (!r)
        r = tls_client_context(cert, a->next_key, a->id.ca, &a->next_tls, e);
    if (!r)
        r = tls_server_context(cert, a->next_key, a->id.ca, TLS_PEER_REQUIRED, &a->next_server_tls, e);
    if (!r) {
        judge_by_least(a, a->next_tls);
        judge_by_least(a, a->next_server_tls);
    }
    return r;
}

static int write_identity(void *arg, struct text *out, struct err *e)
{
    const struct agent *a = arg;
    return home_store(a->home, a->next_key, a->next_cert, NULL, e);
}

static void take_certificate(struct agent *a)
{
    uplink_set_tls(a->uplink, a->next_tls);
    collect_set_tls(a->collect, a->next_server_tls);
    tls_context_destroy(a->tls);
    tls_context_destroy(a->server_tls);
    a->tls = STEAL(a->next_tls);
    a->server_tls = STEAL(a->next_server_tls);
    free(a->id.key);
    free(a->id.cert);
    a->id.key = STEAL(a->next_key);
    a->id.cert = STEAL(a->next_cert);
}

static void on_identity(void *arg, char *text, size_t len, const struct err *why)
{
    struct agent *a = arg;
    if (why) {
        log_error("the new certificate is not taken: %s", why->msg);
    } else {
        take_certificate(a);
        log_info("the certificate was renewed");
    }
    end_renewal(a, !why);
}

static int on_renewed(struct agent *a, const struct frame *f, struct err *e)
{
    CLEANUP_FREE char *cert = NULL;
    struct err why = {0};
    int r = body_read_pem(f, "certificate", &cert, e);
    if (r || !a->next_key || a->next_cert)
        return r;
    r = check_certificate(a, cert, &why);
    a->next_cert = STEAL(cert);
    if (!r)
        r = child_run(a->identity_child, span_ms(IDENTITY_MS), write_identity, on_identity, a, &why);
    if (r)
        on_identity(a, NULL, 0, &why);
    else
        uv_timer_stop(&a->answer);
    return 0;
}

static void hello(void *arg, struct text *body)
{
    struct agent *a = arg;
    a->told = a->current;
    a->told_any = a->current.hash[0] != 0;
    a->generation++;
    text_printf(body,
                "{\"protocol\":1,\"name\":\"%s\",\"version\":\"%s\",\"boot\":\"%s\",\"instance\":\"%s\"",
                a->id.name, FETTLE_VERSION, a->boot, a->instance);
    text_printf(body, ",\"now_ms\":%" PRId64, wall_now().ns / 1000000);
    if (a->told_any)
        text_printf(body, ",\"inventory\":\"%s\"", a->current.hash);
    a->visits = !a->once && !uplink_to_collector(a->uplink) && renewal_due(a);
    if (a->once || a->visits)
        text_add(body, ",\"once\":true");
    if (a->checker && *checker_list(a->checker))
        text_printf(body, ",\"checklist\":\"%s\"", checker_list(a->checker));
    collect_add_hello(a->collect, body);
    text_add_char(body, '}');
}

static void tell_checks(struct agent *a)
{
    if (!a->checker)
        return;
    checker_tell(a->checker);
    actor_tell(a->actor);
}

/* The connection goes on: a collector that says what it should not still says whether this node is heard,
 * and leaving it for a controller would only lead back to it. */
static void disbelieve(struct agent *a, uint8_t type, const struct err *why)
{
    char name[16], peer[UPLINK_PEER_BYTES];
    struct mono now = mono_now();
    if (a->warned.ns && mono_sub(now, a->warned).ns < span_s(WARN_AGAIN_S).ns)
        return;
    a->warned = now;
    log_warn("%s from %s is not believed, and nothing is done: %s", frame_name(type, name),
             uplink_peer(a->uplink, peer), why->msg);
}

/* What a controller signed; its bytes live as long as the order. */
static bool open_order(struct agent *a, uint8_t type, const json_t *order, struct frame *out)
{
    struct err why = {0};
    a->shrinks = SHRINK_AFTER; /* reading certificates touches 2 MiB of OpenSSL */
    if (orders_open(&a->orders, type, order, out, &why) == 0)
        return true;
    disbelieve(a, type, &why);
    return false;
}

/* A controller's own word holds, also when its clock was set back or its state was lost. */
static bool is_newer(struct agent *a, uint8_t type, uint64_t revision, uint64_t *last)
{
    struct err why = {0};
    if (revision < *last && !uplink_at_controller(a->uplink)) {
        err_set(&why, -EALREADY, "it is older than what holds");
        disbelieve(a, type, &why);
        return false;
    }
    *last = revision;
    return true;
}

/* False: there is none, or it does not count, and *out is empty. */
static bool take_survey(struct agent *a, const json_t *order, struct body_survey *out)
{
    struct frame f;
    struct err why = {0};
    *out = (struct body_survey){0};
    if (!order || !open_order(a, FRAME_SETTINGS, order, &f))
        return false;
    if (body_read_survey(&f, out, &why) < 0) {
        disbelieve(a, FRAME_SETTINGS, &why);
        return false;
    }
    take_least(a, out->least); /* a number that rose once stays, also by an older order */
    if (is_newer(a, FRAME_SETTINGS, out->revision, &a->survey_revision))
        return true;
    body_survey_fini(out);
    *out = (struct body_survey){0};
    return false;
}

static void compare_clocks(struct agent *a, struct wall controller)
{
    char off[32];
    if (!controller.ns)
        return;
    a->clock_ahead.ns = wall_now().ns - controller.ns;
    if (a->checker) /* none looks where it reports once */
        checker_clock(a->checker, controller);
    bool ahead = a->clock_ahead.ns > 0;
    if (llabs(a->clock_ahead.ns) >= span_s(CLOCK_OFF_S).ns)
        log_warn("the clock of this node is %s %s that of the controller: one of them is wrong",
                 span_human((struct span){llabs(a->clock_ahead.ns)}, off), ahead ? "ahead of" : "behind");
}

/* One that reports to a collector hears the controller's time when it is sent there. */
static void on_sent_away(void *arg, struct wall controller)
{
    compare_clocks(arg, controller);
}

static void on_welcome(void *arg, const struct body_welcome *w)
{
    struct agent *a = arg;
    struct body_welcome welcome = *w;
    struct body_survey survey;
    if (!w->has_interval)
        welcome.interval = a->default_interval;
    if (!take_survey(a, w->survey, &survey))
        welcome.survey = NULL;
    a->tries = 0;
    a->shrinks = SHRINK_AFTER;
    a->owes_beat = true;
    a->owes_inventory = w->want || !a->told_any;
    if (uplink_at_controller(a->uplink)) {
        compare_clocks(a, w->now);
        collect_welcome(a->collect, &welcome);
        ask_renewal(a);
    } else {
        collect_stop(a->collect);
    }
    set_interval(a, welcome.interval);
    if (a->owes_inventory)
        send_whole_inventory(a);
    surveyor_welcome(a->surveyor, &survey);
    body_survey_fini(&survey);
    tell_checks(a);
    beat_now(a);
    if (a->visits && !a->next_key) /* by the controller's clock it is not time yet */
        uplink_go_home(a->uplink);
}

static int on_settings(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_settings s;
    struct body_survey survey;
    int r = body_read_settings(f, &s, e);
    if (r)
        return r;
    bool taken = take_survey(a, s.survey, &survey);
    if (s.has_spread)
        uplink_set_spread(a->uplink, s.spread);
    uplink_set_waits(a->uplink, &s.waits);
    if (s.has_interval)
        set_interval(a, s.interval);
    surveyor_settings(a->surveyor, &survey);
    collect_settings(a->collect, s.has_interval ? &s.interval : NULL, &s.waits, taken ? s.survey : NULL);
    body_survey_fini(&survey);
    json_decref(s.survey);
    return 0;
}

static int on_share(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_share share;
    struct err why = {0};
    int r = body_read_share(f, &share, e);
    if (r)
        return r;
    if (!a->server_tls &&
        tls_server_context(a->id.cert, a->id.key, a->id.ca, TLS_PEER_REQUIRED, &a->server_tls, &why) == 0)
        judge_by_least(a, a->server_tls);
    if (!a->server_tls)
        log_error("cannot collect: %s", why.msg);
    else if (collect_share(a->collect, &share, a->server_tls, &why))
        log_error("cannot collect: %s", why.msg);
    hostlist_fini(&share.nodes);
    return 0;
}

static int on_ended_told(struct agent *a, const struct frame *f, struct err *e)
{
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, e);
    if (!json_is_object(body))
        return err_set(e, -EINVAL, "ENDED: the body is no object");
    take_least(a, json_object_get(body, "least"));
    return 0;
}

static int read_want(const struct agent *a, const struct frame *f, struct body_want *want, struct err *e)
{
    int r = body_read_want(f, want, e);
    for (size_t i = 0; !r && !want->own && i < want->nodes.n; i++)
        want->own = strcmp(want->nodes.names[i], a->id.name) == 0;
    return r;
}

static int on_want(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_want want;
    int r = read_want(a, f, &want, e);
    if (r)
        return r;
    if (want.own && want.components)
        surveyor_want(a->surveyor, &want.fingerprint);
    else if (want.own)
        send_whole_inventory(a);
    collect_want(a->collect, &want);
    hostlist_fini(&want.nodes);
    return 0;
}

static int on_recheck(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_want want;
    int r = read_want(a, f, &want, e);
    if (r)
        return r;
    if (want.own)
        surveyor_recheck(a->surveyor);
    collect_recheck(a->collect, &want.nodes);
    hostlist_fini(&want.nodes);
    return 0;
}

static void on_checklist_kept(void *arg, const struct err *why)
{
    if (why)
        log_error("the checks are not kept: %s", why->msg);
}

static void use_checklist(struct agent *a, const struct body_checklist *said, const char *body)
{
    struct checklist list;
    if (strcmp(said->hash, checker_list(a->checker)) != 0) {
        checklist_take(said, a->id.name, &list);
        log_info("checks %zu things as the controller says", list.checks.n);
        checker_set(a->checker, &list);
    }
    writer_put(a->writer, CHECKLIST_FILE, body, on_checklist_kept, a);
    collect_checklist(a->collect, said->hash, body, strlen(body));
}

static int on_checklist(struct agent *a, const struct frame *f, struct err *e)
{
    struct frame order;
    struct body_checklist said;
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, e);
    if (!body)
        return -EINVAL;
    if (!open_order(a, f->type, body, &order))
        return 0;
    int r = body_read_checklist(&order, &said, e);
    if (r)
        return r;
    if (is_newer(a, f->type, said.revision, &a->list_revision))
        use_checklist(a, &said, f->body);
    body_checklist_fini(&said);
    return 0;
}

/* Signed for us, and lately. */
static int on_order(struct agent *a, const json_t *order, struct err *e)
{
    struct frame f;
    struct body_act act;
    struct err why = {0};
    if (!open_order(a, FRAME_ACT, order, &f))
        return 0;
    int r = body_read_act(&f, &act, e);
    if (r)
        return r;
    if (orders_asked(&a->orders, mono_now(), act.nonce)) {
        actor_act(a->actor, &act);
        return 0;
    }
    err_set(&why, -EALREADY, "operation %s was not asked for, or too long ago", act.id);
    disbelieve(a, FRAME_ACT, &why);
    return 0;
}

static int on_act(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_act act;
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, e);
    if (!body)
        return -EINVAL;
    if (order_is(body))
        return on_order(a, body, e);
    int r = body_read_act(f, &act, e);
    if (r)
        return r;
    if (act.tell)
        tell_checks(a);
    else if (act.end[0])
        actor_end(a->actor, act.term, act.end);
    else if (uplink_at_controller(a->uplink) && orders_asked(&a->orders, mono_now(), act.nonce))
        actor_act(a->actor, &act);
    else /* it may have lain in a buffer while this node, or the network, stood still */
        actor_ask(a->actor, &act, orders_ask(&a->orders, mono_now()));
    return 0;
}

static int on_standing(struct agent *a, const struct frame *f, struct err *e)
{
    struct frame signed_one;
    struct body_standing answer;
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, e);
    if (!body)
        return -EINVAL;
    bool is_order = order_is(body);
    if (is_order ? !open_order(a, FRAME_STANDING, body, &signed_one) : !uplink_at_controller(a->uplink))
        return 0;
    int r = body_read_standing(is_order ? &signed_one : f, &answer, e);
    if (!r)
        standing_take(a->standing, &answer);
    return r;
}

static int on_pass(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_pass pass;
    int r = body_read_pass(f, &pass, e);
    if (r)
        return r;
    collect_pass(a->collect, &pass);
    free(pass.body);
    return 0;
}

static int on_frame(void *arg, const struct frame *f, struct err *e)
{
    struct agent *a = arg;
    bool controller = uplink_at_controller(a->uplink);
    if (f->type == FRAME_CHECKLIST && a->checker)
        return on_checklist(a, f, e);
    if (f->type == FRAME_ACT && a->actor)
        return on_act(a, f, e);
    if (f->type == FRAME_STANDING && a->standing)
        return on_standing(a, f, e);
    if (f->type == FRAME_PASS && controller)
        return on_pass(a, f, e);
    if (f->type == FRAME_SETTINGS)
        return on_settings(a, f, e);
    if (f->type == FRAME_WANT)
        return on_want(a, f, e);
    if (f->type == FRAME_RECHECK)
        return on_recheck(a, f, e);
    if (f->type == FRAME_SHARE && controller && !a->once)
        return on_share(a, f, e);
    if (f->type == FRAME_ENDED && controller)
        return on_ended_told(a, f, e);
    if (f->type == FRAME_HEARD && controller)
        collect_answered(a->collect);
    if (f->type == FRAME_RENEWED && controller)
        return on_renewed(a, f, e);
    return 0;
}

static void on_lost(void *arg, bool welcomed, const struct err *why)
{
    struct agent *a = arg;
    bool told = welcomed && !a->owes_beat && !a->owes_inventory;
    uv_timer_stop(&a->beat);
    collect_lost(a->collect);
    if (a->checker) /* with nobody to report to, the work is not read */
        checker_idle(a->checker, false);
    a->visits = false;
    if (a->next_key && !a->next_cert)
        end_renewal(a, false);
    if (!a->once)
        return;
    if (told && !why)
        end(a);
    else if (++a->tries >= ONCE_TRIES)
        fail(a, why);
}

/* Where a command runs that an agent began which kept all on the disk, so does this one until it is started
 * again. */
static int choose_run(struct agent *a, struct err *e)
{
    CLEANUP_FREE char *running = NULL;
    if (!runner_find(a->home, &running))
        return home_run(a->home, &a->run, e);
    a->run = mem_dup(a->home);
    return 0;
}

static int load(struct agent *a, struct address_list *controllers, struct err *e)
{
    uint64_t random;
    int r = home_load(a->home, &a->id, e);
    if (!r && !a->once)
        r = choose_run(a, e);
    if (!r && !controllers->n)
        r = home_load_controllers(a->home, controllers, e);
    if (!r && !controllers->n)
        r = err_set(e, -EINVAL, "no controller is known; name one with -c HOST");
    if (!r)
        r = probe_boot_id(a->root, a->boot, e);
    if (!r && (r = tls_client_context(a->id.cert, a->id.key, a->id.ca, &a->tls, e)))
        err_wrap(e, r, "%s", a->home);
    if (!r)
        judge_by_least(a, a->tls);
    if (!r && getrandom(&random, sizeof random, 0) != sizeof random)
        r = err_set(e, -EIO, "no random numbers");
    if (r)
        return r;
    snprintf(a->instance, sizeof a->instance, "%016" PRIx64, random);
    setenv("FETTLE_NODE", a->id.name, 1); /* for plugins and for remedies' commands */
    return 0;
}

static void free_unstarted(struct agent *a)
{
    least_destroy(a->least);
    home_identity_fini(&a->id);
    tls_context_destroy(a->tls);
    free(a->home);
    free(a->run);
    free(a->root);
    free(a);
}

static void add_timer(struct agent *a, uv_timer_t *timer)
{
    uv_timer_init(a->loop, timer);
    timer->data = a;
    a->handles++;
}

static void warn_if_expired(const struct agent *a)
{
    struct span left;
    char ago[32];
    if (!tls_cert_left(a->id.cert, &left, NULL) && left.ns < 0)
        log_warn("the certificate of \"%s\" has expired, %s ago by the clock of this node; set the clock, or "
                 "join again",
                 a->id.name, span_human((struct span){-left.ns}, ago));
}

static void say_checks(void *arg, const char *body, size_t len)
{
    struct agent *a = arg;
    uplink_send(a->uplink, FRAME_CHECKS, body, len);
}

static void say_done(void *arg, const char *body, size_t len)
{
    struct agent *a = arg;
    uplink_send(a->uplink, FRAME_DONE, body, len);
}

static void load_checklist(struct agent *a)
{
    struct checklist list = {0};
    struct err e = {0};
    CLEANUP_FREE char *body = NULL;
    int r = checklist_load(a->home, a->root, a->id.name, &list, &body, &e);
    if (r && r != -ENOENT)
        log_error("nothing is checked until a controller says what: %s", e.msg);
    if (r)
        return;
    if (body)
        collect_checklist(a->collect, list.hash, body, strlen(body));
    a->list_revision = list.revision;
    checker_set(a->checker, &list);
}

static void start_checks(struct agent *a)
{
    struct err e = {0};
    struct checker_settings checks = {
        .home = a->run, .root = a->root, .node = a->id.name, .boot = a->boot, .say = say_checks, .arg = a};
    a->writer = writer_create(a->loop, a->home);
    a->checker = checker_create(a->loop, &checks);
    load_checklist(a); /* before what ended meanwhile is known: it may have cured something */
    struct actor_settings acts = {.home = a->run,
                                  .root = a->root,
                                  .boot = a->boot,
                                  .checker = a->checker,
                                  .writer = strcmp(a->run, a->home) != 0 ? a->writer : NULL,
                                  .disk = a->home,
                                  .say = say_done,
                                  .arg = a};
    a->actor = actor_create(a->loop, &acts);
    struct standing_settings standing = {a->loop, a->surveyor, a->uplink, &a->orders};
    a->standing = standing_create(&standing);
    a->prolog = prolog_create(a->loop, a->root, a->checker, a->standing, &e);
    if (!a->prolog)
        log_warn("prolog and epilog are not heard: %s", e.msg);
}

int agent_start(uv_loop_t *loop, const struct agent_settings *settings, agent_done_fn *done, void *arg,
                struct agent **out, struct err *e)
{
    static const struct uplink_events events = {hello, on_sent_away, on_welcome, on_frame, on_lost};
    struct address_list controllers = *settings->controllers;
    struct agent *a = mem_alloc(sizeof *a);
    a->least = least_create();
    a->loop = loop;
    a->done = done;
    a->arg = arg;
    a->home = mem_dup(settings->home);
    a->root = mem_dup(settings->root);
    a->once = settings->once;
    a->default_interval = a->interval = settings->interval;
    int r = load(a, &controllers, e);
    if (r) {
        free_unstarted(a);
        return r;
    }
    warn_if_expired(a);
    a->orders = (struct orders){.ca = a->id.ca, .node = a->id.name, .least = a->least};
    add_timer(a, &a->beat);
    add_timer(a, &a->reread);
    add_timer(a, &a->renewal);
    add_timer(a, &a->answer);
    a->uplink = uplink_create(loop, &controllers, &events, a);
    a->collect = collect_create(loop, a->uplink, a->id.name, a->instance, settings->collect_port);
    a->work_child = child_create(loop, 2 * BODY_WORK_BYTES_MAX);
    a->inventory_child = child_create(loop, INVENTORY_REPORT_BYTES_MAX);
    a->identity_child = child_create(loop, IDENTITY_BYTES_MAX);
    a->remains_child = child_create(loop, REMAINS_BYTES_MAX);
    struct surveyor_settings survey = {a->root, a->id.name, a->boot, a->uplink, a->once, on_settled, a};
    a->surveyor = surveyor_create(loop, &survey);
    if (!a->once)
        start_checks(a);
    uv_timer_start(&a->reread, on_reread, REREAD_MS, REREAD_MS);
    uv_timer_start(&a->renewal, on_renewal, RENEWAL_CHECK_MS, RENEWAL_CHECK_MS);
    if (a->once)
        read_inventory(a); /* the link is dialled when it is there */
    else
        read_remains(a); /* and then the same */
    *out = a;
    return 0;
}
