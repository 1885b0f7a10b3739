/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_RARE_H
#define FETTLE_BASE_RARE_H

#include "base/clock.h"

/* Limits log messages that outsiders can cause: a number of lines a minute, then a count of the rest.
 * Zero-initialise. */
struct rare {
    struct mono began;
    unsigned said, more;
};

/* Returns true when one more line may be logged in this minute; otherwise counts the line. */
bool rare_may(struct rare *r, unsigned most);
/* Call about once a second. At the end of a minute it returns how many lines were suppressed in it, otherwise
 * 0. */
unsigned rare_turn(struct rare *r, struct mono now);

#endif
