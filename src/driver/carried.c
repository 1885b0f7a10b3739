/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/carried_inside.h"

#include "base/secret.h"
#include "node/action.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    HALF_TIME_S = 120, /* until a node that was left off is switched on */
    HALF_DONE_S = 300, /* a node that is off this long after its restart began was left off by it */
    TEXT_BYTES_MAX = 2 << 10,
    PRINTED_BYTES_MAX = 1 << 20
};

/* --- results --------------------------------------------------------------------------------- */

void carried_drop(struct carried *k)
{
    DL_DELETE2(k->o->list, k, prev, next_one);
    power_cancel(k->power);
    program_kill(k->program);
    slurm_work_cancel(k->work);
    free(k->key);
    free(k->node);
    operation_fini(&k->op);
    free(k->result);
    free(k);
}

void carried_say(struct carried *k, struct mono now)
{
    k->next = mono_add(now, k->o->result_again);
    k->o->sink.result(k->o->sink.arg, k->key, k->result);
}

void carried_say_begun(struct carried *k, struct mono now)
{
    struct text t = {0};
    const struct operation_said said = {.state = OPERATION_BEGUN, .id = k->op.id, .began = k->begun};
    operation_format(&said, &t);
    free(k->result);
    k->result = text_take(&t);
    carried_say(k, now);
}

static void end_with(struct carried *k, enum operation_state state, enum refusal code, const char *words)
{
    CLEANUP_FREE char *clean = mem_line(words, TEXT_BYTES_MAX);
    struct text t = {0};
    if (k->is_gone) {
        carried_drop(k);
        return;
    }
    const struct operation_said said = {.state = state, .id = k->op.id, .text = clean, .refusal = code};
    operation_format(&said, &t);
    free(k->result);
    k->result = text_take(&t);
    k->stage = STAGE_ENDED;
    carried_say(k, mono_now());
}

void carried_end(struct carried *k, enum operation_state s, const char *words)
{
    end_with(k, s, REFUSAL_NONE, words);
}

void carried_refuse(struct carried *k, enum refusal code, const char *words)
{
    end_with(k, OPERATION_REFUSED, code, words);
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

bool carried_is_ours(const char *run)
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
    return carried_is_ours(run) ? 0 : err_set(e, -ENOENT, "no driver knows \"%.100s\"", run);
}

void operate_asked(const struct operate *o, const char *node, const struct err *why)
{
    o->sink.asked(o->sink.arg, node, why);
}

static void on_power(void *arg, const char *answer, const struct err *why)
{
    struct carried *k = arg;
    bool sent = k->power->is_sent;
    k->power = NULL;
    bool is_held = why && why->code == -EBUSY; /* the BMC refused: nothing was done */
    operate_asked(k->o, k->node, is_held ? NULL : why);
    if (is_held)
        carried_end(k, OPERATION_REFUSED, why->msg);
    else if (why && !sent)
        carried_refuse(k, REFUSAL_UNREACHABLE, why->msg);
    else
        carried_end(k, why ? OPERATION_FAILED : OPERATION_DONE, why ? why->msg : answer);
}

static void on_program(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *printed = text;
    struct carried *k = arg;
    k->program = NULL;
    carried_end(k, why ? OPERATION_FAILED : OPERATION_DONE, why ? why->msg : printed);
}

static void on_work(void *arg, const char *said, const struct err *why)
{
    struct carried *k = arg;
    k->work = NULL;
    carried_end(k, why ? OPERATION_FAILED : OPERATION_DONE, why ? why->msg : said);
}

static void start_work(struct carried *k)
{
    struct err e = {0};
    if (slurm_work_end(k->o->loop, &k->o->with.slurm, k->node, work_verb(k->op.run), on_work, k, &k->work,
                       &e) < 0)
        carried_end(k, OPERATION_FAILED, e.msg);
}

/* secrets: variables for a child of this process. ask: the words for fettle-exec. */
static void start_program(struct carried *k, const char *const *argv, const struct secrets *secrets,
                          const char *const *ask)
{
    CLEANUP_TEXT struct text node = {0}, operation = {0};
    struct err e = {0};
    text_printf(&node, "FETTLE_NODE=%s", k->node);
    text_printf(&operation, "FETTLE_OPERATION=%s", k->op.id);
    const char *set[SECRETS_MAX + 3] = {node.s, operation.s};
    for (size_t i = 0; secrets->set[i]; i++)
        set[2 + i] = secrets->set[i];
    int64_t left_ns = mono_sub(k->deadline, mono_now()).ns;
    const struct program_run run = {.argv = argv,
                                    .set = set,
                                    .ask = ask,
                                    .deadline = {left_ns > 1000000 ? left_ns : 1000000},
                                    .limit_bytes = PRINTED_BYTES_MAX};
    if (program_start(k->o->loop, &run, on_program, k, &k->program, &e) < 0)
        carried_end(k, OPERATION_FAILED, e.msg);
}

/* fettle-exec reads the secrets itself. */
static void start_script(struct carried *k)
{
    struct secrets secrets = {0};
    const char *rest = action_of(k->op.run).rest;
    const char *const ask[] = {"script", k->op.run, k->node, k->op.id, NULL};
    struct err e = {0};
    if (!program_exec() && secrets_take(rest, &secrets, &rest, &e) < 0) {
        carried_end(k, OPERATION_FAILED, e.msg);
    } else {
        const char *const argv[] = {"/bin/sh", "-c", rest, NULL};
        start_program(k, argv, &secrets, ask);
    }
    secrets_fini(&secrets);
}

void carried_start(struct carried *k)
{
    struct err e = {0};
    enum verb v;
    k->stage = STAGE_RUNS;
    if (operate_can(k->o, k->node, k->op.run, &e) < 0) { /* it may have changed meanwhile */
        carried_end(k, OPERATION_FAILED, e.msg);
    } else if (power_verb(k->op.run, &v)) {
        k->power = power_start(k->o->loop, bmcs_find(k->o->with.bmcs, k->node), k->node, v, on_power, k);
    } else if (work_verb(k->op.run)) {
        start_work(k);
    } else if (strcmp(k->op.run, "replace") == 0) {
        const char *const argv[] = {k->o->with.replace, k->node, NULL};
        const char *const ask[] = {"replace", k->node, k->op.id, NULL};
        start_program(k, argv, &(struct secrets){0}, ask);
    } else {
        start_script(k);
    }
}

static void on_ended_restart(void *arg, const char *answer, const struct err *why)
{
    struct carried *k = arg;
    CLEANUP_TEXT struct text words = {0};
    k->power = NULL;
    operate_asked(k->o, k->node, why);
    if (why)
        text_printf(&words,
                    "the controller ended in the middle, the power is off, and it cannot be switched on: %s",
                    why->msg);
    else
        text_add(&words, "the controller ended in the middle; the power was off, and was switched on");
    carried_end(k, why ? OPERATION_FAILED : OPERATION_DONE, words.s);
}

/* The deadline may have passed: it was for another purpose. */
static void end_restart(struct carried *k, const struct bmc *b)
{
    struct mono least = mono_add(mono_now(), span_s(HALF_TIME_S));
    if (k->deadline.ns < least.ns)
        k->deadline = least;
    k->stage = STAGE_RUNS;
    k->power = power_start(k->o->loop, b, k->node, VERB_ON, on_ended_restart, k);
}

/* A restart that began a moment ago may be half done, with the node off. It is not begun again but finished,
 * for nobody else would switch the node on. */
static bool may_be_half_done(enum verb v, struct wall at)
{
    int64_t ago_ns = wall_now().ns - at.ns;
    bool restarts = v == VERB_CYCLE || v == VERB_RESET || v == VERB_NETBOOT;
    return restarts && ago_ns >= 0 && ago_ns < span_s(HALF_DONE_S).ns;
}

/* Another process began it. The state of the power shows the outcome of on and off, and whether a restart is
 * complete. */
static void on_look(void *arg, const char *answer, const struct err *why)
{
    struct carried *k = arg;
    CLEANUP_TEXT struct text words = {0};
    enum verb v = VERB_STATUS;
    const struct bmc *b = bmcs_find(k->o->with.bmcs, k->node);
    k->power = NULL;
    operate_asked(k->o, k->node, why);
    power_verb(k->op.run, &v);
    if (why) {
        text_printf(&words, "the controller ended in the middle, and the BMC does not say: %s", why->msg);
        carried_end(k, OPERATION_UNKNOWN, words.s);
    } else if (b && v != VERB_ON && v != VERB_OFF && strcmp(answer, "off") == 0) {
        end_restart(k, b);
    } else if (v == VERB_ON || v == VERB_OFF) {
        text_printf(&words, "the controller ended in the middle; the power is %s", answer);
        carried_end(k, strcmp(answer, verb_name(v)) == 0 ? OPERATION_DONE : OPERATION_FAILED, words.s);
    } else {
        carried_end(k, OPERATION_UNKNOWN, "the controller ended in the middle of it");
    }
}

/* Another process began it, at `began`. */
void carried_look(struct carried *k, struct wall began)
{
    enum verb v = VERB_STATUS;
    const struct bmc *b = bmcs_find(k->o->with.bmcs, k->node);
    k->stage = STAGE_LOOKS;
    if (b && power_verb(k->op.run, &v) && (v == VERB_ON || v == VERB_OFF || may_be_half_done(v, began)))
        k->power = power_start(k->o->loop, b, k->node, VERB_STATUS, on_look, k);
    else
        carried_end(k, OPERATION_UNKNOWN, "the controller ended in the middle of it");
}
