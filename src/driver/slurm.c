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

enum {
    SAY_AGAIN_S = 30, /* how soon a result is repeated that did not come back as a record */
    RETRY_MAX_S = 60,
    LIST_NODES_MAX = 4096, /* nodes in one call: an argument has a limit */
    LIST_BYTES_MAX = 96 << 10,
};

static const char key_prefix[] = "effect/slurm.";

/* --- the nodes ------------------------------------------------------------------------------- */

struct node *node_find(const struct slurm *s, const char *name)
{
    struct node *n;
    HASH_FIND_STR(s->nodes, name, n);
    return n;
}

struct node *node_get(struct slurm *s, const char *name)
{
    struct node *n = node_find(s, name);
    if (n)
        return n;
    n = mem_alloc(sizeof *n);
    *n = (struct node){.name = mem_dup(name), .act = ACT_WAIT, .tried = ACT_NOTHING};
    HASH_ADD_KEYPTR(hh, s->nodes, n->name, strlen(n->name), n);
    return n;
}

void node_open(struct slurm *s, struct node *n)
{
    if (!n->is_open)
        DL_APPEND2(s->open, n, prev_open, next_open);
    n->is_open = true;
}

void node_close(struct slurm *s, struct node *n)
{
    if (n->is_open)
        DL_DELETE2(s->open, n, prev_open, next_open);
    n->is_open = false;
}

void node_drop(struct slurm *s, struct node *n)
{
    node_close(s, n);
    HASH_DEL(s->nodes, n);
    free(n->row_text);
    free(n->reservation);
    free(n->said);
    free(n->name);
    free(n);
}

bool node_is_wanted(const struct node *n)
{
    return slurm_wish_of(&n->want) != WISH_NOTHING;
}

bool node_ask(struct slurm *s, struct node *n)
{
    struct slurm_want w = {0};
    s->sink.wanted(s->sink.arg, n->name, &w);
    bool is_other = w.drain != n->want.drain || w.reserve != n->want.reserve || w.own != n->want.own ||
                    strcmp(w.mark.claim, n->want.mark.claim) != 0 ||
                    strcmp(w.mark.problem, n->want.mark.problem) != 0 ||
                    strcmp(w.reason, n->want.reason) != 0;
    n->want = w; /* `avoid` is examined at the next reading of the node */
    if (is_other)
        node_open(s, n);
    return is_other;
}

static bool has_claim(const struct node *n, const char *claim)
{
    return strcmp(n->want.mark.claim, claim) == 0 || strcmp(n->record.claim, claim) == 0;
}

bool node_is_pasted(const struct slurm *s, const struct node *n, const char *reason)
{
    struct slurm_mark mark;
    const struct node *other;
    if (!slurm_read_mark(reason, s->conf.owner, &mark) || has_claim(n, mark.claim))
        return false;
    if (n->was_pasted && strcmp(reason, n->row.reason) == 0)
        return true; /* even when that claim is over */
    DL_FOREACH2(s->open, other, next_open)
    {
        if (other != n && has_claim(other, mark.claim))
            return true;
    }
    return false;
}

/* --- records --------------------------------------------------------------------------------- */

void node_say(struct slurm *s, struct node *n)
{
    CLEANUP_TEXT struct text key = {0};
    CLEANUP_FREE char *done = mem_dup(n->said);
    text_printf(&key, "%s%s", key_prefix, n->name);
    n->said_at = mono_now();
    s->sink.result(s->sink.arg, key.s, done); /* the sink may return the record at once */
}

/* --- trouble --------------------------------------------------------------------------------- */

void slurm_set_trouble(struct slurm *s, const struct err *why)
{
    bool is_away = why != NULL;
    if (!is_away && !s->is_away)
        return;
    s->is_away = is_away;
    s->sink.trouble(s->sink.arg, why);
}

struct span slurm_backoff(unsigned tries)
{
    int64_t seconds = RETRY_S;
    for (unsigned i = 1; i < tries && seconds < RETRY_MAX_S; i++)
        seconds *= 2;
    return span_s(seconds < RETRY_MAX_S ? seconds : RETRY_MAX_S);
}

void slurm_judge_trouble(struct slurm *s)
{
    struct err e = {0};
    const struct node *n;
    if (s->is_vague)
        err_set(&e, -EPROTO,
                "a reservation is not understood: it is not known which nodes are in maintenance");
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->want.reserve && n->line && n->guard == GUARD_FOREIGN)
            err_set(&e, -EBUSY, "somebody changed the reservation of %s", n->name);
        else if (n->tries > 1 || (n->tries == 1 && s->why.code))
            err_set(&e, -EIO, "%s: %s: %s", n->name, slurm_act_name(n->tried),
                    s->why.code ? s->why.msg : "Slurm does not show the state that was written");
    }
    if (!e.code)
        s->why = (struct err){0};
    slurm_set_trouble(s, e.code ? &e : NULL);
}

/* --- calls ----------------------------------------------------------------------------------- */

int slurm_run(struct slurm *s, const char *const *args, slurm_call_done_fn *done, struct err *e)
{
    return slurm_call_start(s->call, s->conf.scontrol, args, s->conf.conf_file, s->conf.deadline, done, s, e);
}

/* --- a batch: nodes that one call is for */

bool batch_add(struct slurm *s, struct node *n, size_t *bytes)
{
    if (s->n_batch == LIST_NODES_MAX || *bytes >= LIST_BYTES_MAX)
        return false;
    if (!s->batch)
        s->batch = mem_alloc(LIST_NODES_MAX * sizeof *s->batch);
    s->batch[s->n_batch++] = n;
    *bytes += strlen(n->name) + 1;
    return true;
}

void batch_write(const struct slurm *s, struct text *t)
{
    CLEANUP_FREE const char **names = mem_alloc(LIST_NODES_MAX * sizeof *names);
    for (size_t i = 0; i < s->n_batch; i++)
        names[i] = s->batch[i]->name;
    slurm_write_list(names, s->n_batch, t);
}

int batch_read(struct slurm *s, slurm_call_done_fn *done, struct err *e)
{
    CLEANUP_TEXT struct text list = {0};
    batch_write(s, &list);
    const char *const args[] = {"scontrol", "-o", "-a", "show", "node", list.s, NULL};
    return slurm_run(s, args, done, e);
}

/* --- turns ----------------------------------------------------------------------------------- */

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

void slurm_turn(struct slurm *s)
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
    if (strncmp(key, key_prefix, sizeof key_prefix - 1) != 0)
        return;
    struct node *n = node_get(s, key + sizeof key_prefix - 1);
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
