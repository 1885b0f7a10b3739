/* SPDX-License-Identifier: Apache-2.0
 *
 * The first byte says how large the pieces are in which the rest arrives.
 */
#include "link/cutter.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_frame(void *arg, const struct frame *f)
{
    char name[16];
    assert(f->len <= FRAME_BODY_BYTES_MAX && f->body[f->len] == '\0');
    assert(strlen(frame_name(f->type, name)) > 0);
    return f->flags % 4 != 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cutter c = {0};
    size_t step = size ? data[0] + 1u : 1;
    for (size_t at = 1; at < size;) {
        size_t n = size - at < step ? size - at : step, used;
        if (cutter_feed(&c, (const char *)data + at, n, &used, on_frame, NULL, NULL) < 0)
            break;
        assert(used > 0 && used <= n);
        at += used;
    }
    cutter_fini(&c);
    return 0;
}
