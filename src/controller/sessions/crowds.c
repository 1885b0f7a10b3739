/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which connections to the agents' port may stay. A connection without a node's certificate belongs to a
 * crowd by address. One with such a certificate belongs to a crowd by node until the node is heard over it.
 * So strangers never take a place that a node needs, and no node has more than its share of descriptors.
 */
#include "controller/sessions/agents_inside.h"

#include "base/log.h"

#include <errno.h>

enum {
    UNPROVEN_MORE = 512, /* sessions that have shown no certificate, beside one for each node */
    UNPROVEN_MAX =
        16384, /* the limit, whatever the number of nodes: unless all nodes come at once, more is a flood */
    PROVEN_EACH_MAX = 4,    /* sessions of one node over which it is not heard */
    CROWD_NOTES_MAX = 1,    /* a minute */
    REFUSAL_NOTES_MAX = 20, /* likewise */
    MISFIT_NOTES_MAX = 5,   /* likewise */
};

/* All nodes may come at once, from one address where that is translated. */
static struct crowd_limits unproven_limits(const struct agents *a)
{
    size_t all = UNPROVEN_MORE + cluster_count(a->with.cluster);
    all = all < UNPROVEN_MAX ? all : UNPROVEN_MAX;
    return (struct crowd_limits){.all = all, .each = all};
}

void crowds_configure(struct agents *a)
{
    const struct crowd_limits unproven = unproven_limits(a);
    crowd_limit(a->crowds.unproven, &unproven);
}

void crowds_open(struct agents *a)
{
    const struct crowd_limits unproven = unproven_limits(a);
    a->crowds.unproven = crowd_create(&unproven);
    a->crowds.proven = crowd_create(&(struct crowd_limits){.all = SIZE_MAX, .each = PROVEN_EACH_MAX});
}

void crowds_close(struct agents *a)
{
    crowd_destroy(a->crowds.unproven);
    crowd_destroy(a->crowds.proven);
}

/* The session that has to give way to another is closed at once. */
static void give_way(const struct session *s, const struct err *why)
{
    if (rare_may(&s->agents->crowds.notes, CROWD_NOTES_MAX))
        log_warn("the connection of %s is closed: %s", stream_peer_address(peer_stream(s->peer)), why->msg);
    peer_abort(s->peer, why);
}

void session_came(struct session *s)
{
    struct err e;
    const char *network = stream_peer_network(peer_stream(s->peer));
    s->guest.owner = s;
    const struct session *late = crowd_enter(s->agents->crowds.unproven, &s->guest, network);
    if (late)
        give_way(late,
                 (err_set(&e, -EAGAIN, "there are too many connections that have shown no certificate"), &e));
}

void session_opened(struct session *s)
{
    struct err e;
    const struct identity *who = stream_peer(peer_stream(s->peer));
    if (who->kind != IDENTITY_NODE)
        return;
    const struct session *late = crowd_enter(s->agents->crowds.proven, &s->guest, who->name);
    if (late)
        give_way(late, (err_set(&e, -EAGAIN, "node %s has %d other connections over which it is not heard",
                                who->name, PROVEN_EACH_MAX),
                        &e));
}

void session_part(struct session *s)
{
    session_opened(s);
    peer_close(s->peer);
}

bool session_may_note(const struct session *s)
{
    return rare_may(&s->agents->crowds.refusals, REFUSAL_NOTES_MAX);
}

void session_misfit(struct session *s, uint8_t type)
{
    char name[16];
    s->agents->misfits.n++;
    if (s->misfits++ == 0 && rare_may(&s->agents->misfits.notes, MISFIT_NOTES_MAX))
        log_info("node %s sends %s, which does not fit here: it is ignored", s->member->name,
                 frame_name(type, name));
}

void crowds_turn(struct agents *a, struct mono now)
{
    unsigned more = rare_turn(&a->crowds.notes, now);
    if (more > 0)
        log_warn("in the last minute %u more connections were closed for being too many", more);
    more = rare_turn(&a->crowds.refusals, now);
    if (more > 0)
        log_warn("in the last minute %u more agents were refused", more);
    more = rare_turn(&a->misfits.notes, now);
    if (more > 0)
        log_info("in the last minute %u more agents sent frames that do not fit here", more);
}
