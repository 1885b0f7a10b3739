/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/actors.h"

#include "base/log.h"
#include "driver/operate.h"
#include "health/finding.h"
#include "node/action.h"
#include "node/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    ASK_AGAIN_MS = 500,              /* whether it may be begun */
    LOOK_AGAIN_MS = 100,             /* the same, while that is found out */
    TELL_AGAIN_S = 5,                /* the agent, until it says what came of it */
    RESULT_AGAIN_S = 30,             /* until the record has it */
    AFTER_DEADLINE_S = 60,           /* an agent that says nothing for so long more will not */
    LEFT_MS_MAX = 21 * 86400 * 1000, /* an agent takes no longer one */
    ID_BYTES_MAX = 47
};

enum state { WAITS, BEGINS, BEGUN };

/* One operation: of a repair, or (with fn) a check that a person or a trial asked for. */
struct actor {
    char *node, *run;
    char *of;    /* the remedy */
    char *nodes; /* that run the check together; NULL: it alone does */
    unsigned rank;
    char id[ID_BYTES_MAX + 1], boot[37];
    struct wall deadline; /* as the record has it */
    struct mono due;      /* the same; 0 until it was looked at. A clock that is set moves it no more */
    enum state state;
    bool untold;  /* begun, and the agent has no order to begin it */
    bool ordered; /* by us */
    struct mono next;
    char nonce[ORDER_NONCE_HEX + 1]; /* of an agent that asks for the order; "": of none */
    actors_verdict_fn *fn;
    void *arg;
    struct actor *prev, *next_one;
};

struct actors {
    struct actors_setup with;
    struct actor *list;
    uint64_t asked; /* checks that persons asked for */
};

struct actors *actors_create(const struct actors_setup *setup)
{
    struct actors *a = mem_alloc(sizeof *a);
    a->with = *setup;
    return a;
}

static void actors_drop(struct actors *a, struct actor *o)
{
    DL_DELETE2(a->list, o, prev, next_one);
    free(o->node);
    free(o->run);
    free(o->of);
    free(o->nodes);
    free(o);
}

/* Tells whoever asked for a check. */
static void actors_answer(struct actors *a, struct actor *o, const json_t *verdict, const struct err *why)
{
    actors_verdict_fn *fn = o->fn;
    void *arg = o->arg;
    struct member *m = cluster_find(a->with.cluster, o->node);
    actors_drop(a, o);
    fn(arg, m, verdict, why);
}

void actors_destroy(struct actors *a)
{
    if (!a)
        return;
    struct err why = {0};
    err_set(&why, -EAGAIN, "the controller ends");
    while (a->list) {
        if (a->list->fn)
            actors_answer(a, a->list, NULL, &why);
        else
            actors_drop(a, a->list);
    }
    free(a);
}

static void result_with(struct actors *a, const struct actor *o, const char *state, const char *text,
                        struct wall at, enum refusal code)
{
    CLEANUP_TEXT struct text key = {0}, done = {0};
    text_printf(&key, OPERATE_KEY "%s", o->node);
    text_printf(&done, "{\"state\":\"%s\",\"id\":", state);
    text_add_json(&done, o->id);
    if (at.ns)
        text_printf(&done, ",\"at\":\"%lld\"", (long long)at.ns);
    if (text) {
        CLEANUP_FREE char *clean = mem_line(text, EFFECT_TEXT_BYTES_MAX);
        text_add(&done, ",\"text\":");
        text_add_json(&done, clean);
    }
    if (code)
        text_printf(&done, ",\"code\":\"%s\"", refusal_name(code));
    text_add_char(&done, '}');
    a->with.result(a->with.result_arg, key.s, done.s);
}

static void actors_result(struct actors *a, const struct actor *o, const char *state, const char *text,
                          struct wall at)
{
    result_with(a, o, state, text, at, REFUSAL_NONE);
}

/* --- records --------------------------------------------------------------------------------- */

static struct actor *actors_find(struct actors *a, const char *node)
{
    struct actor *o;
    DL_FOREACH2(a->list, o, next_one)
    {
        if (!o->fn && strcmp(o->node, node) == 0)
            return o;
    }
    return NULL;
}

static struct wall time_of(const json_t *o, const char *key)
{
    uint64_t ns = 0;
    text_parse_u64(json_text(o, key), 0, INT64_MAX, &ns, NULL);
    return (struct wall){(int64_t)ns};
}

static void take_record(struct actors *a, const char *node, const json_t *o)
{
    struct actor *was = actors_find(a, node);
    const char *id = json_text(o, "id"), *state = json_text(json_object_get(o, "done"), "state");
    bool open = !*state || strcmp(state, "begun") == 0;
    if (was && (strcmp(was->id, id) != 0 || !open)) {
        actors_drop(a, was);
        was = NULL;
    }
    if (!open || action_of(json_text(o, "run")).by != ACTION_BY_AGENT)
        return;
    if (!was) {
        was = mem_alloc(sizeof *was);
        was->node = mem_dup(node);
        was->run = mem_dup(json_text(o, "run"));
        was->of = mem_dup(json_text(o, "of"));
        snprintf(was->id, sizeof was->id, "%s", id);
        snprintf(was->boot, sizeof was->boot, "%s", json_text(o, "boot"));
        was->deadline = time_of(o, "deadline");
        DL_APPEND2(a->list, was, prev, next_one);
    }
    if (*state && was->state != BEGUN) {
        was->untold = was->state == BEGINS;
        was->state = BEGUN;
        was->next = (struct mono){0};
    }
}

/* It was taken away before its end: a check that runs is not wanted any more. */
static void give_up(struct actors *a, struct actor *o)
{
    struct member *m = cluster_find(a->with.cluster, o->node);
    if (m && o->state == BEGUN && action_of(o->run).kind == ACTION_CHECK)
        actors_end(a, m, action_of(o->run).rest);
    actors_drop(a, o);
}

void actors_effect(struct actors *a, const char *key, const char *value)
{
    const char *node = operate_key_node(key);
    if (!node)
        return;
    CLEANUP_JSON json_t *o = value ? json_read(value, strlen(value), NULL) : NULL;
    struct actor *was = actors_find(a, node);
    if (o)
        take_record(a, node, o);
    else if (was)
        give_up(a, was);
}

/* --- carrying out ---------------------------------------------------------------------------- */

static struct mono due_of(const struct actor *o, struct mono now, struct wall wall)
{
    int64_t left_ns = o->deadline.ns - wall.ns, most_ns = span_ms(LEFT_MS_MAX).ns;
    return (struct mono){now.ns + (left_ns < most_ns ? left_ns : most_ns)};
}

/* Ids begin anew with a state that is made anew, and the agent remembers those of the one before. */
static void add_id(const struct actors *a, const struct actor *o, struct text *t)
{
    text_printf(t, "%s.%s", cluster_origin(a->with.cluster), o->id);
}

static void add_cures(const struct actors *a, const struct member *m, const struct actor *o, struct mono now,
                      json_t *body)
{
    CLEANUP_TEXT struct text cures = {0};
    watch_cures(a->with.watch, now, m, o->of, &cures);
    json_object_set_new(body, "cures", json_string(cures.s));
}

/* "UNTIL:CODES" as the agent takes it: it forgets what the kernel's log said of the codes before the line
 * UNTIL. */
static void add_forgotten(const char *until, json_t *body)
{
    const char *codes = strchr(until, ':');
    CLEANUP_FREE char *digits = mem_dup_len(until, codes ? (size_t)(codes - until) : 0);
    uint64_t line = 0;
    text_parse_u64(digits, 0, INT64_MAX, &line, NULL);
    json_object_set_new(body, "run", json_string("forget"));
    json_object_set_new(body, "until", json_integer((json_int_t)line));
    json_object_set_new(body, "cures", json_string(codes ? codes + 1 : ""));
}

/* With a nonce it is the order of an agent that asked for it, and good for once. */
static bool actors_tell(struct actors *a, struct member *m, struct actor *o, struct mono now)
{
    int64_t left_ms = span_to_ms(mono_sub(o->due, now));
    CLEANUP_TEXT struct text id = {0};
    add_id(a, o, &id);
    json_t *body = json_pack("{s:s,s:I,s:s,s:s,s:s,s:I}", "id", id.s, "term", (json_int_t)a->with.term,
                             "origin", cluster_origin(a->with.cluster), "run", o->run, "boot", o->boot,
                             "deadline_ms", (json_int_t)(left_ms > 1 ? left_ms : 1));
    struct action action = action_of(o->run);
    if (action.kind == ACTION_FORGET)
        add_forgotten(action.rest, body);
    else if (action.kind != ACTION_CHECK) /* what the kernel said of it before is judged anew after it */
        add_cures(a, m, o, now, body);
    if (o->nodes) {
        json_object_set_new(body, "nodes", json_string(o->nodes));
        json_object_set_new(body, "rank", json_integer(o->rank));
    }
    if (*o->nonce)
        json_object_set_new(body, "nonce", json_string(o->nonce));
    *o->nonce = '\0';
    return a->with.send(a->with.arg, m, FRAME_ACT, body);
}

/* Whether it may be done at this moment: 0, -EAGAIN or -EBUSY with why not. */
static int check_may(const struct actors *a, const struct actor *o, const struct member *m, struct mono now,
                     struct err *e)
{
    if (!m)
        return err_set(e, -EBUSY, "there is no such node any more");
    if (now.ns >= o->due.ns)
        return err_set(e, -EBUSY, "its time is over");
    return watch_may_operate(a->with.watch, now, m, o->id, e);
}

static void actors_begin(struct actors *a, struct actor *o, struct mono now, struct wall wall)
{
    struct err e = {0};
    const struct member *m = cluster_find(a->with.cluster, o->node);
    int rc = check_may(a, o, m, now, &e);
    if (rc == -EAGAIN || rc == -ESTALE) {
        o->next = mono_add(now, span_ms(rc == -ESTALE ? LOOK_AGAIN_MS : ASK_AGAIN_MS));
        return;
    }
    o->next = mono_add(now, span_s(RESULT_AGAIN_S));
    o->state = BEGINS;
    if (rc == 0)
        actors_result(a, o, "begun", NULL, wall);
    else
        actors_result(a, o, "refused", e.msg, (struct wall){0});
}

/* The agent is told that there is something to do, asks for it when it does not know it, and has its order;
 * its record of ids makes telling again harmless. But it would do it however long ago it was allowed: each
 * time it is asked again whether it may be. When it may not, an agent that knows of it says what it did, and
 * one that asks for the order never began. */
static void actors_follow(struct actors *a, struct actor *o, struct mono now)
{
    struct err e = {0};
    struct member *m = cluster_find(a->with.cluster, o->node);
    int rc = check_may(a, o, m, now, &e);
    bool may = rc == 0;
    o->next = mono_add(now, span_s(RESULT_AGAIN_S));
    if (rc == -ESTALE) { /* an agent that asked waits for its order */
        o->next = mono_add(now, span_ms(LOOK_AGAIN_MS));
        return;
    }
    if (!may && o->untold) {
        actors_result(a, o, "refused", e.msg, (struct wall){0});
        return;
    }
    if (mono_sub(now, o->due).ns > span_s(AFTER_DEADLINE_S).ns) {
        actors_result(a, o, "unknown", "the agent did not say what came of it", (struct wall){0});
        return;
    }
    if (may && *o->nonce) {
        o->untold = false;
        o->ordered = true;
    }
    if (!may)
        *o->nonce = '\0'; /* an order that is not given now is not given later */
    if (m)
        actors_tell(a, m, o, now);
    o->next = mono_add(now, span_s(TELL_AGAIN_S));
}

static void follow_check(struct actors *a, struct actor *o, struct mono now)
{
    struct err why = {0};
    struct member *m = cluster_find(a->with.cluster, o->node);
    if (now.ns <= o->due.ns) {
        if (m && *o->nonce)
            actors_tell(a, m, o, now);
        return;
    }
    err_set(&why, -ETIMEDOUT, "no answer in time");
    actors_answer(a, o, NULL, &why);
}

void actors_turn(struct actors *a, struct mono now, struct wall wall)
{
    struct actor *o, *next;
    DL_FOREACH_SAFE2(a->list, o, next, next_one)
    {
        if (o->due.ns == 0)
            o->due = due_of(o, now, wall);
        if (o->fn)
            follow_check(a, o, now);
        else if (now.ns < o->next.ns)
            continue;
        else if (o->state == BEGUN)
            actors_follow(a, o, now);
        else
            actors_begin(a, o, now, wall);
    }
}

/* --- what came of it ------------------------------------------------------------------------- */

static void take_end(struct actors *a, struct actor *o, const json_t *body)
{
    const char *state = json_text(body, "state");
    static const char *const ends[] = {"done", "failed", "refused", "unknown"};
    const json_t *verdict = json_object_get(body, "verdict");
    CLEANUP_FREE char *text =
        json_is_object(verdict) ? json_write(verdict) : mem_dup(json_text(body, "text"));
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (strcmp(state, ends[i]) != 0)
            continue;
        o->next = mono_add(mono_now(), span_s(RESULT_AGAIN_S));
        bool refused = strcmp(state, "refused") == 0;
        result_with(a, o, ends[i], text, (struct wall){0},
                    refused ? refusal_find(json_text(body, "code")) : REFUSAL_NONE);
    }
}

static void take_verdict(struct actors *a, struct actor *o, const json_t *body)
{
    const json_t *verdict = json_object_get(body, "verdict");
    struct verdict read;
    struct err why = {0};
    int rc = 0;
    if (strcmp(json_text(body, "state"), "begun") == 0)
        return;
    if (!verdict)
        rc = err_set(&why, -EIO, "%s: %.200s", json_text(body, "state"), json_text(body, "text"));
    else if (verdict_read(verdict, &read, &why) < 0)
        rc = err_wrap(&why, -EPROTO, "the agent's verdict");
    actors_answer(a, o, rc < 0 ? NULL : verdict, rc < 0 ? &why : NULL);
}

/* An agent heard of it, and asks for the order. It is told with the next turn. */
static void take_question(struct actor *o, const char *nonce)
{
    bool told = o->fn || o->state == BEGUN;
    if (!told || strlen(nonce) != ORDER_NONCE_HEX || strspn(nonce, "0123456789abcdef") != ORDER_NONCE_HEX)
        return;
    o->untold |= !o->fn && !o->ordered; /* it was begun by a controller before, and never reached the agent */
    memcpy(o->nonce, nonce, sizeof o->nonce);
    o->next = (struct mono){0};
}

void actors_take(struct actors *a, struct member *m, const json_t *body)
{
    const char *id = json_text(body, "id");
    struct actor *o;
    DL_FOREACH2(a->list, o, next_one)
    {
        CLEANUP_TEXT struct text told = {0};
        add_id(a, o, &told);
        if (strcmp(o->node, m->name) == 0 && strcmp(told.s, id) == 0)
            break;
    }
    if (!o)
        return; /* of an operation that is over: agents tell the last ones again */
    if (strcmp(json_text(body, "state"), "asks") == 0)
        take_question(o, json_text(body, "nonce"));
    else if (o->fn)
        take_verdict(a, o, body);
    else if (o->state == BEGUN) {
        o->untold = false; /* it knows of it */
        take_end(a, o, body);
    }
}

void actors_end(struct actors *a, struct member *m, const char *check)
{
    a->with.send(a->with.arg, m, FRAME_ACT,
                 json_pack("{s:s,s:I}", "end", check, "term", (json_int_t)a->with.term));
}

int actors_check(struct actors *a, struct member *m, const struct actors_ask *ask, actors_verdict_fn *fn,
                 void *arg, struct err *e)
{
    struct actor *o = mem_alloc(sizeof *o);
    struct text run = {0};
    text_printf(&run, "check:%s", ask->check);
    o->node = mem_dup(m->name);
    o->run = text_take(&run);
    o->nodes = mem_dup(ask->nodes);
    o->rank = ask->rank;
    snprintf(o->id, sizeof o->id, "asked.%016" PRIx64 ".%" PRIu64, a->with.instance, ++a->asked);
    snprintf(o->boot, sizeof o->boot, "%s", watch_observed(a->with.watch, m)->boot);
    struct mono now = mono_now();
    o->due = mono_add(now, ask->deadline);
    o->fn = fn;
    o->arg = arg;
    DL_APPEND2(a->list, o, prev, next_one);
    if (actors_tell(a, m, o, now))
        return 0;
    actors_drop(a, o);
    return err_set(e, -EAGAIN, "node \"%s\" has no connection", m->name);
}
