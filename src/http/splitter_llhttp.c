/* SPDX-License-Identifier: Apache-2.0 */
/* llhttp stops where a callback returns HPE_PAUSED, and says where that was. */
#include "http/splitter.h"

#include <errno.h>
#include <llhttp.h>
#include <stdlib.h>

struct splitter {
    llhttp_t parser;
    llhttp_settings_t settings;
    const struct splitter_sink *sink;
    void *arg;
    enum splitter_kind kind;
};

static int splitter_llhttp_piece(struct splitter *c, int (*fn)(void *arg, const char *bytes, size_t n),
                                 const char *bytes, size_t n)
{
    return fn && fn(c->arg, bytes, n) < 0 ? HPE_USER : HPE_OK;
}

static int on_url(llhttp_t *p, const char *bytes, size_t n)
{
    struct splitter *c = p->data;
    return splitter_llhttp_piece(c, c->sink->url, bytes, n);
}

static int on_field(llhttp_t *p, const char *bytes, size_t n)
{
    struct splitter *c = p->data;
    return splitter_llhttp_piece(c, c->sink->field, bytes, n);
}

static int on_value(llhttp_t *p, const char *bytes, size_t n)
{
    struct splitter *c = p->data;
    return splitter_llhttp_piece(c, c->sink->value, bytes, n);
}

static int on_body(llhttp_t *p, const char *bytes, size_t n)
{
    struct splitter *c = p->data;
    return splitter_llhttp_piece(c, c->sink->body, bytes, n);
}

/* llhttp gives the results 1, 2 and -1 of this callback meanings of its own. */
static int on_head(llhttp_t *p)
{
    struct splitter *c = p->data;
    return c->sink->head(c->arg) < 0 ? HPE_USER : HPE_PAUSED;
}

static int on_whole(llhttp_t *p)
{
    struct splitter *c = p->data;
    return c->sink->whole(c->arg) < 0 ? HPE_USER : HPE_PAUSED;
}

void splitter_restart(struct splitter *c)
{
    llhttp_init(&c->parser, c->kind == SPLITTER_REQUESTS ? HTTP_REQUEST : HTTP_RESPONSE, &c->settings);
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
    llhttp_settings_init(&c->settings);
    c->settings.on_url = on_url;
    c->settings.on_header_field = on_field;
    c->settings.on_header_value = on_value;
    c->settings.on_headers_complete = on_head;
    c->settings.on_body = on_body;
    c->settings.on_message_complete = on_whole;
    splitter_restart(c);
    return c;
}

void splitter_destroy(struct splitter *c)
{
    free(c);
}

static int splitter_llhttp_outcome(struct splitter *c, llhttp_errno_t error, const char **why)
{
    *why = NULL;
    if (error == HPE_PAUSED)
        llhttp_resume(&c->parser);
    if (error == HPE_OK || error == HPE_PAUSED)
        return 0;
    if (error == HPE_USER)
        return -ECANCELED;
    const char *reason = llhttp_get_error_reason(&c->parser);
    *why = reason && *reason ? reason : llhttp_errno_name(error);
    return -EPROTO;
}

int splitter_feed(struct splitter *c, const char *bytes, size_t n, size_t *used, const char **why)
{
    llhttp_errno_t error = llhttp_execute(&c->parser, bytes, n);
    *used = error == HPE_OK ? n : (size_t)(llhttp_get_error_pos(&c->parser) - bytes);
    return splitter_llhttp_outcome(c, error, why);
}

int splitter_end(struct splitter *c, const char **why)
{
    return splitter_llhttp_outcome(c, llhttp_finish(&c->parser), why);
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
    return llhttp_method_name((llhttp_method_t)c->parser.method);
}

int splitter_status(const struct splitter *c)
{
    return c->parser.status_code;
}

bool splitter_length(const struct splitter *c, uint64_t *bytes)
{
    *bytes = c->parser.content_length;
    return c->parser.flags & F_CONTENT_LENGTH;
}

bool splitter_keeps_alive(const struct splitter *c)
{
    return llhttp_should_keep_alive(&c->parser) != 0;
}
