/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/client.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSE span_ms(50) /* after all members were tried */

int client_init(struct client *c, const struct etcd_options *o, struct err *e)
{
    *c = (struct client){0};
    int r = endpoints_init(&c->ends, o, e);
    if (r)
        return r;
    const struct fetch_options f = endpoints_fetch(&c->ends, c->ends.options.answered_ms);
    if (uv_loop_init(&c->loop) < 0)
        abort();
    c->fetch = fetch_create(&c->loop, &f);
    return 0;
}

void client_fini(struct client *c)
{
    fetch_destroy(c->fetch);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    int r = uv_loop_close(&c->loop);
    assert(r == 0 && "a handle of the client is still open");
    endpoints_fini(&c->ends);
    text_fini(&c->body);
}

static void on_done(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct client *c = arg;
    c->is_done = true;
    c->sent = fetch_sent(c->fetch);
    c->status = status;
    c->why = *why;
    text_clear(&c->body);
    text_add_bytes(&c->body, body, len);
}

/* One request to the present member. 0: the body is there. *sent: it may have been carried out. */
static int client_once(struct client *c, const char *call, const char *body, bool *sent, struct err *e)
{
    CLEANUP_FREE char *url = endpoints_url(&c->ends, call);
    c->is_done = false;
    fetch_start(c->fetch, "POST", url, body, on_done, c);
    while (!c->is_done)
        uv_run(&c->loop, UV_RUN_ONCE);
    *sent = c->sent;
    if (c->status == 200)
        return 0;
    if (c->status) {
        bool definite;
        int r = wire_refusal(c->status, c->body.s, c->body.len, &definite, e);
        *sent = !definite;
        return err_wrap(e, r, "%s", c->ends.urls[c->ends.at]);
    }
    int r = c->why.code == -E2BIG ? -E2BIG : -EAGAIN;
    const char *at = c->ends.urls[c->ends.at];
    /* With TLS 1.3 a server refuses a certificate after the handshake, and then the error names no
     * certificate. */
    bool tls = c->why.code == -EPROTO && strncmp(at, "https:", 6) == 0;
    return err_set(e, r, "%s: %s%s", at, c->why.msg,
                   tls ? " (a certificate may be missing or not accepted)" : "");
}

static void pause_a_little(void)
{
    const struct timespec t = {0, PAUSE.ns};
    nanosleep(&t, NULL);
}

/* Whether another member is worth a try. */
static bool client_goes_on(struct client *c, size_t *tried, struct mono until)
{
    endpoints_next(&c->ends);
    if (mono_now().ns >= until.ns)
        return false;
    if (++*tried % c->ends.n == 0)
        pause_a_little();
    return true;
}

static struct mono client_deadline(const struct client *c)
{
    return mono_add(mono_now(), span_ms(c->ends.options.answered_ms));
}

int client_call(struct client *c, const char *call, const char *body, struct text *out, struct err *e)
{
    struct mono until = client_deadline(c);
    size_t tried = 0;
    bool sent;
    int r;
    do {
        r = client_once(c, call, body, &sent, e);
    } while (r == -EAGAIN && client_goes_on(c, &tried, until));
    text_clear(out);
    if (!r)
        text_add_bytes(out, c->body.s, c->body.len);
    return r;
}

int client_range(struct client *c, const struct text *body, struct wire_answer *a, struct err *e)
{
    struct mono until = client_deadline(c);
    size_t tried = 0;
    bool sent;
    int r;
    do {
        r = client_once(c, "/v3/kv/range", body->s, &sent, e);
        if (!r && (wire_range_read(c->body.s, c->body.len, a, e) < 0 ||
                   endpoints_same(&c->ends, a->cluster, e) < 0)) {
            wire_answer_fini(a);
            r = err_wrap(e, -EAGAIN, "%s", c->ends.urls[c->ends.at]);
        }
    } while (r == -EAGAIN && client_goes_on(c, &tried, until));
    return r;
}

int client_txn(struct client *c, const struct wire_txn *t, struct wire_answer *a, bool *unknown,
               struct err *e)
{
    CLEANUP_TEXT struct text body = {0};
    struct mono until = client_deadline(c);
    size_t tried = 0;
    int r;
    wire_txn_write(t, &body);
    do {
        r = client_once(c, "/v3/kv/txn", body.s, unknown, e);
    } while (r == -EAGAIN && !*unknown && client_goes_on(c, &tried, until));
    if (!r &&
        (wire_txn_read(c->body.s, c->body.len, a, e) < 0 || endpoints_same(&c->ends, a->cluster, e) < 0)) {
        wire_answer_fini(a);
        r = err_wrap(e, -EAGAIN, "%s", c->ends.urls[c->ends.at]);
    } else if (!r) {
        *unknown = false;
    }
    if (*unknown)
        endpoints_next(&c->ends);
    return r;
}

struct streaming {
    struct client *client;
    client_piece_fn *fn;
    void *arg;
    bool done;
    int rc;
    struct err *e;
};

static void on_piece(void *arg, const char *bytes, size_t len)
{
    struct streaming *s = arg;
    if (!s->done && !s->rc)
        s->rc = s->fn(s->arg, bytes, len, &s->done, s->e);
}

static void on_stream_done(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct streaming *s = arg;
    s->client->is_done = true;
    if (!s->rc && !s->done)
        s->rc =
            err_set(s->e, -EAGAIN, "etcd's watch has ended: %s", status ? "no reason is given" : why->msg);
}

static void on_late(uv_timer_t *t)
{
    struct streaming *s = t->data;
    s->rc = err_set(s->e, -EAGAIN, "etcd's watch brings nothing");
}

int client_stream(struct client *c, const char *call, const char *body, client_piece_fn *fn, void *arg,
                  struct err *e)
{
    CLEANUP_FREE char *url = endpoints_url(&c->ends, call);
    struct streaming s = {.client = c, .fn = fn, .arg = arg, .e = e};
    uv_timer_t late;
    c->is_done = false;
    uv_timer_init(&c->loop, &late);
    late.data = &s;
    uv_timer_start(&late, on_late, c->ends.options.answered_ms, 0);
    struct request *request = fetch_stream(c->fetch, "POST", url, body, on_piece, on_stream_done, &s);
    while (!c->is_done && !s.done && !s.rc)
        uv_run(&c->loop, UV_RUN_ONCE);
    if (!c->is_done)
        fetch_stop(request);
    uv_close((uv_handle_t *)&late, NULL);
    uv_run(&c->loop, UV_RUN_NOWAIT);
    if (s.rc)
        endpoints_next(&c->ends);
    return s.rc;
}
