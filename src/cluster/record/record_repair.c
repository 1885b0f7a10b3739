/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair/NAME: the way of a node back into service, and what was tried on it.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const approval_names[] = {[APPROVAL_NONE] = "none",
                                             [APPROVAL_WANTED] = "wanted",
                                             [APPROVAL_GIVEN] = "given",
                                             [APPROVAL_REFUSED] = "refused"};
static const char *const examined_names[] = {[EXAMINED_NOT] = "not",
                                             [EXAMINED_PASS] = "pass",
                                             [EXAMINED_FAIL] = "fail",
                                             [EXAMINED_INCONCLUSIVE] = "inconclusive",
                                             [EXAMINED_OWED] = "owed"};

static int approval_parse(const char *name, enum approval *out)
{
    for (int a = APPROVAL_NONE; a <= APPROVAL_REFUSED; a++) {
        if (strcmp(name, approval_names[a]) == 0) {
            *out = (enum approval)a;
            return 0;
        }
    }
    return -EINVAL;
}

const char *examined_name(enum examined x)
{
    return examined_names[x];
}

static int examined_parse(const char *name, enum examined *out)
{
    for (int x = EXAMINED_NOT; x <= EXAMINED_OWED; x++) {
        if (strcmp(name, examined_names[x]) == 0) {
            *out = (enum examined)x;
            return 0;
        }
    }
    return -EINVAL;
}

static bool verdict_ok(const char *verdict)
{
    return strlen(verdict) == 1 && strchr("?+-0", *verdict);
}

/* --- as an object ----------------------------------------------------------------------------- */

void repair_fini(struct repair *r)
{
    free(r->why);
    free(r->approver);
    free(r->taken_by);
    for (size_t i = 0; i < r->n_attempts; i++)
        free(r->attempts[i].text);
    for (size_t i = 0; i < r->n_notes; i++) {
        free(r->notes[i].by);
        free(r->notes[i].text);
    }
    free(r->ran);
    free(r->attempts);
    free(r->notes);
    answer_fini(&r->answer);
    *r = (struct repair){0};
}

void answer_fini(struct answer *w)
{
    free(w->of);
    *w = (struct answer){0};
}

void answer_copy(struct answer *out, const struct answer *w)
{
    *out = (struct answer){w->at, w->n, w->n ? mem_alloc(w->n * sizeof *w->of) : NULL};
    if (w->n)
        memcpy(out->of, w->of, w->n * sizeof *w->of);
}

bool answer_covers(const struct answer *a, const char *check, const struct finding *f)
{
    const char *fault = *f->code ? f->code : check;
    bool covers = a->at.ns && a->n == 0;
    for (size_t i = 0; i < a->n; i++)
        covers |= strcmp(a->of[i].fault, fault) == 0 && strcmp(a->of[i].device, f->device) == 0;
    return covers;
}

void repair_take_ran(struct repair *r, const struct ran_check *ran, size_t n)
{
    assert(n <= CHECKS_MAX);
    free(r->ran);
    r->n_ran = n;
    r->ran = n ? mem_alloc(n * sizeof *ran) : NULL;
    if (n)
        memcpy(r->ran, ran, n * sizeof *ran);
}

const struct ran_check *repair_ran(const struct repair *r, const char *check)
{
    for (size_t i = 0; i < r->n_ran; i++)
        if (strcmp(r->ran[i].check, check) == 0)
            return &r->ran[i];
    return NULL;
}

void repair_copy(struct repair *out, const struct repair *r)
{
    *out = *r;
    out->ran = NULL;
    repair_take_ran(out, r->ran, r->n_ran);
    answer_copy(&out->answer, &r->answer);
    out->why = mem_dup(r->why);
    out->approver = mem_dup(r->approver);
    out->taken_by = mem_dup(r->taken_by);
    out->attempts = r->n_attempts ? mem_alloc(r->n_attempts * sizeof *r->attempts) : NULL;
    out->notes = r->n_notes ? mem_alloc(r->n_notes * sizeof *r->notes) : NULL;
    for (size_t i = 0; i < r->n_attempts; i++) {
        out->attempts[i] = r->attempts[i];
        out->attempts[i].text = mem_dup(r->attempts[i].text);
    }
    for (size_t i = 0; i < r->n_notes; i++)
        out->notes[i] = (struct note){r->notes[i].at, mem_dup(r->notes[i].by), mem_dup(r->notes[i].text)};
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_attempt(const json_t *o, struct attempt_record *out, struct err *e)
{
    static const char *const keys[] = {"remedy", "fault",   "at",   "boot",    "ended", "done",
                                       "text",   "verdict", "code", "counted", "class"};
    uint64_t at, ended;
    const char *verdict, *text, *code = "";
    *out = (struct attempt_record){0};
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "no object");
    if (json_only_keys(o, keys, sizeof keys / sizeof keys[0], e) < 0 ||
        (json_object_get(o, "code") && json_take_string(o, "code", &code, e) < 0) ||
        record_word(o, "remedy", out->remedy, REMEDY_NAME_BYTES_MAX, e) < 0 ||
        record_word(o, "fault", out->fault, FAULT_BYTES_MAX, e) < 0 || record_time(o, "at", &at, e) < 0 ||
        (json_object_get(o, "boot") && record_boot(o, out->boot, e) < 0) ||
        record_time(o, "ended", &ended, e) < 0 || json_take_bool(o, "done", &out->done, e) < 0 ||
        json_take_clause(o, "text", REASON_BYTES_MAX, &text, e) < 0 ||
        json_take_string(o, "verdict", &verdict, e) < 0 ||
        (json_object_get(o, "counted") && (record_word(o, "counted", out->counted, FAULT_BYTES_MAX, e) < 0 ||
                                           record_word(o, "class", out->class, CLASS_NAME_BYTES_MAX, e) < 0)))
        return -EINVAL;
    if (!verdict_ok(verdict))
        return err_set(e, -EINVAL, "\"%.40s\" is no verdict", verdict);
    out->at.ns = (int64_t)at;
    out->ended.ns = (int64_t)ended;
    out->verdict = *verdict;
    out->refusal = refusal_find(code);
    out->text = mem_dup(text);
    return 0;
}

static int read_note(const json_t *o, struct note *out, struct err *e)
{
    static const char *const keys[] = {"at", "by", "text"};
    uint64_t at;
    const char *by, *text;
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "no object");
    if (json_only_keys(o, keys, 3, e) < 0 || record_time(o, "at", &at, e) < 0 ||
        json_take_string(o, "by", &by, e) < 0 || json_take_clause(o, "text", REASON_BYTES_MAX, &text, e) < 0)
        return -EINVAL;
    *out = (struct note){{(int64_t)at}, mem_dup(by), mem_dup(text)};
    return 0;
}

static int read_array(const json_t *o, const char *key, size_t max, const json_t **out, struct err *e)
{
    *out = json_object_get(o, key);
    if (!json_is_array(*out) || json_array_size(*out) > max)
        return err_set(e, -EINVAL, "\"%s\" is no array of at most %zu", key, max);
    return 0;
}

static int read_lists(const json_t *o, struct repair *r, struct err *e)
{
    const json_t *attempts, *notes;
    if (read_array(o, "attempts", ATTEMPTS_KEPT_MAX, &attempts, e) < 0 ||
        read_array(o, "notes", NOTES_KEPT_MAX, &notes, e) < 0)
        return -EINVAL;
    size_t n_attempts = json_array_size(attempts), n_notes = json_array_size(notes);
    r->attempts = n_attempts ? mem_alloc(n_attempts * sizeof *r->attempts) : NULL;
    r->notes = n_notes ? mem_alloc(n_notes * sizeof *r->notes) : NULL;
    for (; r->n_attempts < n_attempts; r->n_attempts++)
        if (read_attempt(json_array_get(attempts, r->n_attempts), &r->attempts[r->n_attempts], e) < 0)
            return err_wrap(e, -EINVAL, "attempt %zu", r->n_attempts + 1);
    for (; r->n_notes < n_notes; r->n_notes++)
        if (read_note(json_array_get(notes, r->n_notes), &r->notes[r->n_notes], e) < 0)
            return err_wrap(e, -EINVAL, "note %zu", r->n_notes + 1);
    return 0;
}

static int read_words(const json_t *o, struct repair *r, struct err *e)
{
    if (record_word(o, "id", r->id, CLAIM_ID_BYTES_MAX, e) < 0 || record_boot(o, r->boot, e) < 0 ||
        record_word(o, "problem", r->problem, sizeof r->problem - 1, e) < 0 ||
        record_word(o, "remedy", r->remedy, REMEDY_NAME_BYTES_MAX, e) < 0 ||
        record_word(o, "operation", r->operation, CLAIM_ID_BYTES_MAX, e) < 0 ||
        record_hex(o, "instance", &r->instance, e) < 0)
        return -EINVAL;
    return r->id[0] ? 0 : err_set(e, -EINVAL, "a repair without id");
}

static int read_names(const json_t *o, struct repair *r, struct err *e)
{
    const char *step, *approval, *examined;
    if (json_take_string(o, "step", &step, e) < 0 || json_take_string(o, "approval", &approval, e) < 0 ||
        json_take_string(o, "examined", &examined, e) < 0)
        return -EINVAL;
    if (!step_parse(step, &r->step))
        return err_set(e, -EINVAL, "\"%.40s\" is no step that this version knows", step);
    if (approval_parse(approval, &r->approval) < 0)
        return err_set(e, -EINVAL, "approval: \"%.40s\" is none that this version knows", approval);
    if (examined_parse(examined, &r->examined) < 0)
        return err_set(e, -EINVAL, "examined: \"%.40s\" is nothing that this version knows", examined);
    return 0;
}

static int read_moments(const json_t *o, struct repair *r, struct err *e)
{
    uint64_t began, since, deadline, inconclusive;
    if (record_time(o, "began", &began, e) < 0 || record_time(o, "since", &since, e) < 0 ||
        record_time(o, "deadline", &deadline, e) < 0 ||
        json_take_u64(o, "inconclusive", UINT32_MAX, &inconclusive, e) < 0 ||
        json_take_bool(o, "manual", &r->manual, e) < 0)
        return -EINVAL;
    r->began.ns = (int64_t)began;
    r->since.ns = (int64_t)since;
    r->deadline.ns = (int64_t)deadline;
    r->inconclusive = (unsigned)inconclusive;
    return 0;
}

static int read_people(const json_t *o, struct repair *r, struct err *e)
{
    const struct {
        const char *key;
        char **out;
    } people[] = {{"approver", &r->approver}, {"taken_by", &r->taken_by}};
    const char *text;
    for (size_t i = 0; i < 2; i++) {
        if (json_is_null(json_object_get(o, people[i].key)))
            continue;
        if (json_take_string(o, people[i].key, &text, e) < 0)
            return -EINVAL;
        *people[i].out = mem_dup(text);
    }
    if (json_take_clause(o, "why", REASON_BYTES_MAX, &text, e) < 0)
        return -EINVAL;
    r->why = mem_dup(text);
    return 0;
}

/* One that is absent is false. */
static int read_flag(const json_t *o, const char *key, bool *out, struct err *e)
{
    return json_object_get(o, key) ? json_take_bool(o, key, out, e) : 0;
}

static int read_answered(const json_t *o, struct answered *out, struct err *e)
{
    static const char *const keys[] = {"fault", "device"};
    *out = (struct answered){0};
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "no object");
    return json_only_keys(o, keys, 2, e) < 0 || record_word(o, "fault", out->fault, FAULT_BYTES_MAX, e) < 0 ||
                   record_word(o, "device", out->device, FINDING_DEVICE_BYTES_MAX, e) < 0
               ? -EINVAL
               : 0;
}

/* In records of before it is true: for everything, as the step began. */
static int read_answer(const json_t *o, struct repair *r, struct err *e)
{
    static const char *const keys[] = {"at", "of"};
    const json_t *is = json_object_get(o, "answered"), *of;
    uint64_t at;
    if (!is || json_is_boolean(is)) {
        r->answer.at = json_is_true(is) ? r->since : (struct wall){0};
        return 0;
    }
    if (!json_is_object(is) || json_only_keys(is, keys, 2, e) < 0 || record_time(is, "at", &at, e) < 0 ||
        read_array(is, "of", ANSWERED_MAX, &of, e) < 0)
        return err_wrap(e, -EINVAL, "answered");
    size_t n = json_array_size(of);
    r->answer = (struct answer){.at = {(int64_t)at}, .of = n ? mem_alloc(n * sizeof *r->answer.of) : NULL};
    for (; r->answer.n < n; r->answer.n++)
        if (read_answered(json_array_get(of, r->answer.n), &r->answer.of[r->answer.n], e) < 0)
            return err_wrap(e, -EINVAL, "answered %zu", r->answer.n + 1);
    return 0;
}

static int read_ran_check(const json_t *o, struct ran_check *out, struct err *e)
{
    static const char *const keys[] = {"check", "result"};
    const char *result;
    *out = (struct ran_check){0};
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "no object");
    if (json_only_keys(o, keys, 2, e) < 0 ||
        record_word(o, "check", out->check, CHECK_NAME_BYTES_MAX, e) < 0 ||
        json_take_string(o, "result", &result, e) < 0)
        return -EINVAL;
    return result_parse(result, &out->result)
               ? 0
               : err_set(e, -EINVAL, "a check comes to nothing called \"%.40s\"", result);
}

static int read_ran(const json_t *o, struct repair *r, struct err *e)
{
    const json_t *ran = NULL;
    if (json_object_get(o, "ran") && read_array(o, "ran", CHECKS_MAX, &ran, e) < 0)
        return -EINVAL;
    size_t n = json_array_size(ran);
    r->ran = n ? mem_alloc(n * sizeof *r->ran) : NULL;
    for (; r->n_ran < n; r->n_ran++)
        if (read_ran_check(json_array_get(ran, r->n_ran), &r->ran[r->n_ran], e) < 0)
            return err_wrap(e, -EINVAL, "ran %zu", r->n_ran + 1);
    return 0;
}

static int repair_read(const json_t *o, struct repair *out, struct err *e)
{
    static const char *const keys[] = {
        "id",      "step",     "began",     "since",    "deadline", "boot",     "instance",     "problem",
        "why",     "remedy",   "operation", "approval", "approver", "examined", "inconclusive", "manual",
        "came_up", "taken_by", "attempts",  "notes",    "answered", "shared",   "ran"};
    *out = (struct repair){0};
    if (json_only_keys(o, keys, sizeof keys / sizeof keys[0], e) < 0 || read_words(o, out, e) < 0 ||
        read_names(o, out, e) < 0 || read_moments(o, out, e) < 0 || read_people(o, out, e) < 0 ||
        read_lists(o, out, e) < 0 || read_answer(o, out, e) < 0 || read_ran(o, out, e) < 0 ||
        read_flag(o, "shared", &out->shared, e) < 0 || read_flag(o, "came_up", &out->came_up, e) < 0) {
        repair_fini(out);
        return -EINVAL;
    }
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_time(struct text *t, const char *key, struct wall at)
{
    text_printf(t, ",\"%s\":\"%lld\"", key, (long long)at.ns);
}

static void write_attempt(const struct attempt_record *a, struct text *t)
{
    text_add(t, "{\"remedy\":");
    text_add_json(t, a->remedy);
    text_add_member(t, "fault", a->fault);
    add_time(t, "at", a->at);
    if (*a->boot)
        text_add_member(t, "boot", a->boot);
    add_time(t, "ended", a->ended);
    text_printf(t, ",\"done\":%s", a->done ? "true" : "false");
    text_add_member(t, "text", a->text);
    text_printf(t, ",\"verdict\":\"%c\"", a->verdict);
    if (a->refusal)
        text_add_member(t, "code", refusal_name(a->refusal));
    if (*a->counted) {
        text_add_member(t, "counted", a->counted);
        text_add_member(t, "class", a->class);
    }
    text_add_char(t, '}');
}

static void write_lists(const struct repair *r, struct text *t)
{
    text_add(t, ",\"attempts\":[");
    for (size_t i = 0; i < r->n_attempts; i++) {
        text_add(t, i ? "," : "");
        write_attempt(&r->attempts[i], t);
    }
    text_add(t, "],\"notes\":[");
    for (size_t i = 0; i < r->n_notes; i++) {
        const struct note *n = &r->notes[i];
        text_printf(t, "%s{\"at\":\"%lld\"", i ? "," : "", (long long)n->at.ns);
        text_add_member(t, "by", n->by);
        text_add_member(t, "text", n->text);
        text_add_char(t, '}');
    }
    text_add(t, "]}");
}

/* A record of another step is the same as before this member was. */
static void write_ran(const struct repair *r, struct text *t)
{
    for (size_t i = 0; i < r->n_ran; i++) {
        text_add(t, i ? ",{\"check\":" : ",\"ran\":[{\"check\":");
        text_add_json(t, r->ran[i].check);
        text_printf(t, ",\"result\":\"%s\"}%s", result_name(r->ran[i].result), i + 1 == r->n_ran ? "]" : "");
    }
}

static void write_answer(const struct answer *w, struct text *t)
{
    if (!w->at.ns)
        return;
    text_printf(t, ",\"answered\":{\"at\":\"%lld\",\"of\":[", (long long)w->at.ns);
    for (size_t i = 0; i < w->n; i++) {
        text_add(t, i ? ",{\"fault\":" : "{\"fault\":");
        text_add_json(t, w->of[i].fault);
        text_add_member(t, "device", w->of[i].device);
        text_add_char(t, '}');
    }
    text_add(t, "]}");
}

char *repair_record(const struct repair *r)
{
    assert(r->step < STEPS);
    struct text t = {0};
    text_add(&t, "{\"id\":");
    text_add_json(&t, r->id);
    text_add_member(&t, "step", step_name(r->step));
    add_time(&t, "began", r->began);
    add_time(&t, "since", r->since);
    add_time(&t, "deadline", r->deadline);
    text_add_member(&t, "boot", r->boot);
    text_printf(&t, ",\"instance\":\"%llx\"", (unsigned long long)r->instance);
    text_add_member(&t, "problem", r->problem);
    text_add_member(&t, "why", r->why);
    text_add_member(&t, "remedy", r->remedy);
    text_add_member(&t, "operation", r->operation);
    text_add_member(&t, "approval", approval_names[r->approval]);
    text_add_member(&t, "approver", r->approver);
    text_add_member(&t, "examined", examined_names[r->examined]);
    text_printf(&t, ",\"inconclusive\":%u,\"manual\":%s", r->inconclusive, r->manual ? "true" : "false");
    if (r->came_up)
        text_add(&t, ",\"came_up\":true");
    text_add_member(&t, "taken_by", r->taken_by);
    write_answer(&r->answer, &t);
    write_ran(r, &t);
    if (r->shared)
        text_add(&t, ",\"shared\":true");
    write_lists(r, &t);
    return text_take(&t);
}

/* --- of members ------------------------------------------------------------------------------- */

static uint64_t repair_sum(const struct member *m)
{
    if (!member_repairs(m))
        return 0;
    CLEANUP_FREE char *record = repair_record(member_repairs(m));
    return record_sum(m->name, record);
}

/* Takes what r holds over; NULL: nothing is remembered. */
static void take_repair(struct cluster *c, struct member *m, const struct repair *r)
{
    c->sum -= repair_sum(m);
    if (member_repairs(m)) {
        repair_fini(m->past->repair);
        free(STEAL(m->past->repair));
    }
    if (r) {
        member_past(m)->repair = mem_alloc(sizeof *r);
        *m->past->repair = *r;
    }
    past_trim(m);
    c->sum += repair_sum(m);
    member_count_out(c, m);
}

void member_forget_repair(struct cluster *c, struct member *m)
{
    take_repair(c, m, NULL);
}

int put_repair(struct cluster *c, const char *name, const char *value, struct err *e)
{
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            member_forget_repair(c, m);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct repair r;
    if (!o || repair_read(o, &r, e) < 0)
        return -EILSEQ;
    take_repair(c, cluster_meet(c, name), &r);
    return 0;
}
