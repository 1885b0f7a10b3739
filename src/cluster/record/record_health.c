/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health/NAME: the incidents of a node, open and past. A record is read whole before anything changes.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- what several records have ---------------------------------------------------------------- */

static int record_act(const json_t *o, enum act *out, struct err *e)
{
    const char *name;
    if (json_take_string(o, "act", &name, e) < 0)
        return -EINVAL;
    for (int a = ACT_IGNORE; a <= ACT_LOST; a++) {
        if (strcmp(name, act_name((enum act)a)) == 0) {
            *out = (enum act)a;
            return 0;
        }
    }
    return err_set(e, -EINVAL, "act: \"%.40s\" is none that this version knows", name);
}

/* --- findings and incidents ------------------------------------------------------------------- */

const char *finding_fault(const struct incident_finding *f)
{
    return f->f.code[0] ? f->f.code : f->check;
}

bool incident_counts(const struct incident *i)
{
    return !i->observe && i->severity >= RESULT_DEGRADED;
}

/* {"check","result","device","code","text","count"?,"others"?,"work"?,"user"?} */
static int finding_read(const json_t *o, struct incident_finding *out, struct err *e)
{
    *out = (struct incident_finding){0};
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "a finding is no object");
    if (record_word(o, "check", out->check, CHECK_NAME_BYTES_MAX, e) < 0 ||
        record_result(o, "result", &out->f.result, e) < 0 ||
        record_word(o, "device", out->f.device, FINDING_DEVICE_BYTES_MAX, e) < 0 ||
        record_word(o, "code", out->f.code, FINDING_CODE_BYTES_MAX, e) < 0 ||
        record_word(o, "text", out->f.text, FINDING_TEXT_BYTES_MAX, e) < 0 ||
        finding_read_origin(o, &out->f, e) < 0)
        return -EINVAL;
    if (out->check[0] == '\0')
        return err_set(e, -EINVAL, "a finding of no check");
    return 0;
}

static int read_kept_finding(const json_t *o, struct incident_finding *out, struct err *e)
{
    static const char *const keys[] = {"check",  "result", "device", "code", "text", "count",
                                       "others", "work",   "user",   "at",   "times"};
    uint64_t at, times = 0;
    if (finding_read(o, out, e) < 0 || json_only_keys(o, keys, sizeof keys / sizeof keys[0], e) < 0 ||
        record_time(o, "at", &at, e) < 0 || json_take_u64(o, "times", UINT32_MAX, &times, e) == -EINVAL)
        return -EINVAL;
    out->at = (struct wall){(int64_t)at};
    out->times = (unsigned)times;
    return 0;
}

static int read_times(const json_t *o, struct incident *out, struct err *e)
{
    uint64_t since, last, closed;
    if (record_time(o, "since", &since, e) < 0 || record_time(o, "last", &last, e) < 0 ||
        record_time(o, "closed", &closed, e) < 0)
        return -EINVAL;
    out->since.ns = (int64_t)since;
    out->last.ns = (int64_t)last;
    out->closed.ns = (int64_t)closed;
    return 0;
}

static int read_findings(const json_t *list, struct incident *out, struct err *e)
{
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n == 0 || n > INCIDENT_FINDINGS_MAX)
        return err_set(e, -EINVAL, "\"findings\" is no array of 1 to %d", INCIDENT_FINDINGS_MAX);
    for (; out->n < n; out->n++)
        if (read_kept_finding(json_array_get(list, out->n), &out->findings[out->n], e) < 0)
            return err_wrap(e, -EINVAL, "finding %zu", out->n + 1);
    return 0;
}

/* {"job","user"} */
static int job_read(const json_t *o, struct incident_job *out, struct err *e)
{
    static const char *const keys[] = {"job", "user"};
    *out = (struct incident_job){0};
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "a job is no object");
    if (json_only_keys(o, keys, 2, e) < 0 || record_word(o, "job", out->id, JOB_ID_BYTES_MAX, e) < 0 ||
        record_word(o, "user", out->user, JOB_USER_BYTES_MAX, e) < 0)
        return -EINVAL;
    return *out->id ? 0 : err_set(e, -EINVAL, "a job without number");
}

/* Records of before have none. */
static int read_jobs(const json_t *list, struct incident *out, struct err *e)
{
    size_t n = json_array_size(list);
    if ((list && !json_is_array(list)) || n > INCIDENT_JOBS_MAX)
        return err_set(e, -EINVAL, "\"jobs\" is no array of at most %d", INCIDENT_JOBS_MAX);
    for (; out->n_jobs < n; out->n_jobs++)
        if (job_read(json_array_get(list, out->n_jobs), &out->jobs[out->n_jobs], e) < 0)
            return err_wrap(e, -EINVAL, "job %zu", out->n_jobs + 1);
    return 0;
}

static int incident_read(const json_t *o, struct incident *out, struct err *e)
{
    static const char *const keys[] = {"id",   "group", "severity", "act",     "since",    "last", "closed",
                                       "boot", "count", "recurs",   "observe", "findings", "jobs"};
    uint64_t count, recurs;
    *out = (struct incident){0};
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "an incident is no object");
    if (json_only_keys(o, keys, sizeof keys / sizeof keys[0], e) < 0 ||
        record_word(o, "id", out->id, CLAIM_ID_BYTES_MAX, e) < 0 ||
        record_word(o, "group", out->group, FINDING_DEVICE_BYTES_MAX, e) < 0 ||
        record_result(o, "severity", &out->severity, e) < 0 || record_act(o, &out->act, e) < 0 ||
        read_times(o, out, e) < 0 || record_boot(o, out->boot, e) < 0 ||
        json_take_u64(o, "count", UINT32_MAX, &count, e) < 0 ||
        json_take_u64(o, "recurs", UINT32_MAX, &recurs, e) < 0 ||
        json_take_bool(o, "observe", &out->observe, e) < 0)
        return -EINVAL;
    if (out->id[0] == '\0')
        return err_set(e, -EINVAL, "an incident without id");
    out->count = (uint32_t)count;
    out->recurs = (unsigned)recurs;
    if (read_findings(json_object_get(o, "findings"), out, e) < 0 ||
        read_jobs(json_object_get(o, "jobs"), out, e) < 0)
        return -EINVAL;
    for (size_t k = 0; k < out->n; k++) /* records of before have no times */
        if (!out->findings[k].times)
            out->findings[k].times = out->n == 1 && count > 1 ? (unsigned)count : 1;
    return 0;
}

static int read_list(const json_t *o, const char *key, size_t max, bool closed, struct incident **out,
                     size_t *n, struct err *e)
{
    const json_t *list = json_object_get(o, key);
    if (!json_is_array(list) || json_array_size(list) > max)
        return err_set(e, -EINVAL, "\"%s\" is no array of at most %zu", key, max);
    if (json_array_size(list) == 0)
        return 0;
    *out = mem_alloc(json_array_size(list) * sizeof **out);
    for (; *n < json_array_size(list); ++*n) {
        struct incident *i = &(*out)[*n];
        if (incident_read(json_array_get(list, *n), i, e) < 0)
            return err_wrap(e, -EINVAL, "%s %zu", key, *n + 1);
        if ((i->closed.ns != 0) != closed)
            return err_set(e, -EINVAL, "%s %zu is %s", key, *n + 1, closed ? "open" : "closed");
    }
    return 0;
}

static int read_recurring(const json_t *o, struct recurring *out, struct err *e)
{
    static const char *const keys[] = {"group", "observe", "sum", "grave", "step"};
    uint64_t sum, grave, step;
    *out = (struct recurring){0};
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "no object");
    if (json_only_keys(o, keys, sizeof keys / sizeof keys[0], e) < 0 ||
        record_word(o, "group", out->group, FINDING_DEVICE_BYTES_MAX, e) < 0 ||
        json_take_bool(o, "observe", &out->observe, e) < 0 ||
        json_take_u64(o, "sum", RECUR_MAX, &sum, e) < 0 ||
        json_take_u64(o, "grave", RECUR_MAX, &grave, e) < 0 ||
        json_take_u64(o, "step", INT64_MAX, &step, e) < 0)
        return -EINVAL;
    out->sum = (uint32_t)sum;
    out->grave = (uint32_t)grave;
    out->step = (int64_t)step;
    return 0;
}

/* Records of before have none. */
static int read_all_recurring(const json_t *o, struct ailment *a, struct err *e)
{
    const json_t *list = json_object_get(o, "recurring");
    size_t n = json_array_size(list);
    if ((list && !json_is_array(list)) || n > RECURRING_MAX)
        return err_set(e, -EINVAL, "\"recurring\" is no array of at most %d", RECURRING_MAX);
    a->recurring = n ? mem_alloc(n * sizeof *a->recurring) : NULL;
    for (; a->n_recurring < n; a->n_recurring++)
        if (read_recurring(json_array_get(list, a->n_recurring), &a->recurring[a->n_recurring], e) < 0)
            return err_wrap(e, -EINVAL, "recurring %zu", a->n_recurring + 1);
    return 0;
}

static void ailment_free(struct ailment *a)
{
    if (!a)
        return;
    free(a->open);
    free(a->past);
    free(a->recurring);
    free(a);
}

static struct ailment *ailment_read(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"open", "past", "recurring"};
    struct ailment *a = mem_alloc(sizeof *a);
    if (json_only_keys(o, keys, 3, e) < 0 || read_all_recurring(o, a, e) < 0 ||
        read_list(o, "open", INCIDENTS_OPEN_MAX, false, &a->open, &a->n_open, e) < 0 ||
        read_list(o, "past", INCIDENTS_PAST_MAX, true, &a->past, &a->n_past, e) < 0) {
        ailment_free(a);
        return NULL;
    }
    return a;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_finding(const struct incident_finding *f, struct text *t)
{
    text_add(t, "{\"check\":");
    text_add_json(t, f->check);
    text_printf(t, ",\"result\":\"%s\",\"device\":", result_name(f->f.result));
    text_add_json(t, f->f.device);
    text_add(t, ",\"code\":");
    text_add_json(t, f->f.code);
    text_add(t, ",\"text\":");
    text_add_json(t, f->f.text);
    finding_write_origin(&f->f, t);
    text_printf(t, ",\"at\":\"%lld\"", (long long)f->at.ns);
    if (f->times > 1)
        text_printf(t, ",\"times\":%u", f->times);
    text_add_char(t, '}');
}

static void write_incident(const struct incident *i, struct text *t)
{
    text_add(t, "{\"id\":");
    text_add_json(t, i->id);
    text_add(t, ",\"group\":");
    text_add_json(t, i->group);
    text_printf(
        t,
        ",\"severity\":\"%s\",\"act\":\"%s\",\"since\":\"%lld\",\"last\":\"%lld\",\"closed\":\"%lld\","
        "\"boot\":\"%s\",\"count\":%u,\"recurs\":%u,\"observe\":%s,\"findings\":[",
        result_name(i->severity), act_name(i->act), (long long)i->since.ns, (long long)i->last.ns,
        (long long)i->closed.ns, i->boot, i->count, i->recurs, i->observe ? "true" : "false");
    for (size_t k = 0; k < i->n; k++) {
        text_add(t, k ? "," : "");
        write_finding(&i->findings[k], t);
    }
    for (size_t k = 0; k < i->n_jobs; k++) {
        text_add(t, k ? ",{\"job\":" : "],\"jobs\":[{\"job\":");
        text_add_json(t, i->jobs[k].id);
        text_add(t, ",\"user\":");
        text_add_json(t, i->jobs[k].user);
        text_add_char(t, '}');
    }
    text_add(t, "]}");
}

char *ailment_record(const struct ailment *a)
{
    assert(a);
    struct text t = {0};
    text_add(&t, "{\"open\":[");
    for (size_t i = 0; i < a->n_open; i++) {
        text_add(&t, i ? "," : "");
        write_incident(&a->open[i], &t);
    }
    text_add(&t, "],\"past\":[");
    for (size_t i = 0; i < a->n_past; i++) {
        text_add(&t, i ? "," : "");
        write_incident(&a->past[i], &t);
    }
    text_add_char(&t, ']');
    for (size_t i = 0; i < a->n_recurring; i++) {
        const struct recurring *r = &a->recurring[i];
        text_add(&t, i ? ",{\"group\":" : ",\"recurring\":[{\"group\":");
        text_add_json(&t, r->group);
        text_printf(&t, ",\"observe\":%s,\"sum\":%u,\"grave\":%u,\"step\":%lld}",
                    r->observe ? "true" : "false", r->sum, r->grave, (long long)r->step);
    }
    text_add(&t, a->n_recurring ? "]}" : "}");
    return text_take(&t);
}

void incident_split(const struct incident *i, const struct answer *w, struct incident *rest,
                    struct incident *closed)
{
    *rest = *closed = *i;
    rest->n = closed->n = 0;
    rest->count = closed->count = 0;
    enum result left = RESULT_OK, worst = RESULT_OK;
    for (size_t k = 0; k < i->n; k++) {
        const struct incident_finding *f = &i->findings[k];
        struct incident *to = answer_covers(w, f->check, &f->f) ? closed : rest;
        to->findings[to->n++] = *f;
        to->count += f->times;
        worst = f->f.result > worst ? f->f.result : worst;
        left = to == rest && f->f.result > left ? f->f.result : left;
    }
    if (i->severity <= worst) /* else it was raised, as it came back */
        rest->severity = left;
    if (!rest->n)
        *closed = *i;
    closed->closed = w->at;
}

static bool is_of(const struct recurring *r, const struct incident *i)
{
    return r->observe == i->observe && strcmp(r->group, i->group) == 0;
}

/* Forgets what came back in a group when a person answered for everything that was open in it. */
static void forget_recurring(const struct ailment *a, const struct answer *w, struct ailment *out)
{
    for (size_t r = 0; w->n && r < a->n_recurring; r++) {
        bool over = false;
        for (size_t i = 0; i < a->n_open; i++) {
            struct incident rest, closed;
            incident_split(&a->open[i], w, &rest, &closed);
            over |= is_of(&a->recurring[r], &a->open[i]) && !rest.n;
        }
        if (!over)
            out->recurring[out->n_recurring++] = a->recurring[r];
    }
}

char *ailment_answered(const struct ailment *a, const struct answer *w, const char *id)
{
    CLEANUP_FREE struct incident *open = mem_alloc((a->n_open + 1) * sizeof *open);
    CLEANUP_FREE struct incident *past = mem_alloc((a->n_open + a->n_past + 1) * sizeof *past);
    CLEANUP_FREE struct recurring *recurring = mem_alloc((a->n_recurring + 1) * sizeof *recurring);
    struct ailment now = {.open = open, .past = past, .recurring = recurring};
    unsigned apart = 0;
    for (size_t i = 0; i < a->n_open; i++) {
        struct incident *closed = &past[now.n_past];
        incident_split(&a->open[i], w, &open[now.n_open], closed);
        bool is_left = open[now.n_open].n, is_closed = closed->n;
        if (is_left && is_closed)
            snprintf(closed->id, sizeof closed->id, "%.16s.%u", id, ++apart);
        now.n_open += is_left;
        now.n_past += is_closed;
    }
    if (a->n_past)
        memcpy(past + now.n_past, a->past, a->n_past * sizeof *past);
    now.n_past = now.n_past + a->n_past < INCIDENTS_PAST_MAX ? now.n_past + a->n_past : INCIDENTS_PAST_MAX;
    forget_recurring(a, w, &now);
    return ailment_record(&now);
}

/* --- of members ------------------------------------------------------------------------------- */

void ailment_recurs(const struct ailment *a, const char *group, bool observe, struct wall at,
                    struct recurring *out)
{
    const int64_t step = recur_step(at);
    *out = (struct recurring){.observe = observe, .step = step};
    memcpy(out->group, group, strlen(group) + 1);
    for (size_t i = 0; a && i < a->n_recurring; i++) {
        const struct recurring *r = &a->recurring[i];
        if (r->observe != observe || strcmp(r->group, group) != 0)
            continue;
        out->sum = recur_fade(r->sum, r->step, step);
        out->grave = recur_fade(r->grave, r->step, step);
        out->step = step > r->step ? step : r->step;
    }
}

unsigned finding_times(const struct ailment *a, const struct incident *i, const char *check,
                       const struct finding *f, const char *boot)
{
    const struct incident_finding *has = incident_finding(i, check, f);
    if (!f->count)
        return 1;
    bool here = has && strcmp(i->boot, boot) == 0;
    for (size_t k = 0; a && !has && k < a->n_past; k++) { /* the agent counts on from one to the next */
        has = incident_finding(&a->past[k], check, f);
        here = has && strcmp(a->past[k].boot, boot) == 0;
    }
    return here && has->f.count <= f->count ? f->count - has->f.count : f->count;
}

bool incident_has_job(const struct incident *i, const char *job)
{
    for (size_t k = 0; k < i->n_jobs; k++)
        if (strcmp(i->jobs[k].id, job) == 0)
            return true;
    return false;
}

const struct incident_finding *incident_finding(const struct incident *i, const char *check,
                                                const struct finding *f)
{
    for (size_t k = 0; i && k < i->n; k++)
        if (strcmp(i->findings[k].check, check) == 0 && strcmp(i->findings[k].f.device, f->device) == 0 &&
            strcmp(i->findings[k].f.code, f->code) == 0)
            return &i->findings[k];
    return NULL;
}

const struct ailment *member_ailment(const struct member *m)
{
    return m->past ? m->past->ailment : NULL;
}

enum result member_severity(const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    enum result worst = RESULT_OK;
    for (size_t i = 0; a && i < a->n_open; i++)
        if (!a->open[i].observe && a->open[i].severity > worst)
            worst = a->open[i].severity;
    return worst;
}

static bool was_found(const struct incident *i, const char *check)
{
    for (size_t k = 0; k < i->n; k++)
        if (strcmp(i->findings[k].check, check) == 0)
            return true;
    return false;
}

bool member_was_lost(const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    const struct repair *r = member_repair(m);
    for (size_t i = 0; a && r && i < a->n_past; i++)
        if (a->past[i].since.ns <= r->since.ns && a->past[i].closed.ns >= r->since.ns &&
            was_found(&a->past[i], LOST_CHECK))
            return true;
    return false;
}

static uint64_t ailment_sum(const struct member *m)
{
    if (!member_ailment(m))
        return 0;
    CLEANUP_FREE char *record = ailment_record(member_ailment(m));
    return record_sum(m->name, record);
}

/* Takes a over. */
static void take_ailment(struct cluster *c, struct member *m, struct ailment *a)
{
    c->sum -= ailment_sum(m);
    if (m->past)
        ailment_free(STEAL(m->past->ailment));
    if (a)
        member_past(m)->ailment = a;
    past_trim(m);
    c->sum += ailment_sum(m);
}

int put_health(struct cluster *c, const char *name, const char *value, struct err *e)
{
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            take_ailment(c, m, NULL);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct ailment *a = o ? ailment_read(o, e) : NULL;
    if (!a)
        return -EILSEQ;
    take_ailment(c, cluster_meet(c, name), a);
    return 0;
}

void member_forget_health(struct cluster *c, struct member *m)
{
    take_ailment(c, m, NULL);
    member_forget_repair(c, m);
    member_forget_maintenance(c, m);
    member_forget_override(c, m);
}
