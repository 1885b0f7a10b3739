/* SPDX-License-Identifier: Apache-2.0 */
/* A request is read the same way whole and byte by byte, and what it says can be asked for. */
#include "http/request.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed_steps(struct request *r, const char *s, size_t n, size_t step, size_t *used)
{
    struct err e;
    *used = 0;
    while (*used < n && request_state(r) != REQUEST_WHOLE) {
        size_t taken;
        int rc = request_feed(r, s + *used, n - *used < step ? n - *used : step, &taken, &e);
        assert(taken <= n - *used);
        *used += taken;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void compare(const struct request *a, const struct request *b)
{
    size_t n, m;
    assert(strcmp(request_method(a), request_method(b)) == 0);
    assert(strcmp(request_path(a), request_path(b)) == 0);
    assert(!request_query(a, "k") == !request_query(b, "k"));
    assert(!request_header(a, "absent") == !request_header(b, "absent"));
    assert(request_wants_continue(a) == request_wants_continue(b));
    const char *x = request_body(a, &n), *y = request_body(b, &m);
    assert(n == m && memcmp(x, y, n) == 0);
    assert(request_keeps_alive(a) == request_keeps_alive(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request *a = request_create(), *b = request_create();
    size_t used, bytewise;
    int rc = feed_steps(a, (const char *)data, size, SIZE_MAX, &used);
    int again = feed_steps(b, (const char *)data, size, 1, &bytewise);
    assert(rc == again);
    if (rc == 0) {
        assert(used == bytewise && request_state(a) == request_state(b));
        if (request_state(a) != REQUEST_HEAD)
            compare(a, b);
    }
    request_destroy(a);
    request_destroy(b);
    return 0;
}
