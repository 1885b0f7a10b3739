/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_STEADY_H
#define FETTLE_HEALTH_STEADY_H

#include "health/check.h"
#include "health/finding.h"

/*
 * The steadied result of a check: one bad look is not a failure when the record asks for three in a row, and
 * one good look does not end a sticky failure. Pure: looks and times in, results out.
 *
 * The result belongs to the check, not to each device: the devices are those of the last look that counted.
 * Each level of severity is asked by itself: after warn, fatal, fatal there were three in a row of at least
 * warn, and one more fatal look makes it three of fatal. The result is the worst of these levels.
 *
 * A look with the result unknown or unsupported neither fails nor passes: the earlier result is kept, with
 * its age. Before there is an earlier result, the check says unknown (or unsupported). Such a look does not
 * end a row of equal looks. The first looks that find something leave the result unknown while they are too
 * few: nothing proves yet that it is ok. The first look that finds nothing does prove it.
 */

enum { STEADY_LOOKS_MAX = 64 };

/* Zero-initialise. */
struct steady {
    struct verdict said; /* the present result */
    bool any;            /* a result other than unknown or unsupported was given */
    struct mono since;   /* when said.result last changed */
    struct mono looked;  /* the last look with an answer */
    /* By result: looks with an answer in a row that were this bad or worse, and that were better. */
    unsigned bad[RESULTS], good[RESULTS];
    struct mono seen[RESULTS]; /* when a look was last this bad or worse */
    unsigned n;                /* looks with an answer */
    struct {
        struct mono at;
        enum result result;
    } looks[STEADY_LOOKS_MAX]; /* a ring, for fail_percent */
    unsigned blind;            /* looks without an answer in a row */
};

/* Takes a look. True when the result changed in a way that others should hear: result, device or code, but
 * not a number in a text. When a failing check gives other numbers, s->said has the new text all the same. */
bool steady_look(struct steady *s, const struct check *k, struct mono now, const struct verdict *v);

/* Continues from the result of another process: `said` is an answer, and its last look was at `at`. */
void steady_resume(struct steady *s, struct mono at, const struct verdict *said);

/* A counter of a device, whose growth alone matters. The first reading of a boot is the baseline; a smaller
 * value than before is a reset and starts a new baseline. */
struct counter {
    bool known;
    uint64_t last;
    struct mono at;
};
/* True with the growth and the time in which it grew; false when this reading is a baseline. */
bool counter_take(struct counter *c, struct mono now, uint64_t value, uint64_t *growth, struct span *in);

#endif
