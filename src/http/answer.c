/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers. The stream's queue is bounded, and encrypting 30 MB at once would hold the loop. So the body stays
 * here, in the pieces in which it was made, and is sent in slices, each when the one before has left.
 */
#include "http/connection.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

const char *http_phrase(int status)
{
    switch (status) {
#define STATUS(NUMBER, PHRASE) \
    case NUMBER:               \
        return PHRASE;
#include "http/status.tbl"
#undef STATUS
    default: return "";
    }
}

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
    text_printf(&head, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n", status, http_phrase(status), type);
    if (len)
        text_printf(&head, "Content-Length: %zu\r\n", *len);
    else if (c->chunked)
        text_add(&head, "Transfer-Encoding: chunked\r\n");
    const char *header = STEAL(c->header);
    if (header)
        text_printf(&head, "%s\r\n", header);
    if (c->exchange && c->exchange->has_age)
        text_printf(&head, "Age: %llu\r\n", (unsigned long long)c->exchange->age_s);
    text_printf(&head, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: %s\r\n\r\n",
                c->keep ? "keep-alive" : "close");
    connection_write(c, head.s, head.len);
}

void connection_add_piece(struct connection *c, char *bytes, size_t len)
{
    assert(bytes && len > 0);
    struct piece *p = mem_alloc(sizeof *p);
    *p = (struct piece){.bytes = bytes, .len = len};
    DL_APPEND(c->pieces, p);
}

static void drop_piece(struct connection *c)
{
    struct piece *p = c->pieces;
    DL_DELETE(c->pieces, p);
    c->sent = 0;
    free(p->bytes);
    free(p);
}

void connection_drop_pieces(struct connection *c)
{
    while (c->pieces)
        drop_piece(c);
}

bool connection_send_slice(struct connection *c)
{
    const struct piece *p = c->pieces;
    if (!p)
        return false;
    size_t left = p->len - c->sent, n = left < HTTP_SLICE_BYTES_MAX ? left : HTTP_SLICE_BYTES_MAX;
    connection_write(c, p->bytes + c->sent, n);
    c->sent += n;
    if (n == left)
        drop_piece(c);
    return true;
}

void connection_answer(struct connection *c, int status, const char *type, char *body, size_t len)
{
    size_t all = 0;
    const struct piece *p;
    if (len > 0)
        connection_add_piece(c, body, len);
    else
        free(body);
    DL_FOREACH (c->pieces, p)
        all += p->len;
    if (c->bare)
        connection_drop_pieces(c);
    c->state = CONNECTION_SENDING;
    connection_watch(c);
    connection_write_head(c, status, type ? type : "application/json", &all);
    connection_send_slice(c);
}

void connection_answer_err(struct connection *c, const struct err *e)
{
    struct text body = {0};
    text_printf(&body, "{\"error\":{\"code\":\"%s\",\"message\":", err_name(e->code));
    text_add_json(&body, e->msg);
    text_add(&body, "}}\n");
    size_t len = body.len;
    connection_drop_pieces(c); /* of the answer that this one replaces */
    connection_answer(c, err_http(e->code), NULL, text_take(&body), len);
}

/* True when the client is still there. In any case the caller is done with the request. */
static bool answer_begin(struct http_request *r)
{
    struct connection *c = r->connection;
    r->on_gone = NULL;
    assert(c->state == CONNECTION_ASKED || c->state == CONNECTION_CLOSING);
    return c->state == CONNECTION_ASKED;
}

void http_set_age(struct http_request *r, uint64_t seconds)
{
    r->has_age = true;
    r->age_s = seconds;
}

void http_answer_add(struct http_request *r, char *bytes, size_t len)
{
    if (r->connection->state == CONNECTION_ASKED)
        connection_add_piece(r->connection, bytes, len);
    else
        free(bytes);
}

void http_answer_header(struct http_request *r, const char *line)
{
    if (r->connection->state == CONNECTION_ASKED)
        r->connection->header = line;
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
