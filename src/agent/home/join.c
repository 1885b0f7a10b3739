/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/home/join.h"

#include "agent/home/home.h"
#include "agent/uplink/body.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "link/peer.h"
#include "link/tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MS = 30000, FINGERPRINT_CHARS = 64, SECRET_CHARS = 32 };

static const char TOKEN_FORM[] = "fettle1.";

struct join {
    const struct join_request *request;
    join_done_fn *done;
    void *arg;
    char *key, *csr;
    struct tls_context *tls;
    struct peer *peer;
    uv_timer_t timer;
    bool answered;
    struct err why; /* code 0: it worked, once answered */
};

static bool is_hex(const char *s, size_t n)
{
    return strspn(s, "0123456789abcdef") >= n;
}

static int token_fingerprint(const char *token, char out[static FINGERPRINT_CHARS + 1], struct err *e)
{
    size_t form = sizeof TOKEN_FORM - 1;
    bool good = strlen(token) == form + FINGERPRINT_CHARS + 1 + SECRET_CHARS &&
                strncmp(token, TOKEN_FORM, form) == 0 && is_hex(token + form, FINGERPRINT_CHARS) &&
                token[form + FINGERPRINT_CHARS] == '.' &&
                is_hex(token + form + FINGERPRINT_CHARS + 1, SECRET_CHARS);
    if (!good)
        return err_set(e, -EINVAL, "this is no token as \"fettle token create\" prints it");
    memcpy(out, token + form, FINGERPRINT_CHARS);
    out[FINGERPRINT_CHARS] = 0;
    return 0;
}

int join_check_token(const char *token, struct err *e)
{
    char fingerprint[FINGERPRINT_CHARS + 1];
    return token_fingerprint(token, fingerprint, e);
}

/* An identity that has expired is useless and may be replaced. Files that others could write or read must
 * be put right first. */
static int check_home(const struct join_request *request, struct err *e)
{
    struct home_identity id;
    struct span left;
    int loaded = home_load(request->home, &id, e);
    if (loaded == -EACCES)
        return loaded;
    if (loaded)
        return home_try(request->home, e);
    if (request->again) {
        home_identity_fini(&id);
        return home_try(request->home, e);
    }
    bool valid = tls_cert_left(id.cert, &left, NULL) == 0 && left.ns > 0;
    int r = valid ? err_set(e, -EEXIST, "%s is the identity of \"%s\" already; --again replaces it",
                            request->home, id.name)
                  : home_try(request->home, e);
    home_identity_fini(&id);
    return r;
}

static void set_why(struct join *j, int code, const char *what, const struct err *e)
{
    j->answered = true;
    err_set(&j->why, code, "%s%s", what, e ? e->msg : "");
}

static int join_store(struct join *j, const char *cert, const char *ca, struct err *e)
{
    const struct join_request *request = j->request;
    char name[256];
    struct tls_context *tls = NULL;
    struct address_list controllers = {.at = {*request->controller}, .n = 1};
    int r = home_cert_name(cert, name, e);
    if (!r && strcmp(name, request->name) != 0)
        r = err_set(e, -EPROTO, "the certificate is for \"%s\"", name);
    if (!r)
        r = tls_client_context(cert, j->key, ca, &tls, e);
    tls_context_destroy(tls);
    if (!r)
        r = home_store_controllers(request->home, &controllers, e);
    if (!r)
        r = home_store(request->home, j->key, cert, ca, e);
    return r;
}

static void on_joined(struct join *j, const struct frame *f)
{
    struct err e = {0};
    CLEANUP_FREE char *cert = NULL;
    CLEANUP_FREE char *ca = NULL;
    int r = body_read_pem(f, "certificate", &cert, &e);
    if (!r)
        r = body_read_pem(f, "authority", &ca, &e);
    if (!r)
        r = join_store(j, cert, ca, &e);
    if (r)
        set_why(j, r, "the identity cannot be stored: ", &e);
    j->answered = true;
}

static void on_refuse(struct join *j, const struct frame *f)
{
    struct body_refuse refuse;
    struct err e = {0};
    j->answered = true;
    if (body_read_refuse(f, &refuse, &e))
        j->why = e;
    else
        err_set(&j->why, refuse.code, "the controller refuses: %s", refuse.message);
}

static void on_open(struct peer *p, void *arg)
{
    struct join *j = arg;
    CLEANUP_TEXT struct text body = {0};
    text_add(&body, "{\"token\":");
    text_add_json(&body, j->request->token);
    text_add(&body, ",\"name\":");
    text_add_json(&body, j->request->name);
    text_add(&body, ",\"machine\":");
    text_add_json(&body, j->request->machine);
    text_add(&body, ",\"request\":");
    text_add_json(&body, j->csr);
    text_add_char(&body, '}');
    peer_send(p, FRAME_JOIN, FRAME_CRITICAL, body.s, body.len);
}

static void on_frame(struct peer *p, void *arg, const struct frame *f)
{
    struct join *j = arg;
    if (j->answered || (f->type != FRAME_JOINED && f->type != FRAME_REFUSE))
        return;
    if (f->type == FRAME_JOINED)
        on_joined(j, f);
    else
        on_refuse(j, f);
    peer_close(p);
}

static void on_timer(uv_timer_t *timer)
{
    struct join *j = timer->data;
    set_why(j, -ETIMEDOUT, "the controller gives no answer", NULL);
    peer_close(j->peer);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct join *j = handle->data;
    j->done(j->arg, j->why.code ? &j->why : NULL);
    free(j->key);
    free(j->csr);
    tls_context_destroy(j->tls);
    free(j);
}

/* A failure to dial names the address itself; a failure of the link afterwards does not. */
static void tell_lost(struct join *j, const struct err *why)
{
    char at[ADDRESS_HOST_BYTES_MAX + 16];
    address_format(j->request->controller, at);
    if (!why)
        err_set(&j->why, -EPROTO, "%s closed the link without an answer", at);
    else if (why->code == -ETIME || why->code == -EKEYEXPIRED)
        err_set(&j->why, why->code, "%s: %s", at, why->msg);
    else if (why->code == -EPERM)
        err_set(&j->why, why->code, "%s is not a controller of the cluster that made the token: %s", at,
                why->msg);
    else if (why->code == -EPROTO)
        err_set(&j->why, why->code, "%s does not answer as the agents' port of a controller does: %s", at,
                why->msg);
    else
        j->why = *why;
}

static void on_close(struct peer *p, void *arg, const struct err *why)
{
    struct join *j = arg;
    if (!j->answered)
        tell_lost(j, why);
    uv_close((uv_handle_t *)&j->timer, on_timer_closed);
}

static const struct peer_events peer_events = {on_open, on_frame, on_close};

int join_start(uv_loop_t *loop, const struct join_request *request, join_done_fn *done, void *arg,
               struct err *e)
{
    char fingerprint[FINGERPRINT_CHARS + 1];
    struct join *j = mem_alloc(sizeof *j);
    int r = token_fingerprint(request->token, fingerprint, e);
    if (!r && !hostlist_name_ok(request->name))
        r = err_set(e, -EINVAL, "\"%s\" is no name of a node", request->name);
    if (!r)
        r = check_home(request, e);
    if (!r)
        r = tls_join_context(fingerprint, &j->tls, e);
    if (!r)
        r = tls_new_request(&j->key, &j->csr, e);
    if (r) {
        tls_context_destroy(j->tls);
        free(j);
        return r;
    }
    j->request = request;
    j->done = done;
    j->arg = arg;
    uv_timer_init(loop, &j->timer);
    j->timer.data = j;
    uv_timer_start(&j->timer, on_timer, ANSWER_MS, 0);
    j->peer = peer_dial(loop, request->controller->host, request->controller->port, j->tls,
                        "urn:fettle:controller:", &peer_events, j);
    return 0;
}
