/* SPDX-License-Identifier: Apache-2.0 */
/* The socket of a stream is watched for what its state needs and nothing else. */
#include "link/stream_internal.h"

int stream_poll_init(struct stream *s)
{
    int r = uv_poll_init(s->hub->loop, &s->poll, s->wire.fd);
    if (r < 0)
        return r;
    s->poll.data = s;
    s->handles++;
    return 0;
}

/* The events of the socket that this state waits for. */
static int stream_wanted(const struct stream *s)
{
    switch (s->state) {
    case STREAM_CONNECTING: return UV_WRITABLE;
    case STREAM_WAITING: return UV_READABLE;
    case STREAM_SHAKING: return s->work ? 0 : s->blocked ? UV_WRITABLE : UV_READABLE;
    case STREAM_OPEN: {
        bool waits = s->work && s->more; /* it waits for its turn: the socket need not report bytes */
        int events = s->paused || s->unread.len > 0 || waits ? 0 : UV_READABLE;
        if (s->read_wants_write || s->blocked)
            events |= UV_WRITABLE;
        /* One event must always be watched, otherwise nothing reports that the peer is gone. */
        return events ? events : UV_PRIORITIZED;
    }
    case STREAM_CLOSING: return s->blocked ? UV_WRITABLE : 0;
    case STREAM_LINGERING: return UV_READABLE;
    case STREAM_LOOKING_UP:
    case STREAM_READY:
    case STREAM_DEAD: break;
    }
    return 0;
}

void stream_watch(struct stream *s)
{
    int events = s->handles > 1 ? stream_wanted(s) : 0;
    if (s->state == STREAM_DEAD || events == s->watching)
        return;
    s->watching = events;
    if (events)
        uv_poll_start(&s->poll, events, s->hub->steps->on_poll);
    else
        uv_poll_stop(&s->poll);
}
