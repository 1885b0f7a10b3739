/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LINK_FRAME_H
#define FETTLE_LINK_FRAME_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Frames of the agent link, as bytes: an 8-byte header in network order, then a JSON body.
 *
 *   bytes 0-3  length of the body, at most FRAME_BODY_BYTES_MAX
 *   byte  4    type
 *   byte  5    flags
 *   bytes 6-7  channel; 0 is control, the only one so far
 *
 * A receiver ignores a frame of an unknown type unless FRAME_CRITICAL is set.
 */

enum { FRAME_HEADER_BYTES = 8, FRAME_BODY_BYTES_MAX = 64 << 10 };

enum frame_flag {
    FRAME_CRITICAL = 1 << 0, /* a receiver that does not know the type closes the link instead of ignoring the
                                frame */
    FRAME_BINARY = 1 << 1    /* reserved: the body is not JSON */
};

enum frame_type {
#define FRAME(symbol, code, controller, collector, agent, way, body) FRAME_##symbol = code,
#include "link/frame.tbl"
#undef FRAME
};

/* The types of this version are below it: the size of a table of types. */
enum { FRAME_TYPES = 32 };

struct frame {
    uint8_t type; /* an enum frame_type, or an unknown type */
    uint8_t flags;
    uint16_t channel;
    const char *body; /* len bytes, and one zero byte after them */
    size_t len;
};

/* Writes the header of a body of len bytes; len <= FRAME_BODY_BYTES_MAX. */
void frame_encode_header(uint8_t out[FRAME_HEADER_BYTES], uint8_t type, uint8_t flags, uint16_t channel,
                         size_t len);

/* Reads a header. -EPROTO with a sentence for a body over the limit. *len is the body's length. */
int frame_decode_header(const uint8_t in[FRAME_HEADER_BYTES], struct frame *f, size_t *len, struct err *e);

/* "HEARTBEAT", or "type 77". The buffer is the caller's. */
const char *frame_name(uint8_t type, char buf[static 16]);

/* The receiver of a frame. */
enum frame_receiver { FRAME_TO_CONTROLLER, FRAME_TO_COLLECTOR, FRAME_TO_AGENT, FRAME_RECEIVERS };
/* The sender of a frame, as its receiver sees it. Each may send what those before it may, except for the
 * stranger. */
enum frame_sender {
    FRAME_FROM_NOBODY, /* as a frame's sender: none may send it; as a sender: it may send nothing now */
    FRAME_FROM_STRANGER,
    FRAME_FROM_NODE,
    FRAME_FROM_COLLECTOR,
    FRAME_FROM_CONTROLLER
};
/* The least privileged sender that the type may come from (frame.tbl); FRAME_FROM_NOBODY also for an unknown
 * type. */
enum frame_sender frame_sender_of(uint8_t type, enum frame_receiver to);
/* Whether this receiver takes the frame from this sender. A frame that does not fit is a misfit. */
bool frame_fits(uint8_t type, enum frame_receiver to, enum frame_sender from);
/* True when a collector passes the frame on unchanged, to or from one of its nodes. */
bool frame_is_passed(uint8_t type);
bool frame_is_known(uint8_t type);

#endif
