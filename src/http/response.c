/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_parser cuts the bytes. It is paused at the end of the head, so that heads are bounded, and
 * at the end of each message: after an interim answer (1xx) another one follows, after the real one
 * nothing may.
 */
#include "http/response.h"

#include <errno.h>
#include <http_parser.h>
#include <stdlib.h>

static const uint64_t BODY_BYTES_MAX = UINT64_C(256) << 20;
static const size_t HEAD_BYTES_MAX = 64 << 10; /* those of interim answers included */

struct http_response {
    struct http_parser parser;
    http_response_fn *fn;
    void *arg;
    int status;
    size_t head_bytes;
    uint64_t body_bytes;
    bool interim_over;
    bool done;
    int failed;      /* what the last feed returned, when it failed */
    int stopped;     /* what fn returned, when it was negative */
    const char *why; /* a callback stopped the parser */
};

static int stop(struct http_response *r, const char *why)
{
    r->why = why;
    return -1;
}

static bool is_interim(const struct http_parser *p)
{
    return p->status_code / 100 == 1;
}

static int on_headers_complete(struct http_parser *p)
{
    struct http_response *r = p->data;
    if (p->status_code == 101)
        return stop(r, "the server changed to a protocol that was not asked for");
    if (p->flags & F_CONTENTLENGTH && p->content_length > BODY_BYTES_MAX)
        return stop(r, "the answer is larger than 256 MiB");
    if (!is_interim(p))
        r->status = (int)p->status_code;
    http_parser_pause(p, 1);
    return 0;
}

static int on_body(struct http_parser *p, const char *at, size_t n)
{
    struct http_response *r = p->data;
    if (n > BODY_BYTES_MAX - r->body_bytes)
        return stop(r, "the answer is larger than 256 MiB");
    r->body_bytes += n;
    r->stopped = r->fn(r->arg, at, n);
    return r->stopped;
}

static int on_message_complete(struct http_parser *p)
{
    struct http_response *r = p->data;
    r->interim_over = is_interim(p);
    r->done = !r->interim_over;
    http_parser_pause(p, 1);
    return 0;
}

static const struct http_parser_settings settings = {
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

static void begin(struct http_response *r)
{
    http_parser_init(&r->parser, HTTP_RESPONSE);
    r->parser.data = r;
}

struct http_response *http_response_create(http_response_fn *fn, void *arg)
{
    struct http_response *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->fn = fn;
    r->arg = arg;
    begin(r);
    return r;
}

void http_response_destroy(struct http_response *r)
{
    free(r);
}

/* Runs the parser up to the end of a head, of a message, or of the bytes. */
static int execute(struct http_response *r, const char *bytes, size_t n, size_t *used, struct err *e)
{
    bool head = r->status == 0;
    *used = http_parser_execute(&r->parser, &settings, bytes, n);
    enum http_errno error = HTTP_PARSER_ERRNO(&r->parser);
    if (r->stopped < 0)
        return err_set(e, r->stopped, "reading of the answer was stopped");
    if (r->why)
        return err_set(e, -EPROTO, "%s", r->why);
    if (error != HPE_OK && error != HPE_PAUSED)
        return err_set(e, -EPROTO, "the answer is not HTTP: %s", http_errno_description(error));
    http_parser_pause(&r->parser, 0);
    if (head)
        r->head_bytes += *used;
    if (r->head_bytes > HEAD_BYTES_MAX)
        return err_set(e, -EPROTO, "the answer's headers are larger than %zu bytes", HEAD_BYTES_MAX);
    if (r->interim_over)
        begin(r);
    r->interim_over = false;
    return 0;
}

static int feed(struct http_response *r, const char *bytes, size_t n, struct err *e)
{
    size_t used = 0;
    for (size_t at = 0; at < n && !r->done; at += used) {
        int rc = execute(r, bytes + at, n - at, &used, e);
        if (rc < 0)
            return rc;
        if (r->done && at + used < n)
            return err_set(e, -EPROTO, "there are bytes after the end of the answer");
    }
    return 0;
}

/* The end of the connection may end a body, and nothing else. */
static int feed_end(struct http_response *r, struct err *e)
{
    size_t used;
    if (execute(r, NULL, 0, &used, NULL) == 0 && r->done)
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
        rc = feed(r, bytes, n, e);
    r->failed = rc;
    *done = r->done;
    return rc;
}

int http_response_status(const struct http_response *r)
{
    return r->status;
}
