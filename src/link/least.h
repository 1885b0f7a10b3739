/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_LEAST_H
#define FETTLE_LINK_LEAST_H

#include "base/err.h"
#include "base/json.h"
#include "link/tls.h"

#include <stdbool.h>

/*
 * Which certificates have ended, as somebody knows it that has no records: for each name ("node:lx01") the
 * number below which all do. Such a number only rises, so it can be told twice, late, in parts and in any
 * order. Of names that are not in it, nothing is known: their certificates count.
 */

struct least;

enum { LEAST_NAMES_MAX = 100000 }; /* more than a collector has nodes */

struct least *least_create(void);
void least_destroy(struct least *l);

/* Takes {"node:lx01":"19f3a0b1c2d"}, and calls fn for each name whose number has risen. -EINVAL for what is
 * no name or no number, -E2BIG when there are too many: what came before it is taken. */
typedef void least_fn(void *arg, enum identity_kind kind, const char *name);
int least_take(struct least *l, const json_t *o, least_fn *fn, void *arg, struct err *e);

/* 0, or -EPERM when the certificate has ended. l may be NULL: nothing is known. */
int least_check(const struct least *l, const struct identity *id, struct err *e);
/* The same as a tls_judge_fn. */
int least_judge(void *l, const struct identity *id, struct err *e);

#endif
