/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers. The stream's queue is bounded, and encrypting 30 MB at once would hold the loop: the body
 * stays here and goes out in slices, each when the one before has left.
 */
#include "http/connection.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void connection_write(struct connection *c, const void *bytes, size_t n)
{
    if (stream_write(c->stream, bytes, n) < 0) {
        connection_abort(c, -ENOBUFS, "the client fell too far behind");
        return;
    }
    c->written += n;
}

void connection_write_head(struct connection *c, int status, const char *type, const size_t *len)
{
    CLEANUP_TEXT struct text head = {0};
    text_printf(&head, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n", status, request_reason(status), type);
    if (len)
        text_printf(&head, "Content-Length: %zu\r\n", *len);
    else if (c->chunked)
        text_add(&head, "Transfer-Encoding: chunked\r\n");
    text_printf(&head, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: %s\r\n\r\n",
                c->keep ? "keep-alive" : "close");
    connection_write(c, head.s, head.len);
}

bool connection_send_slice(struct connection *c)
{
    size_t n = c->body_len - c->body_sent;
    if (n == 0)
        return false;
    if (n > HTTP_SLICE_BYTES_MAX)
        n = HTTP_SLICE_BYTES_MAX;
    connection_write(c, c->body + c->body_sent, n);
    c->body_sent += n;
    return true;
}

void connection_answer(struct connection *c, int status, const char *type, char *body, size_t len)
{
    c->body = body;
    c->body_len = c->bare ? 0 : len;
    c->body_sent = 0;
    c->state = CONNECTION_SENDING;
    connection_watch(c);
    connection_write_head(c, status, type ? type : "application/json", &len);
    connection_send_slice(c);
}

void connection_answer_err(struct connection *c, const struct err *e)
{
    struct text body = {0};
    text_printf(&body, "{\"error\":{\"code\":\"%s\",\"message\":", err_name(e->code));
    text_add_json(&body, e->msg);
    text_add(&body, "}}\n");
    size_t len = body.len;
    connection_answer(c, err_http(e->code), NULL, text_take(&body), len);
}

/* True when there is still somebody to answer. Either way the caller is done with the request. */
static bool answer_begin(struct http_request *r)
{
    struct connection *c = r->connection;
    r->on_gone = NULL;
    assert(c->state == CONNECTION_ASKED || c->state == CONNECTION_CLOSING);
    return c->state == CONNECTION_ASKED;
}

void http_answer_take(struct http_request *r, int status, const char *type, char *body, size_t len)
{
    if (answer_begin(r))
        connection_answer(r->connection, status, type, body, len);
    else
        free(body);
}

void http_answer(struct http_request *r, int status, const char *type, const char *body, size_t len)
{
    http_answer_take(r, status, type, mem_dup_len(body, len), len);
}

void http_answer_err(struct http_request *r, const struct err *e)
{
    if (answer_begin(r))
        connection_answer_err(r->connection, e);
}
