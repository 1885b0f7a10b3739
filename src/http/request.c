/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitter splits the bytes. What it leaves open is decided here, the same for both libraries.
 *
 * Headers are kept as "name\0value\0name\0value\0" in one buffer, the query in the same way. The head's limit
 * bounds both, and the splitter lets no zero byte into either.
 */
#include "http/request.h"

#include "base/text.h"
#include "http/limits.h"
#include "http/splitter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct request {
    struct splitter *splitter;
    enum request_state state;
    bool failed;
    bool in_value;
    char last; /* the last byte of the head, to find folds that cross two feeds */
    size_t head_bytes;
    struct text url;
    struct text headers;
    char *path;
    struct text query;
    struct text body;
};

static int on_url(void *arg, const char *at, size_t n)
{
    struct request *r = arg;
    text_add_bytes(&r->url, at, n);
    return 0;
}

/* Ends a header's value; white space after it is not part of it (RFC 9112, 5). */
static void value_end(struct request *r)
{
    struct text *t = &r->headers;
    while (t->s[t->len - 1] == ' ' || t->s[t->len - 1] == '\t')
        t->len--;
    text_add_char(t, '\0');
    r->in_value = false;
}

static int on_field(void *arg, const char *at, size_t n)
{
    struct request *r = arg;
    if (r->state != REQUEST_HEAD)
        return 0; /* trailers are read and dropped */
    if (r->in_value)
        value_end(r);
    text_add_bytes(&r->headers, at, n);
    return 0;
}

static int on_value(void *arg, const char *at, size_t n)
{
    struct request *r = arg;
    if (r->state != REQUEST_HEAD)
        return 0;
    if (!r->in_value)
        text_add_char(&r->headers, '\0');
    r->in_value = true;
    text_add_bytes(&r->headers, at, n);
    return 0;
}

static int on_head(void *arg)
{
    struct request *r = arg;
    if (r->in_value)
        value_end(r);
    r->state = REQUEST_BODY;
    return 0;
}

static int on_body(void *arg, const char *at, size_t n)
{
    struct request *r = arg;
    if (n > HTTP_BODY_BYTES_MAX - r->body.len)
        return -1;
    text_add_bytes(&r->body, at, n);
    return 0;
}

static int on_whole(void *arg)
{
    struct request *r = arg;
    r->state = REQUEST_WHOLE;
    return 0;
}

static const struct splitter_sink sink = {
    .url = on_url,
    .field = on_field,
    .value = on_value,
    .head = on_head,
    .body = on_body,
    .whole = on_whole,
};

struct request *request_create(void)
{
    struct request *r = mem_alloc(sizeof *r);
    r->splitter = mem_must(splitter_create(SPLITTER_REQUESTS, &sink, r));
    return r;
}

void request_destroy(struct request *r)
{
    if (!r)
        return;
    text_fini(&r->url);
    text_fini(&r->headers);
    text_fini(&r->query);
    text_fini(&r->body);
    free(r->path);
    splitter_destroy(r->splitter);
    free(r);
}

/* Walks pairs: the name after `name` (the first one for NULL), NULL at the end. */
static const char *pair_next(const struct text *pairs, const char *name)
{
    const char *next = pairs->s;
    if (name) {
        const char *value = name + strlen(name) + 1;
        next = value + strlen(value) + 1;
    }
    return next && next < pairs->s + pairs->len ? next : NULL;
}

static const char *pair_value(const char *name)
{
    return name + strlen(name) + 1;
}

static size_t header_count(const struct request *r, const char *name)
{
    size_t n = 0;
    for (const char *h = pair_next(&r->headers, NULL); h; h = pair_next(&r->headers, h))
        n += strcasecmp(h, name) == 0;
    return n;
}

const char *request_header(const struct request *r, const char *name)
{
    for (const char *h = pair_next(&r->headers, NULL); h; h = pair_next(&r->headers, h))
        if (strcasecmp(h, name) == 0)
            return pair_value(h);
    return NULL;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Adds n bytes, unescaped; in a query a plus sign is a space, as forms write it. */
static int request_decode(struct text *out, const char *s, size_t n, bool query, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)s[i];
        if (c == '%') {
            int high = n - i > 2 ? hex_digit(s[i + 1]) : -1;
            int low = n - i > 2 ? hex_digit(s[i + 2]) : -1;
            if (high < 0 || low < 0 || high + low == 0)
                return err_set(e, -EINVAL, "\"%.*s\" in the URL is no escape that is allowed",
                               n - i > 2 ? 3 : (int)(n - i), s + i);
            c = high * 16 + low;
            i += 2;
        } else if (c == '+' && query) {
            c = ' ';
        }
        text_add_char(out, (char)c);
    }
    return 0;
}

static int parse_query(struct request *r, const char *s, size_t n, struct err *e)
{
    const char *end = s + n;
    while (s < end) {
        const char *stop = memchr(s, '&', (size_t)(end - s));
        stop = stop ? stop : end;
        const char *equals = memchr(s, '=', (size_t)(stop - s));
        const char *key_end = equals ? equals : stop;
        int rc = request_decode(&r->query, s, (size_t)(key_end - s), true, e);
        text_add_char(&r->query, '\0');
        if (rc == 0 && equals)
            rc = request_decode(&r->query, equals + 1, (size_t)(stop - equals - 1), true, e);
        text_add_char(&r->query, '\0');
        if (rc < 0)
            return rc;
        s = stop < end ? stop + 1 : end;
    }
    return 0;
}

/* "http://host/path" is read as "/path" (RFC 9112, 3.2.2): returns the end of the host's name. */
static const char *after_authority(const char *s)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncasecmp(s, schemes[i], strlen(schemes[i])) == 0)
            return s + strlen(schemes[i]) + strcspn(s + strlen(schemes[i]), "/?#");
    return s;
}

static int parse_target(struct request *r, struct err *e)
{
    text_add(&r->url, "");
    const char *s = after_authority(r->url.s);
    bool bare = s != r->url.s && *s != '/';
    if (!bare && *s != '/' && strcmp(s, "*") != 0)
        return err_set(e, -EINVAL, "the URL cannot be read");

    CLEANUP_TEXT struct text path = {0};
    text_add(&path, bare ? "/" : "");
    size_t n = strcspn(s, "?#");
    int rc = request_decode(&path, s, n, false, e);
    if (rc == 0 && s[n] == '?')
        rc = parse_query(r, s + n + 1, strcspn(s + n + 1, "#"), e);
    r->path = text_take(&path);
    return rc;
}

/* Checks that the end of the body is defined in one way only (RFC 9112, 6). The parser refuses most of these
 * cases too, but protection against smuggled requests must not depend on its build options. */
static int check_framing(const struct request *r, struct err *e)
{
    size_t lengths = header_count(r, "Content-Length");
    size_t encodings = header_count(r, "Transfer-Encoding");
    if (lengths + encodings > 1)
        return err_set(e, -EINVAL, "the request tells the length of its body more than once");
    const char *encoding = request_header(r, "Transfer-Encoding");
    if (encoding && (strcasecmp(encoding, "chunked") != 0 || splitter_minor(r->splitter) == 0))
        return err_set(e, -EINVAL, "the Transfer-Encoding is not \"chunked\" of HTTP/1.1");
    uint64_t length;
    if (splitter_length(r->splitter, &length) && length > HTTP_BODY_BYTES_MAX)
        return err_set(e, -E2BIG, "the body is larger than %d bytes", HTTP_BODY_BYTES_MAX);
    return 0;
}

/* Debian's build of the parser accepts spaces in names. "Content-Length : 3" would be Content-Length for some
 * readers and another header for others. */
static int check_names(const struct request *r, struct err *e)
{
    for (const char *h = pair_next(&r->headers, NULL); h; h = pair_next(&r->headers, h))
        if (strchr(h, ' '))
            return err_set(e, -EINVAL, "there is a space in the header name \"%.100s\"", h);
    return 0;
}

static int check_host(const struct request *r, struct err *e)
{
    size_t hosts = header_count(r, "Host");
    if (hosts > 1 || (hosts == 0 && splitter_minor(r->splitter) > 0))
        return err_set(e, -EINVAL, "the request has %zu Host headers", hosts);
    if (header_count(r, "Authorization") > 1)
        return err_set(e, -EINVAL, "the request has more than one Authorization header");
    if (header_count(r, "Idempotency-Key") > 1)
        return err_set(e, -EINVAL, "the request has more than one Idempotency-Key header");
    if (header_count(r, "Origin") == 0)
        return 0;
    const char *host = request_header(r, "Host");
    const char *origin = request_header(r, "Origin");
    if (header_count(r, "Origin") > 1 || !host || strncasecmp(origin, "https://", 8) != 0 ||
        strcasecmp(origin + 8, host) != 0)
        return err_set(e, -EACCES, "a page of \"%.200s\" may not ask here", origin);
    return 0;
}

static int check_head(struct request *r, struct err *e)
{
    if (splitter_major(r->splitter) != 1)
        return err_set(e, -EINVAL, "HTTP/%u.%u is not spoken here", splitter_major(r->splitter),
                       splitter_minor(r->splitter));
    if (strcmp(splitter_method(r->splitter), "CONNECT") == 0)
        return err_set(e, -EOPNOTSUPP, "CONNECT is not allowed");
    int rc = check_names(r, e);
    if (rc == 0)
        rc = check_framing(r, e);
    if (rc == 0)
        rc = check_host(r, e);
    if (rc == 0)
        rc = parse_target(r, e);
    return rc;
}

/* Depending on its state, the parser may join lines that begin with white space to the one before. Such lines
 * are obsolete (RFC 9112, 5.2) and refused. */
static bool has_fold(struct request *r, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (r->last == '\n' && (bytes[i] == ' ' || bytes[i] == '\t'))
            return true;
        r->last = bytes[i];
    }
    return false;
}

static int request_execute(struct request *r, const char *bytes, size_t n, size_t *used, struct err *e)
{
    const char *why;
    int rc = splitter_feed(r->splitter, bytes, n, used, &why);
    if (rc == -ECANCELED)
        return err_set(e, -E2BIG, "the body is larger than %d bytes", HTTP_BODY_BYTES_MAX);
    if (rc < 0)
        return err_set(e, -EINVAL, "this is not an HTTP request: %s", why);
    return 0;
}

static int feed_head(struct request *r, const char *bytes, size_t n, size_t *used, struct err *e)
{
    size_t room = HTTP_HEAD_BYTES_MAX - r->head_bytes;
    int rc = request_execute(r, bytes, n < room ? n : room, used, e);
    r->head_bytes += *used;
    if (rc < 0)
        return rc;
    if (has_fold(r, bytes, *used))
        return err_set(e, -EINVAL, "a header line begins with white space");
    if (r->state != REQUEST_HEAD)
        return check_head(r, e);
    if (r->head_bytes == HTTP_HEAD_BYTES_MAX)
        return err_set(e, -EMSGSIZE, "request line and headers are larger than %d bytes",
                       HTTP_HEAD_BYTES_MAX);
    return 0;
}

int request_feed(struct request *r, const char *bytes, size_t n, size_t *used, struct err *e)
{
    *used = 0;
    if (r->failed)
        return err_set(e, -EINVAL, "the request was refused");
    int rc = 0;
    if (r->state == REQUEST_HEAD)
        rc = feed_head(r, bytes, n, used, e);
    if (rc == 0 && r->state == REQUEST_BODY) {
        size_t more;
        rc = request_execute(r, bytes + *used, n - *used, &more, e);
        *used += more;
    }
    r->failed = rc < 0;
    return rc;
}

enum request_state request_state(const struct request *r)
{
    return r->state;
}

const char *request_method(const struct request *r)
{
    return splitter_method(r->splitter);
}

const char *request_path(const struct request *r)
{
    return r->path;
}

const char *request_query(const struct request *r, const char *key)
{
    for (const char *k = pair_next(&r->query, NULL); k; k = pair_next(&r->query, k))
        if (strcmp(k, key) == 0)
            return pair_value(k);
    return NULL;
}

const char *request_query_key(const struct request *r, size_t i)
{
    const char *k = pair_next(&r->query, NULL);
    while (k && i-- > 0)
        k = pair_next(&r->query, k);
    return k;
}

const char *request_body(const struct request *r, size_t *len)
{
    *len = r->body.len;
    return r->body.s ? r->body.s : "";
}

bool request_keeps_alive(const struct request *r)
{
    return splitter_keeps_alive(r->splitter);
}

bool request_knows_chunks(const struct request *r)
{
    return splitter_minor(r->splitter) > 0;
}

bool request_wants_continue(const struct request *r)
{
    const char *expect = request_header(r, "Expect");
    return splitter_minor(r->splitter) > 0 && expect && strcasecmp(expect, "100-continue") == 0;
}
