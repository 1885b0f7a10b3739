/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One turn: read nodes, plan a step for each (slurm_plan.c), note in the records what is about to be written,
 * write, read again. A step counts when the next reading shows it. So there is one state, Slurm's; nothing is
 * remembered of a write but that it was tried.
 *
 * The regular reading is of all nodes, and is three calls: the nodes; the reservations; slurmctld's start, by
 * which what somebody took back is told from what slurmctld lost (it acknowledges from memory, and saves
 * every few seconds). Between two of them only the nodes of which something is to be decided or was written
 * are read, by name, and of the rest what they need. Where that does not say all that it was asked for, there
 * is another regular one. What is written goes by a reading that is at most FRESH_MS old, or there is another
 * one first.
 *
 * Ten thousand nodes are no matter of one turn of the loop: a regular reading is taken in and told SLICE
 * nodes at a time, and until its end nothing is planned. The nodes of which there is anything to know but
 * what Slurm says are in a list of their own (`open`), and only they are looked through each time.
 *
 * slurmctld compares nothing when it is written to. So right before a node is written it is read once more by
 * itself, and written only when the same still follows of it.
 *
 * A list that lacks a node may have lost it. Of one that is wanted out of service Slurm is asked by name;
 * only when it says that there is no such node, there is none.
 *
 * All nodes that need the same are one call. At most one call is under way, and at most one write in
 * WRITE_GAP_MS. A write that did not bring about what it should is tried again later and alone, so that one
 * node that Slurm refuses does not keep back the others.
 */
#include "driver/slurm.h"

#include "base/log.h"
#include "base/text.h"
#include "driver/slurm_call.h"
#include "driver/slurm_plan.h"
#include "driver/slurm_read.h"
#include "driver/slurm_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

enum {
    FRESH_MS = 250,
    WRITE_GAP_MS = 50,
    SAY_AGAIN_S = 30, /* a result that did not come back as a record */
    RETRY_S = 1,      /* doubled each time, up to */
    RETRY_MAX_S = 60,
    SLICE = 256,           /* nodes in a turn of the loop */
    NAMED_MAX = 256,       /* so many are read by name; where more are to be read, all are */
    LIST_NODES_MAX = 4096, /* of one call: an argument has a limit */
    LIST_BYTES_MAX = 96 << 10,
};

static const char key_prefix[] = "effect/slurm.", service[] = "Slurm";

struct node {
    char *name;
    UT_hash_handle hh;
    struct slurm_want want;
    struct slurm_record record;
    char *said; /* the result that is to come back as a record; NULL: none */
    struct mono said_at;
    const struct slurm_line *line; /* `row`; NULL: it is not in Slurm, or nobody knows */
    struct slurm_line row;         /* as it was read last */
    char *row_text;                /* what `row` points into */
    struct mono read_at;
    unsigned reading; /* the last regular one that had it */
    enum slurm_guard guard;
    enum slurm_act act, tried; /* what is to be done; what was done last */
    unsigned tries;            /* how often without success */
    struct mono not_before;
    bool is_marked;  /* wants may have changed */
    bool was_seen;   /* in the reading before */
    bool is_changed; /* something else is wanted since it was read */
    bool is_written; /* since it was read */
    bool is_kept;    /* of the batch: it was read by name, and right before a write, the same follows of it */
    bool is_maintained; /* in a maintenance reservation of somebody else's, as last read */
    bool is_absent;     /* Slurm said that it has no such node, and no reading had it or failed since */
    bool is_open;
    struct node *prev_open, *next_open;
};

typedef void each_fn(struct slurm *s, struct node *n);
typedef void end_fn(struct slurm *s);

struct slurm {
    uv_loop_t *loop;
    struct slurm_sink sink;
    struct {
        char *scontrol, *conf_file, *user, *owner;
        struct span every, deadline;
    } conf;
    struct slurm_call *call;
    uv_timer_t *timer;
    struct node *nodes; /* in Slurm's order, as far as it had them first */
    struct node *open;
    /* The regular reading under way: the text, where its next line begins, which node that is likely of. */
    char *text, *rest;
    struct node *likely;
    unsigned reading, n_read; /* its number; how many nodes it had so far */
    char boot[SLURM_BOOT_BYTES];
    struct mono due, retry_at, next_write, next_retry;
    unsigned failed_readings;
    bool is_regular; /* the reading under way is of all nodes */
    bool is_vague;   /* of the reservations one was not understood, as last read */
    bool has_read, has_marks, is_away;
    /* What goes on a slice a turn, while `slices` is active: each node from `at` on, then the end. */
    uv_idle_t *slices;
    struct node *at;
    each_fn *each;
    end_fn *end;
    struct err why;      /* of the last write that failed */
    struct node **batch; /* what is read by name, or is about to be written alike */
    size_t n_batch;
};

/* --- the nodes ------------------------------------------------------------------------------- */

static struct node *find_node(const struct slurm *s, const char *name)
{
    struct node *n;
    HASH_FIND_STR(s->nodes, name, n);
    return n;
}

static struct node *get_node(struct slurm *s, const char *name)
{
    struct node *n = find_node(s, name);
    if (n)
        return n;
    n = mem_alloc(sizeof *n);
    *n = (struct node){.name = mem_dup(name), .act = ACT_WAIT, .tried = ACT_NOTHING};
    HASH_ADD_KEYPTR(hh, s->nodes, n->name, strlen(n->name), n);
    return n;
}

static void open_node(struct slurm *s, struct node *n)
{
    if (!n->is_open)
        DL_APPEND2(s->open, n, prev_open, next_open);
    n->is_open = true;
}

static void close_node(struct slurm *s, struct node *n)
{
    if (n->is_open)
        DL_DELETE2(s->open, n, prev_open, next_open);
    n->is_open = false;
}

static void drop_node(struct slurm *s, struct node *n)
{
    close_node(s, n);
    HASH_DEL(s->nodes, n);
    free(n->row_text);
    free(n->said);
    free(n->name);
    free(n);
}

static bool is_wanted(const struct node *n)
{
    return slurm_wish_of(&n->want) != WISH_NOTHING;
}

/* There is nothing to know of it but what Slurm says. */
static bool is_settled(const struct node *n)
{
    return n->line && n->act == ACT_NOTHING && n->record.state == RECORD_NONE && !is_wanted(n) && !n->said &&
           !n->is_marked && !n->is_changed && !n->is_written && !n->tries && n->guard != GUARD_OURS;
}

/* What is wanted of it now; whether that is something else than before. */
static bool ask_wanted(struct slurm *s, struct node *n)
{
    struct slurm_want w = {0};
    s->sink.wanted(s->sink.arg, n->name, &w);
    bool is_other = w.drain != n->want.drain || w.reserve != n->want.reserve || w.own != n->want.own ||
                    strcmp(w.claim, n->want.claim) != 0 || strcmp(w.reason, n->want.reason) != 0;
    n->want = w;
    if (is_other)
        open_node(s, n);
    return is_other;
}

/* --- records --------------------------------------------------------------------------------- */

static void say(struct slurm *s, struct node *n)
{
    CLEANUP_TEXT struct text key = {0};
    CLEANUP_FREE char *done = mem_dup(n->said);
    text_printf(&key, "%s%s", key_prefix, n->name);
    n->said_at = mono_now();
    s->sink.result(s->sink.arg, key.s, done); /* which may bring the record at once */
}

/* The slurmctld in which what the record has was seen to stand. */
static void note_boot(const struct slurm *s, const struct node *n, const struct slurm_step *step,
                      struct slurm_record *r)
{
    static const char none[SLURM_BOOT_BYTES];
    bool is_guard = r->state == RECORD_RESERVED || r->state == RECORD_FOREIGN;
    if (is_guard)
        memcpy(r->boot, r->has_guard && n->guard == GUARD_OURS ? s->boot : none, sizeof r->boot);
    else if (r->state == RECORD_DRAINED && !step->keeps_claim)
        memcpy(r->boot, s->boot, sizeof r->boot);
}

static void take_note(struct slurm *s, struct node *n, const struct slurm_step *step)
{
    struct slurm_record r = n->record;
    r.state = step->record;
    r.has_guard = step->has_guard;
    if (!step->keeps_claim)
        memcpy(r.claim, n->want.claim, sizeof r.claim);
    else if (!r.claim[0] &&
             !slurm_read_claim(n->line->reason, s->conf.owner, r.claim)) /* an orphan's is in its reason */
        memcpy(r.claim, n->want.claim, sizeof r.claim);
    note_boot(s, n, step, &r);
    bool is_refused = step->is_refused && !n->record.is_refused;
    r.is_refused = step->is_refused;
    free(n->said);
    n->said = slurm_record_write(&r, wall_now().ns);
    if (step->is_overridden)
        s->sink.overridden(s->sink.arg, n->name, n->want.claim, "");
    if (is_refused)
        s->sink.refused(s->sink.arg, n->name, n->want.claim);
    say(s, n);
}

/* --- trouble --------------------------------------------------------------------------------- */

static void set_trouble(struct slurm *s, const struct err *why)
{
    bool is_away = why != NULL;
    if (s->is_away == is_away)
        return;
    s->is_away = is_away;
    s->sink.trouble(s->sink.arg, service, why);
}

static struct span backoff(unsigned tries)
{
    int64_t seconds = RETRY_S;
    for (unsigned i = 1; i < tries && seconds < RETRY_MAX_S; i++)
        seconds *= 2;
    return span_s(seconds < RETRY_MAX_S ? seconds : RETRY_MAX_S);
}

/* Whatever was told last and is to be done once more did not come about. */
static void judge_trouble(struct slurm *s)
{
    struct err e = {0};
    const struct node *n;
    if (s->is_vague)
        err_set(&e, -EPROTO, "a reservation is not understood: nobody knows who is in maintenance");
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->want.reserve && n->line && n->guard == GUARD_FOREIGN)
            err_set(&e, -EBUSY, "somebody changed the reservation of %s", n->name);
        else if (n->tries > 1 || (n->tries == 1 && s->why.code))
            err_set(&e, -EIO, "%s: %s: %s", n->name, slurm_act_name(n->tried),
                    s->why.code ? s->why.msg : "Slurm does not show what it was told");
    }
    if (!e.code)
        s->why = (struct err){0};
    set_trouble(s, e.code ? &e : NULL);
}

/* --- planning -------------------------------------------------------------------------------- */

static bool is_write(enum slurm_act a)
{
    return a > ACT_NOTE && a < ACT_WAIT;
}

/* What was written came about, or something else is to be done by now. */
static void settle_tries(struct node *n)
{
    if (n->act == n->tried)
        return;
    n->tries = 0;
    n->tried = ACT_NOTHING;
}

static struct slurm_step step_of(const struct slurm *s, const struct node *n, const struct slurm_line *line)
{
    struct slurm_case c = slurm_view(s->conf.owner, &n->want, &n->record, line, n->guard, s->boot);
    c.is_kept = n->is_maintained && n->want.own;
    return slurm_plan(&c);
}

static void tell_row(struct slurm *s, const struct node *n, bool alone)
{
    struct slurm_node out = slurm_view_node(&n->row);
    out.alone = alone;
    s->sink.saw(s->sink.arg, &out);
}

/* The sink may bring records at once, which adds nodes and frees none. */
static void plan_one(struct slurm *s, struct node *n)
{
    if (n->said || n->is_written || !n->line)
        return;
    struct slurm_step step = step_of(s, n, n->line);
    n->act = step.act;
    if (step.act == ACT_NOTE)
        take_note(s, n, &step);
}

static bool is_fresh(const struct node *n, struct mono now)
{
    return n->line && mono_sub(now, n->read_at).ns < span_ms(FRESH_MS).ns;
}

/* What Slurm says counts for more once the record is there: it is told again. */
static void plan_fresh(struct slurm *s, struct mono now)
{
    struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (!is_fresh(n, now))
            continue;
        if (n->act == ACT_NOTE && !n->said)
            tell_row(s, n, true);
        plan_one(s, n);
    }
}

static void say_again(struct slurm *s, struct mono now)
{
    struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->said && mono_sub(now, n->said_at).ns >= span_s(SAY_AGAIN_S).ns)
            say(s, n);
    }
}

/* --- writing --------------------------------------------------------------------------------- */

static struct mono later(struct mono a, struct mono b)
{
    return a.ns > b.ns ? a : b;
}

static struct mono write_time(const struct slurm *s, const struct node *n)
{
    return n->tries ? later(later(s->next_write, s->next_retry), n->not_before) : s->next_write;
}

static bool may_write(const struct slurm *s, const struct node *n, struct mono now)
{
    return n->line && !n->said && !n->is_written && is_write(n->act) && write_time(s, n).ns <= now.ns;
}

static void make_reason(const struct slurm *s, const struct node *n, char out[static SLURM_REASON_BYTES])
{
    if (n->act == ACT_DRAIN)
        slurm_write_reason(s->conf.owner, n->want.claim, n->want.reason, out);
    else
        snprintf(out, SLURM_REASON_BYTES, "%s", n->act == ACT_RETURN ? "Not responding" : "");
}

static bool is_guard(enum slurm_act a)
{
    return a == ACT_RESERVE || a == ACT_UNRESERVE;
}

/* The same call does for both. */
static bool is_alike(const struct node *a, const struct node *b)
{
    if (a == b)
        return true;
    return !is_guard(a->act) && a->act == b->act && !a->tries && !b->tries &&
           strcmp(a->want.claim, b->want.claim) == 0 && strcmp(a->want.reason, b->want.reason) == 0;
}

static struct node *choose(struct slurm *s, struct mono now)
{
    struct node *n, *first = NULL;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (is_fresh(n, now) && may_write(s, n, now) && (!first || n->act < first->act))
            first = n;
    }
    return first;
}

static void on_written(void *arg, char *text, size_t len, const struct err *why);
static void turn(struct slurm *s);

static int run(struct slurm *s, const char *const *args, slurm_call_done_fn *done, struct err *e)
{
    return slurm_call_start(s->call, s->conf.scontrol, args, s->conf.conf_file, s->conf.deadline, done, s, e);
}

/* --- a batch: nodes that one call is for */

/* False: it is full. */
static bool batch_add(struct slurm *s, struct node *n, size_t *bytes)
{
    if (s->n_batch == LIST_NODES_MAX || *bytes >= LIST_BYTES_MAX)
        return false;
    if (!s->batch)
        s->batch = mem_alloc(LIST_NODES_MAX * sizeof *s->batch);
    s->batch[s->n_batch++] = n;
    *bytes += strlen(n->name) + 1;
    return true;
}

static void batch_write(const struct slurm *s, struct text *t)
{
    CLEANUP_FREE const char **names = mem_alloc(LIST_NODES_MAX * sizeof *names);
    for (size_t i = 0; i < s->n_batch; i++)
        names[i] = s->batch[i]->name;
    slurm_write_list(names, s->n_batch, t);
}

static int batch_read(struct slurm *s, slurm_call_done_fn *done, struct err *e)
{
    CLEANUP_TEXT struct text list = {0};
    batch_write(s, &list);
    const char *const args[] = {"scontrol", "-o", "-a", "show", "node", list.s, NULL};
    return run(s, args, done, e);
}

static void log_act(const struct node *n, const char *nodes)
{
    log_info("slurm: %s %s%s%s", slurm_act_name(n->act), nodes, n->want.claim[0] ? " for " : "",
             n->want.claim);
}

static int write_nodes(struct slurm *s, struct err *e)
{
    static const char *const states[] = {
        [ACT_DRAIN] = "State=DRAIN", [ACT_UNDRAIN] = "State=UNDRAIN", [ACT_RETURN] = "State=UNDRAIN"};
    const struct node *first = s->batch[0];
    char reason[SLURM_REASON_BYTES];
    CLEANUP_TEXT struct text list = {0}, names = {0}, because = {0};
    make_reason(s, first, reason);
    batch_write(s, &list);
    text_printf(&names, "NodeName=%s", list.s);
    text_printf(&because, "Reason=%s", reason);
    const char *const args[] = {
        "scontrol", "update", names.s, states[first->act], reason[0] ? because.s : NULL, NULL};
    log_act(first, list.s);
    return run(s, args, on_written, e);
}

/* Keeps those of the batch of which the same still follows; whether any is left. */
static bool keep_unchanged(struct slurm *s, const struct slurm_lines *now)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_batch; i++)
        s->batch[i]->is_kept = false;
    for (size_t i = 0; i < now->n; i++) {
        struct node *n = find_node(s, now->lines[i].name);
        if (n && !n->said && step_of(s, n, &now->lines[i]).act == n->act)
            n->is_kept = true;
    }
    for (size_t i = 0; i < s->n_batch; i++)
        if (s->batch[i]->is_kept)
            s->batch[kept++] = s->batch[i];
    s->n_batch = kept;
    return kept > 0;
}

static void on_looked(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    struct err e = {0};
    struct slurm_lines now = {0};
    int r = why ? why->code : slurm_read_nodes(answer, len, &now, &e);
    if (why)
        e = *why;
    if (r == 0 && keep_unchanged(s, &now))
        r = write_nodes(s, &e);
    slurm_lines_fini(&now);
    if (r < 0)
        s->why = e;
    if (!slurm_call_is_busy(s->call))
        turn(s);
}

static int write_guard(struct slurm *s, const struct node *n, struct err *e)
{
    CLEANUP_TEXT struct text name = {0}, nodes = {0}, users = {0};
    text_add(&name, "ReservationName=");
    slurm_write_guard(n->name, s->conf.owner, &name);
    text_printf(&nodes, "Nodes=%s", n->name);
    text_printf(&users, "Users=%s", s->conf.user);
    const char *const make[] = {"scontrol",
                                "create",
                                "reservation",
                                name.s,
                                nodes.s,
                                users.s,
                                "Flags=MAINT,IGNORE_JOBS,NO_HOLD_JOBS_AFTER",
                                "StartTime=now",
                                "Duration=infinite",
                                NULL};
    const char *const drop[] = {"scontrol", "delete", name.s, NULL};
    log_act(n, n->name);
    return run(s, n->act == ACT_RESERVE ? make : drop, on_written, e);
}

static void mark_written(struct slurm *s, struct node *n, struct mono now)
{
    n->is_written = true;
    n->tries = n->tried == n->act ? n->tries + 1 : 1;
    n->tried = n->act;
    n->not_before = mono_add(now, backoff(n->tries));
}

/* Writes what is most urgent; whether there was anything that may be written now. */
static bool write_next(struct slurm *s, struct mono now)
{
    struct node *n, *first = choose(s, now);
    struct err e = {0};
    size_t bytes = 0;
    if (!first)
        return false;
    bool is_retry = first->tries > 0;
    s->n_batch = 0;
    batch_add(s, first, &bytes);
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n != first && is_fresh(n, now) && may_write(s, n, now) && is_alike(first, n) &&
            !batch_add(s, n, &bytes))
            break;
    }
    int r = is_guard(first->act) ? write_guard(s, first, &e) : batch_read(s, on_looked, &e);
    for (size_t i = 0; i < s->n_batch; i++)
        mark_written(s, s->batch[i], now);
    s->next_write = mono_add(now, span_ms(WRITE_GAP_MS));
    if (is_retry)
        s->next_retry = mono_add(now, span_s(RETRY_S));
    if (r < 0)
        s->why = e;
    return r == 0;
}

static void on_written(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *words = text;
    struct slurm *s = arg;
    if (why)
        s->why = *why;
    turn(s);
}

/* --- slices ---------------------------------------------------------------------------------- */

static void on_slice(uv_idle_t *idle)
{
    struct slurm *s = idle->data;
    for (int i = 0; i < SLICE && s->at; i++) {
        struct node *n = s->at;
        s->at = n->hh.next;
        s->each(s, n);
    }
    if (s->at)
        return;
    uv_idle_stop(idle);
    s->end(s);
}

/* Each node, then the end; nothing is begun meanwhile. */
static void walk_nodes(struct slurm *s, each_fn *each, end_fn *end)
{
    s->at = s->nodes;
    s->each = each;
    s->end = end;
    uv_idle_start(s->slices, on_slice);
}

/* --- reading --------------------------------------------------------------------------------- */

static void tell_unknown(struct slurm *s, const struct node *n)
{
    const struct slurm_node out = {.name = n->name, .state = "", .reason = "", .by = ""};
    s->sink.saw(s->sink.arg, &out);
}

static void fail_one(struct slurm *s, struct node *n)
{
    n->line = NULL;
    n->is_absent = false;
    if (n->was_seen || is_wanted(n))
        tell_unknown(s, n);
}

static void end_failed(struct slurm *s)
{
    s->sink.saw(s->sink.arg, NULL);
    turn(s);
}

static void on_failed(struct slurm *s, const struct err *why)
{
    struct mono now = mono_now();
    free(STEAL(s->text));
    s->has_read = false;
    s->failed_readings++;
    s->retry_at = mono_add(
        now, s->conf.every.ns < backoff(s->failed_readings).ns ? s->conf.every : backoff(s->failed_readings));
    set_trouble(s, why);
    walk_nodes(s, fail_one, end_failed);
}

/* A node that Slurm does not have any more, or that nobody ever wanted anything of. */
static void sweep(struct slurm *s)
{
    struct node *n, *next;
    HASH_ITER (hh, s->nodes, n, next) {
        if (n->line)
            continue;
        n->was_seen = false;
        bool is_over = !is_wanted(n);
        if (is_over && n->record.state != RECORD_NONE && !n->said) { /* with the node went what stood there */
            n->said = mem_dup("null");
            say(s, n);
        } else if (is_over && n->record.state == RECORD_NONE && !n->said) {
            drop_node(s, n);
        }
    }
}

/* Its reading is over: it is told, and what follows of it is planned. */
static void finish_one(struct slurm *s, struct node *n)
{
    if (n->line)
        tell_row(s, n, !s->is_regular);
    else if (is_wanted(n) && !n->is_absent)
        tell_unknown(s, n);
    n->is_written = n->is_changed = false;
    n->read_at = mono_now();
    plan_one(s, n);
    settle_tries(n);
    if (is_settled(n))
        close_node(s, n);
    else
        open_node(s, n);
}

static void end_finished(struct slurm *s)
{
    struct mono now = mono_now();
    s->has_read = true;
    s->failed_readings = 0;
    s->due = mono_add(now, s->conf.every);
    s->sink.saw(s->sink.arg, NULL);
    if (s->n_read < HASH_COUNT(s->nodes))
        sweep(s);
    judge_trouble(s);
    turn(s);
}

static void finish(struct slurm *s)
{
    if (s->is_regular) {
        walk_nodes(s, finish_one, end_finished);
        return;
    }
    for (size_t i = 0; i < s->n_batch; i++)
        finish_one(s, s->batch[i]);
    judge_trouble(s);
    turn(s);
}

static void read_part(struct slurm *s, const char *const *args, slurm_call_done_fn *done)
{
    struct err e;
    if (run(s, args, done, &e) < 0)
        on_failed(s, &e);
}

static void on_boot(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    struct err e;
    if (why || slurm_read_boot(answer, len, s->boot, &e) < 0)
        on_failed(s, why ? why : &e);
    else
        finish(s);
}

/* Somebody took a drain back or deleted a reservation, or slurmctld lost it, or one is seen for the first
 * time. */
static bool needs_boot(const struct slurm *s)
{
    for (size_t i = 0; !s->is_regular && i < s->n_batch; i++) {
        const struct node *n = s->batch[i];
        bool is_undrained = n->record.state == RECORD_DRAINED && !(n->row.state.flags & SLURM_DRAIN);
        if (is_undrained || (n->record.has_guard && n->guard == GUARD_NONE))
            return true;
    }
    return s->is_regular;
}

/* After the rest: what a slurmctld that started anew lost in between is known to be lost with it. */
static void read_boot(struct slurm *s)
{
    static const char *const args[] = {"scontrol", "show", "config", NULL};
    if (needs_boot(s))
        read_part(s, args, on_boot);
    else
        finish(s);
}

struct windows {
    struct slurm_maintenance *list;
    size_t n;
};

static void windows_fini(struct windows *w)
{
    for (size_t i = 0; i < w->n; i++)
        hostlist_fini(&w->list[i].nodes);
    free(w->list);
}

/* False: one of them is not understood, and nobody can say who lies in none. */
static bool find_windows(const struct slurm *s, const struct slurm_reservations *r, struct windows *out)
{
    out->list = mem_alloc((r->n + 1) * sizeof *out->list);
    for (size_t i = 0; i < r->n; i++) {
        enum slurm_window is = slurm_is_window(&r->list[i], s->conf.owner);
        if (is == WINDOW_UNKNOWN)
            return false;
        if (is == WINDOW_NOT)
            continue;
        struct slurm_maintenance *one = &out->list[out->n++];
        one->name = r->list[i].name;
        if (strcmp(r->list[i].nodes, "(null)") != 0 &&
            hostlist_parse(r->list[i].nodes, &one->nodes, NULL) < 0)
            return false;
    }
    return true;
}

static void take_windows(struct slurm *s, const struct slurm_reservations *r)
{
    struct windows w __attribute__((cleanup(windows_fini))) = {0};
    s->is_vague = !find_windows(s, r, &w);
    if (s->is_vague)
        return;
    for (struct node *n = s->nodes; n; n = n->hh.next)
        n->is_maintained = false;
    for (size_t i = 0; i < w.n; i++) {
        for (size_t k = 0; k < w.list[i].nodes.n; k++) {
            struct node *n = find_node(s, w.list[i].nodes.names[k]);
            if (n)
                n->is_maintained = true;
        }
    }
    s->sink.maintained(s->sink.arg, w.list, w.n);
}

static void on_guards(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    struct err e;
    struct slurm_reservations list = {0};
    if (why || slurm_read_reservations(answer, len, &list, &e) < 0) {
        on_failed(s, why ? why : &e);
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const struct slurm_reservation *r = &list.list[i];
        CLEANUP_FREE char *name = slurm_guarded_node(r->name, s->conf.owner);
        struct node *n = name ? find_node(s, name) : NULL;
        if (n)
            n->guard = slurm_is_our_guard(r, n->name, s->conf.user) ? GUARD_OURS : GUARD_FOREIGN;
    }
    take_windows(s, &list);
    slurm_reservations_fini(&list);
    read_boot(s);
}

/* Before a drain begins it is to be known whether the node lies in somebody's maintenance: what its state
 * says of that is seconds late. */
static bool begins(const struct node *n)
{
    return n->want.own && n->line && (n->record.state == RECORD_NONE || n->record.state == RECORD_FOREIGN);
}

static bool needs_guards(const struct slurm *s)
{
    for (size_t i = 0; !s->is_regular && i < s->n_batch; i++) {
        const struct node *n = s->batch[i];
        if (n->want.reserve || n->record.has_guard || n->guard == GUARD_OURS || begins(n))
            return true;
    }
    return s->is_regular;
}

static void read_rest(struct slurm *s)
{
    static const char *const args[] = {"scontrol", "-o", "-a", "show", "reservation", NULL};
    bool is_needed = needs_guards(s);
    for (size_t i = 0; !s->is_regular && i < s->n_batch; i++)
        s->batch[i]->guard = is_needed ? GUARD_NONE : GUARD_UNREAD;
    if (is_needed)
        read_part(s, args, on_guards);
    else
        read_boot(s);
}

/* --- all nodes */

static void on_named(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    bool any = false;
    for (size_t i = 0; i < s->n_batch; i++) {
        struct node *n = s->batch[i];
        n->is_absent = answer && slurm_says_not_found(answer, n->name);
        any |= n->is_absent;
    }
    if (why && !any)
        on_failed(s, why);
    else
        read_rest(s);
}

/* Asks by name for those that are wanted and were not listed. */
static void read_missing(struct slurm *s)
{
    struct err e;
    struct node *n;
    size_t bytes = 0;
    s->n_batch = 0;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (!n->line && is_wanted(n) && !n->is_absent && !batch_add(s, n, &bytes))
            break; /* the rest is asked for the next time */
    }
    if (s->n_batch == 0)
        read_rest(s);
    else if (batch_read(s, on_named, &e) < 0)
        on_failed(s, &e);
}

/* A node keeps what was read of it: the answer goes. */
static void keep_row(struct node *n, const struct slurm_line *l)
{
    struct slurm_line *row = &n->row;
    bool is_same = n->row_text && strcmp(row->state_text, l->state_text) == 0 &&
                   strcmp(row->reason, l->reason) == 0 && strcmp(row->by, l->by) == 0;
    if (!is_same) {
        size_t state = strlen(l->state_text) + 1, reason = strlen(l->reason) + 1, by = strlen(l->by) + 1;
        n->row_text = mem_grow(n->row_text, state + reason + by);
        row->name = n->name;
        row->state_text = memcpy(n->row_text, l->state_text, state);
        row->reason = memcpy(n->row_text + state, l->reason, reason);
        row->by = memcpy(n->row_text + state + reason, l->by, by);
    }
    row->state = l->state;
    n->line = row;
    n->was_seen = true;
    n->is_absent = false;
}

/* Slurm lists them in the same order each time. A node that is there twice: nobody can say which is right. */
static void take_line(struct slurm *s, const struct slurm_line *l)
{
    struct node *n = s->likely && strcmp(s->likely->name, l->name) == 0 ? s->likely : get_node(s, l->name);
    bool is_twin = n->reading == s->reading;
    s->likely = n->hh.next;
    s->n_read += !is_twin;
    n->reading = s->reading;
    n->guard = GUARD_NONE;
    keep_row(n, l);
    if (is_twin)
        n->row.state = (struct slurm_state){0};
    ask_wanted(s, n);
}

static void take_missing(struct slurm *s)
{
    if (s->n_read == HASH_COUNT(s->nodes))
        return;
    for (struct node *n = s->nodes; n; n = n->hh.next) {
        if (n->reading == s->reading)
            continue;
        n->line = NULL;
        n->guard = GUARD_NONE;
        ask_wanted(s, n);
    }
}

static void on_lines(uv_idle_t *idle)
{
    struct slurm *s = idle->data;
    struct slurm_line l;
    struct err e;
    int more = 1;
    for (int i = 0; i < SLICE && more > 0; i++) {
        more = slurm_next_node(&s->rest, &l, &e);
        if (more > 0)
            take_line(s, &l);
    }
    if (more > 0)
        return;
    uv_idle_stop(idle);
    free(STEAL(s->text));
    if (more == 0 && s->n_read == 0)
        more = err_set(&e, -EPROTO, "scontrol knows no node");
    if (more < 0) {
        on_failed(s, &e);
        return;
    }
    take_missing(s);
    read_missing(s);
}

static void on_nodes(void *arg, char *text, size_t len, const struct err *why)
{
    struct slurm *s = arg;
    struct err e;
    s->text = s->rest = text;
    s->reading++;
    s->n_read = 0;
    s->likely = s->nodes;
    if (why || slurm_check_answer(text, len, &e) < 0)
        on_failed(s, why ? why : &e);
    else
        uv_idle_start(s->slices, on_lines);
}

static void read_all(struct slurm *s)
{
    static const char *const args[] = {"scontrol", "-o", "-a", "show", "node", NULL};
    s->is_regular = true;
    read_part(s, args, on_nodes);
}

/* --- some of them */

/* Whether the answer has all of the batch. */
static bool take_batch(struct slurm *s, const struct slurm_lines *lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_batch; i++)
        s->batch[i]->is_kept = false;
    for (size_t i = 0; i < lines->n; i++) {
        struct node *n = find_node(s, lines->lines[i].name);
        if (!n)
            continue;
        keep_row(n, &lines->lines[i]);
        n->is_kept = true;
    }
    for (size_t i = 0; i < s->n_batch; i++) {
        kept += s->batch[i]->is_kept;
        ask_wanted(s, s->batch[i]);
    }
    return kept == s->n_batch;
}

/* What Slurm says in full is known of all nodes only. */
static void on_some(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm *s = arg;
    struct err e = {0};
    struct slurm_lines lines = {0};
    bool any_gone = false;
    for (size_t i = 0; answer && i < s->n_batch; i++)
        any_gone |= slurm_says_not_found(answer, s->batch[i]->name);
    if (any_gone)
        read_all(s);
    else if (why || slurm_read_nodes(answer, len, &lines, &e) < 0)
        on_failed(s, why ? why : &e);
    else if (take_batch(s, &lines))
        read_rest(s);
    else
        read_all(s);
    slurm_lines_fini(&lines);
}

/* Whether something is to be decided of it or written, for which a reading is needed. */
static bool needs_reading(const struct slurm *s, const struct node *n, struct mono now)
{
    return n->is_changed || n->is_written || may_write(s, n, now) ||
           (n->line && !n->said && n->act == ACT_NOTE);
}

/* Reads what has to be read; whether there is anything. */
static bool read_some(struct slurm *s, struct mono now)
{
    struct err e;
    struct node *n;
    size_t bytes = 0;
    bool is_for_all = false;
    s->n_batch = 0;
    s->is_regular = false;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (!needs_reading(s, n, now))
            continue;
        is_for_all |= !n->line || s->n_batch == NAMED_MAX || !batch_add(s, n, &bytes);
    }
    if (is_for_all)
        read_all(s);
    else if (s->n_batch && batch_read(s, on_some, &e) < 0)
        on_failed(s, &e);
    return is_for_all || s->n_batch;
}

/* --- turns ----------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *t)
{
    turn(t->data);
}

static void wake_at(struct slurm *s, struct mono at)
{
    int64_t ns = mono_sub(at, mono_now()).ns;
    uint64_t ms = ns > 0 ? (uint64_t)(ns + 999999) / 1000000 : 0;
    if (!uv_is_active((uv_handle_t *)s->timer) || uv_timer_get_due_in(s->timer) > ms)
        uv_timer_start(s->timer, on_timer, ms, 0);
}

/* The next time that there is something to do without being told. */
static void sleep_on(struct slurm *s)
{
    struct mono next = s->due;
    const struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        struct mono at = next;
        if (n->said)
            at = mono_add(n->said_at, span_s(SAY_AGAIN_S));
        else if (n->line && is_write(n->act))
            at = write_time(s, n);
        next = at.ns < next.ns ? at : next;
    }
    wake_at(s, later(next, s->retry_at));
}

static void take_marks(struct slurm *s)
{
    struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->is_marked && ask_wanted(s, n))
            n->is_changed = true;
        n->is_marked = false;
    }
    s->has_marks = false;
}

static void turn(struct slurm *s)
{
    struct mono now = mono_now();
    if (uv_is_active((uv_handle_t *)s->slices) || !s->conf.scontrol)
        return;
    if (slurm_call_is_busy(s->call)) { /* its end is the next turn, but one that cannot be killed has none */
        wake_at(s, mono_add(now, span_s(RETRY_S)));
        return;
    }
    if (now.ns < s->retry_at.ns) {
        wake_at(s, s->retry_at);
        return;
    }
    take_marks(s);
    plan_fresh(s, now);
    if (write_next(s, now))
        return;
    say_again(s, now);
    if (!s->has_read || now.ns >= s->due.ns)
        read_all(s);
    else if (!read_some(s, now))
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
    *s = (struct slurm){.loop = loop, .sink = *sink, .call = slurm_call_create(loop)};
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
    uv_close((uv_handle_t *)s->timer, on_closed);
    uv_close((uv_handle_t *)s->slices, on_closed);
    free(s->text);
    while (s->nodes)
        drop_node(s, s->nodes);
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
    struct node *n = get_node(s, key + sizeof key_prefix - 1);
    free(STEAL(n->said));
    n->record = (struct slurm_record){0};
    if (value && slurm_record_read(value, &n->record, &e) < 0)
        log_warn("%s: %s", key, e.msg); /* what Slurm shows says whose it is all the same */
    n->act = ACT_NOTE;                  /* to be planned anew */
    open_node(s, n);
    wake_at(s, mono_now());
}

void slurm_changed(struct slurm *s, const struct hostlist *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct slurm_want want = {0};
        struct node *n = find_node(s, nodes->names[i]);
        if (!n) { /* Slurm does not have it, or was not read yet */
            s->sink.wanted(s->sink.arg, nodes->names[i], &want);
            if (slurm_wish_of(&want) == WISH_NOTHING)
                continue;
            n = get_node(s, nodes->names[i]);
        }
        n->is_marked = s->has_marks = true;
        open_node(s, n);
    }
    if (s->has_marks)
        wake_at(s, mono_now());
}

bool slurm_lacks(const struct slurm *s, const char *node)
{
    const struct node *n = find_node(s, node);
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
