/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/actors.h"

#include "base/log.h"
#include "health/finding.h"
#include "node/action.h"
#include "node/operation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    ASK_AGAIN_MS = 500,             /* whether it may be begun */
    LOOK_AGAIN_MS = 100,            /* the same, while that is found out */
    TELL_AGAIN_S = 5,               /* the agent, until it reports the result */
    RESULT_AGAIN_S = 30,            /* until the record has it */
    AFTER_DEADLINE_S = 60,          /* an agent that is silent for this long will not answer any more */
    LEFT_MS_MAX = 21 * 86400 * 1000 /* an agent takes no longer one */
};

/* One operation: of a repair, or (with fn) a check that a person or a trial asked for. */
struct actor {
    char *node;
    char *nodes; /* that run the check together; NULL: it alone does */
    unsigned rank;
    struct operation op; /* as the record has it */
    struct mono due;     /* its deadline; 0 until it was looked at. A clock that is set moves it no more */
    bool begins;         /* we said that it is begun, or is not to be */
    bool untold;         /* begun, and the agent has no order to begin it */
    bool ordered;        /* by us */
    struct mono next;
    char nonce[ORDER_NONCE_HEX + 1]; /* the nonce of an agent that asks for the order; "": none */
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
    free(o->nodes);
    operation_fini(&o->op);
    free(o);
}

/* Calls back the caller that asked for a check. */
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

/* said: the id of this operation is added; a text is cleaned. */
static void actors_result(struct actors *a, const struct actor *o, struct operation_said said)
{
    CLEANUP_TEXT struct text key = {0}, done = {0};
    CLEANUP_FREE char *clean = said.text ? mem_line(said.text, EFFECT_TEXT_BYTES_MAX) : NULL;
    said.id = o->op.id;
    said.text = clean;
    text_printf(&key, OPERATE_KEY "%s", o->node);
    operation_format(&said, &done);
    a->with.result(a->with.result_arg, key.s, done.s);
}

static void actors_refuse(struct actors *a, const struct actor *o, const char *why)
{
    actors_result(a, o, (struct operation_said){.state = OPERATION_REFUSED, .text = why});
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

static struct actor *actors_add(struct actors *a, const char *node)
{
    struct actor *o = mem_alloc(sizeof *o);
    o->node = mem_dup(node);
    DL_APPEND2(a->list, o, prev, next_one);
    return o;
}

/* Strings of `what` are left in place, or given to the actor. */
static void take_record(struct actors *a, const char *node, struct operation *is)
{
    struct actor *o = actors_find(a, node);
    bool open = operation_is_open(is->state);
    if (o && (strcmp(o->op.id, is->id) != 0 || !open)) {
        actors_drop(a, o);
        o = NULL;
    }
    if (!open || action_of(is->run).by != ACTION_BY_AGENT)
        return;
    o = o ? o : actors_add(a, node);
    if (is->state == OPERATION_BEGUN && o->op.state != OPERATION_BEGUN) {
        o->untold = o->begins;
        o->next = (struct mono){0};
    }
    operation_fini(&o->op);
    o->op = *is;
    *is = (struct operation){0};
}

/* It was taken away before its end: a check that runs is not wanted any more. */
static void give_up(struct actors *a, struct actor *o)
{
    struct member *m = cluster_find(a->with.cluster, o->node);
    if (m && o->op.state == OPERATION_BEGUN && action_of(o->op.run).kind == ACTION_CHECK)
        actors_end(a, m, action_of(o->op.run).rest);
    actors_drop(a, o);
}

void actors_effect(struct actors *a, const char *key, const char *value)
{
    const char *node = operate_key_node(key);
    if (!node)
        return;
    CLEANUP_OPERATION struct operation is = {0};
    operation_parse(&is, value);
    struct actor *was = actors_find(a, node);
    if (is.state)
        take_record(a, node, &is);
    else if (was)
        give_up(a, was);
}

/* --- carrying out ---------------------------------------------------------------------------- */

static struct mono due_of(const struct actor *o, struct mono now, struct wall wall)
{
    int64_t left_ns = o->op.deadline.ns - wall.ns, most_ns = span_ms(LEFT_MS_MAX).ns;
    return (struct mono){now.ns + (left_ns < most_ns ? left_ns : most_ns)};
}

/* Ids begin again with a new state, and the agent remembers the ids of the state before. */
static void add_id(const struct actors *a, const struct actor *o, struct text *t)
{
    text_printf(t, "%s.%s", cluster_origin(a->with.cluster), o->op.id);
}

static void add_cures(const struct actors *a, const struct member *m, const struct actor *o, struct mono now,
                      json_t *body)
{
    CLEANUP_TEXT struct text cures = {0};
    watch_cures(a->with.watch, now, m, o->op.of, &cures);
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
                             "origin", cluster_origin(a->with.cluster), "run", o->op.run, "boot", o->op.boot,
                             "deadline_ms", (json_int_t)(left_ms > 1 ? left_ms : 1));
    struct action action = action_of(o->op.run);
    if (action.kind == ACTION_FORGET)
        add_forgotten(action.rest, body);
    else if (action.kind != ACTION_CHECK) /* earlier lines of the kernel are judged again after it */
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
    return watch_may_operate(a->with.watch, now, m, o->op.id, e);
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
    o->begins = true;
    if (rc == 0)
        actors_result(a, o, (struct operation_said){.state = OPERATION_BEGUN, .began = wall});
    else
        actors_refuse(a, o, e.msg);
}

/* The agent is told that there is something to do, asks for the order when it does not know it, and gets
 * it. Its record of ids makes a repetition harmless. But it would act however long ago the order was
 * allowed, so each time this controller asks again whether it still may. When it may not, an agent that
 * knows the operation reports its result, and an agent that asks for the order never began. */
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
        actors_refuse(a, o, e.msg);
        return;
    }
    if (mono_sub(now, o->due).ns > span_s(AFTER_DEADLINE_S).ns) {
        actors_result(a, o,
                      (struct operation_said){.state = OPERATION_UNKNOWN,
                                              .text = "the agent did not report the outcome"});
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
        else if (o->op.state == OPERATION_BEGUN)
            actors_follow(a, o, now);
        else
            actors_begin(a, o, now, wall);
    }
}

/* --- what came of it ------------------------------------------------------------------------- */

static void take_end(struct actors *a, struct actor *o, const json_t *body)
{
    enum operation_state state = operation_state_find(json_text(body, "state"));
    const json_t *verdict = json_object_get(body, "verdict");
    CLEANUP_FREE char *text =
        json_is_object(verdict) ? json_write(verdict) : mem_dup(json_text(body, "text"));
    if (!operation_has_ended(state))
        return;
    o->next = mono_add(mono_now(), span_s(RESULT_AGAIN_S));
    struct operation_said said = {.state = state, .text = text};
    if (state == OPERATION_REFUSED)
        said.refusal = refusal_find(json_text(body, "code"));
    actors_result(a, o, said);
}

static void take_verdict(struct actors *a, struct actor *o, const json_t *body)
{
    const json_t *verdict = json_object_get(body, "verdict");
    struct verdict read;
    struct err why = {0};
    int rc = 0;
    if (operation_state_find(json_text(body, "state")) == OPERATION_BEGUN)
        return;
    if (!verdict)
        rc = err_set(&why, -EIO, "%s: %.200s", json_text(body, "state"), json_text(body, "text"));
    else if (verdict_read(verdict, &read, &why) < 0)
        rc = err_wrap(&why, -EPROTO, "the agent's verdict");
    actors_answer(a, o, rc < 0 ? NULL : verdict, rc < 0 ? &why : NULL);
}

/* An agent heard of the operation and asks for the order. It gets the order in the next turn. */
static void take_question(struct actor *o, const char *nonce)
{
    bool told = o->fn || o->op.state == OPERATION_BEGUN;
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
        return; /* of an operation that is over: agents report the last ones again */
    if (strcmp(json_text(body, "state"), "asks") == 0)
        take_question(o, json_text(body, "nonce"));
    else if (o->fn)
        take_verdict(a, o, body);
    else if (o->op.state == OPERATION_BEGUN) {
        o->untold = false; /* the agent knows the operation */
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
    struct actor *o = actors_add(a, m->name);
    struct text run = {0}, id = {0};
    text_printf(&run, "check:%s", ask->check);
    text_printf(&id, "asked.%016" PRIx64 ".%" PRIu64, a->with.instance, ++a->asked);
    o->op.run = text_take(&run);
    o->op.id = text_take(&id);
    o->op.boot = mem_dup(watch_observed(a->with.watch, m)->boot);
    o->nodes = mem_dup(ask->nodes);
    o->rank = ask->rank;
    struct mono now = mono_now();
    o->due = mono_add(now, ask->deadline);
    o->fn = fn;
    o->arg = arg;
    if (actors_tell(a, m, o, now))
        return 0;
    actors_drop(a, o);
    return err_set(e, -EAGAIN, "node \"%s\" has no connection", m->name);
}
