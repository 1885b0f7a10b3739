/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doors of the server. Before the handshake nobody can be told from anybody else, and an attacker may sit
 * at the address of an administrator. So a crowd of unfinished handshakes refuses no newcomer: it loses the
 * one that has waited longest, which after so many others will hardly come to anything.
 */
#include "http/connection.h"

#include <stdio.h>
#include <string.h>

void door_init(struct door *d, const struct slots_limits *limits, struct tls_context *tls)
{
    /* One more than there may be: the newcomer's, until another gives way. */
    static const struct slots_limits opening = {.all = HTTP_OPENING_MAX + 1, .each = HTTP_OPENING_MAX + 1};
    d->tls = tls;
    d->slots = slots_create(limits);
    d->opening = slots_create(&opening);
}

void door_fini(struct door *d)
{
    slots_destroy(d->slots);
    slots_destroy(d->opening);
}

static struct connection *oldest_of(const struct door *d, struct connection *all, const char *address)
{
    struct connection *c;
    for (c = all; c; c = c->next)
        if (c->door == d && c->place == PLACE_OPENING && strcmp(c->party.name, address) == 0)
            break;
    return c;
}

struct connection *door_enter(struct door *d, struct connection *c, struct connection *all)
{
    struct connection *late = NULL;
    snprintf(c->party.name, sizeof c->party.name, "address %s", stream_peer_network(c->stream));
    slots_take(d->opening, &c->party, NULL);
    c->place = PLACE_OPENING;
    if (++d->shaking > HTTP_OPENING_MAX)
        late = oldest_of(d, all, slots_greatest(d->opening));
    if (late)
        door_leave(late);
    return late;
}

int door_admit(struct connection *c, const struct party *p, struct err *e)
{
    struct door *d = c->door;
    door_leave(c);
    int rc = slots_take(d->slots, p, e);
    c->party = *p;
    c->place = rc < 0 ? PLACE_SURPLUS : PLACE_HELD;
    d->surplus += rc < 0;
    return rc;
}

void door_leave(struct connection *c)
{
    struct door *d = c->door;
    switch (c->place) {
    case PLACE_NONE: break;
    case PLACE_OPENING:
        slots_give(d->opening, &c->party);
        d->shaking--;
        break;
    case PLACE_HELD: slots_give(d->slots, &c->party); break;
    case PLACE_SURPLUS: d->surplus--; break;
    }
    c->place = PLACE_NONE;
}
