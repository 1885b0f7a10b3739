/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job for each open effect. A job has at most one request under way, and all jobs together at most
 * CALLS_MAX. Jobs that wait for their turn are in the queue of the service that they need.
 *
 * A service is away when, three times in a row, it does not answer, refuses us or answers nonsense. Then one
 * job at a time tries it, from 1 s to 5 minutes apart, and the first success releases the others: ten
 * thousand waiting effects cost one request every few minutes. An answer to a read is not enough: a service
 * that can read but not write is away as well. A fault that only one node meets delays that node alone.
 *
 * The outcome of a job is a result, and the job goes on when the record has it. So every step that cannot be
 * verified afterwards is in the record before it is taken (smd.c, reboot.c), and a driver that follows a
 * killed one takes up its work from the record.
 */
#include "driver/job.h"

#include "base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <utlist.h>

enum { CALLS_MAX = 8, FAULTS_MAX = 3 };

static struct span job_backoff(const struct ochami *o, unsigned failures)
{
    int64_t ns = o->pace.retry_min.ns;
    for (unsigned i = 1; i < failures && ns < o->pace.retry_max.ns; i++)
        ns *= 2;
    if (ns > o->pace.retry_max.ns)
        ns = o->pace.retry_max.ns;
    uint32_t chance = 0; /* without randomness it is still a backoff */
    if (getrandom(&chance, sizeof chance, GRND_NONBLOCK) < 0)
        chance = 0;
    return (struct span){ns / 2 + ns / 2 / 65536 * (chance & 65535)};
}

/* Takes the job off the list that it waits in. */
static void job_unplace(struct job *j)
{
    struct ochami *o = j->o;
    if (j->state == JOB_QUEUED)
        DL_DELETE(o->services[j->service].queue, j);
    else if (j->state == JOB_SLEEPING || j->state == JOB_REPORTED)
        DL_DELETE(o->timed, j);
    j->state = JOB_RESTING;
}

static enum service_name service_of(enum job_phase phase)
{
    switch (phase) {
    case PHASE_BOOT_LOOK:
    case PHASE_BOOT_PUT: return SERVICE_BSS;
    case PHASE_LIST:
    case PHASE_CANDIDATE:
    case PHASE_ASK:
    case PHASE_POLL: return SERVICE_PCS;
    case PHASE_LOOK:
    case PHASE_MEMBER:
    case PHASE_PUT: break;
    }
    return SERVICE_SMD;
}

void job_queue(struct job *j, enum job_phase phase)
{
    job_unplace(j);
    j->phase = phase;
    j->service = service_of(phase);
    j->state = JOB_QUEUED;
    if (phase == PHASE_PUT || phase == PHASE_ASK) /* it has begun, so it goes before those that have not */
        DL_PREPEND(j->o->services[j->service].queue, j);
    else
        DL_APPEND(j->o->services[j->service].queue, j);
    job_wake(j->o);
}

static void wait_until(struct job *j, enum job_state state, struct span s)
{
    job_unplace(j);
    j->state = state;
    j->due = mono_add(mono_now(), s);
    DL_APPEND(j->o->timed, j);
    job_wake(j->o);
}

static void sleep_for(struct job *j, enum job_phase phase, struct span s)
{
    wait_until(j, JOB_SLEEPING, s);
    j->phase = phase;
}

void job_sleep(struct job *j, enum job_phase phase, struct span s)
{
    j->o->is_good = true;
    sleep_for(j, phase, s);
}

void job_rest(struct job *j)
{
    job_unplace(j);
}

void job_drop(struct job *j)
{
    struct ochami *o = j->o;
    if (j->state == JOB_CALLING) {
        j->is_gone = true;
        return;
    }
    job_unplace(j);
    HASH_DEL(o->jobs, j);
    effect_fini(&j->effect);
    marks_fini(&j->own);
    free(j->reported);
    free(j->group);
    free(j->candidates);
    free(j->key);
    free(j);
}

bool job_has_service(const struct job *j, enum service_name s)
{
    return j->o->services[s].base != NULL;
}

static void job_say(struct job *j)
{
    const struct ochami_sink *sink = &j->o->sink;
    CLEANUP_FREE char *key = mem_dup(j->key), *result = mem_dup(j->reported);
    sink->result(sink->arg, key, result); /* the sink may return the record at once, and end the job */
}

void job_report(struct job *j, char *result, bool is_good)
{
    j->o->is_good |= is_good;
    free(j->reported);
    j->reported = result;
    j->faults = 0;
    if (done_equal(result, j->effect.done_text)) { /* the record has it already, so nobody would report it
                                                      again */
        j->kind->on_recorded(j);
        return;
    }
    wait_until(j, JOB_REPORTED, j->o->pace.resend);
    job_say(j);
}

static void service_answered(struct ochami *o, struct service *s)
{
    s->failures = 0;
    s->is_away = false;
    o->sink.trouble(o->sink.arg, s->name, NULL);
}

static void service_failed(struct ochami *o, struct service *s, const struct err *why, bool is_away)
{
    s->failures++;
    s->is_away = s->is_away || is_away || s->failures >= FAULTS_MAX;
    if (!s->is_away)
        return;
    s->due = mono_add(mono_now(), job_backoff(o, s->failures));
    o->sink.trouble(o->sink.arg, s->name, why);
}

void job_begin(struct job *j)
{
    j->is_renewed = false;
    j->kind->begin(j);
}

void job_fault(struct job *j, enum job_phase phase, const struct err *why)
{
    j->o->is_good = false;
    service_failed(j->o, &j->o->services[j->service], why, false);
    sleep_for(j, phase, job_backoff(j->o, ++j->faults));
}

/* An answer that says nothing about the effect: trouble of the service, or a fault. */
static void on_failure(struct job *j, const struct err *why, bool is_away)
{
    struct ochami *o = j->o;
    if (!is_away && !j->is_gone) {
        job_fault(j, j->kind->again(j), why);
        return;
    }
    o->is_good = false;
    service_failed(o, &o->services[j->service], why, is_away);
    if (j->is_gone)
        job_drop(j);
    else if (j->is_renewed)
        job_begin(j);
    else
        job_queue(j, j->kind->again(j)); /* at the end of the queue: the next try is another node's */
}

enum verdict { TAKEN, REFUSED, FAULT, AWAY };

static enum verdict answer_judge(struct answer *a, const struct err *why, struct err *e)
{
    *e = *why;
    if (a->status == 0)
        return AWAY;
    if (a->status >= 200 && a->status <= 299)
        return TAKEN;
    bool is_problem = problem_read(a->body, a->len, a->detail);
    err_set(e, -EPROTO, "HTTP status %d%s%s", a->status, is_problem ? ": " : "", is_problem ? a->detail : "");
    switch (a->status) {
    case 401: /* our token was refused, which holds for all jobs */
    case 403:
    case 408:
    case 429:
    case 502:
    case 503:
    case 504: return AWAY;
    default: break;
    }
    /* A 404 without a problem document is not about the node: the address belongs to another service. */
    a->is_refused = a->status >= 400 && a->status <= 499 && is_problem;
    return a->is_refused ? REFUSED : FAULT;
}

static void on_answer(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct job *j = arg;
    struct ochami *o = j->o;
    struct service *s = &o->services[j->service];
    struct answer a = {.status = status, .body = body, .len = len};
    struct err e;
    enum verdict v = answer_judge(&a, why, &e);
    o->calling--;
    s->calling--;
    j->state = JOB_RESTING;
    job_wake(o);
    o->is_good = j->phase == PHASE_PUT || j->phase == PHASE_BOOT_PUT || j->phase == PHASE_ASK;
    if (v == AWAY || v == FAULT)
        on_failure(j, &e, v == AWAY);
    else if (j->is_gone)
        job_drop(j);
    else if (j->is_renewed)
        job_begin(j);
    else
        j->kind->on_answer(j, &a);
    if (o->is_good)
        service_answered(o, s);
}

void job_call(struct job *j, const char *method, const char *path, const char *body)
{
    struct ochami *o = j->o;
    job_unplace(j);
    j->service = service_of(j->phase);
    struct service *s = &o->services[j->service];
    CLEANUP_TEXT struct text url = {0};
    text_printf(&url, "%s%s", s->base, path);
    j->state = JOB_CALLING;
    o->calling++;
    s->calling++;
    fetch_start(o->fetch, method, url.s, body, on_answer, j);
}

/* Whether a job of this service may call now. */
static bool has_turn(const struct ochami *o, const struct service *s)
{
    if (!s->queue || o->calling >= CALLS_MAX)
        return false;
    if (!s->base) /* a reboot is refused then; entries for SMD wait until there is one */
        return s != &o->services[SERVICE_SMD];
    return !s->is_away || (s->calling == 0 && mono_sub(s->due, mono_now()).ns <= 0);
}

static void job_go(struct job *j)
{
    job_unplace(j);
    j->kind->go(j);
}

static void on_tick(uv_timer_t *t);

static void job_pump(struct ochami *o)
{
    LOOP_DOES("OpenCHAMI");
    for (unsigned i = 0; i < SERVICES; i++)
        while (has_turn(o, &o->services[i]))
            job_go(o->services[i].queue);
    bool waits = o->timed != NULL;
    for (unsigned i = 0; i < SERVICES; i++)
        waits |= o->services[i].is_away && o->services[i].queue;
    if (waits && !uv_is_active((uv_handle_t *)&o->tick))
        uv_timer_start(&o->tick, on_tick, o->pace.tick_ms, o->pace.tick_ms);
    else if (!waits)
        uv_timer_stop(&o->tick);
}

static void on_now(uv_timer_t *t)
{
    job_pump(t->data);
}

void job_wake(struct ochami *o)
{
    if (!uv_is_active((uv_handle_t *)&o->now))
        uv_timer_start(&o->now, on_now, 0, 0);
}

static void on_tick(uv_timer_t *t)
{
    struct ochami *o = t->data;
    struct mono now = mono_now();
    struct job *j, *next, *due = NULL;
    DL_FOREACH_SAFE(o->timed, j, next)
    {
        if (mono_sub(j->due, now).ns > 0)
            continue;
        if (j->state == JOB_SLEEPING) {
            job_queue(j, j->phase);
        } else if (!due) { /* one at a time, because a report may change the list */
            due = j;
        }
    }
    if (due) {
        wait_until(due, JOB_REPORTED, o->pace.resend);
        job_say(due);
    }
    job_pump(o);
}
