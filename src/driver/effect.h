/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_EFFECT_H
#define FETTLE_DRIVER_EFFECT_H

#include "base/text.h"
#include "driver/answer.h"
#include "product/ochami.h"

/*
 * The outbox records of this driver, and the `done` that it writes into them (doc/spec/records.md).
 */

/* The progress of a reboot. */
struct progress {
    enum reboot_step step;
    char transition[TRANSITION_ID_BYTES_MAX + 1]; /* REBOOT_ASKED */
    char after[40];                               /* REBOOT_ASKING: newer transitions may be ours */
};

struct effect {
    bool is_reboot;
    char *id; /* as JSON text */
    char *xname;
    char *done_text; /* the present `done`, "null" for none */
    /* effect/ochami.NAME */
    bool is_wanted, is_done;
    struct marks want, done; /* all NULL when it is not wanted */
    /* effect/reboot.NAME */
    char *boot;
    bool has_image;
    struct boot_image image;
    struct progress progress;
};

/* The node's name in a key of this driver; NULL for another key. */
const char *effect_about(const char *key, bool *is_reboot);

/* -EINVAL with a sentence for a malformed value; *out is empty then. */
int effect_read(const char *key, const char *value, struct effect *out, struct err *e);
void effect_fini(struct effect *x);

/* The JSON of a reboot's `done`; the caller frees it. why is for REBOOT_FAILED and REBOOT_REFUSED. */
char *progress_write(const struct progress *p, const char *id, const char *why);
/* Whether two texts of a `done` mean the same. */
bool done_equal(const char *a, const char *b);

#endif
