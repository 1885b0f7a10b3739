/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/credentials.h"

#include "agent/process/child.h"
#include "agent/uplink/body.h"
#include "base/certificate.h"
#include "base/log.h"
#include "base/text.h"
#include "link/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK_MS = 86400000,
    RETRY_MS = 3600000,
    ANSWER_MS = 30000,
    WRITE_MS = 10000, /* to write the new certificate */
    WRITE_BYTES_MAX = 1024
};

struct credentials {
    uv_loop_t *loop;
    char *home;
    struct uplink *uplink;
    struct collect *collect;
    struct home_identity id;
    struct least *least; /* which certificates of controllers, collectors and our own nodes have ended */
    struct tls_context *tls, *server_tls;
    struct child *child;
    uv_timer_t check, answer;
    int handles;

    char *next_key;  /* while a certificate is asked for, or written */
    char *next_cert; /* while it is written */
    struct tls_context *next_tls, *next_server_tls;
    bool visits;             /* the controller for that alone, which does not send us to a collector then */
    bool later;              /* it was asked for in vain; not before the next check */
    struct mono asked;       /* ns 0: never */
    struct span clock_ahead; /* the controller's clock, as it said last; 0: unknown */
};

static void on_check(uv_timer_t *timer);

static void judge_by_least(struct credentials *c, struct tls_context *tls)
{
    tls_context_judge(tls, least_judge, c->least);
}

int credentials_load(const char *home, struct credentials **out, struct err *e)
{
    struct credentials *c = mem_alloc(sizeof *c);
    c->least = least_create();
    c->home = mem_dup(home);
    int r = home_load(home, &c->id, e);
    if (!r && (r = tls_client_context(c->id.cert, c->id.key, c->id.ca, &c->tls, e)))
        err_wrap(e, r, "%s", home);
    if (r) {
        credentials_destroy(c);
        return r;
    }
    judge_by_least(c, c->tls);
    *out = c;
    return 0;
}

static void add_timer(struct credentials *c, uv_timer_t *timer)
{
    uv_timer_init(c->loop, timer);
    timer->data = c;
    c->handles++;
}

void credentials_start(struct credentials *c, uv_loop_t *loop, struct uplink *uplink, struct collect *collect)
{
    c->loop = loop;
    c->uplink = uplink;
    c->collect = collect;
    c->child = child_create(loop, WRITE_BYTES_MAX);
    add_timer(c, &c->check);
    add_timer(c, &c->answer);
    uv_timer_start(&c->check, on_check, CHECK_MS, CHECK_MS);
}

static void forget_next(struct credentials *c)
{
    free(STEAL(c->next_key));
    free(STEAL(c->next_cert));
    tls_context_destroy(STEAL(c->next_tls));
    tls_context_destroy(STEAL(c->next_server_tls));
}

static void free_all(struct credentials *c)
{
    home_identity_fini(&c->id);
    tls_context_destroy(c->tls);
    tls_context_destroy(c->server_tls);
    forget_next(c);
    least_destroy(c->least);
    free(c->home);
    free(c);
}

static void on_closed(uv_handle_t *handle)
{
    struct credentials *c = handle->data;
    if (--c->handles == 0)
        free_all(c);
}

void credentials_destroy(struct credentials *c)
{
    if (!c)
        return;
    if (!c->handles) {
        free_all(c);
        return;
    }
    child_destroy(c->child);
    uv_close((uv_handle_t *)&c->check, on_closed);
    uv_close((uv_handle_t *)&c->answer, on_closed);
}

const struct home_identity *credentials_identity(const struct credentials *c)
{
    return &c->id;
}

const struct least *credentials_least(const struct credentials *c)
{
    return c->least;
}

struct tls_context *credentials_tls(const struct credentials *c)
{
    return c->tls;
}

struct tls_context *credentials_server_tls(struct credentials *c, struct err *e)
{
    if (!c->server_tls &&
        tls_server_context(c->id.cert, c->id.key, c->id.ca, TLS_PEER_REQUIRED, &c->server_tls, e) == 0)
        judge_by_least(c, c->server_tls);
    return c->server_tls;
}

void credentials_set_clock(struct credentials *c, struct span ahead)
{
    c->clock_ahead = ahead;
}

/* Connections that use a revoked certificate end. */
static void on_ended(void *arg, enum identity_kind kind, const char *name)
{
    const struct credentials *c = arg;
    stream_recheck(c->loop, kind, name);
}

void credentials_take_least(struct credentials *c, const json_t *least)
{
    struct err why = {0};
    if (least && least_take(c->least, least, on_ended, c, &why) < 0)
        log_warn("the list of ended certificates is not understood in full: %s", why.msg);
}

/* --- renewal ---------------------------------------------------------------------------------------------
 */

static void end_renewal(struct credentials *c, bool renewed)
{
    forget_next(c);
    c->later = !renewed;
    uv_timer_stop(&c->answer);
    uv_timer_start(&c->check, on_check, renewed ? CHECK_MS : RETRY_MS, CHECK_MS);
    uplink_hold(c->uplink, false);
    if (renewed || c->visits) /* the old one ends when a controller sees the new one */
        uplink_go_home(c->uplink);
}

static void on_no_answer(uv_timer_t *timer)
{
    log_warn("the controller renewed no certificate in time");
    end_renewal(timer->data, false);
}

static void take_times(const struct certificate *times, void *arg)
{
    *(struct certificate *)arg = *times;
}

/* By the controller's clock, where it is known: that is the one by which the certificate is judged, and a
 * clock that is wrong here must not ask for ever. */
static bool is_due(const struct credentials *c)
{
    struct certificate times = {0};
    struct mono now = mono_now();
    bool lately = c->asked.ns && mono_sub(now, c->asked).ns < span_ms(RETRY_MS).ns;
    if (c->later || lately || certificates_read(c->id.cert, strlen(c->id.cert), take_times, &times, NULL) < 1)
        return false;
    int64_t now_s = (wall_now().ns - c->clock_ahead.ns) / span_s(1).ns;
    return home_renewal_due(span_s(times.until_s - now_s), span_s(now_s - times.from_s));
}

void credentials_ask(struct credentials *c)
{
    struct err e = {0};
    CLEANUP_FREE char *request = NULL;
    CLEANUP_TEXT struct text body = {0};
    if (c->next_key || !is_due(c))
        return;
    c->asked = mono_now();
    if (tls_new_request(&c->next_key, &request, &e)) {
        log_error("no new key: %s", e.msg);
        end_renewal(c, false);
        return;
    }
    text_add(&body, "{\"request\":");
    text_add_json(&body, request);
    text_add_char(&body, '}');
    uplink_hold(c->uplink, true);
    uplink_send(c->uplink, FRAME_RENEW, body.s, body.len);
    uv_timer_start(&c->answer, on_no_answer, ANSWER_MS, 0);
}

/* Only a controller renews, so a collector is left for one. */
static void on_check(uv_timer_t *timer)
{
    struct credentials *c = timer->data;
    c->later = false;
    if (!uplink_is_up(c->uplink) || !is_due(c))
        return;
    if (uplink_at_controller(c->uplink))
        credentials_ask(c);
    else
        uplink_go_home(c->uplink);
}

bool credentials_begin_visit(struct credentials *c)
{
    c->visits = !uplink_to_collector(c->uplink) && is_due(c);
    return c->visits;
}

void credentials_end_visit(struct credentials *c)
{
    if (c->visits && !c->next_key) /* by the controller's clock it is not time yet */
        uplink_go_home(c->uplink);
}

void credentials_lost(struct credentials *c)
{
    c->visits = false;
    if (c->next_key && !c->next_cert)
        end_renewal(c, false);
}

static int check_certificate(struct credentials *c, const char *cert, struct err *e)
{
    char name[256];
    int r = home_cert_name(cert, name, e);
    if (!r && strcmp(name, c->id.name) != 0)
        r = err_set(e, -EINVAL, "it is for \"%s\"", name);
    if (!r)
        r = tls_client_context(cert, c->next_key, c->id.ca, &c->next_tls, e);
    if (!r)
        r = tls_server_context(cert, c->next_key, c->id.ca, TLS_PEER_REQUIRED, &c->next_server_tls, e);
    if (!r) {
        judge_by_least(c, c->next_tls);
        judge_by_least(c, c->next_server_tls);
    }
    return r;
}

static int write_identity(void *arg, struct text *out, struct err *e)
{
    const struct credentials *c = arg;
    return home_store(c->home, c->next_key, c->next_cert, NULL, e);
}

static void take_certificate(struct credentials *c)
{
    uplink_set_tls(c->uplink, c->next_tls);
    collect_set_tls(c->collect, c->next_server_tls);
    tls_context_destroy(c->tls);
    tls_context_destroy(c->server_tls);
    c->tls = STEAL(c->next_tls);
    c->server_tls = STEAL(c->next_server_tls);
    free(c->id.key);
    free(c->id.cert);
    c->id.key = STEAL(c->next_key);
    c->id.cert = STEAL(c->next_cert);
}

static void on_written(void *arg, char *text, size_t len, const struct err *why)
{
    struct credentials *c = arg;
    if (why) {
        log_error("the new certificate is not taken: %s", why->msg);
    } else {
        take_certificate(c);
        log_info("the certificate was renewed");
    }
    end_renewal(c, !why);
}

int credentials_renewed(struct credentials *c, const struct frame *f, struct err *e)
{
    CLEANUP_FREE char *cert = NULL;
    struct err why = {0};
    int r = body_read_pem(f, "certificate", &cert, e);
    if (r || !c->next_key || c->next_cert)
        return r;
    r = check_certificate(c, cert, &why);
    c->next_cert = STEAL(cert);
    if (!r)
        r = child_run(c->child, span_ms(WRITE_MS), write_identity, on_written, c, &why);
    if (r)
        on_written(c, NULL, 0, &why);
    else
        uv_timer_stop(&c->answer);
    return 0;
}
