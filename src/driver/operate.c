/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of an operation. It waits until it may begin. Then "begun" is reported, with the time. When the
 * record has "begun" with this time, this process owns the operation and carries it out. A record with
 * another time belongs to a process that ended in the middle.
 *
 * Results are repeated until the record has them. A begun operation goes on even when its record is removed.
 */
#include "driver/operate.h"

#include "base/loop.h"
#include "driver/carried_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    TICK_MS = 250,
    ASK_AGAIN_MS = 500,  /* how often to ask whether it may begin */
    LOOK_AGAIN_MS = 100, /* the same, while the answer is being found out */
    RESULT_AGAIN_S = 30, /* how often to repeat a result */
    LEFT_S_MAX = 366 * 86400
};

static void on_tick(uv_timer_t *t);

static void operate_wake(struct operate *o)
{
    uv_timer_start(&o->timer, on_tick, 0, TICK_MS);
}

/* --- records ------------------------------------------------------------------------------------ */

/* The deadline in monotonic time. */
static struct mono due_of(struct wall deadline)
{
    int64_t left_ns = deadline.ns - wall_now().ns, most_ns = span_s(LEFT_S_MAX).ns;
    return (struct mono){mono_now().ns + (left_ns < most_ns ? left_ns : most_ns)};
}

static struct carried *operate_find(const struct operate *o, const char *key)
{
    struct carried *k;
    DL_FOREACH2(o->list, k, next_one)
    {
        if (!k->is_gone && strcmp(k->key, key) == 0)
            return k;
    }
    return NULL;
}

/* The record is gone, or has an end. */
static void carried_release(struct carried *k)
{
    k->is_gone = true;
    if (k->stage != STAGE_RUNS)
        carried_drop(k);
}

/* Takes over the content of `is`. */
static struct carried *operate_add(struct operate *o, const char *key, const char *node, struct operation *is)
{
    struct carried *k = mem_alloc(sizeof *k);
    k->o = o;
    k->key = mem_dup(key);
    k->node = mem_dup(node);
    k->op = *is;
    k->deadline = due_of(is->deadline);
    *is = (struct operation){0};
    DL_APPEND2(o->list, k, prev, next_one);
    return k;
}

/* The record has our "begun"; but writing it took time, in which somebody may have forbidden the
 * operation. */
static void go_ahead(struct carried *k)
{
    struct err e = {0};
    struct mono now = mono_now();
    int rc = k->o->sink.may(k->o->sink.arg, k->node, k->op.id, &e);
    k->is_noted = rc == -ESTALE;
    if (mono_sub(now, k->said).ns > k->o->result_again.ns)
        carried_end(k, OPERATION_FAILED, "it was not done: to write down that it begins took too long");
    else if (rc == -ESTALE)
        k->next = mono_add(now, span_ms(LOOK_AGAIN_MS));
    else if (rc < 0)
        carried_end(k, OPERATION_REFUSED, e.msg);
    else
        carried_start(k);
}

static void on_begun(struct carried *k, struct wall at)
{
    if (k->stage != STAGE_WAITS && k->stage != STAGE_BEGINS)
        return;
    if (k->begun.ns == 0 || k->begun.ns != at.ns)
        carried_look(k, at);
    else
        go_ahead(k);
}

static void take_record(struct operate *o, const char *key, const char *node, struct operation *is)
{
    struct carried *k = operate_find(o, key);
    enum operation_state state = is->state;
    struct wall began = is->began;
    if (k && (!operation_is_open(state) || strcmp(k->op.id, is->id) != 0)) {
        carried_release(k);
        k = NULL;
    }
    if (!operation_is_open(state) || !carried_is_ours(is->run))
        return;
    if (!k)
        k = operate_add(o, key, node, is);
    k->op.state = state;
    if (state == OPERATION_BEGUN)
        on_begun(k, began);
    operate_wake(o);
}

void operate_effect(struct operate *o, const char *key, const char *value)
{
    const char *node = operate_key_node(key) ? operate_key_node(key) : power_key_node(key);
    if (!node)
        return;
    CLEANUP_OPERATION struct operation is = {0};
    operation_parse(&is, value);
    struct carried *k = operate_find(o, key);
    if (is.state)
        take_record(o, key, node, &is);
    else if (k)
        carried_release(k);
}

size_t operate_waiting(const struct operate *o)
{
    size_t n = 0;
    const struct carried *k;
    DL_FOREACH2(o->list, k, next_one)
    {
        n++;
    }
    return n;
}

/* --- time --------------------------------------------------------------------------------------- */

/* Another operation is being carried out on the node: one whose record is gone, or the one of the other
 * kind. */
static bool is_taken(const struct carried *k)
{
    const struct carried *other;
    DL_FOREACH2(k->o->list, other, next_one)
    {
        bool is_done =
            other->stage == STAGE_RUNS || other->stage == STAGE_BEGINS || other->stage == STAGE_LOOKS;
        if (other != k && is_done && strcmp(other->node, k->node) == 0)
            return true;
    }
    return false;
}

static void operate_begin(struct carried *k, struct mono now, struct wall wall)
{
    struct err e = {0};
    const struct operate *o = k->o;
    int rc = operate_can(o, k->node, k->op.run, &e);
    if (rc == 0 && now.ns > k->deadline.ns)
        rc = err_set(&e, -EBUSY, "its time is over%s%s", k->waits.code ? ": " : "", k->waits.msg);
    if (rc == 0)
        rc = is_taken(k) ? err_set(&e, -EAGAIN, "something else is being done to it")
                         : o->sink.may(o->sink.arg, k->node, k->op.id, &e);
    k->waits = e;
    if (rc == -EAGAIN || rc == -ESTALE) {
        k->next = mono_add(now, span_ms(rc == -ESTALE ? LOOK_AGAIN_MS : ASK_AGAIN_MS));
    } else if (rc < 0) {
        carried_end(k, OPERATION_REFUSED, e.msg);
    } else {
        k->stage = STAGE_BEGINS;
        k->begun = wall;
        k->said = now;
        carried_say_begun(k, now);
    }
}

static void operate_turn(struct carried *k, struct mono now, struct wall wall)
{
    if (k->stage == STAGE_RUNS && now.ns > k->deadline.ns && k->power) {
        struct err late;
        err_set(&late, -ETIMEDOUT, "it did not end in time");
        bool sent = k->power->is_sent;
        power_cancel(STEAL(k->power));
        operate_asked(k->o, k->node, &late);
        if (sent)
            carried_end(k, OPERATION_FAILED, late.msg);
        else
            carried_refuse(k, REFUSAL_UNREACHABLE, late.msg);
    } else if (now.ns < k->next.ns) {
        return;
    } else if (k->stage == STAGE_WAITS) {
        operate_begin(k, now, wall);
    } else if (k->stage == STAGE_BEGINS && k->is_noted) {
        go_ahead(k);
    } else if (k->result && (k->stage == STAGE_BEGINS || k->stage == STAGE_ENDED)) {
        carried_say(k, now);
    }
}

/* said: the answer to a look. */
static void operate_tell(struct wish *w, const char *answer, const struct bmc_look *said,
                         const struct err *why)
{
    operate_done_fn *done = w->done;
    operate_look_fn *looked = w->looked;
    void *arg = w->arg;
    DL_DELETE(w->o->wishes, w);
    free(w->node);
    struct err copy = why ? *why : (struct err){0};
    free(w);
    if (looked)
        looked(arg, said, why ? &copy : NULL);
    else
        done(arg, answer, why ? &copy : NULL);
}

static void on_tick(uv_timer_t *t)
{
    LOOP_DOES("operations");
    struct operate *o = t->data;
    struct carried *k, *next;
    struct wish *w, *after;
    struct mono now = mono_now();
    struct wall wall = wall_now();
    DL_FOREACH_SAFE2(o->list, k, next, next_one)
    {
        operate_turn(k, now, wall);
    }
    DL_FOREACH_SAFE(o->wishes, w, after)
    {
        if (w->why.code)
            operate_tell(w, NULL, NULL, &w->why);
    }
    if (!o->list)
        uv_timer_stop(&o->timer);
}

/* --- who wants to know -------------------------------------------------------------------------- */

static void on_wish(void *arg, const char *answer, const struct err *why)
{
    struct wish *w = arg;
    struct power *p = STEAL(w->power); /* it must live until this returns */
    p->look.is_on = p->is_on;
    operate_asked(w->o, w->node, why);
    operate_tell(w, answer, why ? NULL : &p->look, why);
}

/* Takes over the callback from *whom. */
static void begin_wish(struct operate *o, const char *node, enum verb v, const struct wish *whom)
{
    struct wish *w = mem_alloc(sizeof *w);
    const struct bmc *b = bmcs_find(o->with.bmcs, node);
    *w = *whom;
    w->o = o;
    w->node = mem_dup(node);
    if (!b)
        err_set(&w->why, -ENOENT, "node \"%s\" has no BMC in bmc.conf", node);
    DL_APPEND(o->wishes, w);
    if (w->why.code)
        operate_wake(o);
    else
        w->power = power_start(o->loop, b, node, v, on_wish, w);
}

void operate_look(struct operate *o, const char *node, operate_look_fn *done, void *arg)
{
    begin_wish(o, node, VERB_LOOK, &(struct wish){.looked = done, .arg = arg});
}

bool operate_tells(const struct operate *o, const char *node)
{
    const struct bmc *b = bmcs_find(o->with.bmcs, node);
    return b && b->driver != BMC_SCRIPT;
}

void operate_status(struct operate *o, const char *node, operate_done_fn *done, void *arg)
{
    begin_wish(o, node, VERB_STATUS, &(struct wish){.done = done, .arg = arg});
}

/* --- life --------------------------------------------------------------------------------------- */

struct operate *operate_create(uv_loop_t *loop, const struct operate_with *with,
                               const struct operate_sink *sink)
{
    struct operate *o = mem_alloc(sizeof *o);
    *o = (struct operate){.loop = loop, .with = *with, .sink = *sink, .result_again = span_s(RESULT_AGAIN_S)};
    uv_timer_init(loop, &o->timer);
    o->timer.data = o;
    return o;
}

void operate_configure(struct operate *o, const struct operate_with *with)
{
    o->with = *with;
}

void operate_set_pace(struct operate *o, struct span result_again)
{
    o->result_again = result_again;
}

static void on_closed(uv_handle_t *h)
{
    free(h->data);
}

void operate_destroy(struct operate *o)
{
    struct err why = {0};
    if (!o)
        return;
    err_set(&why, -EAGAIN, "the controller ends");
    while (o->list)
        carried_drop(o->list);
    while (o->wishes) {
        power_cancel(STEAL(o->wishes->power));
        operate_tell(o->wishes, NULL, NULL, &why);
    }
    uv_close((uv_handle_t *)&o->timer, on_closed);
}
