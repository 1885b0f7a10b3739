/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_OCHAMI_H
#define FETTLE_DRIVER_OCHAMI_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <uv.h>

/*
 * The driver of OpenCHAMI: tells the State Manager (SMD) of drift and takes that back, and reboots a
 * node into the right image through BSS and PCS. It carries out effects of the outbox, which are
 * records (doc/spec/records.md); what comes of them goes back as a result for the record. One effect of
 * each kind a node: a new one replaces what was not carried out yet. Idempotent: it looks before it
 * writes, takes back only what it finds as Fettle left it, and adopts a transition that is under way.
 *
 * A result counts when it is in the record: the driver goes on when ochami_effect brings it back, and says it
 * again after 30 s when nothing does. A driver that was killed at any moment and made anew from the records
 * brings about the same, each thing once.
 *
 * The other side away is no harm: it is tried again, from 1 s to 5 minutes apart, for as long as the
 * effect stands. What a service refuses for good is a result with its words.
 */

struct ochami_conf {
    const char *smd;        /* base of SMD's paths, as "https://smd:27779/hsm/v2"; "" or NULL: not used */
    const char *bss;        /* as "https://bss:27778/boot/v1" */
    const char *pcs;        /* as "https://pcs:28007" */
    const char *ca, *token; /* files; may be NULL */
    const char *group;      /* of drifted nodes: "drifted" */
};

/* Called from the loop, never from within ochami_effect. None may destroy the driver. */
struct ochami_sink {
    void *arg;
    /* An effect came to something: key as in the record, result the JSON of its new `done`. May call
     * ochami_effect with the changed record at once. */
    void (*result)(void *arg, const char *key, const char *result);
    /* Asked right before a node is rebooted: 0; -EAGAIN, not known or not for now, and it is asked again;
     * -ESTALE, the same in a moment; or why it must not be (any more). */
    int (*may_reboot)(void *arg, const char *node, const char *boot, struct err *e);
    /* The other side ("SMD", "BSS", "PCS") did not do what it was asked, and for so long that it counts as
     * away (why), or it did (NULL). Told each time. */
    void (*trouble)(void *arg, const char *service, const struct err *why);
};

struct ochami;
struct ochami *ochami_create(uv_loop_t *loop, const struct ochami_conf *conf, const struct ochami_sink *sink);
/* Takes effects up later: those that are under way are found again from their records. */
void ochami_destroy(struct ochami *o);
/* Takes a new configuration; everything that is open or was refused by SMD is tried at once. */
void ochami_configure(struct ochami *o, const struct ochami_conf *conf);

/* An effect's record, new or changed; value NULL: it is gone. Keys of other drivers are ignored. */
void ochami_effect(struct ochami *o, const char *key, const char *value);
size_t ochami_waiting(const struct ochami *o); /* effects that have not come to their end yet */

#endif
