/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_H
#define FETTLE_CONTROLLER_OUTBOX_H

#include "controller/committer.h"
#include "driver/ochami.h"
#include "watch/watch.h"

/*
 * The outbox: effects are records, which a driver carries out and whose results are committed. There
 * is a driver while the configuration names a service of OpenCHAMI; without one the records wait. A
 * result that cannot be committed is tried again each second, the newest of each record.
 */

struct outbox;

struct outbox_setup {
    uv_loop_t *loop;
    struct cluster *cluster;
    struct watch *watch;
    struct committer *committer;
    void *arg;
    /* As watch_sink's: "alarm.openchami" and "alarm.over". */
    void (*notice)(void *arg, const char *what, const char *nodes, const char *text);
};

struct outbox *outbox_create(const struct outbox_setup *setup, const struct ochami_conf *conf);
void outbox_configure(struct outbox *o, const struct ochami_conf *conf);
/* Time passes: call it some times a second. */
void outbox_turn(struct outbox *o, struct mono now);
size_t outbox_waiting(const struct outbox *o); /* effects that are not carried out yet */
/* Ends the driver; before the committer. */
void outbox_stop(struct outbox *o);
/* After the committer. */
void outbox_destroy(struct outbox *o);

#endif
