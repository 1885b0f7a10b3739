/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_EFFECT_H
#define FETTLE_DRIVER_EFFECT_H

#include "base/text.h"
#include "driver/answer.h"

/*
 * The outbox records of this driver, and the `done` that it writes into them (doc/spec/records.md).
 */

enum { STATUS_BYTES_MAX = 32 }; /* the width of SMD's column: a longer text is refused */

/* The present or wanted entries in SMD for a node; each may be NULL. */
struct marks {
    char *flag, *status, *group, *message;
    bool is_pending; /* done: they are being written, and may not be there yet */
    char *error;     /* done: what SMD refused, and why */
};

enum step { STEP_NONE, STEP_IMAGE, STEP_ASKING, STEP_ASKED, STEP_COMPLETED, STEP_FAILED, STEP_REFUSED };

/* The progress of a reboot. */
struct progress {
    enum step step;
    char transition[TRANSITION_ID_BYTES_MAX + 1]; /* STEP_ASKED */
    char after[40];                               /* STEP_ASKING: newer transitions may be ours */
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

void marks_fini(struct marks *m);
void marks_set(char **field, const char *value); /* copies; NULL clears */
bool marks_equal(const char *a, const char *b);  /* NULL equals NULL */
/* Writes the JSON of a `done`. */
char *marks_write(const struct marks *m);
/* The same for a reboot; why is for STEP_FAILED and STEP_REFUSED. */
char *progress_write(const struct progress *p, const char *id, const char *why);
/* Whether two texts of a `done` mean the same. */
bool done_equal(const char *a, const char *b);

#endif
