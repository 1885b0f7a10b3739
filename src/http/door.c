/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doors of the server. Before the handshake all clients look the same, and an attacker may use the
 * address of an administrator. So a crowd of unfinished handshakes refuses no newcomer: it drops the one that
 * has waited longest, which is the least likely to finish.
 */
#include "http/connection.h"

void door_init(struct door *d, const struct slots_limits *limits, struct tls_context *tls)
{
    static const struct crowd_limits opening = {.all = HTTP_OPENING_MAX, .each = HTTP_OPENING_MAX};
    d->tls = tls;
    d->slots = slots_create(limits);
    d->opening = crowd_create(&opening);
}

void door_fini(struct door *d)
{
    slots_destroy(d->slots);
    crowd_destroy(d->opening);
}

struct connection *door_enter(struct connection *c)
{
    c->guest.owner = c;
    c->place = PLACE_OPENING;
    struct connection *late = crowd_enter(c->door->opening, &c->guest, stream_peer_network(c->stream));
    if (late)
        late->place = PLACE_NONE;
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

int door_move(struct connection *c, const struct party *p, struct err *e)
{
    int rc = c->place == PLACE_HELD ? slots_move(c->door->slots, &c->party, p, e) : 0;
    if (rc == 0)
        c->party = *p;
    return rc;
}

void door_leave(struct connection *c)
{
    struct door *d = c->door;
    switch (c->place) {
    case PLACE_NONE: break;
    case PLACE_OPENING: crowd_leave(&c->guest); break;
    case PLACE_HELD: slots_give(d->slots, &c->party); break;
    case PLACE_SURPLUS: d->surplus--; break;
    }
    c->place = PLACE_NONE;
}
