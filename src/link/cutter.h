/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_CUTTER_H
#define FETTLE_LINK_CUTTER_H

#include "link/frame.h"

/*
 * Cuts a stream of bytes into frames, however the bytes arrive. It knows no sockets. It holds at most one
 * body, and only while that is incomplete. The length is checked before memory is allocated.
 */

struct cutter {
    uint8_t header[FRAME_HEADER_BYTES];
    size_t header_len; /* how many bytes of the header have arrived */
    struct frame frame;
    char *body; /* frame.len + 1 bytes while a frame is begun, else NULL */
    size_t body_len;
};

/* One whole frame; its body lives until the call returns. False stops the cutting after it. */
typedef bool cutter_fn(void *arg, const struct frame *f);

/* Takes n bytes and calls fn with each frame that they complete. *used is how many it took: all, unless fn
 * stopped it. -EPROTO for a malformed header; do not feed it any more then. */
int cutter_feed(struct cutter *c, const char *bytes, size_t n, size_t *used, cutter_fn *fn, void *arg,
                struct err *e);
void cutter_fini(struct cutter *c);

#endif
