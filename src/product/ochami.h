/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PRODUCT_OCHAMI_H
#define FETTLE_PRODUCT_OCHAMI_H

#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>

/*
 * effect/ochami.NAME and effect/reboot.NAME: what OpenCHAMI's State Manager (SMD) is told of a drifted node,
 * and how far a reboot by its services is (doc/spec/records.md).
 */

enum { OCHAMI_STATUS_BYTES_MAX = 32 }; /* the width of SMD's column: it refuses a longer text */

/* The entries of a node in SMD, as wanted or as they are; each may be NULL. */
struct marks {
    char *flag, *status, *group, *message;
    bool is_pending; /* done: they are being written, and may not be there yet */
    char *error;     /* done: what SMD refused, and why */
};

/* object NULL: none are there. -EINVAL with a sentence; *out is the caller's to give to marks_fini all the
 * same. */
int marks_read(const json_t *object, struct marks *out, struct err *e);
void marks_fini(struct marks *m);
void marks_set(char **field, const char *value); /* copies; NULL clears */
bool marks_equal(const char *a, const char *b);  /* NULL equals NULL */
/* The JSON of a `done`; the caller frees it. */
char *marks_write(const struct marks *m);

/* How far a reboot is: the "step" of its `done`. */
enum reboot_step {
    REBOOT_NONE, /* nothing was done yet */
    REBOOT_IMAGE,
    REBOOT_ASKING,
    REBOOT_ASKED,
    REBOOT_COMPLETED,
    REBOOT_FAILED,
    REBOOT_REFUSED
};
enum { REBOOT_STEPS = REBOOT_REFUSED + 1 };
const char *reboot_step_name(enum reboot_step s);    /* "image"; "" for REBOOT_NONE */
enum reboot_step reboot_step_find(const char *name); /* REBOOT_NONE for another word */

/* For the table of product.c. */
int ochami_drift_check(const json_t *record, struct err *e);
void ochami_drift_say(const json_t *was, const json_t *is, struct text *t);
int ochami_reboot_check(const json_t *record, struct err *e);
void ochami_reboot_say(const json_t *was, const json_t *is, struct text *t);

#endif
