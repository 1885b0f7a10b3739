/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/view/called.h"

#include <assert.h>

void called_add(struct called *c, const struct member *m)
{
    assert(c->at <= c->n && c->n <= c->cap);
    if (c->n == c->cap) {
        c->cap = 2 * c->cap + 16;
        c->ids = mem_grow(c->ids, c->cap * sizeof *c->ids);
    }
    c->ids[c->n++] = m->id;
}
