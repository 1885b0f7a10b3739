/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rare.h"

#include <assert.h>

bool rare_may(struct rare *r, unsigned most)
{
    assert(r && most > 0);
    if (r->said == most) {
        r->more++;
        return false;
    }
    r->said++;
    return true;
}

unsigned rare_turn(struct rare *r, struct mono now)
{
    if (mono_sub(now, r->began).ns < span_s(60).ns)
        return 0;
    unsigned more = r->more;
    *r = (struct rare){.began = now};
    return more;
}
