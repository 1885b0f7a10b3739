/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_OCHAMI_H
#define FETTLE_DRIVER_OCHAMI_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <uv.h>

/*
 * The driver of OpenCHAMI: reports drift to the State Manager (SMD) and withdraws the report, and reboots a
 * node into the right image through BSS and PCS. It carries out effects of the outbox, which are records
 * (doc/spec/records.md), and reports each outcome as a result for the record. There is one effect of each
 * kind for a node: a new one replaces one that was not carried out yet. Idempotent: it looks before it
 * writes, removes only entries that are still as Fettle left them, and adopts a transition that is under way.
 *
 * A result counts when it is in the record: the driver goes on when ochami_effect brings it back, and repeats
 * the result after 30 s otherwise. A driver that was killed at any moment and made anew from the records
 * reaches the same end, doing each thing once.
 *
 * A service that is away is tried again, from 1 s to 5 minutes apart, for as long as the effect stands. A
 * final refusal by a service is a result with the service's words.
 */

struct ochami_conf {
    const char *smd;        /* base of SMD's paths, for instance "https://smd:27779/hsm/v2"; "" or NULL: not
                               used */
    const char *bss;        /* for instance "https://bss:27778/boot/v1" */
    const char *pcs;        /* for instance "https://pcs:28007" */
    const char *ca, *token; /* files; may be NULL */
    const char *group;      /* the group of drifted nodes: "drifted" */
};

/* Called from the loop, never from within ochami_effect. A callback must not destroy the driver. */
struct ochami_sink {
    void *arg;
    /* The outcome of an effect: key as in the record, result the JSON of its new `done`. May call
     * ochami_effect with the changed record at once. */
    void (*result)(void *arg, const char *key, const char *result);
    /* Asked right before a node is rebooted: 0; -EAGAIN: unknown or not now, ask again; -ESTALE: ask again in
     * a moment; otherwise why it must not be rebooted. */
    int (*may_reboot)(void *arg, const char *node, const char *boot, struct err *e);
    /* The service ("SMD", "BSS", "PCS") has failed for so long that it counts as away (why), or works (NULL).
     * Called each time. */
    void (*trouble)(void *arg, const char *service, const struct err *why);
};

struct ochami;
struct ochami *ochami_create(uv_loop_t *loop, const struct ochami_conf *conf, const struct ochami_sink *sink);
/* Effects that are under way are resumed later from their records. */
void ochami_destroy(struct ochami *o);
/* Takes a new configuration. Everything that is open, or was refused by SMD, is tried at once. */
void ochami_configure(struct ochami *o, const struct ochami_conf *conf);

/* A new or changed record of an effect; value NULL: it is gone. Keys of other drivers are ignored. */
void ochami_effect(struct ochami *o, const char *key, const char *value);
size_t ochami_waiting(const struct ochami *o); /* effects without an outcome yet */

#endif
