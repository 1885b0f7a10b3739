/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The components show which are locked and disabled, the locks which are reserved. Nobody holds a component
 * that neither shows.
 */
#include "driver/smd_held.h"

#include "base/text.h"
#include "driver/answer.h"
#include "fetch/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ASKED_MAX = 256, WAITING_MAX = 1024, ANSWERED_MS = 5000 };

struct asked {
    char *node, *xname;
    const char *how;
    bool out;
};

struct smd_held {
    struct fetch *fetch;
    char *base, *ca, *token;
    smd_held_fn *fn;
    void *arg;
    struct asked *list; /* the first n_calling are being asked for */
    size_t n, n_calling;
    bool asks_locks; /* this is the second request of the two */
};

static void ask_next(struct smd_held *h);

static void smd_held_drop(struct asked *a)
{
    free(a->node);
    free(a->xname);
}

/* Takes them off the list first: fn may add to it. */
static void smd_held_tell(struct smd_held *h, const struct err *why)
{
    size_t n = h->n_calling;
    CLEANUP_FREE struct asked *told = mem_alloc((n + 1) * sizeof *told);
    memcpy(told, h->list, n * sizeof *told);
    memmove(h->list, h->list + n, (h->n - n) * sizeof *h->list);
    h->n -= n;
    h->n_calling = 0;
    for (size_t i = 0; i < n; i++) {
        h->fn(h->arg, told[i].node, why ? NULL : told[i].how, !why && told[i].out, why);
        smd_held_drop(&told[i]);
    }
    ask_next(h);
}

static void on_held(void *arg, const char *xname, const char *how, bool out)
{
    struct smd_held *h = arg;
    for (size_t i = 0; i < h->n_calling; i++) {
        if (!how || h->list[i].how || strcasecmp(h->list[i].xname, xname) != 0)
            continue;
        h->list[i].how = how;
        h->list[i].out = out;
    }
}

static void smd_held_ask(struct smd_held *h, bool locks);

static void on_answer(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct smd_held *h = arg;
    struct err e = {0};
    if (status == 0)
        e = *why;
    else if (status != 404 && (status < 200 || status > 299))
        err_set(&e, -EPROTO, "SMD answered %d", status);
    else if (status != 404)
        held_read(body, len, on_held, h, &e);
    if (e.code)
        smd_held_tell(h, &e);
    else if (!h->asks_locks)
        smd_held_ask(h, true);
    else
        smd_held_tell(h, NULL);
}

static void smd_held_ask(struct smd_held *h, bool locks)
{
    CLEANUP_TEXT struct text url = {0}, body = {0};
    h->asks_locks = locks;
    text_printf(&url, "%s%s", h->base, locks ? "/locks/status" : "/State/Components/Query");
    for (size_t i = 0; i < h->n_calling; i++) {
        text_add(&body, i ? "," : "{\"ComponentIDs\":[");
        text_add_json(&body, h->list[i].xname);
    }
    text_add(&body, "]}");
    fetch_start(h->fetch, "POST", url.s, body.s, on_answer, h);
}

static void ask_next(struct smd_held *h)
{
    if (h->n_calling || !h->n)
        return;
    h->n_calling = h->n < ASKED_MAX ? h->n : ASKED_MAX;
    smd_held_ask(h, false);
}

void smd_held_look(struct smd_held *h, const char *node, const char *xname)
{
    for (size_t i = h->n_calling; i < h->n; i++)
        if (strcmp(h->list[i].node, node) == 0)
            return;
    if (h->n >= WAITING_MAX)
        return;
    h->list = mem_grow(h->list, (h->n + 1) * sizeof *h->list);
    h->list[h->n++] = (struct asked){mem_dup(node), mem_dup(xname), NULL, false};
    ask_next(h);
}

struct smd_held *smd_held_create(uv_loop_t *loop, const struct ochami_conf *conf, smd_held_fn *fn, void *arg)
{
    struct smd_held *h = mem_alloc(sizeof *h);
    *h = (struct smd_held){.base = mem_dup(conf->smd),
                           .ca = mem_dup(conf->ca),
                           .token = mem_dup(conf->token),
                           .fn = fn,
                           .arg = arg};
    const struct fetch_options options = {.ca = h->ca, .token = h->token, .answered_ms = ANSWERED_MS};
    h->fetch = fetch_create(loop, &options);
    return h;
}

void smd_held_destroy(struct smd_held *h)
{
    if (!h)
        return;
    fetch_destroy(h->fetch);
    for (size_t i = 0; i < h->n; i++)
        smd_held_drop(&h->list[i]);
    free(h->list);
    free(h->base);
    free(h->ca);
    free(h->token);
    free(h);
}
