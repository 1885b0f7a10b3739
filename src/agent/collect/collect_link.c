/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect/collect_inside.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the collector sends over a link, and how a link ends. */

enum { CROWD_NOTES_MAX = 1 /* a minute */ };

struct link *link_find(const struct collect *c, const char *name)
{
    struct link *k;
    DL_FOREACH (c->links, k)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

void link_set_tells(struct link *k, bool tells)
{
    k->c->telling += (unsigned)tells - (unsigned)k->tells;
    k->tells = tells;
}

void link_enter(struct link *k, struct crowd *crowd, const char *name)
{
    struct err e;
    const struct link *late = crowd_enter(crowd, &k->guest, name);
    if (!late)
        return;
    err_set(&e, -EAGAIN, "there are too many connections of %s over which no node is heard", name);
    if (rare_may(&k->c->crowd_notes, CROWD_NOTES_MAX))
        log_warn("the connection of %s is closed: %s", stream_peer_address(peer_stream(late->peer)), e.msg);
    peer_abort(late->peer, &e);
}

/* The goodbye takes some seconds, in which the link may have to give way as others of the node may. */
void link_part(struct link *k)
{
    link_enter(k, k->c->proven, stream_peer(peer_stream(k->peer))->name);
    peer_close(k->peer);
}

void link_disown(struct link *k)
{
    k->name[0] = 0;
}

/* When this collector is lost, only its own nodes come to a controller: 1.5 ms each. */
static int64_t spread_ms(const struct collect *c)
{
    return (int64_t)ledger_count(c->ledger) * 3 / 2;
}

/* How long an agent waits for whom, and how fingerprints are to be read, as the controller signed it. */
static void add_orders(const struct collect *c, struct text *body)
{
    if (c->waits.answer.ns)
        text_printf(body, ",\"answer_ms\":%" PRId64 ",\"pause_ms\":%" PRId64, span_to_ms(c->waits.answer),
                    span_to_ms(c->waits.pause));
    if (c->survey)
        text_printf(body, ",\"survey\":%s", c->survey);
}

void link_send_settings(struct link *k, bool all)
{
    CLEANUP_TEXT struct text body = {0};
    text_printf(&body, "{\"interval_ms\":%" PRId64 ",\"spread_ms\":%" PRId64, span_to_ms(k->c->interval),
                spread_ms(k->c));
    if (all)
        add_orders(k->c, &body);
    text_add_char(&body, '}');
    peer_send(k->peer, FRAME_SETTINGS, 0, body.s, body.len);
}

void link_welcome(struct link *k)
{
    const struct collect *c = k->c;
    CLEANUP_TEXT struct text body = {0};
    text_printf(&body,
                "{\"interval_ms\":%" PRId64 ",\"spread_ms\":%" PRId64 ",\"term\":%" PRIu64
                ",\"origin\":\"%s\",\"controller\":\"%s\"",
                span_to_ms(c->interval), spread_ms(c), c->term, c->origin, c->controller);
    add_orders(c, &body);
    text_add_char(&body, '}');
    peer_send(k->peer, FRAME_WELCOME, 0, body.s, body.len);
}

void link_send_checklist(struct link *k)
{
    struct collect *c = k->c;
    if (!c->checklist[0] || strcmp(k->checklist, c->checklist) == 0)
        return;
    memcpy(k->checklist, c->checklist, sizeof k->checklist);
    peer_send(k->peer, FRAME_CHECKLIST, 0, c->checklist_body.s, c->checklist_body.len);
}

void link_send_home(struct link *k)
{
    link_disown(k);
    peer_send(k->peer, FRAME_REDIRECT, 0, "{}", 2);
    link_part(k);
}

void collect_free_last(struct collect *c)
{
    if (!c->destroyed || c->handles || c->links)
        return;
    free(c->survey);
    text_fini(&c->checklist_body);
    crowd_destroy(c->unproven);
    crowd_destroy(c->proven);
    free(c);
}
