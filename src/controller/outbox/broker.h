/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_BROKER_H
#define FETTLE_CONTROLLER_OUTBOX_BROKER_H

#include "controller/commit/committer.h"
#include "controller/config/config.h"
#include "controller/outbox/counterpart.h"
#include "watch/watch.h"

/*
 * Between an MQTT broker and the agreed state (doc/spec/mqtt.md). In: results of Sensu's checks go to the
 * watch, and transitions that people ask for become commands, where the configuration allows it. Out: the
 * state of each node, retained, and the log of what is done to nodes. A broker that is away does no harm:
 * nothing waits for it, the log loses its oldest lines, and states are published again when it is back.
 */

struct broker;

struct broker_setup {
    uv_loop_t *loop;
    struct cluster *cluster;
    struct watch *watch;
    struct committer *committer;
    struct counterparts *counterparts; /* notes whether the broker is there */
};

/* Without a broker in the configuration it does nothing until one is. */
struct broker *broker_create(const struct broker_setup *setup, const struct config *conf);
void broker_configure(struct broker *b, const struct config *conf);
/* Something was committed. */
void broker_entry(struct broker *b, const struct committed *c);
size_t broker_waiting(const struct broker *b); /* states that are not published yet */
/* Leaves the broker; before the committer. */
void broker_stop(struct broker *b);
/* After the committer. */
void broker_destroy(struct broker *b);

#endif
