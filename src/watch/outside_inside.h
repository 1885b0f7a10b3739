/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_OUTSIDE_INSIDE_H
#define FETTLE_WATCH_OUTSIDE_INSIDE_H

#include "watch/watch.h"

/*
 * What the checks of other systems say of a node. Its state is vitals.outside.
 */

struct vitals;

#define OUTSIDE_PREFIX "sensu."
enum { OUTSIDE_MAX = 32 };

/* What was said last of a check that others run. */
struct outside {
    char name[CHECK_NAME_BYTES_MAX + 1];
    struct check record; /* nothing but the name, for whoever asks whose finding it is */
    enum result result;
    struct mono since, looked, told;
    char *text;
    unsigned more;
    size_t n;
    struct finding *findings;
    struct outside *next;
};

/* A check that no record here has, and others may. */
bool outside_is(const struct watch *w, const char *check);
struct outside *outside_find(const struct vitals *v, const char *check); /* NULL without */
void outside_drop(struct vitals *v);
/* In each sweep: forgets those of which nobody speaks any more. */
void outside_look(struct mono now, const struct member *m, struct vitals *v);
enum result outside_now(const struct watch *w, struct mono now, const struct member *m,
                        const struct outside *x);
bool outside_fresh(const struct watch *w, struct mono now, const struct outside *x);
bool outside_ill(const struct vitals *v);
enum result outside_worst(const struct watch *w, struct mono now, const struct member *m);
/* As finding_gone. */
bool outside_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f);
/* It is said to be well, whatever the device. */
bool outside_recovered(const struct watch *w, struct mono now, const struct member *m, const char *check);
/* Nodes of which it was said; of a Group, but with 0. */
unsigned outside_runners(const struct watch *w, const char *check, unsigned group);
void outside_each(const struct watch *w, struct mono now, const struct member *m, struct said *said,
                  said_fn *fn, void *arg);

#endif
