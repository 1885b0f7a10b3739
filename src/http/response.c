/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitter stops at the end of the head, so that heads are bounded, and at the end of each message: after
 * an interim answer (1xx) another message follows, after the final one nothing may.
 */
#include "http/response.h"

#include "http/splitter.h"

#include <errno.h>
#include <stdlib.h>

static const uint64_t BODY_BYTES_MAX = UINT64_C(256) << 20;
static const size_t HEAD_BYTES_MAX = 64 << 10; /* interim answers included */

struct http_response {
    struct splitter *splitter;
    http_response_fn *fn;
    void *arg;
    int status;
    size_t head_bytes;
    uint64_t body_bytes;
    bool head_over; /* in this step: a message without a body ends without another byte */
    bool interim_over;
    bool done;
    int failed;      /* the result of the last feed, when it failed */
    int stopped;     /* the result of fn, when it was negative */
    const char *why; /* set when a callback stopped the parser */
};

static int response_stop(struct http_response *r, const char *why)
{
    r->why = why;
    return -1;
}

static bool is_interim(const struct http_response *r)
{
    return splitter_status(r->splitter) / 100 == 1;
}

static int on_head(void *arg)
{
    struct http_response *r = arg;
    uint64_t length;
    if (splitter_status(r->splitter) == 101)
        return response_stop(r, "the server changed to a protocol that was not asked for");
    if (splitter_length(r->splitter, &length) && length > BODY_BYTES_MAX)
        return response_stop(r, "the answer is larger than 256 MiB");
    if (!is_interim(r))
        r->status = splitter_status(r->splitter);
    r->head_over = true;
    return 0;
}

static int on_body(void *arg, const char *at, size_t n)
{
    struct http_response *r = arg;
    if (n > BODY_BYTES_MAX - r->body_bytes)
        return response_stop(r, "the answer is larger than 256 MiB");
    r->body_bytes += n;
    r->stopped = r->fn(r->arg, at, n);
    return r->stopped;
}

static int on_whole(void *arg)
{
    struct http_response *r = arg;
    r->interim_over = is_interim(r);
    r->done = !r->interim_over;
    return 0;
}

static const struct splitter_sink sink = {
    .head = on_head,
    .body = on_body,
    .whole = on_whole,
};

struct http_response *http_response_create(http_response_fn *fn, void *arg)
{
    struct http_response *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->fn = fn;
    r->arg = arg;
    r->splitter = splitter_create(SPLITTER_RESPONSES, &sink, r);
    if (r->splitter)
        return r;
    free(r);
    return NULL;
}

void http_response_destroy(struct http_response *r)
{
    if (!r)
        return;
    splitter_destroy(r->splitter);
    free(r);
}

/* The result of a step of the splitter. */
static int response_outcome(const struct http_response *r, int rc, const char *why, struct err *e)
{
    if (r->stopped < 0)
        return err_set(e, r->stopped, "reading of the answer was stopped");
    if (r->why)
        return err_set(e, -EPROTO, "%s", r->why);
    return rc < 0 ? err_set(e, -EPROTO, "the answer is not HTTP: %s", why) : 0;
}

/* Reads up to the end of a head, of a message, or of the bytes. */
static int response_execute(struct http_response *r, const char *bytes, size_t n, size_t *used, struct err *e)
{
    bool head = r->status == 0;
    const char *why;
    r->head_over = false;
    int rc = splitter_feed(r->splitter, bytes, n, used, &why);
    rc = response_outcome(r, rc, why, e);
    if (rc < 0)
        return rc;
    if (head)
        r->head_bytes += *used;
    if (r->head_bytes > HEAD_BYTES_MAX)
        return err_set(e, -EPROTO, "the answer's headers are larger than %zu bytes", HEAD_BYTES_MAX);
    if (r->interim_over)
        splitter_restart(r->splitter);
    r->interim_over = false;
    return 0;
}

static int response_feed(struct http_response *r, const char *bytes, size_t n, struct err *e)
{
    size_t at = 0, used;
    while (!r->done && (at < n || r->head_over)) {
        int rc = response_execute(r, bytes + at, n - at, &used, e);
        if (rc < 0)
            return rc;
        at += used;
    }
    return at < n ? err_set(e, -EPROTO, "there are bytes after the end of the answer") : 0;
}

/* The end of the connection may end a body, and nothing else. */
static int feed_end(struct http_response *r, struct err *e)
{
    const char *why;
    int rc = splitter_end(r->splitter, &why);
    if (response_outcome(r, rc, why, NULL) == 0 && r->done)
        return 0;
    return err_set(e, -EPROTO, "the connection ended before the answer was whole");
}

int http_response_feed(struct http_response *r, const char *bytes, size_t n, bool *done, struct err *e)
{
    int rc = r->failed;
    if (rc < 0)
        err_set(e, rc, "the answer was given up before");
    else if (n == 0)
        rc = r->done ? 0 : feed_end(r, e);
    else if (r->done)
        rc = err_set(e, -EPROTO, "there are bytes after the end of the answer");
    else
        rc = response_feed(r, bytes, n, e);
    r->failed = rc;
    *done = r->done;
    return rc;
}

int http_response_status(const struct http_response *r)
{
    return r->status;
}
