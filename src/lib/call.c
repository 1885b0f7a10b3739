/* SPDX-License-Identifier: Apache-2.0
 *
 * The connection is kept between calls. A server may close an idle one at any moment, also while
 * the next request is on its way: one that is seen to be closed is not used; a reading request that
 * got no byte back is sent once more. A changing one may have been carried out. It has an id, by which the
 * controllers know it (doc/adr/0074), and is sent again, here or to the next controller, until one says what
 * came of it. When the time is over, its caller is told that nobody knows (-EINPROGRESS).
 */
#include "lib/call.h"

#include "http/response.h"
#include "lib/value.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const struct span KEEP_FOR = {INT64_C(45) * 1000000000}; /* the controller closes after 60 s */
enum {
    READ_BYTES = 64 << 10,
    NOT_LEADER = 421, /* the HTTP status of a change that a controller which does not lead refuses */
    UNAVAILABLE = 503,
    ROUND_MS = 200, /* between two rounds through all controllers */
    ID_BYTES = 16,  /* of the id of a request */
    DIAL_SHARE = 3  /* the part of the time for one of several controllers to take a connection */
};

int call_tell(struct fettle_error *e, int r, const struct err *why)
{
    if (e && r < 0) {
        e->code = r;
        snprintf(e->message, sizeof e->message, "%s", why->msg);
    }
    return r;
}

int fettle_open(const struct fettle_options *options, struct fettle **out, struct fettle_error *e)
{
    struct err why = {0};
    struct fettle *f = calloc(1, sizeof *f);
    if (!f)
        return call_tell(e, err_set(&why, -ENOMEM, "no memory"), &why);
    int n = address_init(f->addresses, options, &why);
    if (n < 0) {
        free(f);
        return call_tell(e, n, &why);
    }
    f->n_addresses = n;
    f->timeout_ms = options && options->timeout_ms > 0 ? options->timeout_ms : FETTLE_TIMEOUT_MS;
    *out = f;
    return 0;
}

void fettle_close(struct fettle *f)
{
    if (!f)
        return;
    dial_close(f->kept);
    for (int i = 0; i < f->n_addresses; i++)
        address_fini(&f->addresses[i]);
    free(f);
}

void call_turn(struct fettle *f)
{
    struct address first = f->addresses[0];
    for (int i = 1; i < f->n_addresses; i++)
        f->addresses[i - 1] = f->addresses[i];
    f->addresses[f->n_addresses - 1] = first;
    dial_close(f->kept);
    f->kept = NULL;
}

void fettle_dry_run(struct fettle *f, bool on)
{
    f->dry_run = on;
}

int call_write_request(struct buffer *to, const struct address *a, const char *method, const char *path,
                       const char *extra, const char *body, struct err *e)
{
    buffer_add(to, method);
    buffer_add(to, " ");
    buffer_add(to, path);
    buffer_add(to, " HTTP/1.1\r\nHost: ");
    buffer_add(to, a->path ? "localhost" : a->name + strlen("https://"));
    buffer_add(to, "\r\nUser-Agent: libfettle/" FETTLE_VERSION "\r\n");
    buffer_add(to, extra);
    int r = address_authorize(a, to, e);
    if (body) {
        buffer_add(to, "Content-Type: application/json\r\nContent-Length: ");
        buffer_add_u64(to, strlen(body));
        buffer_add(to, "\r\n");
    }
    buffer_add(to, "\r\n");
    buffer_add(to, body ? body : "");
    return r < 0 ? r : buffer_check(to, e);
}

static int on_body(void *arg, const char *bytes, size_t n)
{
    struct buffer *b = arg;
    if (n > FETTLE_ANSWER_BYTES_MAX - b->len)
        return -E2BIG;
    buffer_add_bytes(b, bytes, n);
    return b->short_of_memory ? -ENOMEM : 0;
}

/* Reads until the answer is complete. *any says whether a byte came; *keep whether the connection can be used
 * again. */
static int read_answer(struct dialled *d, struct http_response *response, struct mono until, bool *any,
                       bool *keep, struct err *e)
{
    char bytes[READ_BYTES];
    for (bool done = false; !done;) {
        ssize_t n = dial_read(d, bytes, sizeof bytes, until, e);
        if (n < 0)
            return (int)n;
        *any = *any || n > 0;
        *keep = n > 0;
        if (n == 0 && !*any)
            return err_set(e, -ECONNREFUSED, "the controller closed the connection without an answer");
        int r = http_response_feed(response, bytes, (size_t)n, &done, e);
        if (r == -E2BIG)
            return err_set(e, r, "the answer is larger than %d MiB", FETTLE_ANSWER_BYTES_MAX >> 20);
        if (r == -ENOMEM)
            return err_set(e, r, "no memory for the answer");
        if (r < 0)
            return r;
    }
    return 0;
}

static int call_converse(struct fettle *f, const struct buffer *request, struct mono until, int *status,
                         struct buffer *body, bool *any, struct err *e)
{
    struct http_response *response = http_response_create(on_body, body);
    if (!response)
        return err_set(e, -ENOMEM, "no memory");
    bool keep = false;
    assert(f->kept && "there is a connection to write to");
    int r = dial_write(f->kept, request->s, request->len, until, e);
    if (r == 0)
        r = read_answer(f->kept, response, until, any, &keep, e);
    if (r == 0)
        *status = http_response_status(response);
    if (r < 0 || !keep || *status / 100 != 2) {
        dial_close(f->kept);
        f->kept = NULL;
    }
    f->kept_at = mono_now();
    http_response_destroy(response);
    return r;
}

static bool use_kept(struct fettle *f)
{
    if (!f->kept)
        return false;
    if (mono_sub(mono_now(), f->kept_at).ns < KEEP_FOR.ns && !dial_is_stale(f->kept))
        return true;
    dial_close(f->kept);
    f->kept = NULL;
    return false;
}

/* A call on its way from controller to controller. */
struct exchange {
    const char *method, *path, *body;
    char extra[sizeof "Idempotency-Key: \r\n" + 2 * (size_t)ID_BYTES]; /* a change's id as a header, or "" */
    struct mono until;
    int status;
    bool sent;           /* this controller may have got the request */
    struct mono reached; /* when a controller last may have got it */
    bool lost;           /* some controller may have got it, and did not say what came of it */
    struct err cause;    /* of the first loss */
    struct buffer *answer;
};

/* A change that is not dry has an id. */
static int exchange_begin(const struct fettle *f, struct exchange *x, struct err *e)
{
    unsigned char random[ID_BYTES];
    x->until = mono_add(mono_now(), span_ms(f->timeout_ms));
    if (!x->body || f->dry_run)
        return 0;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_set(e, -errno, "no random bytes for the id of a request");
    size_t at = (size_t)snprintf(x->extra, sizeof x->extra, "Idempotency-Key: ");
    for (size_t i = 0; i < sizeof random; i++, at += 2)
        snprintf(x->extra + at, sizeof x->extra - at, "%02x", random[i]);
    snprintf(x->extra + at, sizeof x->extra - at, "\r\n");
    return 0;
}

static int exchange_dial(struct fettle *f, const struct exchange *x, struct err *e)
{
    const struct mono share = mono_add(mono_now(), span_ms(f->timeout_ms / DIAL_SHARE));
    const bool first = f->n_addresses > 1 && share.ns < x->until.ns;
    return address_dial(f->addresses, first ? share : x->until, &f->kept, e);
}

/* With one controller. */
static int exchange_once(struct fettle *f, struct exchange *x, struct err *e)
{
    struct buffer request = {0};
    int r = call_write_request(&request, f->addresses, x->method, x->path, x->extra, x->body, e);
    bool again = use_kept(f) && !x->body;
    if (r == 0 && !f->kept)
        r = exchange_dial(f, x, e);
    bool any = false;
    x->sent = r == 0;
    if (r == 0)
        r = call_converse(f, &request, x->until, &x->status, x->answer, &any, e);
    if (r == -ECONNREFUSED && again && !any) {
        r = exchange_dial(f, x, e);
        if (r == 0)
            r = call_converse(f, &request, x->until, &x->status, x->answer, &any, e);
    }
    if (r == -ETIMEDOUT)
        err_set(e, r, "no answer from the controller at %s within %d ms", f->addresses->name, f->timeout_ms);
    buffer_fini(&request);
    return r;
}

/* The controller did not say what came of a change that it may have got. One that refuses the certificate
 * (-EPERM) read nothing. */
static void exchange_note(struct exchange *x, int r, const struct err *e)
{
    const bool unknown =
        r == 0 ? x->status == err_http(-EINPROGRESS) : x->sent && r != -ENOMEM && r != -EPERM;
    if (!*x->extra || !unknown || x->lost)
        return;
    x->lost = true;
    if (r < 0)
        x->cause = *e;
    else
        err_set(&x->cause, -EINPROGRESS, "a controller did not know");
}

/* Another controller, or this one later, may say more. */
static bool exchange_goes_on(const struct exchange *x, int r)
{
    if (r == -ENOMEM)
        return false;
    if (x->lost) /* any other answer is the last word on the change */
        return r < 0 || x->status == NOT_LEADER || x->status == UNAVAILABLE ||
               x->status == err_http(-EINPROGRESS);
    return r == 0 ? x->status == NOT_LEADER : !x->sent && (r == -ECONNREFUSED || r == -ETIMEDOUT);
}

/* The controller's own words that it does not know are an answer like any other. */
static int exchange_end(const struct exchange *x, int r, struct err *e)
{
    if (!x->lost || (r == 0 && (x->status == err_http(-EINPROGRESS) || !exchange_goes_on(x, r))))
        return r;
    return err_set(e, -EINPROGRESS,
                   "it is not known whether the change was made: %.300s; look before you try again",
                   x->cause.msg);
}

/* The time is over; or it is long, and for the time of a usual call no controller was there. */
static bool exchange_is_late(const struct exchange *x)
{
    const struct mono now = mono_now();
    return mono_sub(x->until, now).ns <= span_ms(ROUND_MS).ns ||
           (x->lost && mono_sub(now, x->reached).ns > span_ms(FETTLE_TIMEOUT_MS).ns);
}

/* A controller that cannot be reached, or does not lead, did nothing: another one is asked, as long as there
 * is time. When all were asked, a leader may be about to be found. */
static int exchange_run(struct fettle *f, struct exchange *x, struct err *e)
{
    bool follows = false; /* a controller of this round answered that it does not lead */
    for (int asked = 1;; asked++) {
        const int r = exchange_once(f, x, e);
        exchange_note(x, r, e);
        if (x->sent)
            x->reached = mono_now();
        follows = follows || (r == 0 && x->status == NOT_LEADER);
        const bool is_round = asked % f->n_addresses == 0;
        const bool is_late = exchange_is_late(x);
        if (!exchange_goes_on(x, r) || (f->n_addresses == 1 && !x->lost) ||
            (is_round && (is_late || !(follows || x->lost))))
            return exchange_end(x, r, e);
        if (is_round)
            poll(NULL, 0, ROUND_MS);
        follows = follows && !is_round;
        buffer_fini(x->answer);
        call_turn(f);
    }
}

static int call_exchange(struct fettle *f, const char *method, const char *path, const char *body,
                         int *status, struct buffer *answer, struct err *e)
{
    struct exchange x = {.method = method, .path = path, .body = body, .answer = answer};
    int r = exchange_begin(f, &x, e);
    if (r == 0)
        r = exchange_run(f, &x, e);
    *status = x.status;
    return r;
}

int call_refusal(const struct address *a, int status, struct buffer *body, struct err *e)
{
    struct fettle_answer *answer = NULL;
    const char *code = NULL, *message = NULL;
    size_t len = body->len;
    if (len > 0 && answer_read(buffer_take(body), len, &answer, NULL) == 0) {
        const struct fettle_value *error = fettle_value_find(fettle_answer_value(answer), "error");
        code = fettle_get_text(error, "code");
        message = fettle_get_text(error, "message");
    }
    int r = code && message
                ? err_set(e, err_code(code), "%s", message)
                : err_set(e, -EPROTO, "the answer of %s is not Fettle's (HTTP status %d)", a->name, status);
    fettle_answer_free(answer);
    return r;
}

/* Every good answer of the interface is an object. */
static int read_object(const struct address *a, char *bytes, size_t len, struct fettle_answer **out,
                       struct err *e)
{
    int r = answer_read(bytes, len, out, e);
    if (r < 0 || fettle_value_kind(fettle_answer_value(*out)) == FETTLE_OBJECT)
        return r;
    fettle_answer_free(*out);
    *out = NULL;
    return err_set(e, -EPROTO, "the answer of %s is not Fettle's: it is no object of JSON", a->name);
}

static int answer_fetch(struct fettle *f, const char *method, const char *path, const char *body,
                        struct fettle_answer **out, struct err *e)
{
    struct buffer answer = {0}, target = {0};
    int status = 0;
    buffer_add(&target, path);
    if (f->dry_run && strcmp(method, "POST") == 0)
        buffer_add(&target, "?dry_run=true");
    int r = buffer_check(&target, e);
    if (r == 0)
        r = call_exchange(f, method, target.s, body, &status, &answer, e);
    buffer_fini(&target);
    size_t len = answer.len;
    if (r == 0 && status / 100 != 2)
        r = call_refusal(f->addresses, status, &answer, e);
    else if (r == 0 && len == 0)
        r = err_set(e, -EPROTO, "the answer of %s is empty", f->addresses->name);
    else if (r == 0)
        r = read_object(f->addresses, buffer_take(&answer), len, out, e);
    buffer_fini(&answer);
    return r;
}

int call_ask(struct fettle *f, const char *method, const char *path, const char *body,
             struct fettle_answer **out, struct fettle_error *e)
{
    struct err why = {0};
    return call_tell(e, answer_fetch(f, method, path, body, out, &why), &why);
}

int call_get(struct fettle *f, struct buffer *path, struct fettle_answer **out, struct fettle_error *e)
{
    struct err why = {0};
    int r = buffer_check(path, &why);
    if (r == 0)
        r = answer_fetch(f, "GET", path->s, NULL, out, &why);
    buffer_fini(path);
    return call_tell(e, r, &why);
}

int call_post(struct fettle *f, const char *path, struct buffer *body, struct fettle_answer **out,
              struct fettle_error *e)
{
    struct err why = {0};
    int r = buffer_check(body, &why);
    if (r == 0)
        r = answer_fetch(f, "POST", path, body->s, out, &why);
    buffer_fini(body);
    return call_tell(e, r, &why);
}

int call_get_text(struct fettle *f, const char *path, struct buffer *out, struct fettle_error *e)
{
    struct err why = {0};
    int status = 0;
    int r = call_exchange(f, "GET", path, NULL, &status, out, &why);
    if (r == 0 && status / 100 != 2)
        r = call_refusal(f->addresses, status, out, &why);
    return call_tell(e, r, &why);
}

/* One word of a request line. */
static bool is_word(const char *s)
{
    if (*s == '\0')
        return false;
    for (; *s; s++)
        if (*s <= 0x20 || *s >= 0x7f)
            return false;
    return true;
}

int fettle_call(struct fettle *f, const char *method, const char *path, const char *body, int *status,
                char **text, struct fettle_error *e)
{
    struct err why = {0};
    struct buffer answer = {0};
    if (!is_word(method) || !is_word(path) || path[0] != '/')
        return call_tell(e, err_set(&why, -EINVAL, "the method or the path is not fit for a request"), &why);
    int r = call_exchange(f, method, path, body, status, &answer, &why);
    if (r == 0) {
        *text = buffer_take(&answer);
        r = *text ? 0 : err_set(&why, -ENOMEM, "no memory");
    }
    buffer_fini(&answer);
    return call_tell(e, r, &why);
}

static int bytes_fetch(struct fettle *f, const char *path, char **bytes, size_t *len, struct err *e)
{
    struct buffer target = {0}, answer = {0};
    int status = 0;
    buffer_add(&target, path ? "/v1/audit/" : "/v1/audit");
    buffer_add(&target, path ? path : "");
    int r = buffer_check(&target, e);
    if (r == 0 && !is_word(target.s))
        r = err_set(e, -EINVAL, "the path is not fit for a request");
    if (r == 0)
        r = call_exchange(f, "GET", target.s, NULL, &status, &answer, e);
    buffer_fini(&target);
    if (r == 0 && status / 100 != 2) {
        r = call_refusal(f->addresses, status, &answer, e);
    } else if (r == 0) {
        *len = answer.len;
        *bytes = buffer_take(&answer);
        r = *bytes ? 0 : err_set(e, -ENOMEM, "no memory");
    }
    buffer_fini(&answer);
    return r;
}

int fettle_audit_read(struct fettle *f, const char *path, char **bytes, size_t *len, struct fettle_error *e)
{
    struct err why = {0};
    return call_tell(e, bytes_fetch(f, path, bytes, len, &why), &why);
}

int fettle_read(const char *text, struct fettle_answer **out, struct fettle_error *e)
{
    struct err why = {0};
    size_t len = strlen(text);
    char *copy = malloc(len + 2);
    if (!copy)
        return call_tell(e, err_set(&why, -ENOMEM, "no memory"), &why);
    memcpy(copy, text, len + 1);
    return call_tell(e, answer_read(copy, len, out, &why), &why);
}
