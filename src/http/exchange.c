/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the parts of a request. */
#include "http/connection.h"

#include <string.h>

static const struct {
    const char *name;
    enum http_method method;
} methods[] = {{"GET", HTTP_GET_},
               {"HEAD", HTTP_GET_}, /* answered as GET, without the body */
               {"POST", HTTP_POST_},
               {"PUT", HTTP_PUT_},
               {"DELETE", HTTP_DELETE_}};

enum http_method http_method(const struct http_request *r)
{
    const char *name = http_method_name(r);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(name, methods[i].name) == 0)
            return methods[i].method;
    return HTTP_OTHER_;
}

const char *http_method_name(const struct http_request *r)
{
    return request_method(r->request);
}

const char *http_path(const struct http_request *r)
{
    return request_path(r->request);
}

const char *http_query(const struct http_request *r, const char *key)
{
    return request_query(r->request, key);
}

const char *http_query_key(const struct http_request *r, size_t i)
{
    return request_query_key(r->request, i);
}

const char *http_header(const struct http_request *r, const char *name)
{
    return request_header(r->request, name);
}

const char *http_body(const struct http_request *r, size_t *len)
{
    return request_body(r->request, len);
}

struct stream *http_stream(struct http_request *r)
{
    return r->connection->stream;
}

int http_set_party(struct http_request *r, const struct party *p, struct err *e)
{
    return door_move(r->connection, p, e);
}

void http_set_arg(struct http_request *r, void *arg, void (*on_gone)(void *arg))
{
    r->arg = arg;
    r->on_gone = on_gone;
}
