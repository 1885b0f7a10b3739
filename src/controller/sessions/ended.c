/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells peers without records which certificates have ended. A collector learns of the nodes of its share,
 * before it gets them and at once when more end. Every peer learns of collectors and controllers, in the
 * order about fingerprints, because a collector passes that order on. Nothing is repeated over the same
 * connection: the numbers only rise.
 */
#include "controller/sessions/collectors_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

enum {
    LEAST_COLLECTORS_MAX = 1000, /* of 30 bytes each, in an order of 64 KiB */
    FRAME_FULL_BYTES = 60 << 10
};

/* --- everybody, of collectors and controllers -------------------------------------------------- */

static json_t *json_hex(uint64_t n)
{
    char hex[17];
    snprintf(hex, sizeof hex, "%" PRIx64, n);
    return json_string(hex);
}

static void add_least(void *arg, const struct holder *h)
{
    const char *name;
    if (identity_of_subject(h->subject, &name) == IDENTITY_CONTROLLER && h->least > 0)
        json_object_set_new(arg, h->subject, json_hex(h->least));
}

/* The peers that answer agents: controllers and collectors. */
json_t *ended_of_all(const struct agents *a)
{
    json_t *o = json_object();
    cluster_each_holder(a->with.cluster, add_least, o);
    for (size_t i = 0; i < a->collectors.n && i < LEAST_COLLECTORS_MAX; i++) {
        CLEANUP_TEXT struct text subject = {0};
        text_printf(&subject, "node:%s", a->collectors.names[i]);
        const struct holder *h = cluster_holder(a->with.cluster, subject.s);
        if (h && h->least > 0)
            json_object_set_new(o, subject.s, json_hex(h->least));
    }
    return o;
}

/* --- a collector, of its nodes ------------------------------------------------------------------ */

static void add_ended(struct text *t, const char *name, uint64_t least)
{
    text_add(t, t->len ? ",\"node:" : "{\"least\":{\"node:");
    text_printf(t, "%s\":\"%" PRIx64 "\"", name, least);
}

/* In frames of its own, each true by itself. */
static void send_ended(struct session *s, struct text *t)
{
    if (t->len == 0 || !s->peer)
        return;
    text_add(t, "}}");
    peer_send(s->peer, FRAME_ENDED, 0, t->s, t->len);
    text_clear(t);
}

/* Before the share, so that the share lets none of them in. */
void ended_tell(struct session *s, struct member *const *nodes, size_t n)
{
    CLEANUP_TEXT struct text t = {0};
    for (size_t i = 0; i < n; i++) {
        CLEANUP_TEXT struct text subject = {0};
        text_printf(&subject, "node:%s", nodes[i]->name);
        const struct holder *h = cluster_holder(s->agents->with.cluster, subject.s);
        if (h && h->least > 0)
            add_ended(&t, nodes[i]->name, h->least);
        if (t.len > FRAME_FULL_BYTES)
            send_ended(s, &t);
    }
    send_ended(s, &t);
}

static void tell_collector(struct agents *a, const struct member *m, uint64_t least)
{
    const struct member *collector = share_collector_of(a->share, m);
    struct session *s = collector ? session_of_collector(a, collector) : NULL;
    CLEANUP_TEXT struct text t = {0};
    if (!s || least == 0)
        return;
    add_ended(&t, m->name, least);
    send_ended(s, &t);
}

void agents_certificate(struct agents *a, const struct holder *h)
{
    const char *name;
    struct session *s;
    enum identity_kind kind = identity_of_subject(h->subject, &name);
    const struct member *m = kind == IDENTITY_NODE ? cluster_find(a->with.cluster, name) : NULL;
    if (m)
        tell_collector(a, m, h->least);
    a->ended |= kind == IDENTITY_CONTROLLER || (m && share_is_collector(a->share, m));
    if (kind == IDENTITY_CONTROLLER) /* orders that an earlier process signed do not count any more */
        DL_FOREACH (a->sessions, s)
            *s->checklist = '\0';
}
