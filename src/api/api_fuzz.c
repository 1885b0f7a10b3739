/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The low bits of the first byte choose a route, by its place in the table; the rest is its body, or the
 * value of a query. What is taken is within its limits and can be rendered; what is refused has a sentence.
 */
#include "api/ask.h"
#include "api/view.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A power of two, so that a new route at the end of the table leaves the corpus what it is. */
enum { ROUTE_BYTES = 128 };
_Static_assert((int)ROUTES <= (int)ROUTE_BYTES, "a byte chooses any route");

static bool is_plain(const char *s)
{
    return s[0] && !strpbrk(s, "\n\r\t\x1b");
}

static void try_body(enum route r, const char *body, size_t len)
{
    struct ask a = {0};
    struct err e = {0};
    if (ask_parse(r, body, len, &a, &e) < 0) {
        assert(e.code < 0 && e.msg[0]);
        return;
    }
    assert(!a.reason || (is_plain(a.reason) && strlen(a.reason) <= REASON_BYTES_MAX));
    assert(!a.class_name || (is_plain(a.class_name) && strlen(a.class_name) <= CLASS_NAME_BYTES_MAX));
    assert(!a.node || hostlist_name_ok(a.node));
    assert(r != ROUTE_rollout_start || ((a.node != NULL) != (a.version != 0) && a.nodes.n > 0));
    assert(r != ROUTE_rollout_start ||
           (a.deadline.ns > 0 && a.deadline.ns <= span_s(ROLLOUT_DAYS_MAX * 86400).ns));
    assert(!a.claim || strlen(a.claim) <= CLAIM_ID_BYTES_MAX);
    assert(a.valid.ns >= 0);
    assert(!a.word || is_plain(a.word));
    assert(r != ROUTE_queue_ticket || a.gives || a.reason);
    assert(r != ROUTE_queue_resolve || a.findings);
    assert((r != ROUTE_repair_refuse && r != ROUTE_repair_transition && r != ROUTE_brake_set) || a.reason);
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
    if (data[0] % ROUTE_BYTES >= ROUTES)
        return 0;
    enum route r = (enum route)(data[0] % ROUTE_BYTES);
    if (access_right_changes(route_get(r)->right)) {
        try_body(r, rest, size - 1);
    } else {
        char *text = mem_dup_len(rest, size - 1);
        try_queries(text);
        free(text);
    }
    return 0;
}
