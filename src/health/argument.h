/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_ARGUMENT_H
#define FETTLE_HEALTH_ARGUMENT_H

#include "health/check.h"

/*
 * Inside of check.h: the keys that belong to probes (probe.tbl), and the forms of their values
 * (argument.tbl).
 */

enum argument_form {
    ARGUMENT_TEXT,
    ARGUMENT_PATH,
    ARGUMENT_NUMBER,
    ARGUMENT_PERCENT,
    ARGUMENT_BYTES,
    ARGUMENT_SHARE,
    ARGUMENT_SPAN,
    ARGUMENT_METRIC,
    ARGUMENT_TOOL
};

enum { ARGUMENT_KEY_BYTES_MAX = 31 };

struct argument {
    char key[ARGUMENT_KEY_BYTES_MAX + 1]; /* as in probe.tbl */
    enum argument_form form;              /* TEXT for a key that argument.tbl does not have */
    int64_t least, most;                  /* bounds of a NUMBER; of a SPAN in milliseconds */
    bool must;                            /* the record must have the key */
    const char *what;
};

/* The probe's i-th key in the order of probe.tbl; false after the last. */
bool argument_at(enum probe p, size_t i, struct argument *out);
/* Finds the probe's key of this name, in any case; false when there is none. */
bool argument_find(enum probe p, const char *key, struct argument *out);
/* 0 when the value has the right form and lies within the bounds; -EINVAL with a clause otherwise. */
int argument_check(const struct argument *a, const char *value, struct err *e);

/* Checks pairs of keys (order.tbl): the milder limit of a pair must come first. `value` gives the value of a
 * key that the record has, otherwise NULL. -EINVAL with a clause when a pair is the wrong way round. */
typedef const char *argument_value_fn(const void *arg, const char *key);
int argument_order(enum probe p, argument_value_fn *value, const void *arg, struct err *e);

/* "10%" or "10", 0 to 100. */
int argument_percent(const char *value, unsigned *out, struct err *e);
/* "1024", "500MB", "4GiB", "2T". */
int argument_bytes(const char *value, uint64_t *out, struct err *e);
/* A whole number with or without a sign. */
int argument_number(const char *value, int64_t *out, struct err *e);

#endif
