/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_RARE_H
#define FETTLE_BASE_RARE_H

#include "base/clock.h"

/* A bound to what the log says of things that anybody can bring about: so many lines a minute, and then how
 * many more there were. Zero-initialise. */
struct rare {
    struct mono began;
    unsigned said, more;
};

/* Whether one more may be said in this minute. What may not is counted. */
bool rare_may(struct rare *r, unsigned most);
/* To be called every second or so. At the end of a minute it returns how many were not said in it, else 0. */
unsigned rare_turn(struct rare *r, struct mono now);

#endif
