/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A write is based on a reading that is at most FRESH_MS old; otherwise another reading comes first.
 * slurmctld takes every write without a comparison: so right before a node is written it is read once more by
 * itself, and written only when the same still follows.
 *
 * All nodes that need the same share one call, and there is at most one write in WRITE_GAP_MS. A write
 * without effect is repeated later and alone, so that one node that Slurm refuses does not hold back the
 * others.
 */
#include "driver/slurm_inside.h"

#include "base/log.h"
#include "driver/slurm_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    FRESH_MS = 250,
    WRITE_GAP_MS = 50,
};

static void on_written(void *arg, char *text, size_t len, const struct err *why);

/* --- planning -------------------------------------------------------------------------------- */

void writing_settle(struct node *n)
{
    if (n->act == n->tried)
        return;
    n->tries = 0;
    n->tried = ACT_NOTHING;
}

static struct slurm_step step_of(const struct slurm *s, const struct node *n, const struct slurm_line *line)
{
    struct slurm_case c = slurm_view(s->conf.owner, &n->want, &n->record, line, n->guard, s->boot,
                                     node_is_pasted(s, n, line->reason));
    c.is_kept = n->is_maintained && n->want.own;
    return slurm_plan(&c);
}

/* Notes the slurmctld in which the record's hold was seen. */
static void note_boot(const struct slurm *s, const struct node *n, const struct slurm_step *step,
                      struct slurm_record *r)
{
    static const char none[SLURM_BOOT_BYTES];
    bool is_guard =
        r->state == RECORD_UNDRAINING || r->state == RECORD_RESERVED || r->state == RECORD_FOREIGN;
    if (is_guard)
        memcpy(r->boot, r->has_guard && n->guard == GUARD_OURS ? s->boot : none, sizeof r->boot);
    else if (r->state == RECORD_DRAINED && !step->keeps_claim)
        memcpy(r->boot, s->boot, sizeof r->boot);
}

/* It is in the record before it is restored, so that a driver that is killed in between loses nothing. */
static void note_lost(struct slurm *s, struct node *n, const struct slurm_lost *lost)
{
    struct slurm_record r = n->record;
    r.lost = *lost;
    slurm_log_place(&s->log, r.log);
    log_warn("slurm: a write of Fettle's to %s undid one of somebody's: %s", n->name, lost->reason);
    free(n->said);
    n->said = slurm_record_write(&r, wall_now().ns);
    node_say(s, n);
}

/* Takes up what the driver before this one undid, and had no time to record. */
static bool take_up_lost(struct slurm *s, struct node *n)
{
    struct slurm_lost lost;
    const char *restored = n->record.lost.reason[0] ? n->record.lost.reason : NULL;
    CLEANUP_FREE char *log = n->record.log[0] ? slurm_log_from(&s->log, n->record.log) : NULL;
    bool is_lost = log && slurm_log_lost(log, n->name, s->conf.owner, restored, &lost);
    if (is_lost)
        note_lost(s, n, &lost);
    return is_lost;
}

static void tell_restored(struct slurm *s, const struct node *n)
{
    struct err e = {0};
    const char *reason = n->record.lost.reason;
    if (strcmp(n->line->reason, reason) != 0)
        err_set(&e, -EBUSY, "by now somebody holds it for another reason: %.200s", n->line->reason);
    s->sink.restored(s->sink.arg, n->name, reason, e.code ? &e : NULL);
}

static void take_note(struct slurm *s, struct node *n, const struct slurm_step *step)
{
    struct slurm_record r = n->record;
    r.state = step->record;
    r.has_guard = step->has_guard;
    struct slurm_mark mark = n->want.mark;
    if (step->keeps_claim && !r.claim[0])
        slurm_read_mark(n->line->reason, s->conf.owner, &mark); /* an orphan's claim is in its reason */
    if (!step->keeps_claim || !r.claim[0])
        memcpy(r.claim, mark.claim, sizeof r.claim);
    if (!step->is_restored)
        note_boot(s, n, step, &r);
    if (r.state == RECORD_DRAINING || r.state == RECORD_UNDRAINING)
        slurm_log_place(&s->log, r.log);
    else
        r.log[0] = '\0';
    r.lost = (struct slurm_lost){.reason = ""};
    bool is_refused = step->is_refused && !n->record.is_refused;
    r.is_refused = step->is_refused;
    r.is_rebooting = step->is_rebooting;
    if (n->record.is_rebooting && step->record == RECORD_DRAINING)
        log_info("slurm: %s was rebooted in Slurm, which took its drain away: it is drained again", n->name);
    free(n->said);
    n->said = slurm_record_write(&r, wall_now().ns);
    if (step->is_overridden)
        s->sink.overridden(s->sink.arg, n->name, n->want.mark.claim, "");
    if (step->is_restored)
        tell_restored(s, n);
    if (is_refused)
        s->sink.refused(s->sink.arg, n->name, n->want.mark.claim);
    node_say(s, n);
}

void writing_plan(struct slurm *s, struct node *n)
{
    if (n->said || n->is_written || !n->line)
        return;
    if (n->is_inherited && take_up_lost(s, n))
        return;
    n->is_inherited = false;
    struct slurm_step step = step_of(s, n, n->line);
    n->act = step.act;
    if (step.act == ACT_NOTE)
        take_note(s, n, &step);
}

static bool is_fresh(const struct node *n, struct mono now)
{
    return n->line && mono_sub(now, n->read_at).ns < span_ms(FRESH_MS).ns;
}

/* Slurm's answer means more once the record is there, so it is reported again. */
void writing_plan_fresh(struct slurm *s, struct mono now)
{
    struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (!is_fresh(n, now))
            continue;
        if (n->act == ACT_NOTE && !n->said)
            report_node(s, n, true);
        writing_plan(s, n);
    }
}

/* --- writing --------------------------------------------------------------------------------- */

static struct mono slurm_writing_later(struct mono a, struct mono b)
{
    return a.ns > b.ns ? a : b;
}

struct mono writing_time(const struct slurm *s, const struct node *n)
{
    return n->tries ? slurm_writing_later(slurm_writing_later(s->next_write, s->next_retry), n->not_before)
                    : s->next_write;
}

bool writing_may(const struct slurm *s, const struct node *n, struct mono now)
{
    return n->line && !n->said && !n->is_written && slurm_act_writes(n->act) &&
           writing_time(s, n).ns <= now.ns;
}

/* Each write sets a reason, by which it is recognised in slurmctld's log as ours. An undrain of a node that
 * is up removes its reason again. */
static void make_reason(const struct slurm *s, const struct node *n, char out[static SLURM_LOST_BYTES])
{
    if (n->act == ACT_DRAIN)
        slurm_write_reason(s->conf.owner, &n->want.mark, n->want.reason, out);
    else if (n->act == ACT_UNDRAIN)
        slurm_write_reason(s->conf.owner, &(struct slurm_mark){.claim = "undrain"}, "taken back", out);
    else
        snprintf(out, SLURM_LOST_BYTES, "%s",
                 n->act == ACT_RETURN ? "Not responding" : n->record.lost.reason);
}

static bool is_guard(enum slurm_act a)
{
    return a == ACT_RESERVE || a == ACT_UNRESERVE;
}

/* True when the same call does for both. */
static bool is_alike(const struct node *a, const struct node *b)
{
    if (a == b)
        return true;
    return !is_guard(a->act) && a->act != ACT_RESTORE && a->act == b->act && !a->tries && !b->tries &&
           strcmp(a->want.mark.claim, b->want.mark.claim) == 0 &&
           strcmp(a->want.mark.problem, b->want.mark.problem) == 0 &&
           strcmp(a->want.reason, b->want.reason) == 0;
}

static struct node *slurm_writing_choose(struct slurm *s, struct mono now)
{
    struct node *n, *first = NULL;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (is_fresh(n, now) && writing_may(s, n, now) && (!first || n->act < first->act))
            first = n;
    }
    return first;
}

static void log_act(const struct node *n, const char *nodes)
{
    log_info("slurm: %s %s%s%s", slurm_act_name(n->act), nodes, n->want.mark.claim[0] ? " for " : "",
             n->want.mark.claim);
}

static int write_nodes(struct slurm *s, struct err *e)
{
    static const char *const states[] = {
        [ACT_DRAIN] = "State=DRAIN", [ACT_UNDRAIN] = "State=UNDRAIN", [ACT_RETURN] = "State=UNDRAIN"};
    /* A node that is down stays so, with their reason: DOWN is never written. */
    static const char *const lost[] = {[SLURM_LOST_DRAIN] = "State=DRAIN", [SLURM_LOST_FAIL] = "State=FAIL"};
    const struct node *first = s->batch[0];
    bool is_restore = first->act == ACT_RESTORE;
    const char *state = !is_restore                                ? states[first->act]
                        : first->record.lost.how < SLURM_LOST_DOWN ? lost[first->record.lost.how]
                                                                   : NULL;
    char reason[SLURM_LOST_BYTES];
    CLEANUP_TEXT struct text list = {0}, names = {0}, because = {0};
    make_reason(s, first, reason);
    batch_write(s, &list);
    text_printf(&names, "NodeName=%s", list.s);
    text_printf(&because, "Reason=%s", reason);
    const char *const args[] = {"scontrol", "update", names.s, because.s, state, NULL};
    log_act(first, list.s);
    return slurm_run(s, args, on_written, e);
}

/* Keeps the nodes of the batch for which the same still follows; true when any is left. */
static bool keep_unchanged(struct slurm *s, const struct slurm_lines *now)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_batch; i++)
        s->batch[i]->is_kept = false;
    for (size_t i = 0; i < now->n; i++) {
        struct node *n = node_find(s, now->lines[i].name);
        if (n && !n->said && step_of(s, n, &now->lines[i]).act == n->act)
            n->is_kept = true;
    }
    for (size_t i = 0; i < s->n_batch; i++)
        if (s->batch[i]->is_kept)
            s->batch[kept++] = s->batch[i];
    s->n_batch = kept;
    return kept > 0;
}

/* A late call may never end, and Slurm's state is unknown then. */
static void go_on(struct slurm *s, const struct err *why)
{
    if (why)
        s->why = *why;
    if (slurm_call_is_busy(s->call))
        report_failure(s, why);
    else
        s->turn(s);
}

/* Notes the place in slurmctld's log from which to read once this write is done. */
static void mark_log(struct slurm *s)
{
    bool is_there = slurm_log_mark(&s->log);
    if (!is_there && !s->is_blind)
        log_warn(
            "slurm: slurmctld's log (%s) cannot be read here: a drain that somebody writes in the moment of "
            "one of Fettle's writes is lost, and nobody is told",
            *s->log.path ? s->log.path : "none");
    s->is_blind = !is_there;
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
    bool is_to_write = r == 0 && keep_unchanged(s, &now);
    if (is_to_write)
        r = write_nodes(s, &e);
    slurm_lines_fini(&now);
    if (r < 0 || !is_to_write)
        go_on(s, r < 0 ? &e : NULL);
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
    return slurm_run(s, n->act == ACT_RESERVE ? make : drop, on_written, e);
}

static void mark_written(struct slurm *s, struct node *n, struct mono now)
{
    n->is_written = true;
    n->tries = n->tried == n->act ? n->tries + 1 : 1;
    n->tried = n->act;
    n->not_before = mono_add(now, slurm_backoff(n->tries));
}

bool writing_next(struct slurm *s, struct mono now)
{
    struct node *n, *first = slurm_writing_choose(s, now);
    struct err e = {0};
    size_t bytes = 0;
    if (!first)
        return false;
    bool is_retry = first->tries > 0;
    s->n_batch = 0;
    batch_add(s, first, &bytes);
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n != first && is_fresh(n, now) && writing_may(s, n, now) && is_alike(first, n) &&
            !batch_add(s, n, &bytes))
            break;
    }
    mark_log(s);
    int r = is_guard(first->act) ? write_guard(s, first, &e) : batch_show(s, on_looked, &e);
    for (size_t i = 0; i < s->n_batch; i++)
        mark_written(s, s->batch[i], now);
    s->next_write = mono_add(now, span_ms(WRITE_GAP_MS));
    if (is_retry)
        s->next_retry = mono_add(now, span_s(RETRY_S));
    if (r < 0)
        s->why = e;
    return r == 0;
}

/* --- what a write of ours undid --------------------------------------------------------------- */

static void find_lost(struct slurm *s, struct node *n, const char *log)
{
    struct slurm_lost lost;
    const char *restored = n->tried == ACT_RESTORE ? n->record.lost.reason : NULL;
    if (n->said || n->record.state == RECORD_NONE ||
        !slurm_log_lost(log, n->name, s->conf.owner, restored, &lost))
        return;
    n->is_lost_now = s->has_losses = true;
    note_lost(s, n, &lost);
}

static struct node *next_lost(const struct slurm *s)
{
    struct node *n;
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->is_lost_now)
            return n;
    }
    return NULL;
}

bool writing_restore(struct slurm *s, struct mono now)
{
    struct err e = {0};
    size_t bytes = 0;
    struct node *n;
    while ((n = next_lost(s))) {
        bool is_waiting = n->said && mono_sub(now, n->said_at).ns < span_s(RETRY_S).ns;
        if (is_waiting)
            return true;
        n->is_lost_now = false; /* if it does not take effect now, the plan takes care of it */
        if (n->said || !n->record.lost.reason[0])
            continue;
        s->n_batch = 0;
        batch_add(s, n, &bytes);
        n->act = ACT_RESTORE;
        mark_written(s, n, now);
        if (write_nodes(s, &e) == 0)
            return true;
        s->why = e;
    }
    s->has_losses = false;
    return false;
}

static void on_written(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *words = text;
    struct slurm *s = arg;
    CLEANUP_FREE char *log = slurm_log_since(&s->log);
    for (size_t i = 0; log && i < s->n_batch; i++)
        if (!is_guard(s->batch[i]->tried))
            find_lost(s, s->batch[i], log);
    go_on(s, why);
}
