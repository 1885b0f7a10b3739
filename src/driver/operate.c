/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operation's way: it waits until it may be begun; "begun" is said, with the time; when the record says so
 * with this time, it was us, and nobody else will do it: now it is done. A record that says begun with
 * another time is of somebody who ended in the middle.
 *
 * Results are said again until the record has them. What is begun goes on though its record goes.
 */
#include "driver/operate.h"

#include "base/json.h"
#include "base/loop.h"
#include "base/secret.h"
#include "driver/power.h"
#include "driver/slurm_work.h"
#include "node/action.h"
#include "node/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    TICK_MS = 250,
    ASK_AGAIN_MS = 500,  /* whether it may be begun */
    LOOK_AGAIN_MS = 100, /* the same, while that is found out */
    RESULT_AGAIN_S = 30, /* until the record has it */
    HALF_TIME_S = 120,   /* to switch on a node that was left off */
    HALF_DONE_S = 300,   /* a node that is off so long after its restart began was left off by that */
    ID_BYTES_MAX = 63,
    LEFT_S_MAX = 366 * 86400,
    TEXT_BYTES_MAX = 2 << 10,
    PRINTED_BYTES_MAX = 1 << 20
};

enum state { WAITS, BEGINS, RUNS, LOOKS, ENDED };

struct operation {
    struct operate *o;
    char *key; /* of its record */
    char *node, *run;
    char id[ID_BYTES_MAX + 1];
    struct mono deadline; /* a clock that is set moves it no more */
    struct wall begun;    /* as we said it; 0 as long as we did not */
    enum state state;
    struct mono next, said;
    struct err waits; /* why it was not begun when that was asked last */
    bool is_gone;     /* its record */
    bool is_noted;    /* the record says that we begin it, and it is to be asked whether it may still be */
    struct power *power;
    struct program *program;
    struct slurm_work *work;
    char *result; /* what is said until the record has it */
    struct operation *prev, *next_one;
};

/* Somebody wants to know. */
struct wish {
    struct operate *o;
    char *node;
    struct power *power;
    struct err why; /* it cannot be: told from the loop */
    operate_done_fn *done;
    operate_look_fn *looked; /* instead of done */
    void *arg;
    struct wish *prev, *next;
};

struct operate {
    uv_loop_t *loop;
    uv_timer_t timer;
    struct operate_with with;
    struct operate_sink sink;
    struct span result_again;
    struct operation *list;
    struct wish *wishes;
};

static void on_tick(uv_timer_t *t);

static void operate_wake(struct operate *o)
{
    uv_timer_start(&o->timer, on_tick, 0, TICK_MS);
}

/* --- results --------------------------------------------------------------------------------- */

static void operate_drop(struct operation *op)
{
    DL_DELETE2(op->o->list, op, prev, next_one);
    power_cancel(op->power);
    program_kill(op->program);
    slurm_work_cancel(op->work);
    free(op->key);
    free(op->node);
    free(op->run);
    free(op->result);
    free(op);
}

static void operate_say(struct operation *op, struct mono now)
{
    op->next = mono_add(now, op->o->result_again);
    op->o->sink.result(op->o->sink.arg, op->key, op->result);
}

static void say_begun(struct operation *op, struct mono now)
{
    struct text t = {0};
    text_add(&t, "{\"state\":\"begun\",\"id\":");
    text_add_json(&t, op->id);
    text_printf(&t, ",\"at\":\"%lld\"}", (long long)op->begun.ns);
    free(op->result);
    op->result = text_take(&t);
    operate_say(op, now);
}

/* What `code` refuses is no try. */
static void end_with(struct operation *op, const char *state, enum refusal code, const char *words)
{
    CLEANUP_FREE char *clean = mem_line(words, TEXT_BYTES_MAX);
    struct text t = {0};
    if (op->is_gone) {
        operate_drop(op);
        return;
    }
    text_printf(&t, "{\"state\":\"%s\",\"id\":", state);
    text_add_json(&t, op->id);
    text_add(&t, ",\"text\":");
    text_add_json(&t, clean);
    if (code)
        text_printf(&t, ",\"code\":\"%s\"", refusal_name(code));
    text_add_char(&t, '}');
    free(op->result);
    op->result = text_take(&t);
    op->state = ENDED;
    operate_say(op, mono_now());
}

static void operate_end(struct operation *op, const char *state, const char *words)
{
    end_with(op, state, REFUSAL_NONE, words);
}

static void operate_refuse(struct operation *op, enum refusal code, const char *words)
{
    end_with(op, "refused", code, words);
}

/* --- carrying out ---------------------------------------------------------------------------- */

/* The verb of "power.VERB". */
static bool power_verb(const char *run, enum verb *out)
{
    return action_of(run).by == ACTION_BY_BMC && verb_find(run + strlen("power."), out);
}

/* The verb of "work:VERB"; NULL for another run. */
static const char *work_verb(const char *run)
{
    struct action r = action_of(run);
    bool known = strcmp(r.rest, "requeue") == 0 || strcmp(r.rest, "cancel") == 0;
    return r.kind == ACTION_WORK && known ? r.rest : NULL;
}

static bool is_ours(const char *run)
{
    enum verb v;
    return power_verb(run, &v) || work_verb(run) || action_of(run).by == ACTION_BY_SITE ||
           action_of(run).by == ACTION_BY_PROVIDER;
}

int operate_can(const struct operate *o, const char *node, const char *run, struct err *e)
{
    enum verb v;
    if (power_verb(run, &v) && !bmcs_find(o->with.bmcs, node))
        return err_set(e, -ENOENT, "node \"%s\" has no BMC in bmc.conf", node);
    if (work_verb(run) && !o->with.slurm.scontrol)
        return err_set(e, -ENOENT, "no SlurmScontrol is set");
    if (action_of(run).by == ACTION_BY_PROVIDER && !o->with.replace)
        return err_set(e, -ENOENT, "no ReplaceProgram is set");
    return is_ours(run) ? 0 : err_set(e, -ENOENT, "no driver knows \"%.100s\"", run);
}

static void operate_asked(const struct operate *o, const char *node, const struct err *why)
{
    o->sink.asked(o->sink.arg, node, why);
}

static void on_power(void *arg, const char *answer, const struct err *why)
{
    struct operation *op = arg;
    bool sent = op->power->is_sent;
    op->power = NULL;
    bool is_held = why && why->code == -EBUSY; /* at the BMC: nothing was done */
    operate_asked(op->o, op->node, is_held ? NULL : why);
    if (is_held)
        operate_end(op, "refused", why->msg);
    else if (why && !sent)
        operate_refuse(op, REFUSAL_UNREACHABLE, why->msg);
    else
        operate_end(op, why ? "failed" : "done", why ? why->msg : answer);
}

static void on_program(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *printed = text;
    struct operation *op = arg;
    op->program = NULL;
    operate_end(op, why ? "failed" : "done", why ? why->msg : printed);
}

static void on_work(void *arg, const char *said, const struct err *why)
{
    struct operation *op = arg;
    op->work = NULL;
    operate_end(op, why ? "failed" : "done", why ? why->msg : said);
}

static void start_work(struct operation *op)
{
    struct err e = {0};
    if (slurm_work_end(op->o->loop, &op->o->with.slurm, op->node, work_verb(op->run), on_work, op, &op->work,
                       &e) < 0)
        operate_end(op, "failed", e.msg);
}

/* secrets: what is set beside, where it is this process's child. ask: what fettle-exec is asked. */
static void start_program(struct operation *op, const char *const *argv, const struct secrets *secrets,
                          const char *const *ask)
{
    CLEANUP_TEXT struct text node = {0}, operation = {0};
    struct err e = {0};
    text_printf(&node, "FETTLE_NODE=%s", op->node);
    text_printf(&operation, "FETTLE_OPERATION=%s", op->id);
    const char *set[SECRETS_MAX + 3] = {node.s, operation.s};
    for (size_t i = 0; secrets->set[i]; i++)
        set[2 + i] = secrets->set[i];
    int64_t left_ns = mono_sub(op->deadline, mono_now()).ns;
    const struct program_run run = {.argv = argv,
                                    .set = set,
                                    .ask = ask,
                                    .deadline = {left_ns > 1000000 ? left_ns : 1000000},
                                    .limit_bytes = PRINTED_BYTES_MAX};
    if (program_start(op->o->loop, &run, on_program, op, &op->program, &e) < 0)
        operate_end(op, "failed", e.msg);
}

/* fettle-exec takes the secrets itself. */
static void start_script(struct operation *op)
{
    struct secrets secrets = {0};
    const char *rest = action_of(op->run).rest;
    const char *const ask[] = {"script", op->run, op->node, op->id, NULL};
    struct err e = {0};
    if (!program_exec() && secrets_take(rest, &secrets, &rest, &e) < 0) {
        operate_end(op, "failed", e.msg);
    } else {
        const char *const argv[] = {"/bin/sh", "-c", rest, NULL};
        start_program(op, argv, &secrets, ask);
    }
    secrets_fini(&secrets);
}

static void carry_out(struct operation *op)
{
    struct err e = {0};
    enum verb v;
    op->state = RUNS;
    if (operate_can(op->o, op->node, op->run, &e) < 0) { /* by now */
        operate_end(op, "failed", e.msg);
    } else if (power_verb(op->run, &v)) {
        op->power =
            power_start(op->o->loop, bmcs_find(op->o->with.bmcs, op->node), op->node, v, on_power, op);
    } else if (work_verb(op->run)) {
        start_work(op);
    } else if (strcmp(op->run, "replace") == 0) {
        const char *const argv[] = {op->o->with.replace, op->node, NULL};
        const char *const ask[] = {"replace", op->node, op->id, NULL};
        start_program(op, argv, &(struct secrets){0}, ask);
    } else {
        start_script(op);
    }
}

static void on_ended_restart(void *arg, const char *answer, const struct err *why)
{
    struct operation *op = arg;
    CLEANUP_TEXT struct text words = {0};
    op->power = NULL;
    operate_asked(op->o, op->node, why);
    if (why)
        text_printf(&words,
                    "the controller ended in the middle, the power is off, and it cannot be switched on: %s",
                    why->msg);
    else
        text_add(&words, "the controller ended in the middle; the power was off, and was switched on");
    operate_end(op, why ? "failed" : "done", words.s);
}

/* Its deadline may be over: it was about something else. */
static void end_restart(struct operation *op, const struct bmc *b)
{
    struct mono least = mono_add(mono_now(), span_s(HALF_TIME_S));
    if (op->deadline.ns < least.ns)
        op->deadline = least;
    op->state = RUNS;
    op->power = power_start(op->o->loop, b, op->node, VERB_ON, on_ended_restart, op);
}

/* A restart that began a moment ago may be done by half, and the node off: it is not begun a second time, but
 * ended, for nobody else would switch the node on. */
static bool may_be_half_done(enum verb v, struct wall at)
{
    int64_t ago_ns = wall_now().ns - at.ns;
    bool restarts = v == VERB_CYCLE || v == VERB_RESET || v == VERB_NETBOOT;
    return restarts && ago_ns >= 0 && ago_ns < span_s(HALF_DONE_S).ns;
}

/* Somebody else's that is begun: where the power is says what came of on and off, and whether a restart came
 * to its end. */
static void on_look(void *arg, const char *answer, const struct err *why)
{
    struct operation *op = arg;
    CLEANUP_TEXT struct text words = {0};
    enum verb v = VERB_STATUS;
    const struct bmc *b = bmcs_find(op->o->with.bmcs, op->node);
    op->power = NULL;
    operate_asked(op->o, op->node, why);
    power_verb(op->run, &v);
    if (why) {
        text_printf(&words, "the controller ended in the middle, and the BMC does not say: %s", why->msg);
        operate_end(op, "unknown", words.s);
    } else if (b && v != VERB_ON && v != VERB_OFF && strcmp(answer, "off") == 0) {
        end_restart(op, b);
    } else if (v == VERB_ON || v == VERB_OFF) {
        text_printf(&words, "the controller ended in the middle; the power is %s", answer);
        operate_end(op, strcmp(answer, verb_name(v)) == 0 ? "done" : "failed", words.s);
    } else {
        operate_end(op, "unknown", "the controller ended in the middle of it");
    }
}

/* It was begun `at`, by somebody else. */
static void look(struct operation *op, struct wall at)
{
    enum verb v = VERB_STATUS;
    const struct bmc *b = bmcs_find(op->o->with.bmcs, op->node);
    op->state = LOOKS;
    if (b && power_verb(op->run, &v) && (v == VERB_ON || v == VERB_OFF || may_be_half_done(v, at)))
        op->power = power_start(op->o->loop, b, op->node, VERB_STATUS, on_look, op);
    else
        operate_end(op, "unknown", "the controller ended in the middle of it");
}

/* --- records --------------------------------------------------------------------------------- */

static struct wall time_of(const json_t *o, const char *key)
{
    uint64_t ns = 0;
    text_parse_u64(json_text(o, key), 0, INT64_MAX, &ns, NULL);
    return (struct wall){(int64_t)ns};
}

/* The same in this machine's time. */
static struct mono due_of(struct wall deadline)
{
    int64_t left_ns = deadline.ns - wall_now().ns, most_ns = span_s(LEFT_S_MAX).ns;
    return (struct mono){mono_now().ns + (left_ns < most_ns ? left_ns : most_ns)};
}

static struct operation *operate_find(const struct operate *o, const char *key)
{
    struct operation *op;
    DL_FOREACH2(o->list, op, next_one)
    {
        if (!op->is_gone && strcmp(op->key, key) == 0)
            return op;
    }
    return NULL;
}

/* Its record is gone, or has an end. */
static void let_go(struct operation *op)
{
    op->is_gone = true;
    if (op->state != RUNS)
        operate_drop(op);
}

static struct operation *operate_add(struct operate *o, const char *key, const char *node,
                                     const json_t *record)
{
    struct operation *op = mem_alloc(sizeof *op);
    op->o = o;
    op->key = mem_dup(key);
    op->node = mem_dup(node);
    op->run = mem_dup(json_text(record, "run"));
    snprintf(op->id, sizeof op->id, "%s", json_text(record, "id"));
    op->deadline = due_of(time_of(record, "deadline"));
    DL_APPEND2(o->list, op, prev, next_one);
    return op;
}

/* Ours is done now; but to write it down took time, in which somebody may have said that it must not be. */
static void go_ahead(struct operation *op)
{
    struct err e = {0};
    struct mono now = mono_now();
    int rc = op->o->sink.may(op->o->sink.arg, op->node, op->id, &e);
    op->is_noted = rc == -ESTALE;
    if (mono_sub(now, op->said).ns > op->o->result_again.ns)
        operate_end(op, "failed", "it was not done: to write down that it begins took too long");
    else if (rc == -ESTALE)
        op->next = mono_add(now, span_ms(LOOK_AGAIN_MS));
    else if (rc < 0)
        operate_end(op, "refused", e.msg);
    else
        carry_out(op);
}

static void on_begun(struct operation *op, struct wall at)
{
    if (op->state != WAITS && op->state != BEGINS)
        return;
    if (op->begun.ns == 0 || op->begun.ns != at.ns)
        look(op, at);
    else
        go_ahead(op);
}

static void take_record(struct operate *o, const char *key, const char *node, const json_t *record)
{
    struct operation *op = operate_find(o, key);
    const json_t *done = json_object_get(record, "done");
    const char *state = json_text(done, "state");
    bool is_open = !*state || strcmp(state, "begun") == 0;
    if (op && (!is_open || strcmp(op->id, json_text(record, "id")) != 0)) {
        let_go(op);
        op = NULL;
    }
    if (!is_open || !is_ours(json_text(record, "run")))
        return;
    if (!op)
        op = operate_add(o, key, node, record);
    if (*state)
        on_begun(op, time_of(done, "at"));
    operate_wake(o);
}

void operate_effect(struct operate *o, const char *key, const char *value)
{
    const char *node = operate_key_node(key) ? operate_key_node(key) : power_key_node(key);
    if (!node)
        return;
    CLEANUP_JSON json_t *record = value ? json_read(value, strlen(value), NULL) : NULL;
    struct operation *op = operate_find(o, key);
    if (record)
        take_record(o, key, node, record);
    else if (op)
        let_go(op);
}

size_t operate_waiting(const struct operate *o)
{
    size_t n = 0;
    const struct operation *op;
    DL_FOREACH2(o->list, op, next_one)
    {
        n++;
    }
    return n;
}

/* --- time ------------------------------------------------------------------------------------ */

/* Something else is being done to the node: an operation whose record is gone, or that has the other record.
 */
static bool is_taken(const struct operation *op)
{
    const struct operation *other;
    DL_FOREACH2(op->o->list, other, next_one)
    {
        bool is_done = other->state == RUNS || other->state == BEGINS || other->state == LOOKS;
        if (other != op && is_done && strcmp(other->node, op->node) == 0)
            return true;
    }
    return false;
}

static void operate_begin(struct operation *op, struct mono now, struct wall wall)
{
    struct err e = {0};
    const struct operate *o = op->o;
    int rc = operate_can(o, op->node, op->run, &e);
    if (rc == 0 && now.ns > op->deadline.ns)
        rc = err_set(&e, -EBUSY, "its time is over%s%s", op->waits.code ? ": " : "", op->waits.msg);
    if (rc == 0)
        rc = is_taken(op) ? err_set(&e, -EAGAIN, "something else is being done to it")
                          : o->sink.may(o->sink.arg, op->node, op->id, &e);
    op->waits = e;
    if (rc == -EAGAIN || rc == -ESTALE) {
        op->next = mono_add(now, span_ms(rc == -ESTALE ? LOOK_AGAIN_MS : ASK_AGAIN_MS));
    } else if (rc < 0) {
        operate_end(op, "refused", e.msg);
    } else {
        op->state = BEGINS;
        op->begun = wall;
        op->said = now;
        say_begun(op, now);
    }
}

static void operate_turn(struct operation *op, struct mono now, struct wall wall)
{
    if (op->state == RUNS && now.ns > op->deadline.ns && op->power) {
        struct err late;
        err_set(&late, -ETIMEDOUT, "it did not end in time");
        bool sent = op->power->is_sent;
        power_cancel(STEAL(op->power));
        operate_asked(op->o, op->node, &late);
        if (sent)
            operate_end(op, "failed", late.msg);
        else
            operate_refuse(op, REFUSAL_UNREACHABLE, late.msg);
    } else if (now.ns < op->next.ns) {
        return;
    } else if (op->state == WAITS) {
        operate_begin(op, now, wall);
    } else if (op->state == BEGINS && op->is_noted) {
        go_ahead(op);
    } else if (op->result && (op->state == BEGINS || op->state == ENDED)) {
        operate_say(op, now);
    }
}

/* said: what was seen, of one who asked for a look. */
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
    struct operation *op, *next;
    struct wish *w, *after;
    struct mono now = mono_now();
    struct wall wall = wall_now();
    DL_FOREACH_SAFE2(o->list, op, next, next_one)
    {
        operate_turn(op, now, wall);
    }
    DL_FOREACH_SAFE(o->wishes, w, after)
    {
        if (w->why.code)
            operate_tell(w, NULL, NULL, &w->why);
    }
    if (!o->list)
        uv_timer_stop(&o->timer);
}

/* --- who wants to know ------------------------------------------------------------------------- */

static void on_wish(void *arg, const char *answer, const struct err *why)
{
    struct wish *w = arg;
    struct power *p = STEAL(w->power); /* it is there until this returns */
    p->look.is_on = p->is_on;
    operate_asked(w->o, w->node, why);
    operate_tell(w, answer, why ? NULL : &p->look, why);
}

/* Takes who is told from *whom. */
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

/* --- life ------------------------------------------------------------------------------------ */

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
        operate_drop(o->list);
    while (o->wishes) {
        power_cancel(STEAL(o->wishes->power));
        operate_tell(o->wishes, NULL, NULL, &why);
    }
    uv_close((uv_handle_t *)&o->timer, on_closed);
}
