/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of the driver and its configuration. A job carries out each open effect (job.c).
 *
 * A record that changes while a request is under way is taken at once; the job restarts with it when the
 * answer arrives. Nothing here calls the sink from within ochami_effect.
 */
#include "driver/job.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct ochami_pace normal_pace = {
    .retry_min = {1000000000LL},
    .retry_max = {300000000000LL},
    .poll = {5000000000LL},
    .resend = {30000000000LL},
    .tick_ms = 100,
};

static struct job *job_create(struct ochami *o, const char *key)
{
    struct job *j = mem_alloc(sizeof *j);
    bool is_reboot;
    *j = (struct job){.o = o, .key = mem_dup(key), .state = JOB_RESTING};
    j->node = effect_about(j->key, &is_reboot);
    j->kind = is_reboot ? &reboot_jobs : &smd_jobs;
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
            job_begin(j);
    } else if (j->state == JOB_REPORTED) {
        if (!done_equal(j->reported, j->effect.done_text))
            return;
        if (j->is_renewed)
            job_begin(j);
        else
            j->kind->on_recorded(j);
    } else if (is_other && j->state != JOB_CALLING) {
        job_begin(j);
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
        job_begin(j);
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
            job_begin(j);
    }
    job_wake(o);
}
