/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One turn: read all nodes, plan a step for each (slurm_plan.c), note in the records what is about to be
 * written, write, read again. A step counts when the next reading shows it. So there is one state, Slurm's;
 * nothing is remembered of a write but that it was tried.
 *
 * A reading is three calls: the nodes; the reservations, where one is ours or wanted, or a drain is about to
 * begin; slurmctld's start, where it is needed to tell what somebody took back from what slurmctld lost (it
 * acknowledges from memory, and saves every few seconds). The regular reading has all three.
 * What is written goes by a reading that is at most FRESH_MS old, or there is another one first.
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

enum {
    FRESH_MS = 250,
    WRITE_GAP_MS = 50,
    SAY_AGAIN_S = 30, /* a result that did not come back as a record */
    RETRY_S = 1,      /* doubled each time, up to */
    RETRY_MAX_S = 60,
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
    const struct slurm_line *line; /* in the reading; NULL: it is not there */
    enum slurm_guard guard;
    enum slurm_act act, tried; /* what is to be done; what was done last */
    unsigned tries;            /* how often without success */
    struct mono not_before;
    bool is_marked;  /* wants may have changed */
    bool was_seen;   /* in the reading before */
    bool is_written; /* since the reading */
    bool is_same;    /* since: right before a write, the same still follows of it */
    bool is_kept;    /* in a maintenance reservation of somebody else's, as last read */
    bool is_absent;  /* Slurm said that it has no such node, and no reading had it or failed since */
};

struct slurm {
    uv_loop_t *loop;
    struct slurm_sink sink;
    struct {
        char *scontrol, *conf_file, *user, *owner;
        struct span every, deadline;
    } conf;
    struct slurm_call *call;
    uv_timer_t *timer;
    struct node *nodes;
    /* The reading: the text that its lines point into. */
    char *text;
    struct slurm_lines lines;
    char boot[SLURM_BOOT_BYTES];
    struct mono read_at, due, retry_at, next_write, next_retry;
    unsigned failed_readings;
    bool is_regular; /* the reading under way has all parts */
    bool is_stale;   /* something was written, or is to be looked at anew */
    bool is_vague;   /* of the reservations one was not understood, as last read */
    bool has_read, has_marks, is_away, is_planning;
    struct err why;      /* of the last write that failed */
    struct node **batch; /* what is about to be written alike, or asked for by name */
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

static void drop_node(struct slurm *s, struct node *n)
{
    HASH_DEL(s->nodes, n);
    free(n->said);
    free(n->name);
    free(n);
}

/* What is wanted of it now; whether that is something else than before. */
static bool ask_wanted(struct slurm *s, struct node *n)
{
    struct slurm_want w = {0};
    s->sink.wanted(s->sink.arg, n->name, &w);
    bool is_other = w.drain != n->want.drain || w.reserve != n->want.reserve || w.own != n->want.own ||
                    strcmp(w.claim, n->want.claim) != 0 || strcmp(w.reason, n->want.reason) != 0;
    n->want = w;
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
    if (s->is_vague)
        err_set(&e, -EPROTO, "a reservation is not understood: nobody knows who is in maintenance");
    for (struct node *n = s->nodes; n; n = n->hh.next) {
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
    c.is_kept = n->is_kept && n->want.own;
    return slurm_plan(&c);
}

static void plan_one(struct slurm *s, struct node *n)
{
    if (n->said || n->is_written || !n->line)
        return;
    struct slurm_step step = step_of(s, n, n->line);
    n->act = step.act;
    if (step.act == ACT_NOTE)
        take_note(s, n, &step);
}

/* The sink may bring records at once, which adds nodes and frees none. */
static void plan_all(struct slurm *s)
{
    s->is_planning = true;
    for (struct node *n = s->nodes; n; n = n->hh.next)
        plan_one(s, n);
    s->is_planning = false;
}

static void say_again(struct slurm *s, struct mono now)
{
    for (struct node *n = s->nodes; n; n = n->hh.next)
        if (n->said && mono_sub(now, n->said_at).ns >= span_s(SAY_AGAIN_S).ns)
            say(s, n);
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
    struct node *first = NULL;
    for (struct node *n = s->nodes; n; n = n->hh.next)
        if (may_write(s, n, now) && (!first || n->act < first->act))
            first = n;
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
        s->batch[i]->is_same = false;
    for (size_t i = 0; i < now->n; i++) {
        struct node *n = find_node(s, now->lines[i].name);
        if (n && !n->said && step_of(s, n, &now->lines[i]).act == n->act)
            n->is_same = true;
    }
    for (size_t i = 0; i < s->n_batch; i++)
        if (s->batch[i]->is_same)
            s->batch[kept++] = s->batch[i];
    s->n_batch = kept;
    return kept > 0;
}

static void on_looked(void *arg, char *text, size_t len, const struct err *why)
{
    struct slurm *s = arg;
    struct err e = {0};
    struct slurm_lines now = {0};
    int r = why ? why->code : slurm_read_nodes(text, len, &now, &e);
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
    struct node *first = choose(s, now);
    struct err e = {0};
    size_t bytes = 0;
    if (!first)
        return false;
    bool is_retry = first->tries > 0;
    s->n_batch = 0;
    batch_add(s, first, &bytes);
    for (struct node *n = s->nodes; n; n = n->hh.next)
        if (n != first && may_write(s, n, now) && is_alike(first, n) && !batch_add(s, n, &bytes))
            break;
    int r = is_guard(first->act) ? write_guard(s, first, &e) : batch_read(s, on_looked, &e);
    for (size_t i = 0; i < s->n_batch; i++)
        mark_written(s, s->batch[i], now);
    s->is_stale = true;
    s->next_write = mono_add(now, span_ms(WRITE_GAP_MS));
    if (is_retry)
        s->next_retry = mono_add(now, span_s(RETRY_S));
    if (r < 0)
        s->why = e;
    return r == 0;
}

static void on_written(void *arg, char *text, size_t len, const struct err *why)
{
    struct slurm *s = arg;
    if (why)
        s->why = *why;
    turn(s);
}

/* --- reading --------------------------------------------------------------------------------- */

static bool is_wanted(const struct node *n)
{
    return slurm_wish_of(&n->want) != WISH_NOTHING;
}

static void tell_unknown(struct slurm *s, const struct node *n)
{
    const struct slurm_node out = {.name = n->name, .state = "", .reason = "", .by = ""};
    s->sink.saw(s->sink.arg, &out);
}

static void tell_failed(struct slurm *s)
{
    for (struct node *n = s->nodes; n; n = n->hh.next) {
        n->is_absent = false;
        if (n->was_seen || is_wanted(n))
            tell_unknown(s, n);
    }
    s->sink.saw(s->sink.arg, NULL);
}

static void forget_reading(struct slurm *s)
{
    for (struct node *n = s->nodes; n; n = n->hh.next)
        n->line = NULL;
    slurm_lines_fini(&s->lines);
    free(STEAL(s->text));
    s->has_read = false;
}

static void on_failed(struct slurm *s, const struct err *why)
{
    struct mono now = mono_now();
    forget_reading(s);
    s->failed_readings++;
    s->retry_at = mono_add(
        now, s->conf.every.ns < backoff(s->failed_readings).ns ? s->conf.every : backoff(s->failed_readings));
    s->is_stale = true;
    set_trouble(s, why);
    tell_failed(s);
    turn(s);
}

static void tell_seen(struct slurm *s)
{
    for (struct node *n = s->nodes; n; n = n->hh.next) {
        if (!n->line && is_wanted(n) && !n->is_absent)
            tell_unknown(s, n);
        if (!n->line)
            continue;
        const struct slurm_node out = slurm_view_node(n->line);
        s->sink.saw(s->sink.arg, &out);
    }
    s->sink.saw(s->sink.arg, NULL);
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

static void finish(struct slurm *s)
{
    struct mono now = mono_now();
    s->has_read = true;
    s->is_stale = false;
    s->failed_readings = 0;
    s->read_at = now;
    if (s->is_regular)
        s->due = mono_add(now, s->conf.every);
    tell_seen(s);
    sweep(s);
    for (struct node *n = s->nodes; n; n = n->hh.next)
        n->is_written = false;
    plan_all(s);
    for (struct node *n = s->nodes; n; n = n->hh.next)
        settle_tries(n);
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
    struct slurm *s = arg;
    struct err e;
    if (why || slurm_read_boot(text, len, s->boot, &e) < 0)
        on_failed(s, why ? why : &e);
    else
        finish(s);
}

/* Somebody took a drain back or deleted a reservation, or slurmctld lost it, or one is seen for the first
 * time. */
static bool needs_boot(const struct slurm *s)
{
    for (const struct node *n = s->nodes; n; n = n->hh.next) {
        bool is_undrained =
            n->record.state == RECORD_DRAINED && n->line && !(n->line->state.flags & SLURM_DRAIN);
        if (is_undrained || (n->line && n->record.has_guard && n->guard == GUARD_NONE))
            return true;
    }
    return s->is_regular || !s->boot[0];
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
        n->is_kept = false;
    for (size_t i = 0; i < w.n; i++) {
        for (size_t k = 0; k < w.list[i].nodes.n; k++) {
            struct node *n = find_node(s, w.list[i].nodes.names[k]);
            if (n)
                n->is_kept = true;
        }
    }
    s->sink.maintained(s->sink.arg, w.list, w.n);
}

static void on_guards(void *arg, char *text, size_t len, const struct err *why)
{
    struct slurm *s = arg;
    struct err e;
    struct slurm_reservations list = {0};
    if (why || slurm_read_reservations(text, len, &list, &e) < 0) {
        on_failed(s, why ? why : &e);
        return;
    }
    for (struct node *n = s->nodes; n; n = n->hh.next)
        n->guard = GUARD_NONE;
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
    for (const struct node *n = s->nodes; n; n = n->hh.next)
        if (n->want.reserve || n->record.has_guard || (n->guard == GUARD_OURS && n->line) || begins(n))
            return true;
    return s->is_regular;
}

static void read_rest(struct slurm *s)
{
    static const char *const args[] = {"scontrol", "-o", "-a", "show", "reservation", NULL};
    if (needs_guards(s)) {
        read_part(s, args, on_guards);
        return;
    }
    for (struct node *n = s->nodes; n; n = n->hh.next)
        n->guard = GUARD_UNREAD;
    read_boot(s);
}

static void on_named(void *arg, char *text, size_t len, const struct err *why)
{
    struct slurm *s = arg;
    bool any = false;
    for (size_t i = 0; i < s->n_batch; i++) {
        struct node *n = s->batch[i];
        n->is_absent = text && slurm_says_not_found(text, n->name);
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
    size_t bytes = 0;
    s->n_batch = 0;
    for (struct node *n = s->nodes; n; n = n->hh.next)
        if (!n->line && is_wanted(n) && !n->is_absent && !batch_add(s, n, &bytes))
            break; /* the rest is asked for the next time */
    if (s->n_batch == 0)
        read_rest(s);
    else if (batch_read(s, on_named, &e) < 0)
        on_failed(s, &e);
}

static void take_lines(struct slurm *s)
{
    for (struct node *n = s->nodes; n; n = n->hh.next)
        n->line = NULL;
    for (size_t i = 0; i < s->lines.n; i++) {
        struct node *n = get_node(s, s->lines.lines[i].name);
        n->line = &s->lines.lines[i];
        n->was_seen = true;
        n->is_absent = false;
    }
    for (struct node *n = s->nodes; n; n = n->hh.next)
        ask_wanted(s, n);
}

static void on_nodes(void *arg, char *text, size_t len, const struct err *why)
{
    struct slurm *s = arg;
    struct err e;
    forget_reading(s);
    s->text = why ? NULL : mem_dup_len(text, len);
    if (why || slurm_read_nodes(s->text, len, &s->lines, &e) < 0) {
        on_failed(s, why ? why : &e);
        return;
    }
    take_lines(s);
    read_missing(s);
}

static void read_all(struct slurm *s, struct mono now)
{
    static const char *const args[] = {"scontrol", "-o", "-a", "show", "node", NULL};
    s->is_regular = now.ns >= s->due.ns;
    read_part(s, args, on_nodes);
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
    for (struct node *n = s->nodes; n; n = n->hh.next) {
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
    for (struct node *n = s->nodes; n && s->has_marks; n = n->hh.next) {
        if (n->is_marked && ask_wanted(s, n))
            s->is_stale = true;
        n->is_marked = false;
    }
    s->has_marks = false;
}

static bool is_fresh(const struct slurm *s, struct mono now)
{
    return s->has_read && mono_sub(now, s->read_at).ns < span_ms(FRESH_MS).ns;
}

/* Whether something is to be decided or written, for which a reading is needed. */
static bool has_work(const struct slurm *s, struct mono now)
{
    for (const struct node *n = s->nodes; n; n = n->hh.next)
        if (may_write(s, n, now) || (n->line && !n->said && n->act == ACT_NOTE))
            return true;
    return false;
}

static void turn(struct slurm *s)
{
    struct mono now = mono_now();
    if (s->is_planning || !s->conf.scontrol)
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
    if (is_fresh(s, now)) {
        plan_all(s);
        if (write_next(s, now))
            return;
    }
    say_again(s, now);
    if (s->is_stale || now.ns >= s->due.ns || has_work(s, now))
        read_all(s, now);
    else
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
    s->timer->data = s;
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
    forget_reading(s);
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
    s->is_stale = true;
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
    for (const struct node *n = s->nodes; n; n = n->hh.next)
        waiting += n->said || n->is_marked || (n->act != ACT_NOTHING && (n->line || !s->has_read));
    return waiting;
}
