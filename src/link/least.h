/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_LEAST_H
#define FETTLE_LINK_LEAST_H

#include "base/err.h"
#include "base/json.h"
#include "link/tls.h"

#include <stdbool.h>

/*
 * Which certificates have ended, for an agent that has no records: for each name ("node:lx01") the lowest
 * serial number that still counts. The number only rises, so it can be sent twice, late, in parts and in any
 * order. Certificates of other names count.
 */

struct least;

enum { LEAST_NAMES_MAX = 100000 }; /* more names than a collector has nodes */

struct least *least_create(void);
void least_destroy(struct least *l);

/* Takes {"node:lx01":"19f3a0b1c2d"}, and calls fn for each name whose number has risen. -EINVAL for a
 * malformed name or number, -E2BIG when there are too many; the members before the bad one are taken. */
typedef void least_fn(void *arg, enum identity_kind kind, const char *name);
int least_take(struct least *l, const json_t *o, least_fn *fn, void *arg, struct err *e);

/* 0, or -EPERM when the certificate has ended. l may be NULL: every certificate counts. */
int least_check(const struct least *l, const struct identity *id, struct err *e);
/* The same as a tls_judge_fn. */
int least_judge(void *l, const struct identity *id, struct err *e);

#endif
