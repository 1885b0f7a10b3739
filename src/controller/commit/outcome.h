/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_OUTCOME_H
#define FETTLE_CONTROLLER_COMMIT_OUTCOME_H

#include "base/err.h"
#include "base/hostlist.h"

#include <stdbool.h>
#include <stdint.h>

/* How a submitted command ended. On success rc is 0, and changed, claim (of DRAIN and DOWN, else NULL) and
 * revision (the present one when nothing had to change) are set. Otherwise *why is the error. Borrowed until
 * the callback returns. */
struct outcome {
    int rc;
    uint64_t revision;
    const struct hostlist *changed;
    const char *folded; /* the same as a list; NULL: not folded yet */
    const char *claim;
    const char *would; /* of a dry command: the sentence for the journal; NULL when nothing would change */
    bool replayed;     /* its request was carried out before, or a part of it: this is what came of it then */
    const struct err *why;
};
typedef void outcome_fn(void *arg, const struct outcome *o);

#endif
