/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl's multi interface on a libuv loop: libcurl says which sockets to watch and when to call it again,
 * and libuv does that. No thread but libcurl's own for names.
 *
 * Everything that reports to a caller goes through on_timeout or on_socket, after libcurl was called and
 * before the callback returns. A request that failed before it began waits in the same list as the others,
 * and the timer finds it. So fetch_start never calls back.
 *
 * A callback may destroy the fetch that called it. So the finished requests are first taken out of libcurl,
 * then reported one by one, and `alive` on the stack says whether to go on.
 */
#include "fetch/fetch.h"

#include "base/loop.h"
#include "base/private.h"
#include "base/secret.h"
#include "base/text.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

struct request {
    struct fetch *fetch;
    CURL *easy; /* NULL: it could not be started */
    struct curl_slist *headers;
    struct text out; /* the body of the request, from `sent` on not sent yet */
    size_t sent;
    struct text body;
    bool too_large;
    bool is_finished;
    int status;
    struct err why;
    char words[CURL_ERROR_SIZE];
    fetch_piece_fn *piece; /* NULL: the answer is told as a whole */
    fetch_done_fn *done;
    void *arg;
    struct request *prev, *next;
};

/* One watched socket of libcurl. */
struct watched {
    uv_poll_t poll;
    struct fetch *fetch;
    curl_socket_t fd;
};

struct fetch {
    uv_loop_t *loop;
    uv_timer_t timer;
    CURLM *multi;
    char *ca, *token, *user, *password, *cert, *key, *header;
    unsigned answered_ms;
    size_t answer_max;
    bool keeps_connections;
    struct request *open;     /* requests that libcurl has */
    struct request *finished; /* requests to be reported */
    struct request *told;     /* the request whose callback is running */
    bool *alive;              /* belongs to the callback that is running; NULL otherwise */
};

static void request_free(struct request *r)
{
    curl_easy_cleanup(r->easy);
    curl_slist_free_all(r->headers);
    text_fini(&r->out);
    text_fini(&r->body);
    free(r);
}

static void fetch_finish(struct request *r)
{
    struct fetch *f = r->fetch;
    if (r->easy) {
        DL_DELETE(f->open, r);
        curl_multi_remove_handle(f->multi, r->easy);
    }
    r->is_finished = true;
    DL_APPEND(f->finished, r);
}

static int errno_of(CURLcode code)
{
    if (code == CURLE_OPERATION_TIMEDOUT)
        return -ETIMEDOUT;
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST)
        return -ECONNREFUSED;
    return -EPROTO;
}

static void fetch_judge(struct request *r, CURLcode code)
{
    long status = 0;
    if (r->too_large)
        err_set(&r->why, -E2BIG, "the answer is longer than %zu bytes", r->fetch->answer_max);
    else if (code != CURLE_OK)
        err_set(&r->why, errno_of(code), "%s", r->words[0] ? r->words : curl_easy_strerror(code));
    else if (curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK || status < 100)
        err_set(&r->why, -EPROTO, "no HTTP answer");
    else
        r->status = (int)status;
}

static struct request *piece_find(struct request *list)
{
    struct request *r;
    DL_FOREACH (list, r)
        if (r->piece && r->body.len)
            return r;
    return NULL;
}

/* Hands on what streams have brought. The callback may stop the stream, or destroy f. */
static void fetch_tell_pieces(struct fetch *f, const bool *alive)
{
    for (struct request *r; *alive && ((r = piece_find(f->open)) || (r = piece_find(f->finished)));) {
        CLEANUP_TEXT struct text piece = r->body;
        r->body = (struct text){0};
        r->piece(r->arg, piece.s, piece.len);
    }
}

/* Reports all requests that have ended. f may be gone afterwards. */
static void fetch_tell(struct fetch *f)
{
    LOOP_DOES("answers of other services");
    if (f->alive)
        return; /* a callback is running already */
    bool alive = true;
    f->alive = &alive;
    CURLMsg *m;
    for (int left; (m = curl_multi_info_read(f->multi, &left));) {
        struct request *r = NULL;
        if (m->msg != CURLMSG_DONE || curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &r) != CURLE_OK)
            continue;
        fetch_judge(r, m->data.result);
        fetch_finish(r);
    }
    fetch_tell_pieces(f, &alive);
    for (struct request *r; alive && (r = f->finished);) {
        DL_DELETE(f->finished, r);
        text_add(&r->body, "");
        f->told = r;
        r->done(r->arg, r->status, r->status ? r->body.s : "", r->status ? r->body.len : 0, &r->why);
        if (alive)
            f->told = NULL;
        request_free(r);
    }
    if (alive)
        f->alive = NULL;
}

static void on_timeout(uv_timer_t *timer)
{
    struct fetch *f = timer->data;
    int running;
    curl_multi_socket_action(f->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    fetch_tell(f);
}

static int on_curl_timer(CURLM *multi, long ms, void *arg)
{
    struct fetch *f = arg;
    if (f->finished)
        ms = 0;
    if (ms < 0)
        uv_timer_stop(&f->timer);
    else
        uv_timer_start(&f->timer, on_timeout, (uint64_t)ms, 0);
    return 0;
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct watched *w = poll->data;
    struct fetch *f = w->fetch;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    flags |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
    flags |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    int running;
    curl_multi_socket_action(f->multi, w->fd, flags, &running);
    fetch_tell(f);
}

static void on_watched_closed(uv_handle_t *h)
{
    free(h->data);
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct fetch *f = arg;
    struct watched *w = socket_arg;
    if (what == CURL_POLL_REMOVE) {
        if (w) {
            uv_poll_stop(&w->poll);
            uv_close((uv_handle_t *)&w->poll, on_watched_closed);
            curl_multi_assign(f->multi, fd, NULL);
        }
        return 0;
    }
    if (!w) {
        w = mem_alloc(sizeof *w);
        *w = (struct watched){.fetch = f, .fd = fd};
        if (uv_poll_init(f->loop, &w->poll, fd) < 0) {
            free(w);
            return -1; /* the request fails */
        }
        w->poll.data = w;
        curl_multi_assign(f->multi, fd, w);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    return uv_poll_start(&w->poll, events, on_socket) < 0 ? -1 : 0;
}

static void curl_begin(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct fetch *fetch_create(uv_loop_t *loop, const struct fetch_options *o)
{
    static uv_once_t begun = UV_ONCE_INIT; /* each thread may have a fetch of its own */
    uv_once(&begun, curl_begin);
    struct fetch *f = mem_alloc(sizeof *f);
    f->loop = loop;
    f->ca = mem_dup(o->ca);
    f->token = mem_dup(o->token);
    f->user = mem_dup(o->user);
    f->password = mem_dup(o->password);
    f->cert = mem_dup(o->cert);
    f->key = mem_dup(o->key);
    f->header = mem_dup(o->header);
    f->keeps_connections = o->keeps_connections;
    f->answer_max = o->answer_max ? o->answer_max : FETCH_BODY_BYTES_MAX;
    f->answered_ms = o->answered_ms ? o->answered_ms : FETCH_ANSWERED_MS;
    uv_timer_init(loop, &f->timer);
    f->timer.data = f;
    f->multi = curl_multi_init();
    if (!f->multi)
        abort();
    curl_multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    curl_multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
    curl_multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    curl_multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
    return f;
}

static void on_timer_closed(uv_handle_t *h)
{
    free(h->data);
}

void fetch_destroy(struct fetch *f)
{
    if (!f)
        return;
    if (f->alive)
        *f->alive = false;
    for (struct request *r; (r = f->open);)
        fetch_finish(r);
    for (struct request *r; (r = f->finished);) {
        DL_DELETE(f->finished, r);
        request_free(r);
    }
    curl_multi_cleanup(f->multi); /* returns its sockets through on_curl_socket */
    free(f->ca);
    free(f->token);
    free(f->user);
    free(f->password);
    free(f->cert);
    free(f->key);
    free(f->header);
    uv_timer_stop(&f->timer);
    uv_close((uv_handle_t *)&f->timer, on_timer_closed);
}

static size_t on_body(char *bytes, size_t size, size_t n, void *arg)
{
    struct request *r = arg;
    if (n > r->fetch->answer_max - r->body.len) {
        r->too_large = true;
        return 0;
    }
    text_add_bytes(&r->body, bytes, n);
    return n;
}

static size_t on_send(char *bytes, size_t size, size_t n, void *arg)
{
    struct request *r = arg;
    size_t left = r->out.len - r->sent, len = size * n < left ? size * n : left;
    memcpy(bytes, r->out.s + r->sent, len);
    r->sent += len;
    return len;
}

/* The bytes of a small file that nobody else may read. */
static int read_secret(const char *path, struct text *out, struct err *e)
{
    int fd = private_open(path, e);
    if (fd < 0)
        return fd;
    ssize_t n = read(fd, text_room(out, FETCH_TOKEN_BYTES_MAX + 1), FETCH_TOKEN_BYTES_MAX + 1);
    close(fd);
    if (n < 0)
        return err_set(e, -EIO, "%s: not a file that can be read", path);
    if (n > FETCH_TOKEN_BYTES_MAX)
        return err_set(e, -E2BIG, "%s: longer than %d bytes", path, FETCH_TOKEN_BYTES_MAX);
    out->len = (size_t)n;
    return 0;
}

static int read_token(const char *path, struct text *out, struct err *e)
{
    int rc = read_secret(path, out, e);
    if (rc < 0)
        return rc;
    while (out->len && strchr(" \t\r\n", out->s[out->len - 1]))
        out->len--;
    for (size_t i = 0; i < out->len; i++) /* it goes into a header unchanged */
        if (out->s[i] <= ' ' || out->s[i] > '~')
            return err_set(e, -EINVAL, "%s: a byte that no token has", path);
    if (out->len == 0)
        return err_set(e, -EINVAL, "%s: no token in it", path);
    return 0;
}

static void add_header(struct request *r, const char *line)
{
    struct curl_slist *longer = curl_slist_append(r->headers, line);
    if (!longer)
        abort();
    r->headers = longer;
}

/* The server chose the text earlier; it must not end the header line. */
static int add_etag(struct request *r, const char *etag, struct err *e)
{
    CLEANUP_TEXT struct text line = {0};
    if (strlen(etag) > FETCH_ETAG_BYTES_MAX)
        return err_set(e, -E2BIG, "an ETag of more than %d bytes", FETCH_ETAG_BYTES_MAX);
    for (const char *s = etag; *s; s++)
        if (*s < ' ' || *s > '~')
            return err_set(e, -EINVAL, "a byte that no ETag has");
    text_printf(&line, "If-Match: %s", etag);
    if (*etag)
        add_header(r, line.s);
    return 0;
}

static int add_headers(struct request *r, bool has_body, struct err *e)
{
    add_header(r, "Accept: application/json");
    add_header(r, "Expect:");
    if (r->fetch->header)
        add_header(r, r->fetch->header);
    if (has_body)
        add_header(r, "Content-Type: application/json");
    if (!r->fetch->token)
        return 0;
    CLEANUP_TEXT struct text token = {0}, line = {0};
    int rc = read_token(r->fetch->token, &token, e);
    if (rc < 0)
        return rc;
    text_add(&line, "Authorization: Bearer ");
    text_add_bytes(&line, token.s, token.len);
    add_header(r, line.s);
    return 0;
}

#define SET(option, value) (rc = rc ? rc : curl_easy_setopt(c, CURLOPT_##option, value))

static CURLcode set_bounds(struct request *r, CURL *c)
{
    CURLcode rc = CURLE_OK;
    SET(PROTOCOLS_STR, "http,https");
    SET(FOLLOWLOCATION, 0L);
    SET(PROXY, ""); /* these are addresses in the cluster; a proxy from the environment is for others */
    SET(DISALLOW_USERNAME_IN_URL, 1L);
    SET(NOSIGNAL, 1L);
    SET(QUICK_EXIT, 1L); /* otherwise giving up waits, in the loop, for the look-up of a name */
    SET(CONNECTTIMEOUT_MS, (long)FETCH_CONNECTED_MS);
    SET(TIMEOUT_MS, r->piece ? 0L : (long)r->fetch->answered_ms);
    SET(TCP_KEEPALIVE, 1L);
    SET(SSL_VERIFYPEER, 1L);
    SET(SSL_VERIFYHOST, 2L);
    if (r->fetch->ca)
        SET(CAINFO, r->fetch->ca);
    if (r->fetch->cert)
        SET(SSLCERT, r->fetch->cert);
    if (r->fetch->key)
        SET(SSLKEY, r->fetch->key);
    SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    return rc;
}

/* libcurl copies both. They are sent over TLS only, or to a server that the operator named with http. */
static CURLcode set_user(const struct request *r, CURL *c)
{
    CURLcode rc = CURLE_OK;
    if (!r->fetch->user)
        return CURLE_OK;
    SET(HTTPAUTH, (long)CURLAUTH_BASIC);
    SET(USERNAME, r->fetch->user);
    SET(PASSWORD, r->fetch->password ? r->fetch->password : "");
    return rc;
}

/* A body that libcurl cannot begin anew, so that it never sends twice what somebody may have carried out. */
static CURLcode set_body_once(struct request *r, CURL *c, const char *body)
{
    CURLcode rc = CURLE_OK;
    text_add(&r->out, body);
    SET(POST, 1L);
    SET(POSTFIELDSIZE_LARGE, (curl_off_t)r->out.len);
    SET(READFUNCTION, on_send);
    SET(READDATA, r);
    return rc;
}

static CURLcode set_request(struct request *r, CURL *c, const char *method, const char *url, const char *body)
{
    CURLcode rc = set_bounds(r, c);
    SET(URL, url);
    SET(USERAGENT, "fettle/" FETTLE_VERSION);
    SET(HTTPHEADER, r->headers);
    bool kept = r->fetch->keeps_connections;
    if (body && kept)
        rc = rc ? rc : set_body_once(r, c, body);
    else if (body)
        SET(COPYPOSTFIELDS, body);
    SET(CUSTOMREQUEST, method);
    /* On a used connection libcurl would repeat a request that may have been carried out. */
    SET(FRESH_CONNECT, strcmp(method, "POST") == 0 && !kept ? 1L : 0L);
    SET(WRITEFUNCTION, on_body);
    SET(WRITEDATA, r);
    SET(ERRORBUFFER, r->words);
    SET(PRIVATE, r);
    return rc;
}

void fetch_start(struct fetch *f, const char *method, const char *url, const char *body, fetch_done_fn *done,
                 void *arg)
{
    fetch_start_if(f, "", method, url, body, done, arg);
}

const char *fetch_header(const struct fetch *f, const char *name)
{
    struct curl_header *h;
    if (!f->told || !f->told->easy ||
        curl_easy_header(f->told->easy, name, 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
        return "";
    return h->value;
}

bool fetch_sent(const struct fetch *f)
{
    long bytes = 0;
    return f->told && f->told->easy &&
           curl_easy_getinfo(f->told->easy, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK && bytes > 0;
}

/* Hands the request to libcurl. What cannot be started is reported like any other end. */
static void request_begin(struct request *r, const char *etag, const char *method, const char *url,
                          const char *body)
{
    struct fetch *f = r->fetch;
    CURL *c = curl_easy_init();
    if (!c)
        abort();
    CURLcode rc = CURLE_OK;
    if (add_headers(r, body != NULL, &r->why) == 0 && add_etag(r, etag, &r->why) == 0) {
        rc = set_request(r, c, method, url, body);
        rc = rc ? rc : set_user(r, c);
        if (rc == CURLE_OK && curl_multi_add_handle(f->multi, c) == CURLM_OK) {
            r->easy = c;
            DL_APPEND(f->open, r);
            return;
        }
        if (!r->why.code)
            err_set(&r->why, -EPROTO, "%s", rc ? curl_easy_strerror(rc) : "the request could not be started");
    }
    curl_easy_cleanup(c);
    fetch_finish(r);
    uv_timer_start(&f->timer, on_timeout, 0, 0);
}

void fetch_start_if(struct fetch *f, const char *etag, const char *method, const char *url, const char *body,
                    fetch_done_fn *done, void *arg)
{
    assert(method && url && done);
    struct request *r = mem_alloc(sizeof *r);
    *r = (struct request){.fetch = f, .done = done, .arg = arg};
    request_begin(r, etag, method, url, body);
}

struct request *fetch_stream(struct fetch *f, const char *method, const char *url, const char *body,
                             fetch_piece_fn *piece, fetch_done_fn *done, void *arg)
{
    assert(method && url && piece && done);
    struct request *r = mem_alloc(sizeof *r);
    *r = (struct request){.fetch = f, .piece = piece, .done = done, .arg = arg};
    request_begin(r, "", method, url, body);
    return r;
}

void fetch_stop(struct request *r)
{
    assert(r->piece && r != r->fetch->told && "a stream that has ended is not stopped");
    if (!r->is_finished)
        fetch_finish(r);
    DL_DELETE(r->fetch->finished, r);
    request_free(r);
}
