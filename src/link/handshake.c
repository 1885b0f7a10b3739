/* SPDX-License-Identifier: Apache-2.0
 *
 * The queue of handshakes.
 *
 * A step of one is some hundred microseconds of arithmetic, and ten thousand agents may come at
 * once. So no step is made where its socket became readable: the stream stops listening and queues.
 * A turn of the loop gives 2 ms, first to handshakes under way, so that those who began also finish
 * and a storm is served in order instead of all of it timing out together. A limit on the number
 * of handshakes at a time was rejected: silent sockets would use it up and lock everyone out. As
 * it is, a silent socket never gets as far as this queue.
 */
#include "link/stream_internal.h"

#include "base/loop.h"

void handshake_queue(struct stream *s)
{
    bool begun = s->wire.ssl;
    s->state = STREAM_SHAKING;
    hub_queue(begun ? &s->hub->started : &s->hub->fresh, s);
    stream_watch(s);
}

static void handshake_step(struct stream *s)
{
    struct err e = {0};
    switch (wire_handshake(&s->wire, dial_expect(s), &s->peer, &e)) {
    case WIRE_DONE: s->hub->steps->on_shaken(s, NULL); return;
    case WIRE_WANT_READ: s->blocked = false; break;
    case WIRE_WANT_WRITE: s->blocked = true; break;
    case WIRE_END:
    case WIRE_FAILED: s->hub->steps->on_shaken(s, &e); return;
    }
    stream_watch(s);
}

void handshake_run(struct hub *h, struct mono until)
{
    LOOP_DOES("handshakes");
    hub_run(&h->started, until, handshake_step);
    if (mono_sub(until, mono_now()).ns > 0)
        hub_run(&h->fresh, until, handshake_step);
}
