/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte chooses a route; the rest is its body, or the value of a query. What is taken is
 * within its limits and can be rendered; what is refused has a sentence.
 */
#include "api/ask.h"
#include "api/render.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void try_body(enum route r, const char *body, size_t len)
{
    struct ask a = {0};
    struct err e = {0};
    if (ask_parse(r, body, len, &a, &e) < 0) {
        assert(e.code < 0 && e.msg[0]);
        return;
    }
    assert(!a.reason ||
           (a.reason[0] && strlen(a.reason) <= REASON_BYTES_MAX && !strpbrk(a.reason, "\n\r\t\x1b")));
    assert(!a.claim || strlen(a.claim) <= CLAIM_ID_BYTES_MAX);
    assert(a.valid.ns >= 0);
    ask_fini(&a);
}

static void try_queries(const char *text)
{
    struct selection s;
    struct err e = {0};
    if (selection_parse(text, &s, &e) < 0)
        assert(e.code < 0 && e.msg[0]);
    else
        assert(s.n > 0 && s.n <= FIELDS);
    enum route r;
    const char *parameter;
    if (route_find(HTTP_GET_, "GET", text, &r, &parameter, &e) < 0)
        assert(e.code < 0 && e.msg[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *rest = (const char *)data + 1;
    enum route r = (enum route)(data[0] % ROUTES);
    if (route_get(r)->right == RIGHT_CHANGE) {
        try_body(r, rest, size - 1);
    } else {
        char *text = mem_dup_len(rest, size - 1);
        try_queries(text);
        free(text);
    }
    return 0;
}
