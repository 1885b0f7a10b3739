/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sse.h"

#include <assert.h>
#include <string.h>

static int on_event(void *arg, const char *name, const char *id, const char *data, size_t len)
{
    assert(strlen(name) > 0 && strlen(name) < SSE_WORD_BYTES_MAX);
    assert(strlen(id) < SSE_WORD_BYTES_MAX);
    assert(strlen(data) >= len || memchr(data, '\0', len));
    ++*(size_t *)arg;
    return 0;
}

/* However the bytes are cut, the same events come of them. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct sse whole = {0}, cut = {0};
    size_t n_whole = 0, n_cut = 0;
    const char *text = (const char *)bytes;
    int r = sse_feed(&whole, text, len, on_event, &n_whole, NULL);
    int rc = 0;
    for (size_t i = 0; i < len && rc == 0; i++)
        rc = sse_feed(&cut, text + i, 1, on_event, &n_cut, NULL);
    assert(r == rc && n_whole == n_cut && strcmp(whole.id, cut.id) == 0);
    sse_fini(&whole);
    sse_fini(&cut);
    return 0;
}
