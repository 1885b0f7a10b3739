/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_CLOCKS_H
#define FETTLE_STORE_ETCD_CLOCKS_H

#include "base/clock.h"

#include <stdbool.h>

/*
 * How far another controller's clock is ahead of ours. Pure.
 *
 * The other one reads its clock and sends it to etcd; we read it there at most one question later. So its
 * clock was read between a moment by our clock (`from`) and another (`to`), and each reading bounds the
 * difference from both sides. Of the newest readings the best lower bound counts, because it is always true,
 * and the widest upper bound, because a request that took long on its way to etcd makes that of one reading
 * too low.
 */

enum { CLOCKS_READINGS = 8 };

/* Zero-initialise. */
struct clocks {
    unsigned n; /* readings so far */
    struct {
        int64_t least_ns, most_ns;
    } at[CLOCKS_READINGS];
};

/* Takes one reading. One whose `from` is after its `to` says nothing: our clock was set meanwhile. */
void clocks_take(struct clocks *k, struct wall theirs, struct wall from, struct wall to);

/* The difference is within *within of *ahead. False until there were CLOCKS_READINGS readings. */
bool clocks_ahead(const struct clocks *k, struct span *ahead, struct span *within);

#endif
