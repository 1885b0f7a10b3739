/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_UPLINK_FRAME_TEST_H
#define FETTLE_AGENT_UPLINK_FRAME_TEST_H

#include "link/frame.h"

#include <string.h>

/* For tests of the readers of bodies. */

/* A frame with this text as its body, which it borrows. */
static inline struct frame frame_of(enum frame_type type, const char *body)
{
    return (struct frame){.type = (uint8_t)type, .body = body, .len = strlen(body)};
}

/* What the reader makes of the body. */
#define READ(reader, type, body, ...)           \
    __extension__({                             \
        struct frame f_ = frame_of(type, body); \
        reader(&f_, __VA_ARGS__);               \
    })

#endif
