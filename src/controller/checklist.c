/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks that nodes run, as agents are told them, and what the checks say. One list for all: each record
 * names the nodes that run it, and it is signed, so that a collector can give it on as it is. What an agent
 * behind a collector says, and what is said to it, comes and goes in a frame around the frame (PASS).
 */
#include "controller/agents_internal.h"
#include "controller/config/check_lines.h"

#include "base/digest.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- the list -------------------------------------------------------------------------------- */

static const char *member_at(const void *arg, size_t i, const char **class)
{
    const struct cluster *c = arg;
    const struct member *m = cluster_at(c, i);
    *class = cluster_classes(c)->list[m->class].name;
    return m->listed ? m->name : NULL;
}

/* The list as a body, when it can be told. */
static char *sign_list(struct agents *a, const char *hash, const char *list)
{
    CLEANUP_TEXT struct text members = {0};
    text_printf(&members, "\"hash\":\"%s\",%s", hash, list);
    CLEANUP_JSON json_t *order = agents_order(a, FRAME_CHECKLIST, members.s);
    if (!order)
        return NULL;
    CLEANUP_FREE char *body = json_write(order);
    if (strlen(body) <= FRAME_BODY_BYTES_MAX)
        return STEAL(body);
    log_error("the list of checks is %zu bytes with the nodes that run them; at most %d can be told to "
              "the agents",
              strlen(body), FRAME_BODY_BYTES_MAX);
    return NULL;
}

void checklist_configure(struct agents *a, const struct config *conf)
{
    CLEANUP_TEXT struct text t = {0};
    char hash[sizeof a->checklist_hash];
    const struct cluster *c = a->with.cluster;
    check_lines(conf->checks, &conf->meaning_lines, member_at, c, cluster_count(c), &t);
    snprintf(hash, sizeof hash, "%016" PRIx64, digest_fnv(DIGEST_FNV_START, t.s, t.len));
    char *body = sign_list(a, hash, t.s);
    if (!body) /* the old one stays in force */
        return;
    memcpy(a->checklist_hash, hash, sizeof hash);
    watch_checklist(a->with.watch, hash);
    free(a->checklist);
    a->checklist = body;
}

void checklist_tell(struct session *s)
{
    struct agents *a = s->agents;
    if (!a->checklist || strcmp(s->checklist, a->checklist_hash) == 0 || !s->peer)
        return;
    memcpy(s->checklist, a->checklist_hash, sizeof s->checklist);
    peer_send(s->peer, FRAME_CHECKLIST, 0, a->checklist, strlen(a->checklist));
}

void checklist_hello(struct session *s, const json_t *body)
{
    const char *hash = "";
    json_take_string(body, "checklist", &hash, NULL);
    snprintf(s->checklist, sizeof s->checklist, "%.16s", hash);
}

/* --- to one node ----------------------------------------------------------------------------- */

/* A body as an order for this node alone; takes the body. NULL when it cannot be signed. */
static json_t *sign_for(const struct agents *a, const struct member *m, enum frame_type type, json_t *body)
{
    struct err e = {0};
    json_t *order = NULL;
    json_object_set_new(body, "type", json_integer((json_int_t)type));
    json_object_set_new(body, "node", json_string(m->name));
    CLEANUP_FREE char *text = json_write(body);
    json_decref(body);
    if (order_sign(a->with.signer, text, &order, &e) < 0)
        log_error("node %s is not told what to do: %s", m->name, e.msg);
    return order;
}

bool agents_send(struct agents *a, struct member *m, enum frame_type type, json_t *body)
{
    struct session *s = watch_observed(a->with.watch, m)->session;
    if (!s || !s->peer || s->once) {
        json_decref(body);
        return false;
    }
    if (s->member != m) {
        if (json_object_get(body, "nonce") && !(body = sign_for(a, m, type, body)))
            return false;
        body = json_pack("{s:s,s:i,s:o}", "node", m->name, "type", (int)type, "body", body);
        type = FRAME_PASS;
    }
    session_send(s, type, body);
    return true;
}

/* --- what is said ---------------------------------------------------------------------------- */

void checklist_ask(struct agents *a, struct member *m)
{
    agents_send(a, m, FRAME_ACT, json_pack("{s:b}", "tell", 1));
}

static void on_untold(void *arg, struct member *m)
{
    checklist_ask(arg, m);
}

void checklist_second(struct agents *a, struct mono now)
{
    watch_untold(a->with.watch, now, on_untold, a);
}

static void take_checks(struct session *s, struct member *m, const json_t *body)
{
    struct agents *a = s->agents;
    struct err e = {0};
    bool want = false;
    if (watch_checks(a->with.watch, mono_now(), wall_now(), m, body, &want, &e) < 0)
        session_warn(s, m, &e);
    else if (want)
        checklist_ask(a, m);
}

/* A frame of m, over a session that may speak for it. */
static void take(struct session *s, struct member *m, uint64_t type, const json_t *body)
{
    if (type == FRAME_CHECKS)
        take_checks(s, m, body);
    else if (type == FRAME_DONE && s->agents->with.done)
        s->agents->with.done(s->agents->with.arg, m, body);
    else if (type == FRAME_STANDING)
        standings_asked(s->agents, m, body);
}

void checklist_said(struct session *s, uint8_t type, const json_t *body)
{
    take(s, s->member, type, body);
}

void checklist_passed(struct session *s, const json_t *body)
{
    const char *name = "";
    uint64_t type = 0;
    const json_t *inner = json_object_get(body, "body");
    json_take_string(body, "node", &name, NULL);
    json_take_u64(body, "type", UINT8_MAX, &type, NULL);
    struct member *m = collectors_spoken_for(s, name);
    if (!m || !json_is_object(inner))
        return;
    if (watch_observed(s->agents->with.watch, m)->session == s)
        take(s, m, type, inner);
    else
        collectors_early(s->agents, m);
}
