/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h on a network in virtual time. The fate of a request is drawn when it is sent: when etcd carries it
 * out, if at all, and when its answer comes, if at all. The two are independent, so that a request can be
 * carried out long after it was given up. A stream brings what was written, in pieces that end anywhere, for
 * as long as its member of etcd has a majority.
 */
#include "quorum.h"

#include "base/base64.h"
#include "base/err.h"
#include "base/json.h"
#include "fetch/fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct weather weather;
bool link_is_cut[CONTROLLERS][MEMBERS], member_is_alone[MEMBERS], member_is_down[MEMBERS];

enum { GRPC_RESOURCE_EXHAUSTED = 8, GRPC_UNAVAILABLE = 14 };
#define NEVER INT64_MAX

struct fetch {
    struct party *party;
    unsigned answered_ms;
    bool sent; /* of the answer that is being told */
};

struct request {
    struct fetch *fetch; /* NULL: nobody waits for it */
    unsigned controller, member;
    char *call, *body;
    fetch_done_fn *done;
    fetch_piece_fn *piece; /* of a stream; else NULL */
    void *arg;
    struct task *task; /* which waits for the answer */
    int64_t carried_out, answered, given_up;
    bool was_carried_out, is_answered, is_refused, is_definite;
    int status;
    struct text answer;
    /* A stream: */
    bool has_begun, is_mute;
    uint64_t from;     /* the next revision of etcd that it brings */
    struct text bytes; /* on their way */
    struct request *prev, *next;
};

static struct request *requests;

struct fetch *fetch_create(uv_loop_t *loop, const struct fetch_options *o)
{
    struct fetch *f = mem_alloc(sizeof *f);
    (void)loop;
    *f = (struct fetch){task_owner(), o->answered_ms ? o->answered_ms : FETCH_ANSWERED_MS, false};
    return f;
}

static void request_destroy(struct request *r)
{
    DL_DELETE(requests, r);
    free(r->call);
    free(r->body);
    text_fini(&r->answer);
    text_fini(&r->bytes);
    free(r);
}

/* What was sent is on its way all the same. */
static void request_leave(struct request *r)
{
    r->fetch = NULL;
    r->task = NULL;
    if (r->piece || r->was_carried_out || r->carried_out == NEVER)
        request_destroy(r);
}

void fetch_destroy(struct fetch *f)
{
    struct request *r, *tmp;
    if (!f)
        return;
    DL_FOREACH_SAFE(requests, r, tmp)
    if (r->fetch == f)
        request_leave(r);
    free(f);
}

bool fetch_sent(const struct fetch *f)
{
    return f->sent;
}

const char *fetch_header(const struct fetch *f, const char *name)
{
    (void)f;
    (void)name;
    return "";
}

/* --- fates ------------------------------------------------------------------------------------- */

static int64_t in_ms(uint64_t from, uint64_t to)
{
    return virtual_now() + (int64_t)((from + chance(to - from + 1)) * MS + chance(MS));
}

static bool is_reached(const struct request *r)
{
    return !link_is_cut[r->controller][r->member] && !member_is_alone[r->member];
}

static void fate_draw(struct request *r)
{
    r->given_up = virtual_now() + (int64_t)r->fetch->answered_ms * MS;
    r->carried_out = chance_of(weather.late) ? in_ms(20, 4000) : in_ms(0, 3);
    r->answered = chance_of(weather.late) ? r->carried_out + (int64_t)chance(4000 * (uint64_t)MS)
                                          : r->carried_out + (int64_t)chance(3 * MS);
    if (member_is_down[r->member] || r->fetch->party->is_dead) {
        r->is_refused = true;
        r->carried_out = NEVER;
        r->answered = in_ms(0, 2);
    } else if (!is_reached(r) || chance_of(weather.lost)) {
        r->carried_out = r->answered = NEVER;
    } else if (chance_of(weather.unanswered)) {
        r->answered = NEVER;
    } else if (chance_of(weather.haunting)) {
        r->carried_out = in_ms(r->fetch->answered_ms, r->fetch->answered_ms * 3);
        r->answered = NEVER;
    } else if (chance_of(weather.no_space)) {
        r->status =
            etcd_error(GRPC_RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", &r->answer);
    } else if (chance_of(weather.unavailable)) {
        r->is_definite = chance(2);
        r->status = etcd_error(GRPC_UNAVAILABLE,
                               r->is_definite ? "etcdserver: no leader" : "etcdserver: request timed out",
                               &r->answer);
    }
    /* An error without a majority is an answer before the request was carried out, or instead of it. */
    if (r->status && (r->is_definite || chance(2)))
        r->carried_out = NEVER;
}

static struct request *request_create(struct fetch *f, const char *url, const char *body)
{
    struct request *r = mem_alloc(sizeof *r);
    unsigned member = (unsigned)(url[strlen("http://e")] - '0');
    *r = (struct request){.fetch = f,
                          .controller = f->party->controller,
                          .member = member,
                          .call = mem_dup(strchr(url + strlen("http://"), '/')),
                          .body = mem_dup(body ? body : "")};
    DL_APPEND(requests, r);
    return r;
}

/* --- questions --------------------------------------------------------------------------------- */

static void answer_tell(struct request *r)
{
    struct fetch *f = r->fetch;
    struct err why = {0};
    int status = r->answered <= virtual_now() && !r->is_refused ? r->status : 0;
    if (!status)
        err_set(&why, r->is_refused ? -ECONNREFUSED : -ETIMEDOUT,
                r->is_refused ? "connection refused" : "no answer");
    f->sent = !r->is_refused;
    fetch_done_fn *done = r->done;
    void *arg = r->arg;
    struct text body = r->answer;
    r->answer = (struct text){0};
    owner_set(f->party);
    request_leave(r);
    done(arg, status, body.len ? body.s : "", body.len, &why);
    owner_set(NULL);
    text_fini(&body);
}

void fetch_start(struct fetch *f, const char *method, const char *url, const char *body, fetch_done_fn *done,
                 void *arg)
{
    struct request *r = request_create(f, url, body);
    (void)method;
    r->done = done;
    r->arg = arg;
    fate_draw(r);
    if (!task_self())
        return;
    r->task = task_self();
    while (!r->is_answered)
        task_wait(NEVER);
    answer_tell(r);
}

void fetch_start_if(struct fetch *f, const char *etag, const char *method, const char *url, const char *body,
                    fetch_done_fn *done, void *arg)
{
    (void)etag;
    fetch_start(f, method, url, body, done, arg);
}

static void carry_out(struct request *r)
{
    CLEANUP_TEXT struct text answer = {0};
    r->was_carried_out = true;
    r->carried_out = NEVER;
    int status = etcd_carry_out(r->call, r->body, &answer);
    carried_out();
    if (r->status || !r->fetch) /* its answer is another one, or nobody hears it */
        return;
    r->status = status;
    text_add_bytes(&r->answer, answer.s, answer.len);
}

/* --- streams ----------------------------------------------------------------------------------- */

static void event_write(const struct etcd_event *e, struct text *out)
{
    text_printf(out, "{%s\"kv\":{\"key\":\"", e->value ? "" : "\"type\":\"DELETE\",");
    base64_add(out, e->key, strlen(e->key));
    text_printf(out, "\",\"create_revision\":\"%" PRIu64 "\",\"mod_revision\":\"%" PRIu64 "\",\"value\":\"",
                e->created, e->revision);
    base64_add(out, e->value ? e->value : "", e->len);
    text_add(out, "\"}}");
}

static void line_begin(struct text *out, const char *more)
{
    text_printf(out,
                "{\"result\":{\"header\":{\"cluster_id\":\"7\",\"revision\":\"%" PRIu64 "\"}%s,\"events\":[",
                etcd_revision(), more);
}

/* The events of some whole revisions, in one line or several. */
static void events_write(struct request *r, struct text *out)
{
    const struct etcd_event *all;
    size_t n = etcd_events(&all), i = 0;
    uint64_t to = r->from + chance(6);
    bool is_first = true;
    while (i < n && all[i].revision < r->from)
        i++;
    if (i == n)
        return;
    line_begin(out, "");
    for (; i < n && all[i].revision <= to; i++) {
        if (!is_first && chance_of(weather.torn)) {
            text_printf(out, "]%s}}\n", all[i].revision == all[i - 1].revision ? ",\"fragment\":true" : "");
            line_begin(out, "");
            is_first = true;
        }
        text_add(out, is_first ? "" : ",");
        event_write(&all[i], out);
        is_first = false;
        r->from = all[i].revision;
    }
    text_add(out, "]}}\n");
    r->from++;
}

static void stream_begin(struct request *r)
{
    CLEANUP_JSON json_t *o = json_read(r->body, strlen(r->body), NULL);
    r->has_begun = true;
    r->from = strtoull(json_text(json_object_get(o, "create_request"), "start_revision"), NULL, 10);
    line_begin(&r->bytes, r->from < etcd_compacted() ? ",\"canceled\":true,\"compact_revision\":\"9\""
                                                     : ",\"created\":true");
    text_add(&r->bytes, "]}}\n");
    r->is_mute = r->from < etcd_compacted();
}

static void stream_end(struct request *r)
{
    struct err why;
    fetch_done_fn *done = r->done;
    void *arg = r->arg;
    err_set(&why, -ECONNRESET, "the connection was reset");
    request_leave(r);
    done(arg, 0, "", 0, &why);
}

/* Gives some bytes to whoever waits for them, who may stop the stream meanwhile. */
static void stream_tell(struct request *r)
{
    struct text all = r->bytes;
    size_t n = chance_of(weather.torn) ? 1 + chance(all.len) : all.len;
    r->bytes = (struct text){0};
    text_add_bytes(&r->bytes, all.s + n, all.len - n);
    r->piece(r->arg, all.s, n);
    text_fini(&all);
}

static void stream_turn(struct request *r)
{
    if (member_is_down[r->member] || chance_of(weather.unavailable)) {
        stream_end(r);
        return;
    }
    r->carried_out = in_ms(1, chance_of(weather.late) ? 300 : 5);
    r->is_mute = r->is_mute || chance_of(weather.mute);
    if (!is_reached(r) || (r->is_mute && !r->bytes.len))
        return;
    if (!r->has_begun)
        stream_begin(r);
    else if (!r->is_mute && !r->bytes.len) {
        uint64_t before = r->from;
        events_write(r, &r->bytes);
        if (chance_of(weather.doubled))
            r->from = before;
        else if (chance_of(weather.gap))
            r->from++;
    }
    if (r->bytes.len)
        stream_tell(r);
}

/* A task's stream: it brings what there is, and then ends. */
static void stream_of_task(struct request *r)
{
    CLEANUP_TEXT struct text bytes = {0};
    uint64_t before = 0;
    r->task = task_self();
    task_wait(in_ms(1, 10));
    if (is_reached(r) && !member_is_down[r->member] && !r->fetch->party->is_dead) {
        stream_begin(r);
        while (!r->is_mute && r->from != before) {
            before = r->from;
            events_write(r, &r->bytes);
        }
        bytes = r->bytes;
        r->bytes = (struct text){0};
        if (bytes.len)
            r->piece(r->arg, bytes.s, bytes.len);
    }
    r->carried_out = NEVER;
    stream_end(r);
}

struct request *fetch_stream(struct fetch *f, const char *method, const char *url, const char *body,
                             fetch_piece_fn *piece, fetch_done_fn *done, void *arg)
{
    struct request *r = request_create(f, url, body);
    (void)method;
    r->done = done;
    r->piece = piece;
    r->arg = arg;
    r->answered = r->given_up = NEVER;
    r->carried_out = task_self() ? NEVER : in_ms(0, 5);
    if (task_self())
        stream_of_task(r);
    return r;
}

void fetch_stop(struct request *r)
{
    request_leave(r);
}

/* --- time -------------------------------------------------------------------------------------- */

static int64_t request_due(const struct request *r)
{
    int64_t heard = r->answered < r->given_up ? r->answered : r->given_up;
    if (!r->fetch || r->is_answered || r->piece)
        heard = NEVER;
    return r->carried_out < heard ? r->carried_out : heard;
}

static struct request *request_next(void)
{
    struct request *r, *first = NULL;
    DL_FOREACH (requests, r)
        if (!first || request_due(r) < request_due(first))
            first = r;
    return first;
}

int64_t network_due(void)
{
    const struct request *r = request_next();
    return r ? request_due(r) : NEVER;
}

static void request_turn(struct request *r)
{
    if (r->piece) {
        owner_set(r->fetch->party);
        stream_turn(r);
        owner_set(NULL);
    } else if (r->carried_out <= virtual_now()) {
        carry_out(r);
        if (!r->fetch)
            request_destroy(r);
    } else if (r->task) {
        r->is_answered = true;
        task_wake(r->task);
    } else {
        answer_tell(r);
    }
}

void network_run(void)
{
    for (struct request *r; (r = request_next()) && request_due(r) <= virtual_now();)
        request_turn(r);
}

void network_end(void)
{
    struct request *r, *tmp;
    DL_FOREACH_SAFE(requests, r, tmp)
    request_destroy(r);
    memset(link_is_cut, 0, sizeof link_is_cut);
    memset(member_is_alone, 0, sizeof member_is_alone);
    memset(member_is_down, 0, sizeof member_is_down);
}
