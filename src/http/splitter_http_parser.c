/* SPDX-License-Identifier: Apache-2.0 */
/* http_parser stops where a callback paused it. An empty piece tells it that the connection ended. */
#include "http/splitter.h"

#include <errno.h>
#include <http_parser.h>
#include <stdlib.h>

struct splitter {
    struct http_parser parser;
    const struct splitter_sink *sink;
    void *arg;
    enum splitter_kind kind;
    bool stopped; /* by a callback */
};

static int splitter_http_parser_piece(struct splitter *c, int (*fn)(void *arg, const char *bytes, size_t n),
                                      const char *bytes, size_t n)
{
    c->stopped = fn && fn(c->arg, bytes, n) < 0;
    return c->stopped ? -1 : 0;
}

static int on_url(struct http_parser *p, const char *bytes, size_t n)
{
    struct splitter *c = p->data;
    return splitter_http_parser_piece(c, c->sink->url, bytes, n);
}

static int on_field(struct http_parser *p, const char *bytes, size_t n)
{
    struct splitter *c = p->data;
    return splitter_http_parser_piece(c, c->sink->field, bytes, n);
}

static int on_value(struct http_parser *p, const char *bytes, size_t n)
{
    struct splitter *c = p->data;
    return splitter_http_parser_piece(c, c->sink->value, bytes, n);
}

static int on_body(struct http_parser *p, const char *bytes, size_t n)
{
    struct splitter *c = p->data;
    return splitter_http_parser_piece(c, c->sink->body, bytes, n);
}

static int splitter_http_parser_stop(struct splitter *c, int rc)
{
    c->stopped = rc < 0;
    if (!c->stopped)
        http_parser_pause(&c->parser, 1);
    return c->stopped ? -1 : 0;
}

static int on_head(struct http_parser *p)
{
    struct splitter *c = p->data;
    return splitter_http_parser_stop(c, c->sink->head(c->arg));
}

static int on_whole(struct http_parser *p)
{
    struct splitter *c = p->data;
    return splitter_http_parser_stop(c, c->sink->whole(c->arg));
}

static const struct http_parser_settings settings = {
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_whole,
};

void splitter_restart(struct splitter *c)
{
    http_parser_init(&c->parser, c->kind == SPLITTER_REQUESTS ? HTTP_REQUEST : HTTP_RESPONSE);
    c->parser.data = c;
}

struct splitter *splitter_create(enum splitter_kind kind, const struct splitter_sink *sink, void *arg)
{
    struct splitter *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->kind = kind;
    c->sink = sink;
    c->arg = arg;
    splitter_restart(c);
    return c;
}

void splitter_destroy(struct splitter *c)
{
    free(c);
}

static int splitter_http_parser_execute(struct splitter *c, const char *bytes, size_t n, size_t *used,
                                        const char **why)
{
    *why = NULL;
    *used = http_parser_execute(&c->parser, &settings, bytes, n);
    enum http_errno error = HTTP_PARSER_ERRNO(&c->parser);
    if (error == HPE_PAUSED)
        http_parser_pause(&c->parser, 0);
    if (error == HPE_OK || error == HPE_PAUSED)
        return 0;
    if (c->stopped)
        return -ECANCELED;
    *why = http_errno_description(error);
    return -EPROTO;
}

int splitter_feed(struct splitter *c, const char *bytes, size_t n, size_t *used, const char **why)
{
    *used = 0;
    *why = NULL;
    return n > 0 ? splitter_http_parser_execute(c, bytes, n, used, why) : 0;
}

int splitter_end(struct splitter *c, const char **why)
{
    size_t used;
    return splitter_http_parser_execute(c, NULL, 0, &used, why);
}

unsigned splitter_major(const struct splitter *c)
{
    return c->parser.http_major;
}

unsigned splitter_minor(const struct splitter *c)
{
    return c->parser.http_minor;
}

const char *splitter_method(const struct splitter *c)
{
    return http_method_str((enum http_method)c->parser.method);
}

int splitter_status(const struct splitter *c)
{
    return (int)c->parser.status_code;
}

bool splitter_length(const struct splitter *c, uint64_t *bytes)
{
    *bytes = c->parser.content_length;
    return c->parser.flags & F_CONTENTLENGTH;
}

bool splitter_keeps_alive(const struct splitter *c)
{
    return http_should_keep_alive(&c->parser) != 0;
}
