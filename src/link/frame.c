/* SPDX-License-Identifier: Apache-2.0 */
#include "link/frame.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

void frame_encode_header(uint8_t out[FRAME_HEADER_BYTES], uint8_t type, uint8_t flags, uint16_t channel,
                         size_t len)
{
    assert(len <= FRAME_BODY_BYTES_MAX);
    assert(len <= FRAME_BODY_BYTES_MAX);
    out[0] = (uint8_t)(len >> 24);
    out[1] = (uint8_t)(len >> 16);
    out[2] = (uint8_t)(len >> 8);
    out[3] = (uint8_t)len;
    out[4] = type;
    out[5] = flags;
    out[6] = (uint8_t)(channel >> 8);
    out[7] = (uint8_t)channel;
}

int frame_decode_header(const uint8_t in[FRAME_HEADER_BYTES], struct frame *f, size_t *len, struct err *e)
{
    uint32_t n = (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
    if (n > FRAME_BODY_BYTES_MAX)
        return err_set(e, -EPROTO, "a frame of %u bytes, and %d is the limit", n, FRAME_BODY_BYTES_MAX);
    *f = (struct frame){.type = in[4], .flags = in[5], .channel = (uint16_t)(in[6] << 8 | in[7]), .len = n};
    *len = n;
    return 0;
}

static const struct row {
    const char *name; /* NULL: no type has the code */
    enum frame_sender from[FRAME_RECEIVERS];
    enum { DIRECT, PASSED } way;
} rows[FRAME_TYPES] = {
#define FRAME(symbol, code, controller, collector, agent, way, body) \
    [code] = {#symbol, {FRAME_FROM_##controller, FRAME_FROM_##collector, FRAME_FROM_##agent}, way},
#include "link/frame.tbl"
#undef FRAME
};

static const struct row *row_of(uint8_t type)
{
    static const struct row unknown = {.name = NULL};
    return type < FRAME_TYPES ? &rows[type] : &unknown;
}

bool frame_is_known(uint8_t type)
{
    return row_of(type)->name;
}

const char *frame_name(uint8_t type, char buf[static 16])
{
    if (row_of(type)->name)
        snprintf(buf, 16, "%s", row_of(type)->name);
    else
        snprintf(buf, 16, "type %u", type);
    return buf;
}

enum frame_sender frame_sender_of(uint8_t type, enum frame_receiver to)
{
    return row_of(type)->from[to];
}

bool frame_fits(uint8_t type, enum frame_receiver to, enum frame_sender from)
{
    enum frame_sender least = row_of(type)->from[to];
    if (least == FRAME_FROM_NOBODY)
        return false;
    return from == least || (least > FRAME_FROM_STRANGER && from > least);
}

bool frame_is_passed(uint8_t type)
{
    return row_of(type)->way == PASSED;
}
