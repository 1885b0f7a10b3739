/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_STEADY_H
#define FETTLE_HEALTH_STEADY_H

#include "health/check.h"
#include "health/finding.h"

/*
 * What a check says, steadied: one bad look is no failure when the record asks for three in a row, and one
 * good look does not end a failure that is sticky. Pure: looks and times in, what is said out.
 *
 * It is of the check, not of each device: which devices are said is as the last look that counted had it.
 * It is asked of each result by itself whether the looks are as bad as that: after warn, fatal, fatal three
 * in a row were warn, and one more fatal look makes it three that were fatal. What is said is the worst of
 * these.
 *
 * A look that came to unknown or unsupported neither fails nor passes: what was said before is kept, with
 * its age; before anything was said, it is said to be unknown (unsupported). A streak is not broken by it.
 * So are the first looks that find something, while they are too few: nothing says yet that it is ok. The
 * first look that finds nothing does.
 */

enum { STEADY_LOOKS_MAX = 64 };

/* Zero-initialise. */
struct steady {
    struct verdict said; /* what counts now */
    bool any;            /* something was said that is neither unknown nor unsupported */
    struct mono since;   /* said.result has been what it is */
    struct mono looked;  /* when it was looked last with an answer */
    /* By result: looks in a row with an answer that were so bad or worse, and that were better. */
    unsigned bad[RESULTS], good[RESULTS];
    struct mono seen[RESULTS]; /* when a look was last so bad or worse */
    unsigned n;                /* of looks with an answer */
    struct {
        struct mono at;
        enum result result;
    } looks[STEADY_LOOKS_MAX]; /* a ring, for fail_percent */
    unsigned blind;            /* looks in a row without an answer */
};

/* Takes a look. True when what is said changed in a way that others should hear (result, device, code; a
 * number in a text alone is none). What was failing and is looked at with other numbers has its new text in
 * s->said all the same. */
bool steady_look(struct steady *s, const struct check *k, struct mono now, const struct verdict *v);

/* As after looks by another process that ended with this being said: an answer, looked at last at `at`. */
void steady_resume(struct steady *s, struct mono at, const struct verdict *said);

/* Counters of a device, of which only the growth says something. The first reading of a boot is the
 * baseline; a smaller value than before is a reset, and a new baseline. */
struct counter {
    bool known;
    uint64_t last;
    struct mono at;
};
/* True with the growth and the time in which it grew; false when this is a baseline. */
bool counter_take(struct counter *c, struct mono now, uint64_t value, uint64_t *growth, struct span *in);

#endif
