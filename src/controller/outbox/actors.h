/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_ACTORS_H
#define FETTLE_CONTROLLER_OUTBOX_ACTORS_H

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "cluster/cluster.h"
#include "link/frame.h"
#include "link/order.h"
#include "watch/watch.h"

/*
 * Operations that agents carry out: a command on the node, a reboot, a check. The operations of a repair
 * are effects of the outbox (effect/operate.NAME). Before the agent is told, the record says that the
 * operation is begun. The agent remembers the id for as long as it matters, and carries out each once,
 * however often it is told. Checks that a person asks for are no effects, because nothing follows from
 * them.
 */

struct actors;

struct actors_setup {
    struct cluster *cluster;
    struct watch *watch;
    uint64_t term, instance;
    void *arg;
    /* Says a frame to a node, directly or through its collector; takes the body. False: it has no connection.
     */
    bool (*send)(void *arg, struct member *m, enum frame_type type, json_t *body);
    void *result_arg;
    /* As a driver's result. */
    void (*result)(void *arg, const char *key, const char *done);
};

struct actors *actors_create(const struct actors_setup *setup);
void actors_destroy(struct actors *a);
/* An effect's record, new or changed; value NULL: it is gone. Others are ignored. */
void actors_effect(struct actors *a, const char *key, const char *value);
/* A DONE body of m. */
void actors_take(struct actors *a, struct member *m, const json_t *body);
/* Time passes: call it some times a second. */
void actors_turn(struct actors *a, struct mono now, struct wall wall);

/* A check that a caller asks for. */
struct actors_ask {
    const char *check;
    struct span deadline; /* it is answered by then */
    const char *nodes;    /* that run it together, in order, with commas between; NULL: the node by itself */
    unsigned rank;        /* the node's place in them */
};
/* Has m run a check now. fn is called once, later, with the verdict or the reason why there is none.
 * -EAGAIN when the node has no connection. */
typedef void actors_verdict_fn(void *arg, struct member *m, const json_t *verdict, const struct err *why);
int actors_check(struct actors *a, struct member *m, const struct actors_ask *ask, actors_verdict_fn *fn,
                 void *arg, struct err *e);
/* Has m end the look at this check that any caller asked for. */
void actors_end(struct actors *a, struct member *m, const char *check);

#endif
