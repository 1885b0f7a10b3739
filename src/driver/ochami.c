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
 *
 * A record that changes while a request is under way is taken at once; the job restarts with it when the
 * answer arrives. Nothing here calls the sink from within ochami_effect.
 */
#include "driver/job.h"

#include "base/log.h"
#include "base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

enum { CALLS_MAX = 8, FAULTS_MAX = 3 };

static const struct ochami_pace normal_pace = {
    .retry_min = {1000000000LL},
    .retry_max = {300000000000LL},
    .poll = {5000000000LL},
    .resend = {30000000000LL},
    .tick_ms = 100,
};

static struct span ochami_backoff(const struct ochami *o, unsigned failures)
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

/* The loop comes back at once: pump is never called from where a job may be on the stack. */
static void ochami_wake(struct ochami *o);

/* Takes the job off the list that it waits in. */
static void ochami_unplace(struct job *j)
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
    ochami_unplace(j);
    j->phase = phase;
    j->service = service_of(phase);
    j->state = JOB_QUEUED;
    if (phase == PHASE_PUT || phase == PHASE_ASK) /* it has begun, so it goes before those that have not */
        DL_PREPEND(j->o->services[j->service].queue, j);
    else
        DL_APPEND(j->o->services[j->service].queue, j);
    ochami_wake(j->o);
}

static void wait_until(struct job *j, enum job_state state, struct span s)
{
    ochami_unplace(j);
    j->state = state;
    j->due = mono_add(mono_now(), s);
    DL_APPEND(j->o->timed, j);
    ochami_wake(j->o);
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
    ochami_unplace(j);
}

void job_drop(struct job *j)
{
    struct ochami *o = j->o;
    if (j->state == JOB_CALLING) {
        j->is_gone = true;
        return;
    }
    ochami_unplace(j);
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

static void ochami_say(struct job *j)
{
    const struct ochami_sink *sink = &j->o->sink;
    CLEANUP_FREE char *key = mem_dup(j->key), *result = mem_dup(j->reported);
    sink->result(sink->arg, key, result); /* the sink may return the record at once, and end the job */
}

static void on_recorded(struct job *j)
{
    if (j->effect.is_reboot)
        reboot_on_recorded(j);
    else
        smd_on_recorded(j);
}

void job_report(struct job *j, char *result, bool is_good)
{
    j->o->is_good |= is_good;
    free(j->reported);
    j->reported = result;
    j->faults = 0;
    if (done_equal(result, j->effect.done_text)) { /* the record has it already, so nobody would report it
                                                      again */
        on_recorded(j);
        return;
    }
    wait_until(j, JOB_REPORTED, j->o->pace.resend);
    ochami_say(j);
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
    s->due = mono_add(mono_now(), ochami_backoff(o, s->failures));
    o->sink.trouble(o->sink.arg, s->name, why);
}

static void ochami_begin(struct job *j)
{
    j->is_renewed = false;
    if (j->effect.is_reboot)
        reboot_begin(j);
    else
        smd_begin(j);
}

void job_fault(struct job *j, enum job_phase phase, const struct err *why)
{
    j->o->is_good = false;
    service_failed(j->o, &j->o->services[j->service], why, false);
    sleep_for(j, phase, ochami_backoff(j->o, ++j->faults));
}

static enum job_phase phase_again(const struct job *j)
{
    return j->effect.is_reboot ? reboot_again(j) : PHASE_LOOK;
}

/* An answer that says nothing about the effect: trouble of the service, or a fault. */
static void on_failure(struct job *j, const struct err *why, bool is_away)
{
    struct ochami *o = j->o;
    if (!is_away && !j->is_gone) {
        job_fault(j, phase_again(j), why);
        return;
    }
    o->is_good = false;
    service_failed(o, &o->services[j->service], why, is_away);
    if (j->is_gone)
        job_drop(j);
    else if (j->is_renewed)
        ochami_begin(j);
    else
        job_queue(j, phase_again(j)); /* at the end of the queue: the next try is another node's */
}

enum verdict { TAKEN, REFUSED, FAULT, AWAY };

static enum verdict ochami_judge(struct answer *a, const struct err *why, struct err *e)
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
    enum verdict v = ochami_judge(&a, why, &e);
    o->calling--;
    s->calling--;
    j->state = JOB_RESTING;
    ochami_wake(o);
    o->is_good = j->phase == PHASE_PUT || j->phase == PHASE_BOOT_PUT || j->phase == PHASE_ASK;
    if (v == AWAY || v == FAULT)
        on_failure(j, &e, v == AWAY);
    else if (j->is_gone)
        job_drop(j);
    else if (j->is_renewed)
        ochami_begin(j);
    else if (j->effect.is_reboot)
        reboot_on_answer(j, &a);
    else
        smd_on_answer(j, &a);
    if (o->is_good)
        service_answered(o, s);
}

void job_call(struct job *j, const char *method, const char *path, const char *body)
{
    struct ochami *o = j->o;
    ochami_unplace(j);
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

static void ochami_go(struct job *j)
{
    ochami_unplace(j);
    if (j->effect.is_reboot)
        reboot_go(j);
    else
        smd_go(j);
}

static void on_tick(uv_timer_t *t);

static void ochami_pump(struct ochami *o)
{
    LOOP_DOES("OpenCHAMI");
    for (unsigned i = 0; i < SERVICES; i++)
        while (has_turn(o, &o->services[i]))
            ochami_go(o->services[i].queue);
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
    ochami_pump(t->data);
}

static void ochami_wake(struct ochami *o)
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
        ochami_say(due);
    }
    ochami_pump(o);
}

static struct job *job_create(struct ochami *o, const char *key)
{
    struct job *j = mem_alloc(sizeof *j);
    bool is_reboot;
    *j = (struct job){.o = o, .key = mem_dup(key), .state = JOB_RESTING};
    j->node = effect_about(j->key, &is_reboot);
    HASH_ADD_KEYPTR(hh, o->jobs, j->key, strlen(j->key), j);
    return j;
}

static bool wants_the_same(const struct effect *a, const struct effect *b)
{
    if (!marks_equal(a->xname, b->xname))
        return false;
    if (a->is_reboot) /* another reboot has another id */
        return marks_equal(a->id, b->id) && marks_equal(a->boot, b->boot);
    return a->is_wanted == b->is_wanted && marks_equal(a->want.flag, b->want.flag) &&
           marks_equal(a->want.status, b->want.status) && marks_equal(a->want.group, b->want.group) &&
           marks_equal(a->want.message, b->want.message);
}

/* The `done` of an effect's record was written by this driver, so a new job starts from it. */
static void take_done(struct job *j)
{
    marks_fini(&j->own);
    j->own.is_pending = j->effect.done.is_pending;
    marks_set(&j->own.flag, j->effect.done.flag);
    marks_set(&j->own.status, j->effect.done.status);
    marks_set(&j->own.group, j->effect.done.group);
    marks_set(&j->own.message, j->effect.done.message);
    marks_set(&j->own.error, j->effect.done.error);
    j->progress = j->effect.progress;
}

/* Takes the record of an existing job. A reported result must be in it before the job goes on. */
static void take_change(struct job *j, bool is_other)
{
    j->is_renewed |= is_other;
    if (is_other)
        j->faults = 0;
    if (is_other && j->effect.is_reboot) { /* the earlier reboot's progress does not apply to this one */
        take_done(j);
        if (j->state != JOB_CALLING)
            ochami_begin(j);
    } else if (j->state == JOB_REPORTED) {
        if (!done_equal(j->reported, j->effect.done_text))
            return;
        if (j->is_renewed)
            ochami_begin(j);
        else
            on_recorded(j);
    } else if (is_other && j->state != JOB_CALLING) {
        ochami_begin(j);
    }
}

void ochami_effect(struct ochami *o, const char *key, const char *value)
{
    bool is_reboot;
    struct job *j;
    if (!effect_about(key, &is_reboot))
        return;
    HASH_FIND_STR(o->jobs, key, j);
    if (!value) {
        if (j)
            job_drop(j);
        return;
    }
    struct err e;
    struct effect x;
    if (effect_read(key, value, &x, &e) < 0) {
        log_error("%s", e.msg);
        return;
    }
    bool is_new = !j || j->is_gone;
    if (!j)
        j = job_create(o, key);
    bool is_other = !is_new && !wants_the_same(&j->effect, &x);
    effect_fini(&j->effect);
    j->effect = x;
    if (!is_new) {
        take_change(j, is_other);
        return;
    }
    take_done(j);
    j->is_renewed = j->is_gone; /* the answer under way belongs to the earlier record */
    j->is_gone = false;
    if (j->state != JOB_CALLING)
        ochami_begin(j);
}

size_t ochami_waiting(const struct ochami *o)
{
    size_t n = 0;
    for (const struct job *j = o->jobs; j; j = j->hh.next)
        n += j->state != JOB_RESTING && !j->is_gone;
    return n;
}

static char *ochami_given(const char *s)
{
    return s && s[0] ? mem_dup(s) : NULL;
}

/* Without the slash at the end: paths begin with one. */
static char *base_of(const char *s)
{
    char *base = ochami_given(s);
    for (size_t n = base ? strlen(base) : 0; n && base[n - 1] == '/';)
        base[--n] = '\0';
    return base;
}

static void forget_conf(struct ochami *o)
{
    for (unsigned i = 0; i < SERVICES; i++)
        free(o->services[i].base);
    free(o->ca);
    free(o->token);
    free(o->group);
}

static void take_conf(struct ochami *o, const struct ochami_conf *conf)
{
    char *const bases[SERVICES] = {base_of(conf->smd), base_of(conf->bss), base_of(conf->pcs)};
    forget_conf(o);
    o->ca = ochami_given(conf->ca);
    o->token = ochami_given(conf->token);
    o->group = ochami_given(conf->group);
    for (unsigned i = 0; i < SERVICES; i++) {
        struct service *s = &o->services[i];
        s->base = bases[i];
        s->calling = 0;
        s->failures = 0;
        s->due = mono_now();
        s->is_away = s->is_away && s->base; /* nothing is sent to it any more */
    }
    fetch_destroy(o->fetch);
    const struct fetch_options options = {.ca = o->ca, .token = o->token, .answered_ms = o->pace.answered_ms};
    o->fetch = fetch_create(o->loop, &options);
    transitions_forget(o);
    o->calling = 0;
}

static void on_timer_closed(uv_handle_t *h)
{
    struct ochami *o = h->data;
    h->data = NULL;
    if (!o->now.data && !o->tick.data)
        free(o);
}

struct ochami *ochami_create(uv_loop_t *loop, const struct ochami_conf *conf, const struct ochami_sink *sink)
{
    static const char *const names[SERVICES] = {"SMD", "BSS", "PCS"};
    struct ochami *o = mem_alloc(sizeof *o);
    o->loop = loop;
    o->sink = *sink;
    o->pace = normal_pace;
    for (unsigned i = 0; i < SERVICES; i++)
        o->services[i].name = names[i];
    uv_timer_init(loop, &o->now);
    uv_timer_init(loop, &o->tick);
    o->now.data = o->tick.data = o;
    take_conf(o, conf);
    return o;
}

void ochami_set_pace(struct ochami *o, const struct ochami_pace *pace)
{
    o->pace = *pace;
    fetch_destroy(o->fetch);
    const struct fetch_options options = {.ca = o->ca, .token = o->token, .answered_ms = o->pace.answered_ms};
    o->fetch = fetch_create(o->loop, &options);
}

void ochami_destroy(struct ochami *o)
{
    if (!o)
        return;
    fetch_destroy(o->fetch);
    struct job *j, *next;
    HASH_ITER (hh, o->jobs, j, next) {
        if (j->state == JOB_CALLING)
            j->state = JOB_RESTING;
        job_drop(j);
    }
    transitions_forget(o);
    forget_conf(o);
    uv_timer_stop(&o->now);
    uv_timer_stop(&o->tick);
    uv_close((uv_handle_t *)&o->now, on_timer_closed);
    uv_close((uv_handle_t *)&o->tick, on_timer_closed);
}

void ochami_configure(struct ochami *o, const struct ochami_conf *conf)
{
    take_conf(o, conf);
    struct job *j, *next;
    HASH_ITER (hh, o->jobs, j, next) {
        bool was_calling = j->state == JOB_CALLING;
        if (was_calling)
            j->state = JOB_RESTING; /* its request ended with the fetch */
        j->faults = 0;
        if (j->is_gone)
            job_drop(j);
        else if (j->state != JOB_REPORTED)
            ochami_begin(j);
    }
    ochami_wake(o);
}
