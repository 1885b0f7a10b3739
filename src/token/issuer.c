/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens that need keys which are not here wait in a list until the keys come or are refused; then each is
 * verified once more, and waits no second time.
 */
#include "token/issuer.h"

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "fetch/fetch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    FRESH_S = 600,  /* keys that are older are asked for again */
    AGAIN_S = 30,   /* the least time between two askings */
    KEEP_S = 86400, /* the most that keys are believed when the issuer is silent */
    ANSWERED_MS = 10000,
    WAITING_MAX = 256,
    URL_BYTES_MAX = 1024
};

struct waiting {
    char *bytes;
    size_t len;
    issuer_fn *fn;
    void *arg;
    struct waiting *prev, *next;
};

struct issuer {
    char *name, *audience, *name_claim, *groups_claim, *person_claim, *tenants_claim;
    struct fetch *fetch;
    struct token_keys *keys; /* NULL: none yet */
    struct mono keyed;       /* when they came */
    struct mono asked;       /* when the last asking began */
    bool has_asked, asking;
    struct err why; /* of the last asking; code 0 when it succeeded */
    struct waiting *waiting;
    size_t n_waiting;
};

struct issuer *issuer_create(uv_loop_t *loop, const struct issuer_conf *conf)
{
    const struct token_policy *p = &conf->policy;
    struct issuer *is = mem_alloc(sizeof *is);
    *is = (struct issuer){
        .name = mem_dup(p->issuer),
        .audience = mem_dup(p->audience),
        .name_claim = mem_dup(p->name_claim),
        .groups_claim = mem_dup(p->groups_claim),
        .person_claim = mem_dup(p->person_claim),
        .tenants_claim = mem_dup(p->tenants_claim),
        .fetch = fetch_create(loop, &(struct fetch_options){.ca = conf->ca, .answered_ms = ANSWERED_MS})};
    return is;
}

static int issuer_read(const struct issuer *is, const char *bytes, size_t len, struct token *t, struct err *e)
{
    const struct token_policy p = {is->name,         is->audience,     is->name_claim,
                                   is->groups_claim, is->person_claim, is->tenants_claim};
    return token_read(bytes, len, &p, is->keys, wall_now(), t, e);
}

static void issuer_tell(issuer_fn *fn, void *arg, int rc, struct token *t, struct err *e)
{
    if (rc == -ENOKEY)
        e->code = -EPERM;
    fn(arg, rc == 0 ? t : NULL, rc == 0 ? NULL : e);
    token_fini(t);
}

/* Settles a token with the keys that are here. */
static void issuer_settle(const struct issuer *is, const char *bytes, size_t len, issuer_fn *fn, void *arg)
{
    struct token t = {0};
    struct err e = {0};
    int rc = is->keys ? issuer_read(is, bytes, len, &t, &e)
                      : err_set(&e, -EAGAIN, "the keys of the tokens' issuer are not known: %s",
                                is->why.code ? is->why.msg : "they are being asked for");
    issuer_tell(fn, arg, rc, &t, &e);
}

/* --- asking for the keys ------------------------------------------------------------------------ */

static void waiting_settle(struct issuer *is)
{
    struct waiting *all = is->waiting;
    is->waiting = NULL;
    is->n_waiting = 0;
    for (struct waiting *w; (w = all);) {
        DL_DELETE(all, w);
        issuer_settle(is, w->bytes, w->len, w->fn, w->arg);
        free(w->bytes);
        free(w);
    }
}

static void issuer_asked(struct issuer *is, const struct err *why)
{
    is->asking = false;
    is->why = why ? *why : (struct err){0};
    if (why)
        log_warn("the keys of the tokens' issuer %s: %s", is->name, why->msg);
    waiting_settle(is);
}

static void on_keys(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct issuer *is = arg;
    struct token_keys *fresh = NULL;
    struct err e;
    int rc = status == 200 ? token_keys_read(body, len, &fresh, &e)
             : status      ? err_set(&e, -EPROTO, "the answer has the HTTP status %d", status)
                           : err_set(&e, -EPROTO, "%s", why->msg);
    if (rc == 0) {
        token_keys_destroy(is->keys);
        is->keys = fresh;
        is->keyed = mono_now();
    }
    issuer_asked(is, rc < 0 ? &e : NULL);
}

/* The discovery document has to be the issuer's own (OpenID Connect Discovery 1.0, 4.3). */
static int discovery_read(const struct issuer *is, const char *body, size_t len, char **url, struct err *e)
{
    CLEANUP_JSON json_t *document = json_read(body, len, e);
    if (!document)
        return -EPROTO;
    if (strcmp(json_text(document, "issuer"), is->name) != 0)
        return err_set(e, -EPROTO, "its discovery document is of another issuer, \"%.100s\"",
                       json_text(document, "issuer"));
    const char *keys = json_text(document, "jwks_uri");
    if (strncmp(keys, "https://", 8) != 0 || strlen(keys) > URL_BYTES_MAX)
        return err_set(e, -EPROTO, "its discovery document names no https address of keys");
    *url = mem_dup(keys);
    return 0;
}

static void on_discovery(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct issuer *is = arg;
    struct err e;
    CLEANUP_FREE char *url = NULL;
    int rc = status == 200 ? discovery_read(is, body, len, &url, &e)
             : status      ? err_set(&e, -EPROTO, "the discovery document has the HTTP status %d", status)
                           : err_set(&e, -EPROTO, "%s", why->msg);
    if (rc < 0)
        issuer_asked(is, &e);
    else
        fetch_start(is->fetch, "GET", url, NULL, on_keys, is);
}

static bool issuer_may_ask(const struct issuer *is)
{
    return !is->has_asked || mono_sub(mono_now(), is->asked).ns >= span_s(AGAIN_S).ns;
}

/* Asks unless an asking is under way. False: too soon. */
static bool issuer_ask(struct issuer *is)
{
    if (is->asking)
        return true;
    if (!issuer_may_ask(is))
        return false;
    CLEANUP_TEXT struct text url = {0};
    size_t len = strlen(is->name);
    while (len && is->name[len - 1] == '/')
        len--;
    text_add_bytes(&url, is->name, len);
    text_add(&url, "/.well-known/openid-configuration");
    is->asking = is->has_asked = true;
    is->asked = mono_now();
    fetch_start(is->fetch, "GET", url.s, NULL, on_discovery, is);
    return true;
}

static struct span keys_age(const struct issuer *is)
{
    return mono_sub(mono_now(), is->keyed);
}

static void keys_expire(struct issuer *is)
{
    if (is->keys && keys_age(is).ns > span_s(KEEP_S).ns) {
        token_keys_destroy(is->keys);
        is->keys = NULL;
    }
    if (is->keys && keys_age(is).ns > span_s(FRESH_S).ns)
        issuer_ask(is); /* this token does not wait for them */
}

/* Whether the token is to wait for keys. */
static bool issuer_wait(struct issuer *is, const char *bytes, size_t len, issuer_fn *fn, void *arg)
{
    if (is->n_waiting == WAITING_MAX || !issuer_ask(is))
        return false;
    struct waiting *w = mem_alloc(sizeof *w);
    *w = (struct waiting){mem_dup_len(bytes, len), len, fn, arg, NULL, NULL};
    DL_APPEND(is->waiting, w);
    is->n_waiting++;
    return true;
}

void issuer_verify(struct issuer *is, const char *bytes, size_t len, issuer_fn *fn, void *arg)
{
    struct token t = {0};
    struct err e = {0};
    if (len > TOKEN_BYTES_MAX) {
        issuer_tell(fn, arg, err_set(&e, -EPERM, "the token is longer than %d bytes", TOKEN_BYTES_MAX), &t,
                    &e);
        return;
    }
    keys_expire(is);
    int rc = is->keys ? issuer_read(is, bytes, len, &t, &e) : -ENOKEY;
    if (rc != -ENOKEY)
        issuer_tell(fn, arg, rc, &t, &e);
    else if (!issuer_wait(is, bytes, len, fn, arg))
        issuer_settle(is, bytes, len, fn, arg);
}

void issuer_destroy(struct issuer *is)
{
    if (!is)
        return;
    fetch_destroy(is->fetch);
    token_keys_destroy(is->keys);
    is->keys = NULL;
    err_set(&is->why, -EAGAIN, "the configuration changes, or the controller stops");
    waiting_settle(is);
    free(is->name);
    free(is->audience);
    free(is->name_claim);
    free(is->groups_claim);
    free(is->person_claim);
    free(is->tenants_claim);
    free(is);
}
