/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One turn: read nodes (slurm_reading.c), plan a step for each (slurm_plan.c), note in the records what is
 * about to be written, write, read again (slurm_writing.c). A step counts when the next reading shows it. So
 * Slurm's state is the only one; about a write nothing is remembered except that it was tried.
 *
 * Nodes about which there is more to know than Slurm's answer are in a list of their own (`open`), and only
 * this list is searched each time. At most one call is under way; whatever ends takes the next turn.
 */
#include "driver/slurm_inside.h"

#include "base/log.h"
#include "base/loop.h"
#include "driver/slurm_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { SAY_AGAIN_S = 30 }; /* how soon a result is repeated that did not come back as a record */

/* --- turns ----------------------------------------------------------------------------------- */

static void slurm_turn(struct slurm *s);

static void on_timer(uv_timer_t *t)
{
    slurm_turn(t->data);
}

static void wake_at(struct slurm *s, struct mono at)
{
    int64_t ns = mono_sub(at, mono_now()).ns;
    uint64_t ms = ns > 0 ? (uint64_t)(ns + 999999) / 1000000 : 0;
    if (!uv_is_active((uv_handle_t *)s->timer) || uv_timer_get_due_in(s->timer) > ms)
        uv_timer_start(s->timer, on_timer, ms, 0);
}

/* Sleeps until there is something to do without being told. */
static void sleep_on(struct slurm *s)
{
    struct mono next = s->due;
    const struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        struct mono at = next;
        if (n->said)
            at = mono_add(n->said_at, span_s(SAY_AGAIN_S));
        else if (n->line && slurm_act_writes(n->act))
            at = writing_time(s, n);
        next = at.ns < next.ns ? at : next;
    }
    wake_at(s, next.ns > s->retry_at.ns ? next : s->retry_at);
}

static void say_again(struct slurm *s, struct mono now)
{
    struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->said && mono_sub(now, n->said_at).ns >= span_s(SAY_AGAIN_S).ns)
            node_say(s, n);
    }
}

static void take_marks(struct slurm *s)
{
    struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->is_marked && node_ask(s, n))
            n->is_changed = true;
        n->is_marked = false;
    }
    s->has_marks = false;
}

static void slurm_turn(struct slurm *s)
{
    LOOP_DOES("plans for Slurm");
    struct mono now = mono_now();
    if (uv_is_active((uv_handle_t *)s->slices) || !s->conf.scontrol)
        return;
    if (slurm_call_is_busy(s->call)) { /* the end of a call is the next turn, but a call that cannot be killed
                                          has no end */
        wake_at(s, mono_add(now, span_s(RETRY_S)));
        return;
    }
    if (now.ns < s->retry_at.ns) {
        wake_at(s, s->retry_at);
        return;
    }
    if (s->has_losses && writing_restore(s, now)) {
        wake_at(s, mono_add(now, span_s(RETRY_S)));
        return;
    }
    take_marks(s);
    writing_plan_fresh(s, now);
    if (writing_next(s, now))
        return;
    say_again(s, now);
    if (!s->has_read || now.ns >= s->due.ns)
        reading_all(s);
    else if (!reading_some(s, now) && !preferring_next(s, now))
        sleep_on(s);
}

static void on_closed(uv_handle_t *h)
{
    free(h);
}

static void take_conf(struct slurm *s, const struct slurm_conf *conf)
{
    free(s->conf.scontrol);
    free(s->conf.conf_file);
    free(s->conf.user);
    free(s->conf.owner);
    s->conf.scontrol = conf->scontrol && conf->scontrol[0] ? mem_dup(conf->scontrol) : NULL;
    s->conf.conf_file = mem_dup(conf->conf_file);
    s->conf.user = mem_dup(conf->user ? conf->user : "root");
    s->conf.owner = mem_dup(conf->owner);
    s->conf.every = conf->every.ns > 0 ? conf->every : span_s(5);
    s->conf.deadline = conf->deadline.ns > 0 ? conf->deadline : span_s(10);
}

struct slurm *slurm_create(uv_loop_t *loop, const struct slurm_conf *conf, const struct slurm_sink *sink)
{
    struct slurm *s = mem_alloc(sizeof *s);
    *s = (struct slurm){.loop = loop, .sink = *sink, .call = slurm_call_create(loop), .log.fd = -1};
    s->timer = mem_alloc(sizeof *s->timer);
    uv_timer_init(loop, s->timer);
    s->slices = mem_alloc(sizeof *s->slices);
    uv_idle_init(loop, s->slices);
    s->timer->data = s->slices->data = s;
    s->turn = slurm_turn;
    take_conf(s, conf);
    wake_at(s, mono_now()); /* the records come first */
    return s;
}

void slurm_destroy(struct slurm *s)
{
    if (!s)
        return;
    slurm_call_destroy(s->call);
    slurm_log_close(&s->log);
    uv_close((uv_handle_t *)s->timer, on_closed);
    uv_close((uv_handle_t *)s->slices, on_closed);
    free(s->text);
    while (s->nodes)
        node_drop(s, s->nodes);
    free(s->conf.scontrol);
    free(s->conf.conf_file);
    free(s->conf.user);
    free(s->conf.owner);
    free(s->batch);
    free(s);
}

void slurm_configure(struct slurm *s, const struct slurm_conf *conf)
{
    take_conf(s, conf);
    s->due = s->retry_at = mono_now();
    wake_at(s, s->due);
}

void slurm_effect(struct slurm *s, const char *key, const char *value)
{
    struct err e;
    if (strncmp(key, SLURM_KEY_PREFIX, sizeof SLURM_KEY_PREFIX - 1) != 0)
        return;
    struct node *n = node_get(s, key + sizeof SLURM_KEY_PREFIX - 1);
    n->is_inherited = !n->said;
    free(STEAL(n->said));
    n->record = (struct slurm_record){0};
    if (value && slurm_record_read(value, &n->record, &e) < 0)
        log_warn("%s: %s", key, e.msg); /* Slurm's reason shows whose drain it is all the same */
    n->act = ACT_NOTE;                  /* to be planned anew */
    node_open(s, n);
    wake_at(s, mono_now());
}

void slurm_changed(struct slurm *s, const struct hostlist *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct slurm_want want = {0};
        struct node *n = node_find(s, nodes->names[i]);
        if (!n) { /* Slurm does not have it, or it was not read yet */
            s->sink.wanted(s->sink.arg, nodes->names[i], &want);
            if (slurm_wish_of(&want) == WISH_NOTHING)
                continue;
            n = node_get(s, nodes->names[i]);
        }
        n->is_marked = s->has_marks = true;
        node_open(s, n);
    }
    if (s->has_marks)
        wake_at(s, mono_now());
}

void slurm_look(struct slurm *s, const char *node)
{
    struct node *n = node_find(s, node);
    if (!n)
        return;
    n->is_asked = true;
    node_open(s, n);
    wake_at(s, mono_now());
}

bool slurm_lacks(const struct slurm *s, const char *node)
{
    const struct node *n = node_find(s, node);
    return n && n->is_absent;
}

size_t slurm_waiting(const struct slurm *s)
{
    size_t waiting = 0;
    const struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        waiting += n->said || n->is_marked || (n->act != ACT_NOTHING && (n->line || !s->has_read));
    }
    return waiting;
}
