/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PRODUCT_PRODUCT_H
#define FETTLE_PRODUCT_PRODUCT_H

#include "base/json.h"
#include "base/text.h"
#include "conform/class.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The records of effects on other products, in the words of each product: its names, states and sentences.
 *
 * A decision says in Fettle's terms what is to be known or done outside: a drift, a reboot, a hold. This
 * folder makes the record of it, checks one, and says its outcome in a sentence. It is pure and reads no
 * configuration, so that every controller makes the same bytes of the same decision. Drivers read and write
 * the same records by the codecs of their products (product/ochami.h, product/slurm.h). Nothing else includes
 * those.
 */

/* What a product's driver carries out. */
enum product_effect {
    PRODUCT_DRIFT,  /* the drift of a node is told */
    PRODUCT_REBOOT, /* a node is rebooted into the image of its class */
    PRODUCT_HOLD,   /* the driver's note of what Fettle has written about a node: a drain, a reservation */
    PRODUCT_EFFECTS
};

/* The record "effect/KEY" + NAME of one of them. */
struct product_record {
    const char *key;     /* with its full stop: "reboot." */
    const char *product; /* its name for people */
    bool is_note;        /* the driver writes all of it; otherwise it writes the result into "done" */
    /* Checks the members that the product gives it, and refuses unknown ones. The members that Fettle decides
     * by are the caller's to check: "id", and "claim" of a note, "boot" and "times" of a reboot. -EINVAL with
     * a sentence. */
    int (*check)(const json_t *record, struct err *e);
    /* Adds to t, for the journal, what became of `was` now that the record is `is`. Either is NULL when there
     * is none. */
    void (*say)(const json_t *was, const json_t *is, struct text *t);
};

const struct product_record *product_record(enum product_effect effect);
/* The row whose key this key of a record, without "effect/", begins with; NULL for another kind. */
const struct product_record *product_record_find(const char *key);

/* The node's name for the product that is told of its drift: `given` by its specification, or its own
 * where that has the form of such a name. NULL: it has none. Borrowed from the arguments. */
const char *product_node_name(const char *name, const char *given);

/* A drift that is told. */
struct product_drift {
    const char *class; /* of the node */
    uint32_t version;  /* of the class's baseline */
    enum severity severity;
    const char *components; /* "kernel.release, 2 more" */
    const struct fingerprint *expected, *actual;
};

/* Fills the record o, which has its id, with what tells the drift. False, and o is unchanged, when `was`, the
 * record so far (NULL: none), tells the same. The result in `was` stays in o, under the name under which it
 * stands. */
bool product_tell_drift(json_t *o, const json_t *was, const char *name, const struct product_drift *drift);

/* Fills the record o, which has its id, with a reboot that ends this boot. Takes over `times`, when reboots
 * of the node were asked for. */
void product_ask_reboot(json_t *o, const char *name, const char *boot, const struct node_class *image,
                        json_t *times);

/* Whether a note (NULL: none) says that Fettle's drain or reservation stands, or may stand. */
bool product_hold_stands(const json_t *note);

#endif
