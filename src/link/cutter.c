/* SPDX-License-Identifier: Apache-2.0 */
#include "link/cutter.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static size_t cutter_take(void *to, size_t *have, size_t want, const char *bytes, size_t n)
{
    size_t more = want - *have < n ? want - *have : n;
    if (more)
        memcpy((char *)to + *have, bytes, more);
    *have += more;
    return more;
}

void cutter_fini(struct cutter *c)
{
    free(c->body);
    *c = (struct cutter){0};
}

int cutter_feed(struct cutter *c, const char *bytes, size_t n, size_t *used, cutter_fn *fn, void *arg,
                struct err *e)
{
    assert(used && fn);
    bool go_on = true;
    *used = 0;
    while (*used < n && go_on) {
        if (!c->body) {
            *used += cutter_take(c->header, &c->header_len, FRAME_HEADER_BYTES, bytes + *used, n - *used);
            if (c->header_len < FRAME_HEADER_BYTES)
                break;
            size_t len;
            int r = frame_decode_header(c->header, &c->frame, &len, e);
            if (r < 0)
                return r;
            c->body = mem_alloc(len + 1);
        }
        *used += cutter_take(c->body, &c->body_len, c->frame.len, bytes + *used, n - *used);
        if (c->body_len < c->frame.len)
            break;
        CLEANUP_FREE char *body = c->body;
        struct frame whole = c->frame;
        whole.body = body;
        *c = (struct cutter){0};
        go_on = fn(arg, &whole);
    }
    return 0;
}
