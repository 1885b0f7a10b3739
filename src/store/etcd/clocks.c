/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/clocks.h"

void clocks_take(struct clocks *k, struct wall theirs, struct wall from, struct wall to)
{
    if (from.ns > to.ns)
        return;
    unsigned i = k->n++ % CLOCKS_READINGS;
    k->at[i].least_ns = theirs.ns - to.ns;
    k->at[i].most_ns = theirs.ns - from.ns;
    if (k->n == 2 * CLOCKS_READINGS) /* it goes round, and never back to few */
        k->n = CLOCKS_READINGS;
}

bool clocks_ahead(const struct clocks *k, struct span *ahead, struct span *within)
{
    int64_t least = k->at[0].least_ns, most = k->at[0].most_ns;
    if (k->n < CLOCKS_READINGS)
        return false;
    for (unsigned i = 1; i < CLOCKS_READINGS; i++) {
        least = k->at[i].least_ns > least ? k->at[i].least_ns : least;
        most = k->at[i].most_ns > most ? k->at[i].most_ns : most;
    }
    within->ns = (most - least) / 2;
    ahead->ns = least + within->ns;
    return true;
}
