/* SPDX-License-Identifier: Apache-2.0 */
/* An answer is read the same way whole and byte by byte. */
#include "http/response.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    size_t n;
    uint64_t sum;
};

static int on_body(void *arg, const char *bytes, size_t n)
{
    struct seen *seen = arg;
    seen->n += n;
    for (size_t i = 0; i < n; i++)
        seen->sum = seen->sum * 31 + (uint8_t)bytes[i];
    return 0;
}

/* The result, with the end of the connection after the bytes. */
static int feed_steps(struct http_response *r, const char *s, size_t n, size_t step, bool *done)
{
    struct err e;
    *done = false;
    for (size_t at = 0; at < n; at += n - at < step ? n - at : step) {
        int rc = http_response_feed(r, s + at, n - at < step ? n - at : step, done, &e);
        if (rc < 0)
            return rc;
    }
    return http_response_feed(r, NULL, 0, done, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen seen_a = {0}, seen_b = {0};
    struct http_response *a = http_response_create(on_body, &seen_a),
                         *b = http_response_create(on_body, &seen_b);
    bool done_a, done_b;
    int rc = feed_steps(a, (const char *)data, size, SIZE_MAX, &done_a);
    int again = feed_steps(b, (const char *)data, size, 1, &done_b);
    assert(rc == again && done_a == done_b);
    assert(http_response_status(a) == http_response_status(b));
    assert(seen_a.n == seen_b.n && seen_a.sum == seen_b.sum);
    http_response_destroy(a);
    http_response_destroy(b);
    return 0;
}
