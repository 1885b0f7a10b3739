/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of checks as agents get it, and the results that they report. There is one signed list for all:
 * each record names its nodes, and a collector can pass the list on as it is. Frames between the controller
 * and an agent behind a collector travel in a frame around the frame (PASS).
 */
#include "controller/config/check_lines.h"
#include "controller/sessions/collectors_inside.h"
#include "controller/sessions/frames_inside.h"

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
    char hash[sizeof a->checklist.hash];
    const struct cluster *c = a->with.cluster;
    check_lines(conf->checks, &conf->meaning_lines, member_at, c, cluster_count(c), &t);
    snprintf(hash, sizeof hash, "%016" PRIx64, digest_fnv(DIGEST_FNV_START, t.s, t.len));
    char *body = sign_list(a, hash, t.s);
    if (!body) /* the old one stays in force */
        return;
    memcpy(a->checklist.hash, hash, sizeof hash);
    watch_checklist(a->with.watch, hash);
    free(a->checklist.body);
    a->checklist.body = body;
}

void checklist_tell(struct session *s)
{
    struct agents *a = s->agents;
    if (!a->checklist.body || strcmp(s->checklist, a->checklist.hash) == 0 || !s->peer)
        return;
    memcpy(s->checklist, a->checklist.hash, sizeof s->checklist);
    peer_send(s->peer, FRAME_CHECKLIST, 0, a->checklist.body, strlen(a->checklist.body));
}

void checklist_hello(struct session *s, const json_t *body)
{
    const char *hash = "";
    json_take_string(body, "checklist", &hash, NULL);
    snprintf(s->checklist, sizeof s->checklist, "%.16s", hash);
}

/* --- to one node ----------------------------------------------------------------------------- */

/* --- what is said ---------------------------------------------------------------------------- */

static void on_untold(void *arg, struct member *m)
{
    agents_ask_anew(arg, m);
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
        agents_ask_anew(a, m);
}

static void take_done(struct session *s, struct member *m, const json_t *body)
{
    if (s->agents->with.done)
        s->agents->with.done(s->agents->with.arg, m, body);
}

void checklist_checks(struct session *s, const json_t *body)
{
    take_checks(s, s->member, body);
}

void checklist_done(struct session *s, const json_t *body)
{
    take_done(s, s->member, body);
}

void checklist_standing(struct session *s, const json_t *body)
{
    standings_asked(s->agents, s->member, body);
}

/* A frame of m, which its collector passed on. */
static void checklist_take(struct session *s, struct member *m, uint8_t type, const json_t *body)
{
    if (type == FRAME_CHECKS)
        take_checks(s, m, body);
    else if (type == FRAME_DONE)
        take_done(s, m, body);
    else if (type == FRAME_STANDING)
        standings_asked(s->agents, m, body);
    else
        session_misfit(s, type);
}

void checklist_passed(struct session *s, const json_t *body)
{
    const char *name = "";
    uint64_t type = 0;
    const json_t *inner = json_object_get(body, "body");
    json_take_string(body, "node", &name, NULL);
    json_take_u64(body, "type", UINT8_MAX, &type, NULL);
    struct member *m = shares_spoken_for(s, name);
    if (!m || !json_is_object(inner))
        return;
    if (watch_observed(s->agents->with.watch, m)->session == s)
        checklist_take(s, m, (uint8_t)type, inner);
    else
        sent_early(s->agents, m);
}
